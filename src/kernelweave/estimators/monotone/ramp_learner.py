"""What estimators with learned monotone transforms have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelweave.estimators.classes import encode_weighted_classes, one_against_rest
from kernelweave.estimators.monotone.ramp_fit import RampFit, RampSettings, fit_ramps
from kernelweave.estimators.monotone.ramp_model import RampModel
from kernelweave.estimators.monotone.ramp_setting import (
    feature_position,
    resolve_directions,
    resolve_groups,
    resolve_ramps,
)
from kernelweave.estimators.progress import progress_callback
from kernelweave.estimators.samples import check_sample_weight
from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.gram.ramps.directed import DirectedRampStack
from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.kernels.monotone.ramps import Ramps

__all__ = ["RampLearner"]

_SETTINGS = ("method", "margin", "C", "start", "tol", "max_iter", "time_limit", "solver")


class RampLearner(BaseEstimator):
    """Checks samples, learns ramp weights with a classifier, and shows the transforms."""

    share: Any
    n_knots: int
    knots: Any
    directions: Any
    class_weight: Any
    verbose: Any

    def _samples(self, X: Any, *, reset: bool) -> Any:
        least = 2 if reset else 1
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64, ensure_min_samples=least)

    def _classify(self, X: Any, y: Any, sample_weight: Any, predict_with: str) -> RampFit:
        """Learn from labelled samples; sets the attributes that all estimators share."""
        # A fit that fails or is interrupted must not pass for the one before.
        self.__dict__.pop("_model", None)
        settings = RampSettings(
            **{name: getattr(self, name) for name in _SETTINGS},
            predict_with=predict_with,
            callback=progress_callback(self.verbose),
        )
        X = self._samples(X, reset=True)
        self.classes_, codes, weight = encode_weighted_classes(
            type(self).__name__, y, X.shape[0], sample_weight, self.class_weight
        )
        kept = np.flatnonzero(weight > 0)
        codes = codes[kept]
        labels = one_against_rest(codes, len(self.classes_))
        directions = self._directions(len(labels))
        ramps, X = self._ramps(X, kept, sample_weight)
        gram = _stack(ramps, X, directions)
        settings = _with_start(settings, ramps)
        problem = settings.problem(labels, weight[kept], gram, ramps.group_of_ramp)
        fit = fit_ramps(problem, gram, _linear_weights(ramps), settings)
        self._store(RampModel(ramps, fit.weights, fit.coefficients, fit.intercept), fit)
        return fit

    def _ramps(self, X: Any, kept: IntArray, sample_weight: Any) -> tuple[Ramps, Any]:
        """Ramps for the samples that count, and these samples."""
        self.n_samples_fit_ = X.shape[0]
        repeats = None if sample_weight is None else check_sample_weight(sample_weight, X.shape[0])[kept]
        X = X if len(kept) == X.shape[0] else X[kept]
        return resolve_ramps(X, resolve_groups(self.share, X.shape[1]), self.n_knots, self.knots, repeats), X

    def _directions(self, n_columns: int) -> FloatArray | None:
        names = getattr(self, "feature_names_in_", None)
        directions = resolve_directions(self.directions, self.n_features_in_, names)
        if directions is None:
            return None
        if not (isinstance(self.share, str) and self.share == "feature"):
            raise ValueError("directions need share='feature': a shared transform has no direction of its own.")
        if n_columns > 1:
            raise ValueError("directions need two classes: with more, 'increasing' says nothing about a class.")
        return directions

    def _store(self, model: RampModel, fit: RampFit) -> None:
        model.check_monotone()
        self._model = model
        parts = np.split(model.weights, model.ramps.offsets[1:-1])
        shared = isinstance(self.share, str) and self.share == "all"
        self.knots_: Any = model.ramps.knots[0] if shared else list(model.ramps.knots)
        self.ramp_weights_: Any = parts[0] if shared else parts
        self.groups_ = model.ramps.groups
        self.certificate_ = fit.certificate
        self.objective_, self.dual_gap_ = fit.certificate.primal, fit.certificate.gap
        self.relaxation_gap_ = fit.relaxation_gap
        self.status_, self.n_iter_ = fit.status, fit.n_iter

    def transform_curve(self, feature: int | str = 0) -> tuple[FloatArray, FloatArray]:
        """The learned transform of a feature.

        Parameters
        ----------
        feature : int or str, default=0
            Position or name.

        Returns
        -------
        knots : ndarray of shape (n_knots,)
            Knots of the feature.
        values : ndarray of shape (n_knots,)
            The transform there, nondecreasing, linear in between and constant beyond. It rises by
            one from end to end: from 0, unless sparse samples with negative values keep phi(0) = 0.
        """
        check_is_fitted(self)
        return self._model.transform_curve(self._position(feature))

    def _position(self, feature: int | str) -> int:
        return feature_position(feature, self.n_features_in_, getattr(self, "feature_names_in_", None))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _stack(ramps: Ramps, X: Any, directions: FloatArray | None) -> RampStack:
    cells = ramps.cells(X)
    if directions is None:
        return RampStack(cells, ramps.n_ramps)
    return DirectedRampStack(cells, ramps.n_ramps, directions)


def _linear_weights(ramps: Ramps) -> FloatArray:
    """Weights with which every transform is linear between its outermost knots."""
    return np.concatenate([np.diff(knots) / (knots[-1] - knots[0]) for knots in ramps.knots])


def _with_start(settings: RampSettings, ramps: Ramps) -> RampSettings:
    """The settings with a start given as numbers checked against the ramps."""
    if isinstance(settings.start, str):
        return settings
    start = settings.start
    each = len(start) > 0 and np.ndim(start[0]) > 0
    weights = np.asarray(np.concatenate([np.ravel(part) for part in start]) if each else start, dtype=np.float64)
    if weights.shape != (ramps.n_ramps,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"start must be nonnegative ramp weights, {ramps.n_ramps} in all; got {start!r}.")
    if (np.bincount(ramps.group_of_ramp, weights) <= 0).any():
        raise ValueError("start must give some ramp of every transform a positive weight.")
    return replace(settings, start=weights)
