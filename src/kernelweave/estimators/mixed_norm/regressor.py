"""Regression with indefinite kernels under a mixed-norm penalty."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from kernelweave.estimators.mixed_norm.fit import MixedNormSettings
from kernelweave.estimators.mixed_norm.model import MixedNormModel, Training
from kernelweave.estimators.samples import check_sample_weight
from kernelweave.gram.base import FloatArray
from kernelweave.kernels.base import n_samples
from kernelweave.problems.losses import Loss

__all__ = ["MixedNormRegressor"]


class MixedNormRegressor(RegressorMixin, MixedNormModel):
    """Regression on any similarities, with a penalty that chooses kernels, samples, or both.

    Learns ``f(x) = sum_t sum_j coef_jt k_t(x, x_j) + b`` by minimising

        sum_i (y_i - f(x_i))^2 + (alpha / q) ||coef||_pq^q.

    `MixedNormClassifier` says what the penalties do. The kernels may be symmetric or not, positive
    semidefinite or not; every fit is certified by a duality gap.

    Parameters
    ----------
    kernels : "auto" or list, default="auto"
        Entries ``(name, kernel, columns)``, ``(name, kernel)`` or kernels.
    penalty : {"l1", "l2", "group", "elitist"}, default="group"
        The norm.
    structure : {"kernels", "samples"}, default="kernels"
        What the groups are; of no consequence for "l1" and "l2".
    alpha : float, default=1.0
        Strength of the penalty, against the sum (not the mean) of the squares. For "l1" and "group"
        everything is zero from ``alpha_max_`` on.
    fit_intercept : bool or "kernel", default=True
        An intercept without penalty, none, or a constant kernel named "constant" beside the others.
    normalize : {"cosine", "trace", "frobenius"} or None, default=None
        Scale each kernel to unit diagonal, trace n, or entries of mean square one.
    tol : float, default=1e-4
        Relative duality gap to reach.
    max_iter : int or None, default=None
        Largest number of solver iterations.
    time_limit : float or None, default=None
        Seconds for the solver.
    solver : {"auto", "accelerated", "forward_backward"}, default="auto"
        As for `MixedNormClassifier`.
    storage : {"auto", "dense", "memmap", "lazy"}, default="auto"
        Kernel matrices in memory, in a temporary file, or evaluated anew in each pass.
    dtype : {"float64", "float32"}, default="float64"
        Storage type; sums are float64 in any case.
    verbose : bool, int or callable, default=0
        1 shows progress on standard error, 2 every iteration; a callable gets each
        `kernelweave.solvers.driver.Progress` and stops the fit by returning true.

    Attributes
    ----------
    coef_ : ndarray or csr_array of shape (n_points, n_kernels)
        Coefficients of the prepared kernels; sparse where at most a quarter of them are not zero.
    kernel_norms_ : ndarray of shape (n_kernels,)
        Euclidean norm of each kernel's coefficients; zero for a kernel that is not used.
    kernel_names_ : ndarray of shape (n_kernels,), dtype object
        Names of the kernels.
    support_ : ndarray of shape (n_support,)
        Samples (or points) with a non-zero coefficient: only these are kept for prediction.
    intercept_ : ndarray of shape (1,)
        Bias.
    alpha_max_ : float
        Smallest ``alpha`` at which all coefficients are zero; inf for "l2" and "elitist".
    objective_ : float
        Value of the problem above.
    dual_gap_ : float
        ``objective_`` minus the best lower bound.
    certificate_ : Certificate
        Primal value, dual value, gap and relative gap.
    status_ : Status
        How the solver ended.
    n_iter_ : int
        Solver iterations.
    n_samples_fit_ : int
        Number of training samples.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where X has them.

    References
    ----------
    .. [K09] Kowalski, Szafranski, Ralaivola, "Multiple indefinite kernel learning with mixed norm
       regularization", ICML 2009; the paper has the squared hinge only.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MixedNormRegressor
    >>> from kernelweave.kernels import RBF
    >>> x = np.linspace(-3, 3, 50)[:, None]
    >>> model = MixedNormRegressor([RBF(gamma=1.0)], penalty="l1", alpha=0.1).fit(x, np.sinc(x[:, 0]))
    >>> model.score(x, np.sinc(x[:, 0])) > 0.99, len(model.support_) < 25
    (True, True)
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        penalty: str = "group",
        structure: str = "kernels",
        alpha: float = 1.0,
        fit_intercept: bool | str = True,
        normalize: str | None = None,
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
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.normalize = normalize
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
            Real targets.
        sample_weight : array-like of shape (n_samples,), optional
            A sample of weight s counts as s copies, in the loss and (being a point) in the penalty.
        points : like X, of n_points rows, optional
            Expansion points, the training samples when None.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For bad parameters, samples or targets; `InvalidKernelError` names the kernel.
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
        target = self._check_target(y, n_samples(X))
        weight = check_sample_weight(sample_weight, len(target))
        training = self._train(X, weight, points, settings)
        return settings, training, self._losses(training, target[None], weight, settings), len(target)

    def _check_target(self, y: Any, n: int) -> FloatArray:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        target = check_array(
            column_or_1d(y, warn=True), ensure_2d=False, ensure_min_samples=0, dtype=np.float64, input_name="y"
        )
        if len(target) != n:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {n}, y has {len(target)}."
            )
        return np.asarray(target)

    def predict(self, X: Any) -> FloatArray:
        """Predicted targets; evaluates only the kernels and samples that are kept.

        Parameters
        ----------
        X : like the X of fit
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._scores(X)[:, 0]

    def contributions(self, X: Any) -> FloatArray:
        """Share of each kernel in each prediction.

        Parameters
        ----------
        X : like the X of fit
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_kernels)
            Summed over the kernels and with ``intercept_`` added: the predictions.
        """
        return self._contributions(X)[:, 0]
