"""Compiled loops over pairs of sequences: dynamic time warping and alignment scores.

The sequences of a set lie one after another in one array; sequence i is ``starts[i]`` to ``starts[i + 1]``.
With ``symmetric`` the two sets are the same, the result is symmetric, and half of the pairs is computed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from kernelweave.kernels.base import FloatArray

__all__ = ["align", "warp"]

IntArray = npt.NDArray[np.int64]


@njit(cache=True)
def warp(
    values: FloatArray,
    starts: IntArray,
    other_values: FloatArray,
    other_starts: IntArray,
    band: int,
    squared: bool,
    symmetric: bool,
    out: FloatArray,
) -> None:
    """Dynamic time warping between all pairs of series.

    Parameters
    ----------
    values, other_values : ndarray of shape (total, d), dtype float64
        The series, read-only.
    starts, other_starts : ndarray of shape (n + 1,), dtype int64
        Where each begins, read-only.
    band : int
        How far the matched positions may lie apart (at least the difference of the lengths); -1 for any.
    squared : bool
        Whether a match costs ``||x - z||^2`` or ``||x - z||_1``.
    symmetric : bool
        Whether the two sets are the same.
    out : ndarray of shape (n_x, n_y), dtype float64
        Result: the smallest sum of the costs along a path from the first to the last pair of positions.
    """
    longest = 0
    for j in range(len(other_starts) - 1):
        longest = max(longest, other_starts[j + 1] - other_starts[j])
    before, now = np.empty(longest + 1), np.empty(longest + 1)
    for i in range(len(starts) - 1):
        series = values[starts[i] : starts[i + 1]]
        for j in range(i + 1 if symmetric else len(other_starts) - 1):
            other = other_values[other_starts[j] : other_starts[j + 1]]
            out[i, j] = _warp_pair(series, other, band, squared, before, now)
            if symmetric:
                out[j, i] = out[i, j]


@njit(cache=True)
def _warp_pair(
    series: FloatArray, other: FloatArray, band: int, squared: bool, before: FloatArray, now: FloatArray
) -> float:
    n, m, d = len(series), len(other), series.shape[1]
    reach = max(band, abs(n - m)) if band >= 0 else n + m
    # before[j], now[j]: cost of the best path that ends with j positions of the other series used.
    before[: m + 1] = np.inf
    before[0] = 0.0
    for i in range(n):
        first, last = max(0, i - reach), min(m, i + reach + 1)
        # The neighbours of a cell are carried along: reading back what was just written takes time.
        diagonal, beside = before[first], np.inf
        now[first] = np.inf
        for j in range(first, last):
            cost = 0.0
            for k in range(d):
                difference = series[i, k] - other[j, k]
                cost += difference * difference if squared else abs(difference)
            above = before[j + 1]
            beside = cost + min(min(diagonal, above), beside)
            diagonal = above
            now[j + 1] = beside
        if last < m:
            now[last + 1] = np.inf  # outside the band, for the next row to read
        before, now = now, before
    return before[m]


@njit(cache=True)
def align(
    codes: IntArray,
    starts: IntArray,
    other_codes: IntArray,
    other_starts: IntArray,
    table: FloatArray,
    match: float,
    mismatch: float,
    gap_open: float,
    gap_extend: float,
    local: bool,
    symmetric: bool,
    out: FloatArray,
) -> None:
    """Scores of the best alignments of all pairs of sequences, with affine gaps.

    Parameters
    ----------
    codes, other_codes : ndarray of shape (total,), dtype int64
        The sequences as numbers of symbols, read-only.
    starts, other_starts : ndarray of shape (n + 1,), dtype int64
        Where each begins, read-only.
    table : ndarray of shape (n_symbols, n_symbols), dtype float64
        Score of putting two symbols under each other, read-only; empty to use ``match`` and ``mismatch``.
    match, mismatch : float
        Scores of equal and of different symbols.
    gap_open, gap_extend : float
        What the first and each further symbol of a gap costs.
    local : bool
        Best alignment of any parts (0 for none), or of the whole sequences.
    symmetric : bool
        Whether the two sets are the same and the table is symmetric.
    out : ndarray of shape (n_x, n_y), dtype float64
        Result.
    """
    longest = 0
    for j in range(len(other_starts) - 1):
        longest = max(longest, other_starts[j + 1] - other_starts[j])
    best, gapped = np.empty(longest + 1), np.empty(longest + 1)
    for i in range(len(starts) - 1):
        sequence = codes[starts[i] : starts[i + 1]]
        for j in range(i + 1 if symmetric else len(other_starts) - 1):
            other = other_codes[other_starts[j] : other_starts[j + 1]]
            out[i, j] = _align_pair(sequence, other, table, match, mismatch, gap_open, gap_extend, local, best, gapped)
            if symmetric:
                out[j, i] = out[i, j]


@njit(cache=True)
def _align_pair(
    sequence: IntArray,
    other: IntArray,
    table: FloatArray,
    match: float,
    mismatch: float,
    gap_open: float,
    gap_extend: float,
    local: bool,
    best: FloatArray,
    gapped: FloatArray,
) -> float:
    """Gotoh's recursion: ``best[j]`` over alignments of the prefixes, ``gapped[j]`` over those that end in a gap."""
    m, use_table, highest = len(other), table.size > 0, 0.0
    best[0] = 0.0
    for j in range(1, m + 1):
        best[j] = 0.0 if local else -gap_open - (j - 1) * gap_extend
        gapped[j] = -np.inf
    for i in range(len(sequence)):
        diagonal = best[0]
        best[0] = 0.0 if local else -gap_open - i * gap_extend
        across = -np.inf
        for j in range(1, m + 1):
            gapped[j] = max(gapped[j] - gap_extend, best[j] - gap_open)
            across = max(across - gap_extend, best[j - 1] - gap_open)
            if use_table:
                score = table[sequence[i], other[j - 1]]
            else:
                score = match if sequence[i] == other[j - 1] else mismatch
            value = max(diagonal + score, gapped[j], across)
            if local:
                value = max(value, 0.0)
                highest = max(highest, value)
            diagonal = best[j]
            best[j] = value
    return highest if local else best[m]
