"""Mixed norms along a path of strengths, each fit starting from the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from kernelweave.estimators.mixed_norm.fit import MixedNormFit, MixedNormSettings, fit_mixed_norm, largest_strengths
from kernelweave.estimators.mixed_norm.model import MixedNormModel, Training
from kernelweave.gram.base import FloatArray, GramStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.losses import Loss

__all__ = ["MixedNormPath", "alpha_grid", "fit_path", "mixed_norm_path"]

Candidates = list[Candidate]


@dataclass(frozen=True)
class MixedNormPath:
    """Fitted models from the strongest penalty to the weakest.

    Parameters
    ----------
    alphas : ndarray of shape (n_alphas,)
        Strengths, falling.
    models : list of n_alphas estimators
        Fitted at each strength, ready to predict.

    Attributes
    ----------
    kernel_names : ndarray of shape (n_kernels,), dtype object
        Names of the kernels.
    kernel_norms : ndarray of shape (n_alphas, n_kernels) or (n_alphas, n_classes, n_kernels)
        Norm of each kernel's coefficients.
    support_sizes : ndarray of shape (n_alphas,)
        Number of samples that are kept.
    dual_gaps : ndarray of shape (n_alphas,)
        Certified relative gap of each fit.
    """

    alphas: FloatArray
    models: list[Any]

    @property
    def kernel_names(self) -> Any:
        """Names of the kernels."""
        return self.models[0].kernel_names_

    @property
    def kernel_norms(self) -> FloatArray:
        """Norm of each kernel's coefficients at each strength."""
        return np.array([model.kernel_norms_ for model in self.models])

    @property
    def support_sizes(self) -> Any:
        """Number of samples that are kept at each strength."""
        return np.array([len(model.support_) for model in self.models])

    @property
    def dual_gaps(self) -> FloatArray:
        """Certified relative gap at each strength."""
        return np.array([model.certificate_.relative_gap for model in self.models])


def mixed_norm_path(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    alphas: Any = None,
    n_alphas: int = 30,
    alpha_min_ratio: float = 1e-3,
    sample_weight: Any = None,
    start: MixedNormPath | None = None,
) -> MixedNormPath:
    """Fit an estimator along a path of strengths of its penalty.

    The kernels are evaluated once, and each fit starts from the one before.

    Parameters
    ----------
    estimator : MixedNormClassifier or MixedNormRegressor
        Kernels, penalty and all else but ``alpha``; not changed.
    X, y : as for the estimator's ``fit``
        Samples and targets.
    alphas : array-like of shape (n_alphas,), optional
        Strengths; by default a geometric grid down from the smallest strength at which everything is zero
        (for "l2" and "elitist", where there is none: at which the loss falls by a hundredth at most).
    n_alphas : int, default=30
        Length of the default grid.
    alpha_min_ratio : float, default=1e-3
        Last strength of the default grid over the first.
    sample_weight : array-like of shape (n_samples,), optional
        As for ``fit``.
    start : MixedNormPath, optional
        An earlier path on the same samples, kernels and penalty, to go on from: its strengths are
        not fitted again (where they are certified to the tolerance), and its coefficients start new ones.

    Returns
    -------
    MixedNormPath

    Raises
    ------
    ValueError
        For bad strengths, an earlier path that does not fit, and whatever the estimator refuses.

    Warns
    -----
    ConvergenceWarning
        For each fit that does not reach the tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MixedNormClassifier, mixed_norm_path
    >>> from kernelweave.kernels import RBF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 3))
    >>> kernels = [("signal", RBF(gamma=1.0), [0]), ("noise", RBF(gamma=1.0), [1, 2])]
    >>> path = mixed_norm_path(MixedNormClassifier(kernels), X, X[:, 0] > 0, n_alphas=5)
    >>> path.kernel_norms[:2] > 0  # at alphas falling from the smallest that gives zero
    array([[False, False],
           [ True, False]])
    """
    if not (isinstance(estimator, MixedNormModel) and hasattr(estimator, "alpha")):
        raise ValueError(f"estimator must be a MixedNormClassifier or MixedNormRegressor; got {estimator!r}.")
    template = clone(estimator)
    settings, training, losses, n = template._prepare(X, y, sample_weight, None)
    grid = alpha_grid(losses, training.gram, settings, alphas, n_alphas, alpha_min_ratio)
    done = {} if start is None else _earlier(start, settings, training, n)
    models = {alpha: model for alpha, (model, _) in done.items() if model.certificate_.relative_gap <= settings.tol}
    known = {alpha: candidates for alpha, (_, candidates) in done.items()}
    wanted = np.array([alpha for alpha in grid if alpha not in models])
    for alpha, fit in zip(wanted, fit_path(losses, wanted, training.gram, settings, known), strict=True):
        models[alpha] = _stored(template, training, fit, float(alpha), n)
    return MixedNormPath(grid, [models[alpha] for alpha in grid])


