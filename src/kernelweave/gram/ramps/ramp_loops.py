"""Compiled passes over samples on ramps.

A linear function of the ramps of a slot is piecewise linear in the position, so a pass
reads or writes two neighbouring entries of a table of values at knots, however many ramps lie
below. Slot s with J_s ramps owns J_s + 1 entries of the table, from ``offsets[s] + s``.
Positions beyond a slot's ends continue its outermost ramps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from kernelweave.gram.base import FloatArray, IntArray

__all__ = ["SlotArray", "gather", "hat_gram", "interpolate", "prefix_tables", "ramp_lengths", "scatter", "suffix_sums"]

SlotArray = npt.NDArray[np.int32]

# Unsigned indices spare the test for negative ones: half the time of a pass. Slots without
# ramps have no entries.
_ONE = np.uint64(1)
_BLOCK = 1024  # samples whose positions are looked up at a time


@njit(cache=True)
def prefix_tables(coefficients: FloatArray, offsets: IntArray) -> FloatArray:
    """Values at the knots: running sums of the coefficients of each slot, from zero."""
    n_slots = len(offsets) - 1
    tables = np.zeros(len(coefficients) + n_slots)
    for s in range(n_slots):
        total = 0.0
        for c in range(offsets[s], offsets[s + 1]):
            total += coefficients[c]
            tables[c + s + 1] = total
    return tables


@njit(cache=True)
def suffix_sums(masses: FloatArray, offsets: IntArray) -> FloatArray:
    """Sum of the masses at the knots above each ramp's lower end: the adjoint of `prefix_tables`."""
    n_slots = len(offsets) - 1
    result = np.empty(len(masses) - n_slots)
    for s in range(n_slots):
        total = 0.0
        for c in range(offsets[s + 1] - 1, offsets[s] - 1, -1):
            total += masses[c + s + 1]
            result[c] = total
    return result


@njit(cache=True)
def gather(
    indptr: IntArray, slots: SlotArray, positions: FloatArray, offsets: IntArray, tables: FloatArray
) -> FloatArray:
    """Sum over a sample's entries of the interpolated tables, for every sample."""
    n, dense = len(indptr) - 1, len(slots) == 0
    scores = np.empty(n)
    for i in range(n):
        total, first = 0.0, np.uint64(indptr[i])
        for e in range(first, np.uint64(indptr[i + 1])):
            s = e - first if dense else np.uint64(slots[e])
            lowest = offsets[s]
            p = positions[e]
            cell = min(max(np.int64(p), 0), offsets[s + _ONE] - lowest - 1)
            at = np.uint64(lowest + cell) + s
            below = tables[at]
            total += below + (p - cell) * (tables[at + _ONE] - below)
        scores[i] = total
    return scores


@njit(cache=True)
def scatter(
    indptr: IntArray, slots: SlotArray, positions: FloatArray, offsets: IntArray, beta: FloatArray
) -> FloatArray:
    """Mass that every knot receives from the samples: the adjoint of `gather`."""
    n, dense = len(indptr) - 1, len(slots) == 0
    masses = np.zeros(offsets[-1] + len(offsets) - 1)
    for i in range(n):
        b = beta[i]
        if b == 0.0:
            continue
        first = np.uint64(indptr[i])
        for e in range(first, np.uint64(indptr[i + 1])):
            s = e - first if dense else np.uint64(slots[e])
            lowest = offsets[s]
            p = positions[e]
            cell = min(max(np.int64(p), 0), offsets[s + _ONE] - lowest - 1)
            at = np.uint64(lowest + cell) + s
            masses[at] += b * (1.0 - (p - cell))
            masses[at + _ONE] += b * (p - cell)
    return masses


@njit(cache=True)
def ramp_lengths(
    indptr: IntArray,
    slots: SlotArray,
    positions: FloatArray,
    offsets: IntArray,
    kernel_of: IntArray,
    lengths: FloatArray,
) -> None:
    """Add the squared norm of each sample on each ramp kernel to ``lengths`` of shape (n_kernels, n)."""
    n, dense = len(indptr) - 1, len(slots) == 0
    for i in range(n):
        first = np.uint64(indptr[i])
        for e in range(first, np.uint64(indptr[i + 1])):
            s = e - first if dense else np.uint64(slots[e])
            lowest = offsets[s]
            p = positions[e]
            cell = min(max(np.int64(p), 0), offsets[s + _ONE] - lowest - 1)
            for c in range(lowest, lowest + cell):
                lengths[kernel_of[c], i] += 1.0
            lengths[kernel_of[lowest + cell], i] += (p - cell) ** 2


