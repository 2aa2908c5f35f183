"""Steps on simplexes, one for each group of variables."""

from __future__ import annotations

import numpy as np
from numba import njit

from kernelweave.gram.base import FloatArray, IntArray

__all__ = ["Simplexes"]


class Simplexes:
    """Variables in groups, each of which sums to one.

    Parameters
    ----------
    groups : ndarray of shape (m,), dtype intp
        Group of each variable, numbered from 0 without gaps.

    Examples
    --------
    >>> simplexes = Simplexes(np.array([0, 0, 1]))
    >>> simplexes.step(np.array([0.5, 0.5, 1.0]), np.array([1.0, 0.0, 0.0]), np.full(3, 4.0))
    array([0.625, 0.375, 1.   ])
    """

    def __init__(self, groups: IntArray) -> None:
        self.groups = groups
        # Groups as runs of one array, for the compiled loop.
        self._order = np.argsort(groups, kind="stable")
        self._bounds = np.concatenate([[0], np.cumsum(np.bincount(groups))]).astype(np.intp)

    def step(self, start: FloatArray, gain: FloatArray, stiffness: FloatArray) -> FloatArray:
        """Maximise ``gain'x - 1/2 sum stiffness (x - start)^2`` over the simplexes.

        Parameters
        ----------
        start, gain, stiffness : ndarray of shape (m,)
            A point of the simplexes, what a unit of each variable gains, and positive curvatures.

        Returns
        -------
        ndarray of shape (m,)
            The maximiser.
        """
        x = np.empty_like(start)
        order = self._order
        x[order] = _fill(start[order], gain[order], stiffness[order], self._bounds)
        return x

    def normalised(self, x: FloatArray) -> FloatArray:
        """Nonnegative values scaled so that every group sums to one."""
        return x / np.bincount(self.groups, x)[self.groups]


@njit(cache=True)
def _fill(start: FloatArray, gain: FloatArray, stiffness: FloatArray, bounds: IntArray) -> FloatArray:
    """The step on every run, by bisection for the multiplier of its sum."""
    x = np.empty_like(start)
    for g in range(len(bounds) - 1):
        first, last = bounds[g], bounds[g + 1]
        low, high = np.inf, -np.inf
        for i in range(first, last):
            # At the lower level every entry is at least one, at the higher one all are zero.
            low = min(low, gain[i] - stiffness[i] * (1.0 - start[i]))
            high = max(high, gain[i] + stiffness[i] * start[i])
        for _ in range(100):
            level, total = 0.5 * (low + high), 0.0
            for i in range(first, last):
                total += max(0.0, start[i] + (gain[i] - level) / stiffness[i])
            if total > 1.0:
                low = level
            else:
                high = level
        for i in range(first, last):
            x[i] = max(0.0, start[i] + (gain[i] - low) / stiffness[i])
    return x
