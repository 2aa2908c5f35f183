"""A fitted additive model on ramps, which needs no training samples to predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.gram.base import FloatArray
from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.kernels.monotone.ramps import Ramps

__all__ = ["RampModel"]


@dataclass(frozen=True)
class RampModel:
    """Scores ``f_k(x) = sum over features and ramps of coefficient * phi_j(x_f) + intercept_k``.

    Parameters
    ----------
    ramps : Ramps
        Knots and groups.
    weights : ndarray of shape (n_ramps,)
        Ramp weights of the transforms, group after group.
    coefficients : ndarray of shape (n_outputs, n_coefficients)
        In the order of the columns of `RampStack`.
    intercept : ndarray of shape (n_outputs,)
        Biases.
    """

    ramps: Ramps
    weights: FloatArray
    coefficients: FloatArray
    intercept: FloatArray

    def scores(self, X: Any) -> FloatArray:
        """Scores of samples, shape (n_samples, n_outputs).

        Raises
        ------
        ValueError
            For samples or coefficients that do not fit the ramps.
        """
        gram = RampStack(self.ramps.cells(X), self.ramps.n_ramps)
        # Compiled code follows indices without looking.
        if X.shape[1] != len(self.ramps.groups) or self.coefficients.shape[1] != gram.rank:
            raise ValueError(
                f"{X.shape[1]} features and {self.coefficients.shape[1]} coefficients do not fit ramps of "
                f"{len(self.ramps.groups)} features with {gram.rank} coefficients."
            )
        return np.stack([gram.forward(c) for c in self.coefficients], axis=1) + self.intercept

    def transform(self, X: Any) -> Any:
        """phi(x) of every entry, sparse where X is and zeros are kept."""
        return self.ramps.transform(X, self.weights)

    def transform_curve(self, feature: int) -> tuple[FloatArray, FloatArray]:
        """Knots of a feature, and the transform there."""
        knots = self.ramps.knots[self.ramps.groups[feature]]
        return knots.copy(), np.asarray(self.transform(self._along(feature, knots))[:, feature])

    def score_curve(self, feature: int) -> tuple[FloatArray, FloatArray]:
        """Knots of a feature, and its part of the scores there, (n_outputs, n_knots), from zero at phi = 0."""
        knots = self.ramps.knots[self.ramps.groups[feature]]
        scores = self.scores(self._along(feature, knots)) - self.intercept
        return knots.copy(), np.ascontiguousarray(scores.T)

    def _along(self, feature: int, values: FloatArray) -> FloatArray:
        """Samples that differ in one feature, the others where their ramps begin."""
        ramps = self.ramps
        rest = np.array([0.0 if ramps.anchored else knots[0] for knots in ramps.knots])[ramps.groups]
        samples = np.tile(rest, (len(values), 1))
        samples[:, feature] = values
        return samples

    def check_monotone(self) -> None:
        """Make sure that every transform increases from one end of its knots to the other.

        Raises
        ------
        RuntimeError
            When one does not, which is a fault of ours.
        """
        for group, knots in enumerate(self.ramps.knots):
            between = np.sort(np.concatenate([knots, 0.5 * (knots[1:] + knots[:-1])]))
            feature = int(np.argmax(self.ramps.groups == group))
            phi = self.transform(self._along(feature, between))[:, feature]
            if not (np.diff(phi) >= 0).all() or not abs(phi[-1] - phi[0] - 1.0) < 1e-8:
                raise RuntimeError(
                    f"Transform {group} is not monotone (or not normalised): {phi}. This is a fault of kernelweave; "
                    "please report it."
                )
