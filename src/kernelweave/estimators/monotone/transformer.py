"""Learned monotone transforms as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernelweave.estimators.monotone.ramp_learner import RampLearner

__all__ = ["MonotoneTransformer"]


class MonotoneTransformer(OneToOneFeatureMixin, TransformerMixin, RampLearner):
    """Bends each feature by the monotone transform that a large margin asks for.

    Learns as `MonotoneClassifier` does, and hands over phi(x), entry by entry in [0, 1], to any other estimator.

    Parameters
    ----------
    method : {"convex", "alternating"}, default="convex"
        CMono or LMono, see `MonotoneClassifier`.
    margin : {"l1", "l2"}, default="l1"
        1-norm soft margin (hinge) or 2-norm soft margin (squared hinge) of the classifier it learns with.
    C : float, default=1.0
        Penalty of that classifier.
    share : {"all", "feature"} or array-like of shape (n_features,), default="all"
        One transform for all features, which should then be on one scale; one for each; or a label for each feature,
        those with equal labels sharing one.
    n_knots : int, default=10
        Number of knots, at quantiles of the (pooled) values; ties are merged. Where zeros abound, zero is a knot and
        the others are quantiles of the rest.
    knots : array-like of shape (n_ramps + 1,), list of array-like, or None, default=None
        Knots to use instead: for all transforms, or a list with those of each.
    directions : array-like of shape (n_features,), dict or None, default=None
        For ``share="feature"`` and two classes: the sign with which the feature may enter the classifier, see
        `MonotoneClassifier`. The transform itself always increases.
    start : {"best", "linear", "convex"} or array-like of shape (n_ramps,), default="best"
        Of the alternating method.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the samples' weights by class, as in scikit-learn.
    tol : float, default=1e-3
        Relative duality gap to reach (of the convex problem).
    max_iter : int or None, default=None
        Largest number of solver iterations, in each run.
    time_limit : float or None, default=None
        Seconds for all runs.
    solver : {"auto", "interior_point", "descent"}, default="auto"
        Algorithm of the convex problem.
    verbose : bool, int or callable, default=0
        As for `MKLClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    knots_ : ndarray of shape (n_ramps + 1,), or list of ndarray
        Knots; a list with those of each transform unless ``share="all"``.
    ramp_weights_ : ndarray of shape (n_ramps,), or list of ndarray
        Nonnegative weights of the ramps, one after the other, summing to one for each transform.
    groups_ : ndarray of shape (n_features,), dtype intp
        Number of each feature's transform.
    objective_ : float
        Primal value of the method's problem, see `MonotoneClassifier`.
    dual_gap_ : float
        ``objective_`` minus the lower bound of the convex problem.
    certificate_ : Certificate
        Primal value, dual value, gap and relative gap.
    relaxation_gap_ : float or None
        See `MonotoneClassifier`; None for the convex method, which needs no classifier on the transform.
    status_ : Status
        How the solver ended.
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
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from kernelweave import MonotoneTransformer
    >>> from kernelweave.datasets import make_monotone
    >>> bent = make_monotone(400, transform="square", random_state=0)
    >>> model = make_pipeline(MonotoneTransformer(C=100.0), LogisticRegression(C=1e4))
    >>> model.fit(bent.data[:200], bent.target[:200]).score(bent.data[200:], bent.target[200:]) > 0.98
    True
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
        start: Any = "best",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int | None = None,
        time_limit: float | None = None,
        solver: str = "auto",
        verbose: Any = 0,
    ) -> None:
        self.method = method
        self.margin = margin
        self.C = C
        self.share = share
        self.n_knots = n_knots
        self.knots = knots
        self.directions = directions
        self.start = start
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver = solver
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the transforms.

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
        self._classify(X, y, sample_weight, "kernel")
        return self

    def transform(self, X: Any) -> Any:
        """phi(x) of every entry.

        Parameters
        ----------
        X : like the X of fit
            Samples; values beyond the knots count as on the outermost ones.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_features)
            From 0 to 1. Sparse where X is and phi(0) = 0; fitted on sparse samples with negative values,
            phi is shifted so that it is, and lies between -1 and 1.
        """
        check_is_fitted(self)
        return self._model.transform(self._samples(X, reset=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags
