"""Ramps whose coefficients may have one sign only.

A feature that must count in one direction (increasing or decreasing) has coefficients w = Z'v of
that sign only; the others are set to zero. What was ``K_i v = Z_i Z_i'v`` becomes ``Z_i P(Z_i'v)`` with P the
projection on the allowed signs, and ``v'K_i v`` the squared length of P(Z_i'v). These are no
kernels any more, but exactly what margin problems need: the gradient and the value of a convex
function of v, and scores of functions that are monotone in the feature.
"""

from __future__ import annotations

import numpy as np

from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.gram.image import Image
from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.kernels.monotone.ramps import RampCells

__all__ = ["DirectedRampStack"]


class DirectedRampStack(RampStack):
    """Ramp kernels with the coefficients of some features restricted to one sign.

    Parameters
    ----------
    cells : RampCells
        Samples as positions on the ramps.
    n_kernels : int
        Number of ramp kernels.
    feature_directions : ndarray of shape (n_features,)
        +1 or -1 where scores must increase or decrease with the feature, 0 where they may do either.

    Examples
    --------
    >>> from kernelweave.kernels.monotone.ramps import Ramps
    >>> cells = Ramps((np.array([0.0, 1.0]),), np.zeros(1, dtype=np.intp)).cells(np.array([[0.5], [1.0]]))
    >>> stack = DirectedRampStack(cells, 1, np.array([1.0]))
    >>> stack.quadratic_forms(np.array([0.0, 2.0])), stack.quadratic_forms(np.array([0.0, -2.0]))
    (array([4.]), array([0.]))
    """

    def __init__(self, cells: RampCells, n_kernels: int, feature_directions: FloatArray) -> None:
        super().__init__(cells, n_kernels)
        self._by_feature = feature_directions
        self._by_column = feature_directions[cells.feature_of] * cells.signs

    @property
    def feature_directions(self) -> FloatArray:
        return self._by_feature

    @property
    def directions(self) -> FloatArray:
        return self._by_column

    def transformed(self, weights: FloatArray) -> DirectedRampStack:
        return DirectedRampStack(super().transformed(weights).cells, 1, self._by_feature)

    def restrict(self, rows: IntArray, cols: IntArray | None = None) -> DirectedRampStack:
        """Stack of the symmetric blocks; ``cols`` must equal ``rows``."""
        return DirectedRampStack(super().restrict(rows, cols).cells, self.n_kernels, self.feature_directions)

    def backward(self, vector: FloatArray) -> FloatArray:
        """``P(Z'v)``: (n,) -> (rank,)."""
        coefficients = self.unrestricted(vector)
        return np.where(self.directions * coefficients >= 0, coefficients, 0.0)

    def image(self, vector: FloatArray) -> Image:
        """Refused: the interior point needs kernels."""
        raise NotImplementedError("Directed ramps are no kernels; use the descent solver.")
