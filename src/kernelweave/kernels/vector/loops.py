"""Compiled loops of the kernels: comparisons of rows, exponentials, gathering.

Arrays that are only read come as read-only views, so that one compiled variant serves all.
With ``symmetric`` the two sets are the same and half of the pairs is computed.
``fastmath`` is limited to reordering and contracting sums: infinities and NaN keep their meaning.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from kernelweave.kernels.base import FloatArray

__all__ = [
    "CHI_SQUARED",
    "INTERSECTION",
    "JENSEN_SHANNON",
    "MANHATTAN",
    "compare",
    "compare_sparse",
    "exponential",
    "gather",
    "repair",
    "repair_sparse",
    "squared_from_products",
]

IntArray = npt.NDArray[np.integer]

_SUMS = {"reassoc", "contract", "nsz"}
_TILE = 64
_CANCELLED = 1e-3
_NO_COLUMN = 2**62

MANHATTAN, CHI_SQUARED, INTERSECTION, JENSEN_SHANNON = 0, 1, 2, 3

_HALF_LN2 = 0.34657359027997264
_LOG2_E = 1.4426950408889634
# ln 2 in two parts; the first has trailing zeros, so that its multiples are exact.
_LN2_HIGH = 6.93145751953125e-1
_LN2_LOW = 1.42860682030941723212e-6
# Adding 1.5 * 2^52 rounds to a whole number, which then sits in the low bits.
_ROUNDER = 6755399441055744.0
_SMALLEST = -708.0


@njit(cache=True, fastmath={"contract"})
def exponential(distances: FloatArray, gamma: float, out: FloatArray) -> None:
    """``out = exp(-gamma * distances)`` for nonnegative distances, to about one unit in the last place.

    Written out because the compiler turns this into vector instructions, unlike calls to
    exp (seven times as fast): ``exp(x) = 2^k exp(r)`` with ``|r| <= ln(2) / 2``, a Taylor
    polynomial of degree 13 for the second factor, and the first added to the exponent bits.
    Values below 3e-308 become zero. ``out`` may be ``distances``.
    """
    n, m = distances.shape
    # Separate buffers: rows that may be the same memory are not turned into vector code.
    values, powers = np.empty(m), np.empty(m)
    value_bits, power_bits = values.view(np.int64), powers.view(np.int64)
    for i in range(n):
        source, bits = distances[i], out[i].view(np.int64)
        for j in range(m):
            x = -gamma * source[j]
            x = _SMALLEST if x < _SMALLEST else x
            rounded = x * _LOG2_E + _ROUNDER
            k = rounded - _ROUNDER
            r = (x - k * _LN2_HIGH) - k * _LN2_LOW
            p = 1 / 6227020800
            p = p * r + 1 / 479001600
            p = p * r + 1 / 39916800
            p = p * r + 1 / 3628800
            p = p * r + 1 / 362880
            p = p * r + 1 / 40320
            p = p * r + 1 / 5040
            p = p * r + 1 / 720
            p = p * r + 1 / 120
            p = p * r + 1 / 24
            p = p * r + 1 / 6
            p = p * r + 1 / 2
            values[j] = 0.0 if x == _SMALLEST else p * r * r + r + 1.0
            powers[j] = 0.0 if x == _SMALLEST else rounded
        for j in range(m):
            bits[j] = value_bits[j] + (power_bits[j] << 52)


@njit(cache=True, fastmath=_SUMS)
def compare(kind: int, X: FloatArray, Y: FloatArray, symmetric: bool, out: FloatArray) -> None:
    """Compare all pairs of rows of two dense matrices, in tiles that fit the cache.

    Parameters
    ----------
    kind : int
        ``MANHATTAN``: sum of ``|x - y|``. ``CHI_SQUARED``: sum of ``(x - y)^2 / (x + y)`` with
        0/0 = 0. ``INTERSECTION``: sum of ``min(x, y)``. ``JENSEN_SHANNON``: half the sum of
        ``x log(2x / (x + y)) + y log(2y / (x + y))`` with 0 log 0 = 0. The last three for nonnegative numbers.
    X, Y : ndarray of shape (n_x, n_features), (n_y, n_features), dtype float64
        Row-contiguous, read-only.
    symmetric : bool
        Whether Y is X.
    out : ndarray of shape (n_x, n_y), dtype float64
        Result.
    """
    n, m = X.shape[0], Y.shape[0]
    for i0 in range(0, n, _TILE):
        for j0 in range(0, min(i0 + _TILE, m) if symmetric else m, _TILE):
            for i in range(i0, min(i0 + _TILE, n)):
                for j in range(j0, min(j0 + _TILE, i + 1 if symmetric else m)):
                    out[i, j] = _compare_rows(kind, X[i], Y[j])
                    if symmetric:
                        out[j, i] = out[i, j]


@njit(cache=True, fastmath=_SUMS)
def _compare_rows(kind: int, x: FloatArray, y: FloatArray) -> float:
    total = 0.0
    if kind == MANHATTAN:
        for k in range(len(x)):
            total += abs(x[k] - y[k])
    elif kind == CHI_SQUARED:
        for k in range(len(x)):
            mass, difference = x[k] + y[k], x[k] - y[k]
            total += difference * difference / (mass if mass > 0.0 else 1.0)
    elif kind == INTERSECTION:
        for k in range(len(x)):
            total += min(x[k], y[k])
    else:
        for k in range(len(x)):
            total += _entropy_lost(x[k], y[k])
    return total


@njit(cache=True)
def _entropy_lost(x: float, y: float) -> float:
    """What mixing two shares adds to their mean entropy."""
    mass = 0.5 * (x + y)
    total = x * np.log(x / mass) if x > 0.0 else 0.0
    return 0.5 * (total + (y * np.log(y / mass) if y > 0.0 else 0.0))


@njit(cache=True, fastmath=_SUMS)
def compare_sparse(
    kind: int,
    data: FloatArray,
    indices: IntArray,
    starts: IntArray,
    other_data: FloatArray,
    other_indices: IntArray,
    other_starts: IntArray,
    n_features: int,
    symmetric: bool,
    out: FloatArray,
) -> None:
    """As `compare`, for the arrays of two CSR matrices without duplicates.

    A row of X is spread out once; each row of Y then changes its comparison with zero only
    where Y has entries. Distances lose about ``eps * sum(x)`` to that.
    """
    row = np.zeros(n_features)
    for i in range(out.shape[0]):
        with_zero = 0.0
        for a in range(starts[i], starts[i + 1]):
            row[indices[a]] = data[a]
            if kind == JENSEN_SHANNON:
                with_zero += _HALF_LN2 * data[a]
            elif kind != INTERSECTION:
                with_zero += abs(data[a])
        for j in range(i + 1 if symmetric else out.shape[1]):
            total = with_zero
            for b in range(other_starts[j], other_starts[j + 1]):
                x, y = row[other_indices[b]], other_data[b]
                if kind == MANHATTAN:
                    total += abs(x - y) - abs(x)
                elif kind == CHI_SQUARED:
                    mass = x + y
                    total += (x - y) * (x - y) / (mass if mass > 0.0 else 1.0) - x
                elif kind == INTERSECTION:
                    total += min(x, y)
                else:
                    total += _entropy_lost(x, y) - _HALF_LN2 * x
            out[i, j] = total if total > 0.0 else 0.0
            if symmetric:
                out[j, i] = out[i, j]
        for a in range(starts[i], starts[i + 1]):
            row[indices[a]] = 0.0


@njit(cache=True)
def squared_from_products(products: FloatArray, norms: FloatArray, other_norms: FloatArray) -> None:
    """Turn inner products ``x'y`` into ``||x||^2 + ||y||^2 - 2 x'y`` in place.

    Where that cancels more than three digits it becomes -1, for `repair` to fill in.
    """
    for i in range(products.shape[0]):
        row = products[i]
        for j in range(len(row)):
            # The norms first: their sum is the same for (i, j) and (j, i), so symmetry is exact.
            total = norms[i] + other_norms[j]
            distance = total - 2.0 * row[j]
            row[j] = -1.0 if distance <= _CANCELLED * total else distance


@njit(cache=True, fastmath=_SUMS)
def repair(distances: FloatArray, X: FloatArray, Y: FloatArray) -> None:
    """Sum ``(x - y)^2`` where a squared distance is negative."""
    for i in range(distances.shape[0]):
        for j in range(distances.shape[1]):
            if distances[i, j] < 0.0:
                total = 0.0
                for k in range(X.shape[1]):
                    total += (X[i, k] - Y[j, k]) ** 2
                distances[i, j] = total


@njit(cache=True)
def repair_sparse(
    distances: FloatArray,
    data: FloatArray,
    indices: IntArray,
    starts: IntArray,
    other_data: FloatArray,
    other_indices: IntArray,
    other_starts: IntArray,
) -> None:
    """As `repair`, for the arrays of two CSR matrices with sorted indices."""
    for i in range(distances.shape[0]):
        for j in range(distances.shape[1]):
            if distances[i, j] < 0.0:
                a, b, total = starts[i], other_starts[j], 0.0
                while a < starts[i + 1] or b < other_starts[j + 1]:
                    difference = 0.0
                    column = indices[a] if a < starts[i + 1] else _NO_COLUMN
                    other_column = other_indices[b] if b < other_starts[j + 1] else _NO_COLUMN
                    if column <= other_column:
                        difference += data[a]
                        a += 1
                    if other_column <= column:
                        difference -= other_data[b]
                        b += 1
                    total += difference**2
                distances[i, j] = total


@njit(cache=True)
def gather(matrix: FloatArray, rows: IntArray, cols: IntArray, out: FloatArray) -> None:
    """``out = matrix[rows][:, cols]`` without the intermediate rows."""
    for i in range(len(rows)):
        source, target = matrix[rows[i]], out[i]
        for j in range(len(cols)):
            target[j] = source[cols[j]]
