"""Classifiers that learn how features should be bent, as scikit-learn estimators."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from kernelweave.estimators.monotone.ramp_learner import RampLearner
from kernelweave.gram.base import FloatArray

__all__ = ["MonotoneClassifier"]


class MonotoneClassifier(ClassifierMixin, RampLearner):
    """Support vector machine on monotone transforms of the features, learned with it.

    A transform is ``phi(x) = sum_j m_j phi_j(x)``, a sum of truncated ramps between knots with nonnegative weights
    that add up to one. It stands in for a logarithm, a square root or a threshold chosen by hand.

    The convex method (CMono) learns weights of the ramps as kernels: the exact optimum of the semidefinite
    relaxation in [H07], certified, at the cost of a few linear SVMs. Its predictor has a coefficient for every
    ramp of every feature, so it is an additive model that need not be monotone in a feature; the transform recovered
    from it is. The alternating method (LMono) learns one transform and a linear classifier on it; that problem is
    not convex, and the end is a local minimum, reported with its distance from the bound of the relaxation.

    Parameters
    ----------
    method : {"convex", "alternating"}, default="convex"
        CMono or LMono.
    margin : {"l1", "l2"}, default="l1"
        1-norm soft margin (hinge) or 2-norm soft margin (squared hinge).
    C : float, default=1.0
        Penalty, as in ``sklearn.svm.SVC`` for "l1".
    share : {"all", "feature"} or array-like of shape (n_features,), default="all"
        One transform for all features, which should then be on one scale; one for each; or a label for each feature,
        those with equal labels sharing one.
    n_knots : int, default=10
        Number of knots, at quantiles of the (pooled) values; ties are merged. Where zeros abound, zero is a knot and
        the others are quantiles of the rest.
    knots : array-like of shape (n_ramps + 1,), list of array-like, or None, default=None
        Knots to use instead: for all transforms, or a list with those of each.
    directions : array-like of shape (n_features,), dict or None, default=None
        For ``share="feature"`` and two classes: 1 where the decision value must increase with the feature, -1 where it
        must decrease, 0 where either will do, as in scikit-learn's ``monotonic_cst``; or feature names to such.
    predict_with : {"kernel", "transform"}, default="kernel"
        For the convex method: the additive predictor, as in [H07], or a linear SVM on the recovered transform.
    start : {"best", "linear", "convex"} or array-like of shape (n_ramps,), default="best"
        For the alternating method: from transforms that are linear, from the convex method's, from both with the
        better end kept, or from given ramp weights.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the samples' weights by class, as in scikit-learn.
    tol : float, default=1e-3
        Relative duality gap to reach (of the convex problem).
    max_iter : int or None, default=None
        Largest number of solver iterations, in each run.
    time_limit : float or None, default=None
        Seconds for all runs.
    solver : {"auto", "interior_point", "descent"}, default="auto"
        Algorithm of the convex problem: interior point in the space of the ramps, or dual coordinate descent for
        many samples of many features; "auto" chooses by size.
    verbose : bool, int or callable, default=0
        As for `MKLClassifier`.
    random_state : int, RandomState or None, default=None
        Not used by the present solvers, which are deterministic; part of the common signature.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels; a positive decision value means ``classes_[1]``. With more than two, all classes share the transforms.
    knots_ : ndarray of shape (n_ramps + 1,), or list of ndarray
        Knots; a list with those of each transform unless ``share="all"``.
    ramp_weights_ : ndarray of shape (n_ramps,), or list of ndarray
        Nonnegative weights of the ramps, one after the other, summing to one for each transform.
    groups_ : ndarray of shape (n_features,), dtype intp
        Number of each feature's transform.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        Weights of the transformed features, where prediction uses the transform.
    intercept_ : ndarray of shape (1 or n_classes,)
        Biases.
    objective_ : float
        Primal value of the method's problem, summed over the classes (convex: that of the additive predictor;
        alternating: that of the linear classifier on the transform).
    dual_gap_ : float
        ``objective_`` minus the best lower bound, which for both methods is that of the convex problem.
    certificate_ : Certificate
        Primal value, dual value, gap and relative gap.
    relaxation_gap_ : float or None
        ``1 - bound / objective`` of the linear classifier on the transform: at most so much could any transform
        with the same knots gain. None where no such classifier was fitted.
    status_ : Status
        How the solver ended; `LOCAL_MINIMUM` is the normal end of the alternating method.
    n_iter_ : int
        Solver iterations over all runs.
    n_samples_fit_ : int
        Number of training samples.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where X has them.

    References
    ----------
    .. [H07] Howard, Jebara, "Learning monotonic transformations for classification", NIPS 2007.

    Examples
    --------
    >>> from kernelweave import MonotoneClassifier
    >>> from kernelweave.datasets import make_monotone
    >>> bent = make_monotone(400, transform="square", random_state=0)
    >>> model = MonotoneClassifier(C=100.0, predict_with="transform").fit(bent.data[:200], bent.target[:200])
    >>> model.score(bent.data[200:], bent.target[200:]) > 0.98
    True
    >>> model.ramp_weights_.shape, bool(model.certificate_.relative_gap <= 1e-3)
    ((9,), True)
    """

    def __init__(
        self,
        method: str = "convex",
        *,
        margin: str = "l1",
        C: float = 1.0,
        share: Any = "all",
        n_knots: int = 10,
        knots: Any = None,
        directions: Any = None,
        predict_with: str = "kernel",
        start: Any = "best",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int | None = None,
        time_limit: float | None = None,
        solver: str = "auto",
        verbose: Any = 0,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.margin = margin
        self.C = C
        self.share = share
        self.n_knots = n_knots
        self.knots = knots
        self.directions = directions
        self.predict_with = predict_with
        self.start = start
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver = solver
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn transforms and the classifier.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Finite numbers. A sparse matrix stays sparse.
        y : array-like of shape (n_samples,)
            Labels of any type, at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            A sample of weight s counts as s copies.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For bad parameters, samples or labels.

        Warns
        -----
        ConvergenceWarning
            When the tolerance was not reached, with the gap; when the alternating method was cut short.
        """
        fit = self._classify(X, y, sample_weight, self.predict_with)
        self.intercept_ = fit.intercept
        self.__dict__.pop("coef_", None)
        if fit.feature_weights is not None:
            self.coef_ = fit.feature_weights
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Signed distances in units of the margin.

        Parameters
        ----------
        X : like the X of fit
            Samples; values beyond the knots count as on the outermost ones.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes positive values mean ``classes_[1]``; else one column a class.
        """
        check_is_fitted(self)
        scores = self._model.scores(self._samples(X, reset=False))
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

    def score_curve(self, feature: int | str = 0) -> tuple[FloatArray, FloatArray]:
        """The part of a feature in the decision values, a function of its value alone.

        Parameters
        ----------
        feature : int or str, default=0
            Position or name.

        Returns
        -------
        knots : ndarray of shape (n_knots,)
            Knots of the feature.
        values : ndarray of shape (n_knots,) or (n_classes, n_knots)
            Its part there, linear in between and constant beyond. Decision values are the sum over
            the features plus ``intercept_``. Of the additive predictor it need not be monotone.
        """
        check_is_fitted(self)
        knots, values = self._model.score_curve(self._position(feature))
        return knots, values[0] if len(self.classes_) == 2 else values
