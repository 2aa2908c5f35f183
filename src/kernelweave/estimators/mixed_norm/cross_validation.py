"""Classification under a mixed norm, its strength chosen by cross-validation along a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv

from kernelweave._compat import take_rows
from kernelweave.estimators.mixed_norm.classifier import MixedNormClassifier
from kernelweave.estimators.mixed_norm.fit import fit_mixed_norm
from kernelweave.estimators.mixed_norm.path import alpha_grid, fit_path
from kernelweave.estimators.mixed_norm.sparse_expansion import SparseExpansion
from kernelweave.estimators.samples import check_sample_weight
from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.kernels.base import n_samples

__all__ = ["MixedNormClassifierCV"]

_SELECTIONS = ("best", "one_standard_error")
# Parameters that only the choice of the strength needs.
_OWN = {"alphas", "n_alphas", "alpha_min_ratio", "cv", "scoring", "selection", "n_jobs"}


class MixedNormClassifierCV(MixedNormClassifier):
    """`MixedNormClassifier` whose ``alpha`` is chosen by cross-validation.

    In each fold the kernels are evaluated once and the path is run from the strongest penalty to the weakest,
    each fit starting from the one before. Then one model is fitted on all samples at the strength chosen.

    Parameters
    ----------
    kernels : "auto" or list, default="auto"
        As for `MixedNormClassifier`.
    penalty : {"l1", "l2", "group", "elitist"}, default="group"
        The norm.
    structure : {"kernels", "samples"}, default="kernels"
        What the groups are.
    loss : {"squared_hinge", "logistic", "squared"}, default="squared_hinge"
        The loss.
    alphas : array-like of shape (n_alphas,) or None, default=None
        Strengths to try; None for the grid of `mixed_norm_path` on all samples. As the losses are summed, a
        fold with fewer samples feels the same strength more.
    n_alphas : int, default=20
        Length of the default grid.
    alpha_min_ratio : float, default=1e-3
        Last strength of the default grid over the first.
    cv : int, cross-validation generator or iterable, default=5
        Folds, as in scikit-learn; a number means stratified ones, not shuffled.
    scoring : str, callable or None, default=None
        What to maximise, as in scikit-learn; None is accuracy.
    selection : {"best", "one_standard_error"}, default="best"
        The strength with the best mean score (the largest of them), or the largest strength whose mean score is within
        one standard error of that: a sparser model for the same money.
    fit_intercept : bool or "kernel", default=True
        An intercept without penalty, none, or a constant kernel.
    normalize : {"cosine", "trace", "frobenius"} or None, default=None
        Scale of the kernels.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the samples' weights by class.
    tol : float, default=1e-4
        Relative duality gap to reach in each fit.
    max_iter : int or None, default=None
        Largest number of solver iterations of a fit.
    time_limit : float or None, default=None
        Seconds for the solver in each fit.
    solver : {"auto", "accelerated", "forward_backward"}, default="auto"
        As for `MixedNormClassifier`.
    storage : {"auto", "dense", "memmap", "lazy"}, default="auto"
        How kernel matrices are held.
    dtype : {"float64", "float32"}, default="float64"
        Storage type.
    n_jobs : int or None, default=None
        Folds to run at a time, through joblib.
    verbose : bool, int or callable, default=0
        Progress of the fits in this process; a callable needs ``n_jobs=None``.

    Attributes
    ----------
    alpha_ : float
        The strength chosen.
    alphas_ : ndarray of shape (n_alphas,)
        Strengths tried, falling.
    cv_scores_ : ndarray of shape (n_alphas, n_folds)
        Score of each strength in each fold.
    classes_ : ndarray of shape (n_classes,)
        Labels; a positive decision value means ``classes_[1]``.
    coef_ : ndarray or csr_array of shape (n_samples, n_kernels), or a list of n_classes of them
        Coefficients of the model fitted on all samples, as all attributes below.
    kernel_norms_ : ndarray of shape (n_kernels,) or (n_classes, n_kernels)
        Euclidean norm of each kernel's coefficients.
    kernel_names_ : ndarray of shape (n_kernels,), dtype object
        Names of the kernels.
    support_ : ndarray of shape (n_support,)
        Samples with a non-zero coefficient.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Biases.
    alpha_max_ : float or ndarray of shape (n_classes,)
        Smallest strength at which all coefficients are zero.
    objective_, dual_gap_ : float
        Value of the problem, and how far above the best lower bound.
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

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MixedNormClassifierCV
    >>> from kernelweave.kernels import RBF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> kernels = [("signal", RBF(gamma=1.0), [0]), ("noise", RBF(gamma=1.0), [1, 2])]
    >>> model = MixedNormClassifierCV(kernels, n_alphas=5, alpha_min_ratio=0.1).fit(X, X[:, 0] > 0)
    >>> model.kernel_norms_ > 0
    array([ True, False])
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        penalty: str = "group",
        structure: str = "kernels",
        loss: str = "squared_hinge",
        alphas: Any = None,
        n_alphas: int = 20,
        alpha_min_ratio: float = 1e-3,
        cv: Any = 5,
        scoring: Any = None,
        selection: str = "best",
        fit_intercept: bool | str = True,
        normalize: str | None = None,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int | None = None,
        time_limit: float | None = None,
        solver: str = "auto",
        storage: str = "auto",
        dtype: str = "float64",
        n_jobs: int | None = None,
        verbose: Any = 0,
    ) -> None:
        # What the model itself has; ``alpha`` is no parameter here.
        self.kernels = kernels
        self.penalty = penalty
        self.structure = structure
        self.loss = loss
        self.alphas = alphas
        self.n_alphas = n_alphas
        self.alpha_min_ratio = alpha_min_ratio
        self.cv = cv
        self.scoring = scoring
        self.selection = selection
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver = solver
        self.storage = storage
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Choose the strength and fit on all samples.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Samples; where kernels take indices, labels or whole objects also a sequence of these.
        y : array-like of shape (n_samples,)
            Labels of any type, at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights in the fits and in the scores.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For bad parameters, samples, labels or folds; `InvalidKernelError` names the kernel.
        MemoryLimitError
            When the kernel matrices would not fit.

        Warns
        -----
        ConvergenceWarning
            For each fit that does not reach the tolerance.
        """
        self.__dict__.pop("_expansion", None)
        if self.selection not in _SELECTIONS:
            raise ValueError(f"selection must be one of {_SELECTIONS}; got {self.selection!r}.")
        X = self._check_fit_samples(X)
        self.alphas_, n = self._grid(X, y, sample_weight)
        given = {name: value for name, value in self.get_params(deep=False).items() if name not in _OWN}
        fold = _Fold(MixedNormClassifier(**given), get_scorer("accuracy" if self.scoring is None else self.scoring))
        y = np.asarray(y).ravel()
        weight = None if sample_weight is None else check_sample_weight(sample_weight, n)
        splits = list(check_cv(self.cv, y, classifier=True).split(np.zeros((n, 1)), y))
        scores = Parallel(n_jobs=self.n_jobs)(
            delayed(fold.scores)(X, y, weight, np.asarray(train), np.asarray(test), self.alphas_)
            for train, test in splits
        )
        self.cv_scores_ = np.stack(scores, axis=1)
        self.alpha_ = float(self.alphas_[_chosen(self.cv_scores_, self.selection)])
        settings, training, losses, n = self._prepare(X, y, sample_weight, None)
        self._store(training, fit_mixed_norm(losses, self.alpha_, training.gram, settings), n)
        return self

    def _grid(self, X: Any, y: Any, sample_weight: Any) -> tuple[FloatArray, int]:
        # The kernels on all samples are evaluated again at the end: while folds run, they would take memory.
        settings, training, losses, n = self._prepare(X, y, sample_weight, None)
        return alpha_grid(losses, training.gram, settings, self.alphas, self.n_alphas, self.alpha_min_ratio), n


@dataclass(frozen=True)
class _Fold:
    """Scores a path on samples left out of it.

    Parameters
    ----------
    model : MixedNormClassifier
        Kernels, penalty and all else but the strength.
    scorer : callable
        scikit-learn's scorer.
    """

    model: MixedNormClassifier
    scorer: Any

    def scores(
        self, X: Any, y: Any, weight: FloatArray | None, train: IntArray, test: IntArray, alphas: FloatArray
    ) -> FloatArray:
        """Score at each strength, shape (n_alphas,)."""
        model = clone(self.model)
        part = None if weight is None else weight[train]
        settings, training, losses, _ = model._prepare(take_rows(X, train), y[train], part, None)
        fits = fit_path(losses, alphas, training.gram, settings)
        # All strengths in one expansion: kernels of the samples left out are evaluated once.
        together = SparseExpansion.of(
            training.prepared,
            training.points,
            [training.unscaled(array) for fit in fits for array in fit.coefficients],
            np.concatenate([fit.intercept for fit in fits]),
        )
        left_out = take_rows(X, test)
        values = together.scores(model._checked(left_out))
        extra = {} if weight is None else {"sample_weight": weight[test]}
        result = np.empty(len(alphas))
        for i, columns in enumerate(np.split(np.arange(values.shape[1]), len(alphas))):
            model._expansion = _Known(values[:, columns])
            result[i] = self.scorer(model, left_out, y[test], **extra)
        return result


@dataclass(frozen=True)
class _Known:
    """Scores computed before, in the place of an expansion."""

    values: FloatArray
    reads_samples: bool = True

    def scores(self, X: Any) -> FloatArray:
        if n_samples(X) != len(self.values):
            raise ValueError(f"scores of {len(self.values)} samples are known; asked for are {n_samples(X)}.")
        return self.values


def _chosen(scores: FloatArray, selection: str) -> int:
    """Which of the strengths, which fall."""
    means = scores.mean(axis=1)
    best = int(means.argmax())
    if selection == "best" or scores.shape[1] < 2:
        return best
    error = float(scores[best].std(ddof=1)) / np.sqrt(scores.shape[1])
    return int(np.argmax(means >= means[best] - error))
