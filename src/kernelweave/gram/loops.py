"""Compiled passes over one symmetric matrix.

They are bound by memory traffic, so each reads only the lower triangle or only the rows
that matter, and accumulates in float64 whatever the storage. ``fastmath`` is limited to
reordering sums: infinities and NaN keep their meaning.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kernelweave.gram.base import FloatArray, IntArray

__all__ = ["add_lower", "add_lower_scaled", "mirror_lower", "support_of", "support_products", "supported_rows"]

_SUMS = {"reassoc", "contract", "nsz"}


@njit(cache=True, fastmath=_SUMS)
def add_lower(matrix: FloatArray, weight: float, first: int, last: int, out: FloatArray) -> None:
    """``out += weight * matrix`` on the lower triangle of rows first..last-1."""
    for r in range(first, last):
        source, target = matrix[r], out[r]
        for c in range(r + 1):
            target[c] += weight * source[c]


@njit(cache=True, fastmath=_SUMS)
def add_lower_scaled(
    matrix: FloatArray, weight: float, scale: FloatArray, first: int, last: int, out: FloatArray
) -> None:
    """``out += weight * diag(scale) matrix diag(scale)`` on the lower triangle of rows first..last-1."""
    for r in range(first, last):
        source, target = matrix[r], out[r]
        factor = weight * scale[r]
        for c in range(r + 1):
            target[c] += factor * source[c] * scale[c]


@njit(cache=True)
def mirror_lower(matrix: FloatArray) -> None:
    """Copy the lower triangle to the upper one, in tiles that fit the cache."""
    n, tile = matrix.shape[0], 32
    for r0 in range(0, n, tile):
        for c0 in range(0, r0 + 1, tile):
            for r in range(r0, min(r0 + tile, n)):
                for c in range(c0, min(c0 + tile, r)):
                    matrix[c, r] = matrix[r, c]


@njit(cache=True, fastmath=_SUMS)
def support_products(matrix: FloatArray, support: IntArray, vector: FloatArray, out: FloatArray) -> None:
    """``out = matrix @ vector`` at the support of ``vector``, from its lower triangle alone.

    Entries outside the support receive partial sums and mean nothing.
    """
    out[:] = 0.0
    for r in support:
        row, v, total = matrix[r], vector[r], 0.0
        for c in range(r):
            total += row[c] * vector[c]
            out[c] += v * row[c]
        out[r] += total + row[r] * v


@njit(cache=True, fastmath=_SUMS)
def supported_rows(matrix: FloatArray, support: IntArray, vector: FloatArray, out: FloatArray) -> None:
    """``out += matrix @ vector`` everywhere, reading only the rows in the support (by symmetry)."""
    n = out.shape[0]
    for r in support:
        row, v = matrix[r], vector[r]
        for c in range(n):
            out[c] += v * row[c]


def support_of(vector: FloatArray) -> IntArray:
    """Indices of the non-zero entries."""
    return np.flatnonzero(vector).astype(np.intp)
