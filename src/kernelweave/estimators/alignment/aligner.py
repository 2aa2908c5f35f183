"""Kernel weights by alignment, as a scikit-learn transformer."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernelweave.estimators.alignment.align_fit import fit_alignment, fit_evidence
from kernelweave.estimators.alignment.alignment import target_columns
from kernelweave.estimators.classes import encode_classes
from kernelweave.estimators.expansion import KernelExpansion
from kernelweave.estimators.kernel_parameters import KernelParameters
from kernelweave.estimators.samples import check_samples, stack_samples
from kernelweave.exceptions import InvalidKernelError
from kernelweave.gram.base import FloatArray, GramStack, IntArray
from kernelweave.gram.build import PreparedKernels, build_stack
from kernelweave.gram.centred import CentredStack
from kernelweave.kernels.base import n_samples
from kernelweave.kernels.entries import resolve_entries
from kernelweave.kernels.evaluate import NamedKernel, freeze_kernels

__all__ = ["KernelAligner"]

_CHOICES = {
    "weights": ("nonnegative", "psd"),
    "criterion": ("alignment", "evidence"),
    "normalize": ("cosine", "trace", None),
    "storage": ("auto", "dense", "factor"),
    "dtype": ("float64", "float32"),
    "psd_repair": ("clip", "flip", "shift", None),
}


class KernelAligner(TransformerMixin, KernelParameters):
    """Combined kernel whose weights maximise the alignment with the labels.

    Maximises ``q'mu`` over ``mu'S mu <= 1`` with ``q_i = <K_i, yy'>`` on the labelled samples and
    ``S_ij = <K_i, K_j>`` (Frobenius), which costs one pass over the kernels and a problem in as many variables
    as there are kernels. `transform` gives the combined kernel against the training samples, for any estimator
    with ``kernel="precomputed"``. Its Frobenius norm over the training samples is one, so entries are about 1/n:
    a support vector machine on it needs a C about n times as large as on a kernel with unit diagonal.

    Parameters
    ----------
    kernels : "auto" or list, default="auto"
        As for `MKLClassifier`.
    weights : {"nonnegative", "psd"}, default="nonnegative"
        Nonnegative weights, or weights of any sign with a positive semidefinite combination.
    centered : bool, default=True
        Align kernels centred in feature space (after normalisation), as Cortes, Mohri and Rostamizadeh
        (2012) do; `transform` then gives the centred combination. False is [L04].
    normalize : {"cosine", "trace"} or None, default="cosine"
        Scale each kernel to unit diagonal or to trace n.
    criterion : {"alignment", "evidence"}, default="alignment"
        What the weights maximise: the alignment, or the likelihood of the labels (-1 and 1, or one column a class)
        as draws of a Gaussian process with the combined kernel and learned noise. The latter is not convex:
        the answer is a local maximum, its certificate that of a stationary point. Weights then have the size of
        variances, and nonnegative ones are the only choice.
    tol : float, default=1e-8
        Relative duality gap to reach.
    storage : {"auto", "dense", "factor"}, default="auto"
        How Gram matrices are held.
    dtype : {"float64", "float32"}, default="float64"
        Storage type.
    check_psd : bool, default=False
        Check the spectrum of every kernel before the fit, whatever it costs.
    psd_repair : {"clip", "flip", "shift"} or None, default=None
        What to do about an indefinite kernel: set its negative eigenvalues over the samples known at fit to zero,
        turn them positive, or add to its diagonal, before centring and normalising; new samples follow by the same
        rule (`kernelweave.gram.preparing.repair`). None refuses it.

    Attributes
    ----------
    kernel_weights_ : ndarray of shape (n_kernels,)
        Weights mu of the normalised (and centred) kernels, ``mu'S mu = 1`` for the alignment.
    kernel_importances_ : ndarray of shape (n_kernels,)
        Shares ``mu_i q_i / q'mu`` of the alignment, ``mu_i trace(K_i)`` of the variance for the evidence.
    kernel_names_ : ndarray of shape (n_kernels,), dtype object
        Names of the kernels.
    alignment_ : float
        Alignment of the combined kernel with the labels, on the labelled samples.
    alignments_ : ndarray of shape (n_kernels,)
        Alignment of each kernel alone.
    classes_ : ndarray of shape (n_classes,)
        Labels. With more than two, the target is 1 within a class and ``-1 / (n_classes - 1)`` between.
    certificate_ : Certificate
        Bounds of ``-q'mu``; for the evidence minus the log likelihood (up to constants) and the bound of the
        convex problem that touches it.
    status_ : Status
        How the solver ended; a local minimum is the best that the evidence can promise.
    noise_ : float
        Learned noise variance, with ``criterion="evidence"``.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where X has them.

    References
    ----------
    .. [L04] Lanckriet, Cristianini, Bartlett, El Ghaoui, Jordan, "Learning the kernel matrix with
       semidefinite programming", JMLR 5, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from kernelweave import KernelAligner
    >>> from kernelweave.kernels import RBF, Linear
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = np.where(X[:, 0] > 0, "yes", "no")
    >>> aligner = KernelAligner([("signal", Linear(), [0]), ("noise", RBF(gamma=1.0), [1, 2])])
    >>> model = make_pipeline(aligner, SVC(kernel="precomputed", C=60.0)).fit(X, y)
    >>> bool(model[0].kernel_weights_[0] > model[0].kernel_weights_[1])
    True
    >>> model.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        weights: str = "nonnegative",
        centered: bool = True,
        normalize: str | None = "cosine",
        criterion: str = "alignment",
        tol: float = 1e-8,
        storage: str = "auto",
        dtype: str = "float64",
        check_psd: bool = False,
        psd_repair: str | None = None,
    ) -> None:
        self.kernels = kernels
        self.weights = weights
        self.centered = centered
        self.normalize = normalize
        self.criterion = criterion
        self.tol = tol
        self.storage = storage
        self.dtype = dtype
        self.check_psd = check_psd
        self.psd_repair = psd_repair

    def fit(self, X: Any, y: Any, X_unlabeled: Any = None) -> Self:
        """Learn the kernel weights.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_labelled, n_features)
            Labelled samples, as for `MKLClassifier`.
        y : array-like of shape (n_labelled,)
            Labels of any type, at least two classes.
        X_unlabeled : like X, of n_unlabeled rows, optional
            More samples over which S and the semidefinite condition run ([L04]); only with
            ``centered=False``. Cross-validation slices it like any fit parameter when it has as many rows as X.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For bad parameters, samples or labels, or kernels none of which is aligned with the labels;
            `InvalidKernelError` names a bad kernel.

        Warns
        -----
        ConvergenceWarning
            When the tolerance was not reached, with the gap.
        UserWarning
            When a kernel is constant, so that centring leaves nothing of it.
        """
        self._check_parameters(X_unlabeled)
        entries = resolve_entries(self.kernels)
        self._numeric = all(entry.kernel.vector_input is True for entry in entries)
        X = check_samples(self, X, numeric=self._numeric, reset=True)
        n = n_samples(X)
        self.classes_, codes = encode_classes(type(self).__name__, y, n)
        everything = X
        if X_unlabeled is not None:
            everything = stack_samples(X, check_samples(self, X_unlabeled, numeric=self._numeric, reset=False))
        stack, prepared = self._build(freeze_kernels(entries, X, codes, everything), everything)
        self._learn(stack, prepared, target_columns(codes, len(self.classes_)), everything)
        self._expansion = KernelExpansion(
            prepared, everything, np.zeros((1, n)), self.kernel_weights_[None], np.zeros(1)
        )
        # Means of the combined kernel over the training samples, which centre the rows of new ones.
        mean = np.full(stack.shape[0], 1.0 / n)
        self._means = stack.matvec(self.kernel_weights_, mean) if self.centered else None
        return self

    def _build(self, named: list[NamedKernel], X: Any) -> tuple[GramStack, PreparedKernels]:
        return build_stack(
            named,
            X,
            normalize=self.normalize,
            center=False,
            storage=self.storage,
            dtype=np.dtype(self.dtype),
            check_psd=self.check_psd,
            psd_repair=self.psd_repair,
        )

    def _check_parameters(self, X_unlabeled: Any) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}; got {getattr(self, name)!r}.")
        if not self.tol > 0:
            raise ValueError(f"tol must be a positive number; got {self.tol!r}.")
        if self.criterion == "evidence" and (self.weights == "psd" or X_unlabeled is not None):
            raise ValueError("criterion='evidence' takes weights='nonnegative', and labelled samples alone.")
        if self.centered and X_unlabeled is not None:
            raise ValueError("X_unlabeled needs centered=False: centred alignment looks at the labelled samples alone.")

    def _learn(self, stack: GramStack, prepared: PreparedKernels, columns: FloatArray, X: Any) -> None:
        names = np.array(prepared.names, dtype=object)
        kept = np.arange(len(names))
        gram = stack
        if self.centered:
            columns = columns - columns.mean(axis=0)
            gram = CentredStack(stack)
            kept = _not_constant(stack.traces(), gram.traces(), names)
        if len(kept) < len(names):
            gram = CentredStack(self._build([prepared.named[i] for i in kept], X)[0])
        if self.criterion == "evidence":
            fit = fit_evidence(gram, columns, tol=self.tol)
        else:
            fit = fit_alignment(gram, columns, free_signs=self.weights == "psd", tol=self.tol)
        self.kernel_names_ = names
        self.kernel_weights_, self.kernel_importances_, self.alignments_ = np.zeros((3, len(names)))
        self.kernel_weights_[kept] = fit.weights
        self.kernel_importances_[kept] = fit.importances
        self.alignments_[kept] = fit.alignments
        self.alignment_, self.certificate_, self.status_ = fit.alignment, fit.certificate, fit.status
        self.__dict__.pop("noise_", None)
        if fit.noise is not None:
            self.noise_ = fit.noise

    def transform(self, X: Any) -> FloatArray:
        """The combined kernel between samples and the labelled training samples.

        Parameters
        ----------
        X : like the X of fit
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labelled)
            Centred with the means of the training samples where ``centered``.
        """
        check_is_fitted(self)
        block = self._expansion.combined(check_samples(self, X, numeric=self._numeric, reset=False))
        if self._means is not None:
            block -= block.mean(axis=1, keepdims=True)
            block -= self._means - self._means.mean()
        return block

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that `transform` returns, one a labelled training sample.

        Parameters
        ----------
        input_features : object
            Not used; part of the scikit-learn interface.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        return np.array([f"sample{j}" for j in range(self._expansion.coefficients.shape[1])], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _not_constant(traces: FloatArray, centred: FloatArray, names: Any) -> IntArray:
    """Kernels that have something left when centred; a warning names the others."""
    constant = centred <= 1e-12 * traces
    if constant.all():
        raise InvalidKernelError(
            f"Every kernel is constant on the training samples ('{names[0]}' is the first), so nothing is left of "
            "them when centred. Check their columns and settings, or use centered=False."
        )
    if constant.any():
        warnings.warn(
            f"Constant on the training samples: kernel {', '.join(repr(name) for name in names[constant])}. Nothing "
            "is left of it when centred, so its weight is zero.",
            UserWarning,
            stacklevel=4,
        )
    return np.flatnonzero(~constant).astype(np.intp)