def fit_path(
    losses: Sequence[Loss],
    alphas: FloatArray,
    gram: GramStack,
    settings: MixedNormSettings,
    known: dict[float, Candidates] | None = None,
) -> list[MixedNormFit]:
    """Solve at each strength, starting from the solution at the nearest strength (of ``known`` ones, too).

    Parameters
    ----------
    losses, gram, settings
        As for `fit_mixed_norm`.
    alphas : ndarray of shape (n_alphas,)
        Strengths, falling.
    known : dict of float to list of Candidate, optional
        Solutions of earlier runs on the same kernels.

    Returns
    -------
    list of MixedNormFit
    """
    limits = largest_strengths(losses, gram, settings)
    known, fits = dict(known or {}), []
    for alpha in alphas:
        nearest = min(known, key=lambda other: abs(np.log(other / alpha)), default=None)
        start = None if nearest is None else known[nearest]
        fits.append(fit_mixed_norm(losses, float(alpha), gram, settings, start=start, alpha_max=limits))
        known[float(alpha)] = fits[-1].candidates
    return fits


def alpha_grid(
    losses: Sequence[Loss],
    gram: GramStack,
    settings: MixedNormSettings,
    alphas: Any,
    n_alphas: int,
    alpha_min_ratio: float,
) -> FloatArray:
    """The strengths asked for, falling, or the default grid of `mixed_norm_path`.

    Raises
    ------
    ValueError
        For strengths that are not positive, or a grid that is none.
    """
    if alphas is not None:
        grid = np.unique(np.asarray(alphas, dtype=np.float64))[::-1]
        if grid.ndim != 1 or not len(grid) or not (np.isfinite(grid).all() and (grid > 0).all()):
            raise ValueError(f"alphas must be positive finite numbers; got {alphas!r}.")
        return grid
    if not (isinstance(n_alphas, Integral) and n_alphas >= 1):
        raise ValueError(f"n_alphas must be a whole number of at least 1; got {n_alphas!r}.")
    if not (isinstance(alpha_min_ratio, Real) and 0 < alpha_min_ratio < 1):
        raise ValueError(f"alpha_min_ratio must lie between 0 and 1; got {alpha_min_ratio!r}.")
    first = max(settings.problem(loss, 1.0).path_start(gram) for loss in losses)
    if not first > 0:
        raise ValueError("Every kernel is zero on the training samples, so there is no path; give alphas.")
    return np.geomspace(first, first * float(alpha_min_ratio), int(n_alphas))


def _earlier(
    start: MixedNormPath, settings: MixedNormSettings, training: Training, n: int
) -> dict[float, tuple[Any, Candidates]]:
    shape = (n, training.gram.n_kernels)
    known = {}
    for alpha, model in zip(start.alphas, start.models, strict=True):
        coefficients = model.coef_ if isinstance(model.coef_, list) else [model.coef_]
        if coefficients[0].shape != shape or model._norm() != settings.norm:
            raise ValueError(
                f"start is a path of {coefficients[0].shape[0]} samples and {coefficients[0].shape[1]} kernels under "
                f"{model._norm()}; asked for are {shape[0]} and {shape[1]} under {settings.norm}."
            )
        known[float(alpha)] = model, [_candidate(array, training) for array in coefficients]
    return known


def _candidate(coefficients: Any, training: Training) -> Candidate:
    array = coefficients.toarray() if issparse(coefficients) else np.array(coefficients)
    return Candidate(alpha=training.scaled(array[training.kept]))


def _stored(template: Any, training: Training, fit: MixedNormFit, alpha: float, n: int) -> Any:
    model = clone(template).set_params(alpha=alpha)
    vars(model).update({name: value for name, value in vars(template).items() if name not in vars(model)})
    model._store(training, fit, n)
    return model
