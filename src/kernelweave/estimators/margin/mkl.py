"""Multiple kernel learning by large margin, as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from kernelweave._compat import take_rows
from kernelweave.estimators.classes import encode_weighted_classes, one_against_rest
from kernelweave.estimators.expansion import KernelExpansion
from kernelweave.estimators.kernel_parameters import KernelParameters
from kernelweave.estimators.margin.class_fit import ClassFit, fit_classes
from kernelweave.estimators.margin.margin_fit import MarginSettings
from kernelweave.estimators.progress import progress_callback
from kernelweave.estimators.samples import check_samples, stack_samples
from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.gram.build import build_stack
from kernelweave.gram.preparing.verify import verify_combined_kernel
from kernelweave.kernels.base import n_samples
from kernelweave.kernels.entries import resolve_entries
from kernelweave.kernels.evaluate import freeze_kernels

__all__ = ["MKLClassifier"]

_CRITERION = ("margin", "C", "trace", "tol", "max_iter", "time_limit", "solver", "weights")
_CHOICES = {
    "normalize": ("cosine", "trace", None),
    "multiclass": ("shared", "per_class"),
    "storage": ("auto", "dense", "factor"),
    "dtype": ("float64", "float32"),
    "psd_repair": ("clip", "flip", "shift", None),
}


class MKLClassifier(ClassifierMixin, KernelParameters):
    """Support vector machine on a learned combination of kernels.

    Learns kernel weights by maximising the margin of the combined kernel ``K = sum_i mu_i K_i`` at
    a fixed trace, a convex problem, and certifies the answer by a duality gap.
    Most kernels on vectors depend on the scale of the features: standardise them first.

    Parameters
    ----------
    kernels : "auto" or list, default="auto"
        Entries ``(name, kernel, columns)``, ``(name, kernel)`` or kernels. A kernel is one of
        `kernelweave.kernels`, a callable ``k(X, Y)``, a ``pairwise_kernels`` metric or a Gaussian
        process kernel; columns are chosen as in scikit-learn's ``ColumnTransformer``. "auto" is
        linear, quadratic and five RBF widths around the median heuristic.
    margin : {"l1", "l2", "hard"}, default="l1"
        1-norm soft margin (hinge), 2-norm soft margin (squared hinge), or none.
    C : float or "auto", default=1.0
        Penalty of the soft margin, as in ``sklearn.svm.SVC`` for "l1"; "auto" (with "l2") learns it
        together with the weights, without cross-validation. Ignored for the hard margin.
    weights : {"nonnegative", "psd"}, default="nonnegative"
        Set of the kernel weights: nonnegative, or of any sign with K positive semidefinite over all samples
        known at fit (a semidefinite program; on other samples K can be indefinite, predictions still hold).
    trace : {"mean", "sum"} or float, default="mean"
        Budget c of ``sum_i mu_i trace(K_i)`` (plus n times the ridge for ``C="auto"``): mean or sum of
        the traces over labelled and unlabelled samples, or a number.
    normalize : {"cosine", "trace"} or None, default="cosine"
        Scale each kernel to unit diagonal or to trace n.
    center : bool, default=False
        Centre each kernel in feature space before normalising.
    multiclass : {"shared", "per_class"}, default="shared"
        Several classes share one weight vector, or have one each (one class against the rest).
    class_weight : dict, "balanced" or None, default=None
        Multiplies the samples' weights by class, as in scikit-learn.
    tol : float, default=1e-3
        Relative duality gap to reach.
    max_iter : int or None, default=None
        Largest number of solver iterations.
    time_limit : float or None, default=None
        Seconds for the solver.
    solver : {"auto", "bundle", "interior_point", "subspace", "primal_dual"}, default="auto"
        Algorithm, the last two for ``weights="psd"``; "auto" chooses by size.
    storage : {"auto", "dense", "factor"}, default="auto"
        How Gram matrices are held; "factor" needs kernels with a feature map.
    dtype : {"float64", "float32"}, default="float64"
        Storage type; float32 halves the memory, sums are float64 in any case.
    n_jobs : int or None, default=None
        Jobs for ``multiclass="per_class"``, through joblib.
    verbose : bool, int or callable, default=0
        1 shows progress on standard error, 2 every iteration; a callable gets each
        `kernelweave.solvers.driver.Progress` and stops the fit by returning true.
    random_state : int, RandomState or None, default=None
        Not used by the present solvers, which are deterministic; part of the common signature.
    check_psd : bool, default=False
        Check the spectrum of every kernel before the fit, whatever it costs.
    psd_repair : {"clip", "flip", "shift"} or None, default=None
        What to do about an indefinite kernel: set its negative eigenvalues over the samples known at fit to zero,
        turn them positive, or add to its diagonal, before centring and normalising; new samples follow by the same
        rule (`kernelweave.gram.preparing.repair`). None refuses it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels; a positive decision value means ``classes_[1]``.
    kernel_weights_ : ndarray of shape (n_kernels,) or (n_classes, n_kernels)
        Weights mu of the prepared kernels, ``sum_i mu_i trace(K_i)`` = the budget.
    kernel_importances_ : ndarray of the same shape
        ``mu_i trace(K_i) / c``: shares of the budget (negative ones with ``weights="psd"``).
    kernel_names_ : ndarray of shape (n_kernels,), dtype object
        Names of the kernels.
    dual_coef_ : ndarray of shape (1 or n_classes, n_labelled)
        ``y_j alpha_j``.
    support_ : ndarray of shape (n_support,)
        Samples with a non-zero coefficient in any class.
    intercept_ : ndarray of shape (1 or n_classes,)
        Biases.
    C_ : float or ndarray of shape (n_classes,)
        C used: as given, or learned by ``C="auto"`` (inf when no ridge is left).
    objective_ : float
        Primal value omega ([L04] (20), not halved), summed over the classes.
    dual_gap_ : float
        ``objective_`` minus the best lower bound.
    certificate_ : Certificate
        Primal value, dual value, gap and relative gap.
    status_ : Status
        How the solver ended.
    n_iter_ : int
        Solver iterations.
    trace_ : float
        The budget c.
    transduction_ : ndarray of shape (n_unlabeled,)
        Predicted labels of ``X_unlabeled``, where it was given.
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
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.kernels import RBF, Linear
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = np.where(X[:, 0] > 0, "yes", "no")
    >>> model = MKLClassifier([("signal", Linear(), [0]), ("noise", RBF(gamma=1.0), [1, 2])]).fit(X, y)
    >>> bool(model.kernel_weights_[0] > model.kernel_weights_[1])
    True
    >>> bool(model.certificate_.relative_gap <= 1e-3)
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        margin: str = "l1",
        C: float | str = 1.0,
        weights: str = "nonnegative",
        trace: float | str = "mean",
        normalize: str | None = "cosine",
        center: bool = False,
        multiclass: str = "shared",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int | None = None,
        time_limit: float | None = None,
        solver: str = "auto",
        storage: str = "auto",
        dtype: str = "float64",
        n_jobs: int | None = None,
        verbose: Any = 0,
        random_state: Any = None,
        check_psd: bool = False,
        psd_repair: str | None = None,
    ) -> None:
        self.kernels = kernels
        self.margin = margin
        self.C = C
        self.weights = weights
        self.trace = trace
        self.normalize = normalize
        self.center = center
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver = solver
        self.storage = storage
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.check_psd = check_psd
        self.psd_repair = psd_repair

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_unlabeled: Any = None) -> Self:
        """Learn kernel weights and the classifier.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_labelled, n_features)
            Labelled samples. When every kernel is `Precomputed` (or takes whole objects), also a
            sequence of n_labelled indices, labels or objects.
        y : array-like of shape (n_labelled,)
            Labels of any type, at least two classes.
        sample_weight : array-like of shape (n_labelled,), optional
            A sample of weight s counts as s copies.
        X_unlabeled : like X, of n_unlabeled rows, optional
            Samples to predict, known at fit: traces and normalisation run over them too, and
            their labels are in ``transduction_``. Cross-validation slices it like any fit parameter
            when it has as many rows as X.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For bad parameters, samples or labels; `InvalidKernelError` names the kernel.
        NotSeparableError
            For a hard margin without solution.
        MemoryLimitError
            When the Gram matrices would not fit.

        Warns
        -----
        ConvergenceWarning
            When the tolerance was not reached, with the gap.
        """
        # A fit that fails or is interrupted must not pass for the one before.
        for kept_from_before in ("_expansion", "transduction_"):
            self.__dict__.pop(kept_from_before, None)
        settings = self._settings()
        entries = resolve_entries(self.kernels)
        self._numeric = all(entry.kernel.vector_input is True for entry in entries)
        X = check_samples(self, X, numeric=self._numeric, reset=True)
        self.classes_, codes, sample_weight = encode_weighted_classes(
            type(self).__name__, y, n_samples(X), sample_weight, self.class_weight
        )
        kept = np.flatnonzero(sample_weight > 0).astype(np.intp)
        X_kept = X if len(kept) == len(codes) else take_rows(X, kept)
        everything = X_kept
        if X_unlabeled is not None:
            X_unlabeled = check_samples(self, X_unlabeled, numeric=self._numeric, reset=False)
            everything = stack_samples(X_kept, X_unlabeled)
        stack, prepared = build_stack(
            freeze_kernels(entries, X_kept, codes[kept], everything),
            everything,
            normalize=self.normalize,
            center=self.center,
            storage=self.storage,
            dtype=np.dtype(self.dtype),
            check_psd=self.check_psd,
            psd_repair=self.psd_repair,
        )
        fit = fit_classes(
            one_against_rest(codes[kept], len(self.classes_)),
            sample_weight[kept],
            stack,
            prepared.traces,
            n_samples(everything),
            settings,
            shared=self.multiclass == "shared",
            n_jobs=self.n_jobs,
        )
        for weights in fit.weights:
            verify_combined_kernel(stack, prepared, weights)
        self._expansion = KernelExpansion(prepared, everything, fit.coefficients, fit.weights, fit.intercept)
        self._store(fit, prepared.names, kept, len(codes))
        if X_unlabeled is not None:
            self.transduction_ = self.predict(X_unlabeled)
        return self

    def _settings(self) -> MarginSettings:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}; got {getattr(self, name)!r}.")
        criterion = {name: getattr(self, name) for name in _CRITERION}
        return MarginSettings(**criterion, callback=progress_callback(self.verbose))

    def _store(self, fit: ClassFit, names: list[str], kept: IntArray, n_labelled: int) -> None:
        single = len(fit.weights) == 1
        self.kernel_names_ = np.array(names, dtype=object)
        self.kernel_weights_ = fit.weights[0] if single else fit.weights
        self.kernel_importances_ = fit.importances[0] if single else fit.importances
        self.dual_coef_ = np.zeros((len(fit.coefficients), n_labelled))
        self.dual_coef_[:, kept] = fit.coefficients
        self.support_ = np.flatnonzero(np.any(self.dual_coef_ != 0, axis=0))
        self.intercept_ = fit.intercept
        self.trace_ = fit.budget
        self.certificate_ = fit.certificate
        self.objective_, self.dual_gap_ = fit.certificate.primal, fit.certificate.gap
        self.status_, self.n_iter_ = fit.status, fit.n_iter
        if fit.ridges is None:
            self.C_: Any = np.inf if self.margin == "hard" else float(self.C)
        else:
            with np.errstate(divide="ignore"):
                learned = 1.0 / fit.ridges
            self.C_ = float(learned[0]) if single else learned

    def decision_function(self, X: Any) -> FloatArray:
        """Signed distances in units of the margin.

        Parameters
        ----------
        X : like the X of fit
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes positive values mean ``classes_[1]``; else one column a class.
        """
        X = self._check_new(X)
        scores = self._expansion.scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Any:
        """Class of each sample.

        Parameters
        ----------
        X : like the X of fit
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[chosen]

    def contributions(self, X: Any) -> FloatArray:
        """Share of each kernel in each decision value.

        Parameters
        ----------
        X : like the X of fit
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_kernels) or (n_samples, n_classes, n_kernels)
            Summed over the kernels and with ``intercept_`` added: the decision values.
        """
        X = self._check_new(X)
        parts = self._expansion.contributions(X)
        return parts[:, 0] if len(self.classes_) == 2 else parts

    def combined_kernel(self, X: Any) -> FloatArray:
        """The learned kernel between samples and the training samples.

        Parameters
        ----------
        X : like the X of fit
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labelled)
            For any estimator with ``kernel="precomputed"``. Training samples of weight zero
            are left out.

        Raises
        ------
        ValueError
            With ``multiclass="per_class"`` and more than two classes.
        """
        X = self._check_new(X)
        return self._expansion.combined(X)

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_samples(self, X, numeric=self._numeric, reset=False)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_expansion")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
