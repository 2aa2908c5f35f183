"""The compiled loops against plain recursions on tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelweave.kernels.arrays import read_only
from kernelweave.kernels.structured import sequence_loops

QUICK = settings(max_examples=40, deadline=None)


def joined(sequences, dtype):
    starts = np.concatenate([[0], np.cumsum([len(s) for s in sequences])]).astype(np.int64)
    parts = [np.asarray(s, dtype=dtype) for s in sequences]
    return read_only(np.concatenate(parts)), read_only(starts)


def warp_twin(x, z, band, squared):
    n, m = len(x), len(z)
    reach = max(band, abs(n - m)) if band >= 0 else n + m
    table = np.full((n + 1, m + 1), np.inf)
    table[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if abs(i - j) <= reach:
                difference = x[i - 1] - z[j - 1]
                cost = (difference**2).sum() if squared else np.abs(difference).sum()
                table[i, j] = cost + min(table[i - 1, j - 1], table[i - 1, j], table[i, j - 1])
    return table[n, m]


def align_twin(x, z, score, gap, local):
    """All gap lengths are tried: no affine trick."""
    n, m = len(x), len(z)
    table = np.zeros((n + 1, m + 1))
    for i in range(n + 1):
        for j in range(m + 1):
            options = [0.0] if local or i + j == 0 else []
            if i and j:
                options.append(table[i - 1, j - 1] + score(x[i - 1], z[j - 1]))
            options += [table[i - k, j] - gap(k) for k in range(1, i + 1)]
            options += [table[i, j - k] - gap(k) for k in range(1, j + 1)]
            table[i, j] = max(options)
    return table.max() if local else table[n, m]


@st.composite
def series(draw):
    d = draw(st.integers(1, 2))
    values = st.integers(-5, 5).map(float)
    one = st.lists(st.lists(values, min_size=d, max_size=d), min_size=1, max_size=6)
    return [np.array(item) for item in draw(st.lists(one, min_size=1, max_size=4))]


@QUICK
@given(series(), st.integers(-1, 3), st.booleans())
def test_warping(sequences, band, squared):
    values, starts = joined(sequences, np.float64)
    out = np.full((len(sequences),) * 2, np.nan)
    for symmetric in (False, True):
        sequence_loops.warp(values, starts, values, starts, band, squared, symmetric, out)
        expected = [[warp_twin(x, z, band, squared) for z in sequences] for x in sequences]
        np.testing.assert_array_equal(out, expected)


@QUICK
@given(
    st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from([(3.0, 1.0), (1.0, 1.0), (0.5, 0.0), (2.0, 0.5)]),
    st.booleans(),
)
def test_alignment(sequences, local, gaps, with_table):
    codes, starts = joined(sequences, np.int64)
    table = np.array([[2.0, -1.0, 0.5], [0.0, 3.0, -2.0], [-1.0, 1.0, 1.0]]) if with_table else np.zeros((0, 0))
    out = np.empty((len(sequences),) * 2)
    sequence_loops.align(codes, starts, codes, starts, read_only(table), 2.0, -1.0, *gaps, local, False, out)

    def score(a, b):
        return table[a, b] if with_table else (2.0 if a == b else -1.0)

    def gap(length):
        return gaps[0] + (length - 1) * gaps[1]

    expected = [[align_twin(x, z, score, gap, local) for z in sequences] for x in sequences]
    np.testing.assert_allclose(out, expected, atol=1e-12)


@pytest.mark.parametrize("local", [True, False])
def test_half_of_the_pairs_is_enough(local):
    rng = np.random.default_rng(0)
    codes, starts = joined([rng.integers(0, 4, size=9) for _ in range(6)], np.int64)
    whole, half = np.empty((6, 6)), np.empty((6, 6))
    for symmetric, out in ((False, whole), (True, half)):
        sequence_loops.align(
            codes, starts, codes, starts, read_only(np.zeros((0, 0))), 1.0, -1.0, 2.0, 0.5, local, symmetric, out
        )
    np.testing.assert_array_equal(half, whole)