@njit(cache=True)
def interpolate(
    indptr: IntArray, slots: SlotArray, positions: FloatArray, offsets: IntArray, tables: FloatArray
) -> FloatArray:
    """The interpolated table of every entry."""
    n, dense = len(indptr) - 1, len(slots) == 0
    values = np.empty(len(positions))
    for i in range(n):
        first = np.uint64(indptr[i])
        for e in range(first, np.uint64(indptr[i + 1])):
            s = e - first if dense else np.uint64(slots[e])
            lowest = offsets[s]
            p = positions[e]
            cell = min(max(np.int64(p), 0), offsets[s + _ONE] - lowest - 1)
            at = np.uint64(lowest + cell) + s
            values[e] = tables[at] + (p - cell) * (tables[at + _ONE] - tables[at])
    return values


@njit(cache=True)
def hat_gram(
    indptr: IntArray, slots: SlotArray, positions: FloatArray, offsets: IntArray, weights: FloatArray
) -> FloatArray:
    """``Z' diag(weights) Z`` for the matrix Z of all ramps, of shape (p, p).

    Two hat functions are non-zero an entry; the sums over ramps follow afterwards.
    """
    result = np.zeros((offsets[-1], offsets[-1]))
    if len(slots) == 0:
        _dense_hats(positions, offsets, weights, result)
    else:
        _sparse_hats(indptr, slots, positions, offsets, weights, result)
    _sum_ramps(result, offsets)
    return result


@njit(cache=True)
def _dense_hats(positions: FloatArray, offsets: IntArray, weights: FloatArray, result: FloatArray) -> None:
    """Products of hats, pair by pair of slots: the few entries of a pair stay in the nearest cache."""
    n, n_slots = len(weights), len(offsets) - 1
    # The lowest knot of a slot has a hat but no ramp; it takes part here, and is left out of the result.
    hats = np.zeros((len(result) + n_slots, len(result) + n_slots))
    cells, above = np.empty((n_slots, _BLOCK), np.int64), np.empty((n_slots, _BLOCK))
    for first in range(0, n, _BLOCK):
        size = min(_BLOCK, n - first)
        for s in range(n_slots):
            highest = offsets[s + 1] - offsets[s] - 1
            for i in range(size):
                p = positions[(first + i) * n_slots + s]
                cell = min(max(np.int64(p), 0), highest)
                cells[s, i], above[s, i] = offsets[s] + s + cell, p - cell
        for s in range(n_slots):
            for t in range(s + 1):
                for i in range(size):
                    a, b = np.uint64(cells[s, i]), np.uint64(cells[t, i])
                    weight, share = weights[first + i], above[t, i]
                    upper = weight * above[s, i]
                    lower = weight - upper
                    hats[a, b] += lower * (1.0 - share)
                    hats[a, b + _ONE] += lower * share
                    hats[a + _ONE, b] += upper * (1.0 - share)
                    hats[a + _ONE, b + _ONE] += upper * share
    for s in range(n_slots):
        for row in range(offsets[s], offsets[s + 1]):
            for t in range(s + 1):
                for column in range(offsets[t], offsets[t + 1]):
                    result[row, column] = hats[row + s + 1, column + t + 1]


@njit(cache=True)
def _sparse_hats(
    indptr: IntArray,
    slots: SlotArray,
    positions: FloatArray,
    offsets: IntArray,
    weights: FloatArray,
    result: FloatArray,
) -> None:
    """Products of hats, sample by sample."""
    n, widest = len(indptr) - 1, 0
    for i in range(n):
        widest = max(widest, indptr[i + 1] - indptr[i])
    at, height = np.empty(2 * widest, np.uint64), np.empty(2 * widest)
    for i in range(n):
        weight = weights[i]
        if weight == 0.0:
            continue
        first, m = np.uint64(indptr[i]), np.uint64(0)
        for e in range(first, np.uint64(indptr[i + 1])):
            s = np.uint64(slots[e])
            lowest = offsets[s]
            p = positions[e]
            cell = min(max(np.int64(p), 0), offsets[s + _ONE] - lowest - 1)
            # Ramp c of the result stands for the knot above it until the sums are taken.
            if cell > 0 and p != cell + 1:
                at[m], height[m] = np.uint64(lowest + cell - 1), 1.0 - (p - cell)
                m += _ONE
            if p != cell:
                at[m], height[m] = np.uint64(lowest + cell), p - cell
                m += _ONE
        for a in range(m):
            scaled, row = weight * height[a], at[a]
            for b in range(a + _ONE):
                # Lower triangle, in whatever order the entries come.
                result[max(row, at[b]), min(row, at[b])] += scaled * height[b]


@njit(cache=True)
def _sum_ramps(hats: FloatArray, offsets: IntArray) -> None:
    """Fill the upper triangle, then sum along both axes of every pair of slots, in place."""
    p = len(hats)
    for a in range(p):
        for b in range(a):
            hats[b, a] = hats[a, b]
    for s in range(len(offsets) - 1):
        for row in range(offsets[s + 1] - 2, offsets[s] - 1, -1):
            for b in range(p):
                hats[row, b] += hats[row + 1, b]
    for row in range(p):
        for s in range(len(offsets) - 1):
            for b in range(offsets[s + 1] - 2, offsets[s] - 1, -1):
                hats[row, b] += hats[row, b + 1]
