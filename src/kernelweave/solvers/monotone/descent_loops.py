"""Compiled coordinate descent for one SVM on features held as positions on ramps.

The model is a table of values at the knots, piecewise linear in between: a margin costs two
look-ups an entry, a change of one dual variable the additions above its position.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.gram.ramps.ramp_loops import SlotArray

__all__ = ["descend"]

_ONE = np.uint64(1)
_STILL = 1e-14  # projected gradients below this are zero


@njit(cache=True)
def descend(
    indptr: IntArray, slots: SlotArray, positions: FloatArray, offsets: IntArray,
    weights: FloatArray, directions: FloatArray, coefficients: FloatArray, tables: FloatArray,
    y: FloatArray, box: FloatArray, ridge: FloatArray, curvature: FloatArray, alpha: FloatArray,
    bias: float, stiffness: float, tol: float, max_epochs: int, seed: int,
) -> tuple[float, float, int]:  # fmt: skip
    """Epochs of dual coordinate descent with shrinking, in random order.

    Minimises  1/2 sum_c weights_c w_c^2 + 1/2 alpha'ridge alpha - alpha'e + bias terms  over the box, with
    w = Z'(y alpha) (its part against ``directions`` set to zero), and with
    bias = bias at the start + stiffness * (change of y'alpha).

    Parameters
    ----------
    indptr, slots, positions, offsets
        The samples, as in `RampCells`.
    weights : ndarray of shape (rank,)
        Kernel weight of each column.
    directions : ndarray of shape (rank,) or (0,)
        Sign to which a coefficient is restricted, 0 for none; empty for no restriction at all.
    coefficients : ndarray of shape (rank,)
        ``Z'(y alpha)``; kept up to date only where there are directions.
    tables : ndarray of shape (rank + n_slots,)
        Values at the knots: running sums of the weighted coefficients; updated.
    y, box, ridge, curvature, alpha : ndarray of shape (n,)
        Labels, upper bounds, ridge, second derivatives (an upper bound of them with directions), dual
        variables; the latter updated.
    bias : float
        Bias at the start.
    stiffness : float
        Change of the bias per change of ``y'alpha``.
    tol : float
        Largest minus smallest projected gradient at which to stop.
    max_epochs : int
        Limit on passes.
    seed : int
        Of the order.

    Returns
    -------
    bias : float
        Bias at the end.
    violation : float
        Of the last epoch, over the samples not shrunk.
    epochs : int
        Passes taken.
    """
    n, dense, directed = len(y), len(slots) == 0, len(directions) > 0
    order, n_active = np.arange(n), n
    state = np.uint64(88172645463325252) + np.uint64(seed) * np.uint64(2654435761)
    top, bottom, violation, epochs = np.inf, -np.inf, np.inf, 0
    while epochs < max_epochs and violation > tol:
        highest, lowest, k = -np.inf, np.inf, 0
        while k < n_active:
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            r = k + np.int64(state % np.uint64(n_active - k))
            i = order[r]
            order[r] = order[k]
            order[k] = i
            first, last = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
            score = bias
            for e in range(first, last):
                s = e - first if dense else np.uint64(slots[e])
                p = positions[e]
                cell = min(max(np.int64(p), 0), offsets[s + _ONE] - offsets[s] - 1)
                at = np.uint64(offsets[s] + cell) + s
                below = tables[at]
                score += below + (p - cell) * (tables[at + _ONE] - below)
            a = alpha[i]
            gradient = y[i] * score - 1.0 + ridge[i] * a
            projected = gradient
            if a <= 0.0:
                projected = min(gradient, 0.0)
            elif a >= box[i]:
                projected = max(gradient, 0.0)
            if (a <= 0.0 and gradient > top) or (a >= box[i] and gradient < bottom):
                # Far inside its bound by the last epoch's measure: leave it out until the next call.
                n_active -= 1
                order[k] = order[n_active]
                order[n_active] = i
                continue
            highest, lowest = max(highest, projected), min(lowest, projected)
            if abs(projected) > _STILL:
                moved = min(max(a - gradient / curvature[i], 0.0), box[i])
                step = (moved - a) * y[i]
                alpha[i] = moved
                bias += stiffness * step
                for e in range(first, last):
                    s = e - first if dense else np.uint64(slots[e])
                    if directed:
                        _move_directed(offsets, s, positions[e], step, weights, directions, coefficients, tables)
                    else:
                        _move(offsets, s, positions[e], step, weights, tables)
            k += 1
        epochs += 1
        violation = highest - lowest if n_active > 0 else 0.0
        top = highest if highest > 0.0 else np.inf
        bottom = lowest if lowest < 0.0 else -np.inf
    return bias, violation, epochs


@njit(cache=True)
def _move(
    offsets: IntArray, s: np.uint64, p: float, step: float, weights: FloatArray, tables: FloatArray
) -> None:  # fmt: skip
    """Add ``step`` times the kernel between position p and every knot of the slot."""
    lowest = np.uint64(offsets[s])
    n_ramps = np.uint64(offsets[s + _ONE]) - lowest
    cell = np.uint64(min(max(int(p), 0), int(n_ramps) - 1))
    at, total = lowest + s, 0.0
    for c in range(cell):
        total += step * weights[lowest + c]
        tables[at + c + _ONE] += total
    total += step * weights[lowest + cell] * (p - cell)
    for c in range(cell, n_ramps):
        tables[at + c + _ONE] += total


@njit(cache=True)
def _move_directed(
    offsets: IntArray, s: np.uint64, p: float, step: float,
    weights: FloatArray, directions: FloatArray, coefficients: FloatArray, tables: FloatArray,
) -> None:  # fmt: skip
    """Update the coefficients of a slot, then its table from those that point the right way."""
    lowest = np.uint64(offsets[s])
    n_ramps = np.uint64(offsets[s + _ONE]) - lowest
    cell = np.uint64(min(max(int(p), 0), int(n_ramps) - 1))
    total = 0.0
    for c in range(n_ramps):
        at = lowest + c
        if c < cell:
            coefficients[at] += step
        elif c == cell:
            coefficients[at] += step * (p - cell)
        value = coefficients[at]
        if directions[at] * value >= 0.0:
            total += weights[at] * value
        tables[at + s + _ONE] = total
