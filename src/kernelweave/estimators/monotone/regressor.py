"""Regression that learns how features should be bent, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d

from kernelweave.estimators.monotone.ramp_learner import RampLearner
from kernelweave.estimators.monotone.ramp_model import RampModel
from kernelweave.estimators.monotone.ramp_regression import RegressionSettings, fit_ridge
from kernelweave.estimators.progress import progress_callback
from kernelweave.estimators.samples import check_sample_weight
from kernelweave.gram.base import FloatArray
from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.problems.ridge import RidgeProblem

__all__ = ["MonotoneRegressor"]

_SETTINGS = ("C", "predict_with", "tol", "max_iter", "time_limit")


class MonotoneRegressor(RegressorMixin, RampLearner):
    """Ridge regression on monotone transforms of the features, learned with it.

    The convex method of `MonotoneClassifier` with the squared loss: weights of the ramps as kernels of kernel ridge
    regression, with an intercept that is not penalised,

        min over ramp weights mu, w, b:  ||w||^2 + C sum_i s_i (y_i - f(x_i))^2,

    certified by its dual. It has the saddle structure of the 2-norm margin without the bounds on the dual variables
    (maximise ``2 a'y - a'(K + I / C) a`` over ``sum a = 0``), which makes each step one linear system.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the squared errors: ``1 / alpha`` of ``sklearn.linear_model.Ridge``.
    share : {"all", "feature"} or array-like of shape (n_features,), default="all"
        One transform for all features, which should then be on one scale; one for each; or a label for each feature,
        those with equal labels sharing one.
    n_knots : int, default=10
        Number of knots, at quantiles of the (pooled) values; ties are merged. Where zeros abound, zero is a knot and
        the others are quantiles of the rest.
    knots : array-like of shape (n_ramps + 1,), list of array-like, or None, default=None
        Knots to use instead: for all transforms, or a list with those of each.
    predict_with : {"kernel", "transform"}, default="kernel"
        The additive predictor, with a coefficient for every ramp of every feature, which need not be monotone in a
        feature; or ridge regression on the recovered transform.
    tol : float, default=1e-3
        Relative duality gap to reach.
    max_iter : int or None, default=None
        Largest number of solver iterations.
    time_limit : float or None, default=None
        Seconds for the solver.
    verbose : bool, int or callable, default=0
        As for `MKLClassifier`.

    Attributes
    ----------
    knots_ : ndarray of shape (n_ramps + 1,), or list of ndarray
        Knots; a list with those of each transform unless ``share="all"``.
    ramp_weights_ : ndarray of shape (n_ramps,), or list of ndarray
        Nonnegative weights of the ramps, one after the other, summing to one for each transform.
    groups_ : ndarray of shape (n_features,), dtype intp
        Number of each feature's transform.
    coef_ : ndarray of shape (n_features,)
        Weights of the transformed features, with ``predict_with="transform"``.
    intercept_ : float
        Intercept.
    objective_ : float
        Primal value of the convex problem.
    dual_gap_ : float
        ``objective_`` minus the lower bound.
    certificate_ : Certificate
        Primal value, dual value, gap and relative gap.
    relaxation_gap_ : float or None
        ``1 - bound / value`` of ridge regression on the transform, with ``predict_with="transform"``: at most so much
        could any transform with the same knots gain.
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
    .. [H07] Howard, Jebara, "Learning monotonic transformations for classification", NIPS 2007 (classification; the
       squared loss is ours).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MonotoneRegressor
    >>> X = np.random.default_rng(0).uniform(0, 1, (200, 3)) ** 2
    >>> model = MonotoneRegressor(C=1e3, predict_with="transform").fit(X[:100], np.sqrt(X[:100]).sum(axis=1))
    >>> model.score(X[100:], np.sqrt(X[100:]).sum(axis=1)) > 0.99
    True
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        share: Any = "all",
        n_knots: int = 10,
        knots: Any = None,
        predict_with: str = "kernel",
        tol: float = 1e-3,
        max_iter: int | None = None,
        time_limit: float | None = None,
        verbose: Any = 0,
    ) -> None:
        self.C = C
        self.share = share
        self.n_knots = n_knots
        self.knots = knots
        self.predict_with = predict_with
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn transforms and the regression.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Finite numbers. A sparse matrix stays sparse.
        y : array-like of shape (n_samples,)
            Finite values to predict.
        sample_weight : array-like of shape (n_samples,), optional
            A sample of weight s counts as s copies.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For bad parameters, samples or targets.
        MemoryLimitError
            When neither samples nor ramps of all features are few enough to be factorised in memory.

        Warns
        -----
        ConvergenceWarning
            When the tolerance was not reached, with the gap.
        """
        # A fit that fails or is interrupted must not pass for the one before.
        for kept_from_before in ("_model", "coef_"):
            self.__dict__.pop(kept_from_before, None)
        settings = RegressionSettings(
            **{name: getattr(self, name) for name in _SETTINGS}, callback=progress_callback(self.verbose)
        )
        X = self._samples(X, reset=True)
        y = self._targets(y, X)
        weight = check_sample_weight(sample_weight, len(y))
        kept = np.flatnonzero(weight > 0)
        ramps, X = self._ramps(X, kept, sample_weight)
        y, weight = y[kept], weight[kept]
        # Without their mean, targets far from zero lose no digits.
        mean = float(weight @ y / weight.sum())
        gram = RampStack(ramps.cells(X), ramps.n_ramps)
        problem = RidgeProblem((y - mean)[None], 1.0 / (float(self.C) * weight), ramps.group_of_ramp)
        fit = fit_ridge(problem, gram, settings)
        self._store(RampModel(ramps, fit.weights, fit.coefficients, fit.intercept + mean), fit)
        self.intercept_ = float(self._model.intercept[0])
        if fit.feature_weights is not None:
            self.coef_ = fit.feature_weights[0]
        return self

    def _targets(self, y: Any, X: Any) -> FloatArray:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        y = column_or_1d(y, warn=True)
        y = np.asarray(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"))
        check_consistent_length(X, y)
        return y

    def predict(self, X: Any) -> FloatArray:
        """Predicted value of each sample.

        Parameters
        ----------
        X : like the X of fit
            Samples; values beyond the knots count as on the outermost ones.

        Returns
        -------
        ndarray of shape (n_samples,)
            Values.
        """
        check_is_fitted(self)
        return self._model.scores(self._samples(X, reset=False))[:, 0]

    def score_curve(self, feature: int | str = 0) -> tuple[FloatArray, FloatArray]:
        """The part of a feature in the predictions, a function of its value alone.

        Parameters
        ----------
        feature : int or str, default=0
            Position or name.

        Returns
        -------
        knots, values : ndarray of shape (n_knots,)
            Knots of the feature, and its part there, linear in between and constant beyond. Predictions
            are the sum over the features plus ``intercept_``.
        """
        check_is_fitted(self)
        knots, values = self._model.score_curve(self._position(feature))
        return knots, values[0]
