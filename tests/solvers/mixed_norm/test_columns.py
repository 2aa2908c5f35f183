"""Held and streamed columns against the matrix they stand for."""

import numpy as np
import pytest

from kernelweave.gram.rectangular import RectangularStack
from kernelweave.solvers.mixed_norm import columns as module
from kernelweave.solvers.mixed_norm.columns import HeldColumns, StreamedColumns

RNG = np.random.default_rng(0)
K = RNG.normal(size=(3, 6, 5))
K.flags.writeable = False
FLAT = K.transpose(2, 0, 1).reshape(15, 6)  # row j * 3 + t is K_t[:, j]


@pytest.fixture(params=[HeldColumns, StreamedColumns])
def columns(request):
    columns = request.param(RectangularStack(K))
    columns.extend(np.array([7, 2]))
    columns.extend(np.array([14, 0, 5, 9]))
    return columns


ENTRIES = np.array([7, 2, 14, 0, 5, 9])


def test_products(columns):
    x, w, chosen = RNG.normal(size=6), RNG.normal(size=6), np.array([3, 1])
    x[2] = 0.0
    np.testing.assert_allclose(columns.apply(x), x @ FLAT[ENTRIES], rtol=1e-13)
    np.testing.assert_allclose(columns.adjoint(w), FLAT[ENTRIES] @ w, rtol=1e-13)
    np.testing.assert_allclose(columns.adjoint_at(chosen, w), FLAT[ENTRIES[chosen]] @ w, rtol=1e-13)


def test_rows_and_blocks(columns, monkeypatch):
    chosen = np.array([5, 0, 2, 3])
    np.testing.assert_array_equal(columns.rows(chosen), FLAT[ENTRIES[chosen]])
    monkeypatch.setattr(module, "_BLOCK_BYTES", 8 * 6 * 3)
    pieces = list(columns.blocks(chosen))
    assert [len(rows) for _, rows in pieces] == [3, 1]
    for part, rows in pieces:
        np.testing.assert_array_equal(rows, FLAT[ENTRIES[chosen[part]]])
        rows[:] = np.nan  # the caller may write into them
    np.testing.assert_array_equal(columns.rows(chosen), FLAT[ENTRIES[chosen]])


def test_sums(columns):
    labels, values = np.array([1, -1, 0, 1]), np.array([2.0, 9.0, -1.0, 0.5])
    chosen = np.array([0, 1, 2, 4])
    expected = [-FLAT[14], 2 * FLAT[7] + 0.5 * FLAT[5]]
    np.testing.assert_allclose(columns.sums(chosen, labels, values, 2), expected, rtol=1e-14)
    assert columns.sums(chosen, np.full(4, -1), values, 0).shape == (0, 6)


def test_bookkeeping(columns):
    assert len(columns) == 6
    np.testing.assert_array_equal(columns.entries, ENTRIES)
    np.testing.assert_array_equal(np.flatnonzero(columns.inside), np.sort(ENTRIES))
    full = columns.spread(np.arange(1.0, 7.0))
    assert full.shape == (5, 3)
    np.testing.assert_array_equal(full.ravel()[ENTRIES], np.arange(1.0, 7.0))
    assert np.count_nonzero(full) == 6


def test_single_precision_is_read_in_double():
    columns = HeldColumns(RectangularStack(K.astype(np.float32)))
    columns.extend(np.array([4]))
    assert columns.rows(np.array([0])).dtype == np.float64


def test_twins_of_the_compiled_loops():
    rows, chosen, values = RNG.normal(size=(4, 3)), np.array([2, 0]), np.array([1.5, -2.0])
    out, dots, scattered = np.full(3, np.nan), np.full(2, np.nan), np.zeros((2, 3))
    module._combine_rows(rows, chosen, values, out)
    module._dot_rows(rows, chosen, out, dots)
    module._scatter_rows(rows, np.array([1, -1, 1, 0]), np.array([1.0, 9.0, 2.0, 3.0]), scattered)
    np.testing.assert_allclose(out, 1.5 * rows[2] - 2 * rows[0], rtol=1e-14)
    np.testing.assert_allclose(dots, rows[[2, 0]] @ out, rtol=1e-14)
    np.testing.assert_allclose(scattered, [3 * rows[3], rows[0] + 2 * rows[2]], rtol=1e-14)
