"""Classification with indefinite kernels under a mixed-norm penalty."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from kernelweave.estimators.classes import encode_weighted_classes, one_against_rest
from kernelweave.estimators.mixed_norm.fit import MixedNormSettings
from kernelweave.estimators.mixed_norm.model import MixedNormModel, Training
from kernelweave.gram.base import FloatArray
from kernelweave.kernels.base import n_samples
from kernelweave.problems.losses import Loss

__all__ = ["MixedNormClassifier"]


class MixedNormClassifier(ClassifierMixin, MixedNormModel):
    """Classifier on any similarities, with a penalty that chooses kernels, samples, or both.

    Learns ``f(x) = sum_t sum_j coef_jt k_t(x, x_j) + b`` by minimising

        sum_i loss(y_i, f(x_i)) + (alpha / q) ||coef||_pq^q,

    a convex problem whatever the kernels are: symmetric or not, positive semidefinite or not. Every fit is
    certified by a duality gap. What the penalties do:

    ==================  =========================================  =========================================
    penalty             structure="kernels"                        structure="samples"
    ==================  =========================================  =========================================
    "l1"                few single coefficients                    the same
    "l2"                all coefficients small, none zero          the same
    "group"             few kernels, each with all samples         few samples, each in all kernels
    "elitist"           every kernel uses few samples              every sample is used by few kernels
    ==================  =========================================  =========================================

    A kernel with large values needs smaller coefficients, and so pays less: bring kernels to one scale
    (``normalize``) where their sizes mean nothing.

    Parameters
    ----------
    kernels : "auto" or list, default="auto"
        Entries ``(name, kernel, columns)``, ``(name, kernel)`` or kernels, as for `MKLClassifier`; any real
        function of two samples will do.
    penalty : {"l1", "l2", "group", "elitist"}, default="group"
        The norm, see above.
    structure : {"kernels", "samples"}, default="kernels"
        What the groups are; of no consequence for "l1" and "l2".
    loss : {"squared_hinge", "logistic", "squared"}, default="squared_hinge"
        ``[1 - yf]_+^2`` (the paper's), ``log(1 + exp(-yf))``, or ``(y - f)^2`` with y = -1 or 1.
    alpha : float, default=1.0
        Strength of the penalty, against the sum (not the mean) of the losses. For "l1" and "group"
        everything is zero from ``alpha_max_`` on.
    fit_intercept : bool or "kernel", default=True
        An intercept without penalty, none, or a constant kernel named "constant" beside the others,
        whose coefficients are penalised like theirs.
    normalize : {"cosine", "trace", "frobenius"} or None, default=None
        Scale each kernel to unit diagonal, trace n, or entries of mean square one. The last makes sense for
        every kernel, the others need ``k(x, x) >= 0``.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the samples' weights by class, as in scikit-learn.
    tol : float, default=1e-4
        Relative duality gap to reach.
    max_iter : int or None, default=None
        Largest number of solver iterations.
    time_limit : float or None, default=None
        Seconds for the solver.
    solver : {"auto", "accelerated", "forward_backward"}, default="auto"
        "auto" is a second-order method on a working set (for "l2" Newton's method on one n x n matrix); the
        others, for comparison, are forward-backward splitting with momentum and without ([K09] Algorithm 2).
    storage : {"auto", "dense", "memmap", "lazy"}, default="auto"
        Kernel matrices in memory, in a temporary file, or evaluated anew in each pass; "auto" is in memory.
        Given matrices (`Precomputed`) are never copied when all samples are used in order, and may be memory-mapped.
    dtype : {"float64", "float32"}, default="float64"
        Storage type; float32 halves the memory, sums are float64 in any case.
    verbose : bool, int or callable, default=0
        1 shows progress on standard error, 2 every iteration; a callable gets each
        `kernelweave.solvers.driver.Progress` and stops the fit by returning true.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels; a positive decision value means ``classes_[1]``.
    coef_ : ndarray or csr_array of shape (n_points, n_kernels), or a list of n_classes of them
        Coefficients of the prepared kernels, one row a training sample (or point); sparse where at most a
        quarter of them are not zero. Several classes are each set against the rest.
    kernel_norms_ : ndarray of shape (n_kernels,) or (n_classes, n_kernels)
        Euclidean norm of each kernel's coefficients; zero for a kernel that is not used.
    kernel_names_ : ndarray of shape (n_kernels,), dtype object
        Names of the kernels.
    support_ : ndarray of shape (n_support,)
        Samples (or points) with a non-zero coefficient in any class: only these are kept for prediction.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Biases.
    alpha_max_ : float or ndarray of shape (n_classes,)
        Smallest ``alpha`` at which all coefficients are zero; inf for "l2" and "elitist", where there is none.
    objective_ : float
        Value of the problem above, summed over the classes.
    dual_gap_ : float
        ``objective_`` minus the best lower bound.
    certificate_ : Certificate
        Primal value, dual value, gap and relative gap.
    status_ : Status
        How the solver ended.
    n_iter_ : int
        Solver iterations (of the class that took most).
    n_samples_fit_ : int
        Number of training samples.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where X has them.

    References
    ----------
    .. [K09] Kowalski, Szafranski, Ralaivola, "Multiple indefinite kernel learning with mixed norm
       regularization", ICML 2009, equation (2).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MixedNormClassifier
    >>> from kernelweave.kernels import RBF, Sigmoid
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = np.where(X[:, 0] > 0, "yes", "no")
    >>> kernels = [("signal", Sigmoid(), [0]), ("noise", RBF(gamma=1.0), [1, 2])]
    >>> model = MixedNormClassifier(kernels, alpha=50.0).fit(X, y)
    >>> model.kernel_norms_ > 0
    array([ True, False])
    >>> bool(model.certificate_.relative_gap <= 1e-4)
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        penalty: str = "group",
        structure: str = "kernels",
        loss: str = "squared_hinge",
        alpha: float = 1.0,
        fit_intercept: bool | str = True,
        normalize: str | None = None,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int | None = None,
        time_limit: float | None = None,
        solver: str = "auto",
        storage: str = "auto",
        dtype: str = "float64",
        verbose: Any = 0,
    ) -> None:
        self.kernels = kernels
        self.penalty = penalty
        self.structure = structure
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver = solver
        self.storage = storage
        self.dtype = dtype
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, points: Any = None) -> Self:
        """Learn the coefficients.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Samples; where kernels take indices, labels or whole objects also a sequence of these.
        y : array-like of shape (n_samples,)
            Labels of any type, at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            A sample of weight s counts as s copies, in the loss and (being a point) in the penalty.
        points : like X, of n_points rows, optional
            Expansion points, the training samples when None. With a rectangular `Precomputed` matrix: indices
            of its columns. Cross-validation slices it like any fit parameter when it has as many rows as X.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For bad parameters, samples or labels; `InvalidKernelError` names the kernel.
        MemoryLimitError
            When the kernel matrices would not fit.

        Warns
        -----
        ConvergenceWarning
            When the tolerance was not reached, with the gap.
        """
        return self._fit(X, y, sample_weight, points)

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, points: Any
    ) -> tuple[MixedNormSettings, Training, list[Loss], int]:
        settings = self._settings()
        X = self._check_fit_samples(X)
        self.classes_, codes, weight = encode_weighted_classes(
            type(self).__name__, y, n_samples(X), sample_weight, self.class_weight
        )
        training = self._train(X, weight, points, settings, codes)
        signs = one_against_rest(codes, len(self.classes_))
        return settings, training, self._losses(training, signs, weight, settings), len(codes)

    def decision_function(self, X: Any) -> FloatArray:
        """Scores; evaluates only the kernels and samples that are kept.

        Parameters
        ----------
        X : like the X of fit
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes positive values mean ``classes_[1]``; else one column a class.
        """
        scores = self._scores(X)
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

    @available_if(lambda self: self.loss == "logistic")
    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class, with the logistic loss.

        Parameters
        ----------
        X : like the X of fit
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Several classes: each against the rest, scaled to sum one.
        """
        positive = expit(self._scores(X))
        if len(self.classes_) == 2:
            return np.hstack([1.0 - positive, positive])
        totals = positive.sum(axis=1, keepdims=True)
        return np.where(totals > 0, positive / np.where(totals > 0, totals, 1.0), 1.0 / len(self.classes_))

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
        parts = self._contributions(X)
        return parts[:, 0] if len(self.classes_) == 2 else parts
