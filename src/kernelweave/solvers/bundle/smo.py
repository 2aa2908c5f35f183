"""Sequential minimal optimisation for one SVM on one dense kernel matrix.

Problem, in the signed variables beta_j = y_j alpha_j:

    maximise  beta'y - 1/2 beta'(K + diag(ridge)) beta,   lower <= beta <= upper,  sum beta = 0

(half of [L04] (20)). Method: pairs chosen by first- and second-order information
(Fan, Chen, Lin 2005), warm start, shrinking to the samples that can still move, and an exact
gradient before any verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.gram.loops import support_of, supported_rows

__all__ = ["solve_smo"]

_FAST = {"nsz", "arcp", "contract", "reassoc"}
_FLAT = 1e-12  # curvature below which a pair counts as linear
_SHRINK_TO = 0.7  # go to a compact copy when at most this share of samples can move
_FIRST_LOOK, _BETWEEN_LOOKS = 3, 3  # pair steps per sample before the first and next look at shrinking


@njit(cache=True, fastmath=_FAST)
def _ascend(
    K: FloatArray,
    curvature: FloatArray,
    ridge: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    beta: FloatArray,
    gradient: FloatArray,
    tol: float,
    max_steps: int,
) -> tuple[int, float]:
    """Pair steps until the violation is below tol; (steps, violation)."""
    n = len(beta)
    i, top, bottom = -1, -1e300, 1e300
    for t in range(n):
        g = gradient[t]
        if beta[t] < upper[t] and g > top:
            top, i = g, t
        if beta[t] > lower[t] and g < bottom:
            bottom = g
    step = 0
    while step < max_steps and i >= 0 and top - bottom >= tol:
        row_i, best, j = K[i], -1.0, -1
        c_i = curvature[i]
        for t in range(n):
            if beta[t] > lower[t]:
                drop = top - gradient[t]
                if drop > 0:
                    a = max(c_i + curvature[t] - 2.0 * row_i[t], _FLAT)
                    # drop^2 / a > best, without the division
                    if drop * drop > best * a:
                        best, j = drop * drop / a, t
        if j < 0:
            break
        delta = (top - gradient[j]) / max(c_i + curvature[j] - 2.0 * row_i[j], _FLAT)
        room_i, room_j = upper[i] - beta[i], beta[j] - lower[j]
        delta = min(delta, room_i, room_j)
        beta[i] = upper[i] if delta == room_i else beta[i] + delta
        beta[j] = lower[j] if delta == room_j else beta[j] - delta
        row_j = K[j]
        gradient[i] -= ridge[i] * delta
        gradient[j] += ridge[j] * delta
        i, top, bottom = -1, -1e300, 1e300
        for t in range(n):
            g = gradient[t] - delta * (row_i[t] - row_j[t])
            gradient[t] = g
            if beta[t] < upper[t] and g > top:
                top, i = g, t
            if beta[t] > lower[t] and g < bottom:
                bottom = g
        step += 1
    return step, top - bottom


@dataclass
class _Block:
    """The problem on some of the samples, contiguous in memory."""

    K: FloatArray
    curvature: FloatArray
    ridge: FloatArray
    lower: FloatArray
    upper: FloatArray
    beta: FloatArray
    gradient: FloatArray

    def ascend(self, tol: float, max_steps: int) -> tuple[int, float]:
        return _ascend(
            self.K, self.curvature, self.ridge, self.lower, self.upper, self.beta, self.gradient, tol, max_steps
        )

    def movable(self) -> IntArray:
        """Samples that are not at a bound with a gradient that pushes them further into it."""
        can_rise, can_fall = self.beta < self.upper, self.beta > self.lower
        top, bottom = self.gradient[can_rise].max(), self.gradient[can_fall].min()
        stuck = (~can_rise & (self.gradient > top)) | (~can_fall & (self.gradient < bottom))
        return np.flatnonzero(~stuck)

    def restrict(self, rows: IntArray) -> _Block:
        parts = (self.curvature, self.ridge, self.lower, self.upper, self.beta, self.gradient)
        return _Block(self.K[np.ix_(rows, rows)], *(part[rows] for part in parts))

    def refresh(self, y: FloatArray) -> None:
        """Recompute the gradient, reading only the rows of the support."""
        scores = np.zeros(len(y))
        supported_rows(self.K, support_of(self.beta), self.beta, scores)
        self.gradient[:] = y - self.ridge * self.beta - scores


def solve_smo(
    K: FloatArray,
    y: FloatArray,
    box: FloatArray,
    ridge: FloatArray,
    beta: FloatArray,
    *,
    tol: float,
    max_steps: int = 10_000_000,
    gradient: FloatArray | None = None,
) -> tuple[FloatArray, int, float]:
    """Solve the SVM from a warm start.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric kernel matrix.
    y : ndarray of shape (n,)
        Labels in {-1, +1}.
    box, ridge : ndarray of shape (n,)
        Upper bounds of the dual variables, ridge on the diagonal.
    beta : ndarray of shape (n,)
        Feasible start; holds the solution afterwards.
    tol : float
        Largest violation of the optimality conditions, in units of the margin.
    max_steps : int
        Limit on pair steps.
    gradient : ndarray of shape (n,), optional
        ``y - (K + diag(ridge)) beta`` at the start where it is known; overwritten.

    Returns
    -------
    gradient : ndarray of shape (n,)
        ``y - (K + diag(ridge)) beta`` at the solution.
    steps : int
        Pair steps taken.
    violation : float
        Violation reached; above ``tol`` only when the limit ended the run.
    """
    n = len(y)
    curvature = np.diagonal(K) + ridge
    bounds = np.where(y > 0, 0.0, -box), np.where(y > 0, box, 0.0)
    full = _Block(K, curvature, ridge, *bounds, beta, np.empty(n) if gradient is None else gradient)
    if gradient is None:
        full.refresh(y)
    steps, violation = full.ascend(tol, min(_FIRST_LOOK * n, max_steps))
    while violation >= tol and steps < max_steps:
        limit = max_steps - steps
        active = full.movable()
        if len(active) <= _SHRINK_TO * n:
            # A compact copy keeps the inner loop contiguous; its verdict is checked on all samples.
            block = full.restrict(active)
            taken, _ = block.ascend(0.5 * tol, limit)
            beta[active] = block.beta
            full.refresh(y)
            limit -= taken
        else:
            taken = 0
        more, violation = full.ascend(tol, min(_BETWEEN_LOOKS * n, limit))
        steps += taken + more
        if taken + more == 0:
            break
    return full.gradient, steps, violation
