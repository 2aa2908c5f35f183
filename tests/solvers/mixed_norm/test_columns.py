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


def test_products(columns):
    x, w, chosen = RNG.normal(size=6), RNG.normal(size=6), np.array([3, 1])
    x[2] = 0.0
    np.testing.assert_allclose(columns.apply(x), x @ FLAT[columns.entries], rtol=1e-13)
    np.testing.assert_allclose(columns.adjoint(w), FLAT[columns.entries] @ w, rtol=1e-13)
    np.testing.assert_allclose(columns.adjoint_at(chosen, w), FLAT[columns.entries[chosen]] @ w, rtol=1e-13)


def test_rows_and_blocks(columns, monkeypatch):
    chosen = np.array([5, 0, 2, 3])
    np.testing.assert_array_equal(columns.rows(chosen), FLAT[columns.entries[chosen]])
    monkeypatch.setattr(module, "_BLOCK_BYTES", 8 * 6 * 3)
    pieces = list(columns.blocks(chosen))
    assert [len(rows) for _, rows in pieces] == [3, 1]
    for part, rows in pieces:
        np.testing.assert_array_equal(rows, FLAT[columns.entries[chosen[part]]])
        rows[:] = np.nan  # the caller may write into them
    np.testing.assert_array_equal(columns.rows(chosen), FLAT[columns.entries[chosen]])


def test_sums(columns):
    labels, values = np.array([1, -1, 0, 1]), np.array([2.0, 9.0, -1.0, 0.5])
    chosen = np.array([0, 1, 2, 4])
    c = FLAT[columns.entries[chosen]]
    expected = [-c[2], 2 * c[0] + 0.5 * c[3]]
    np.testing.assert_allclose(columns.sums(chosen, labels, values, 2), expected, rtol=1e-14)
    assert columns.sums(chosen, np.full(4, -1), values, 0).shape == (0, 6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_outer_products_on_the_lower_triangle(columns, sign, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_BYTES", 8 * 6 * 2)
    chosen, weights = np.array([4, 0, 5, 1]), sign * np.array([1.0, 2.0, 0.5, 3.0])
    out = np.asfortranarray(np.tril(np.ones((6, 6))))
    columns.add_outer(chosen, weights, out)
    c = FLAT[columns.entries[chosen]]
    np.testing.assert_allclose(out, np.tril(1 + (c.T * weights) @ c), rtol=1e-12, atol=1e-13)
    columns.add_outer(chosen[:0], weights[:0], out)


def test_bookkeeping(columns):
    assert len(columns) == 6
    assert set(columns.entries.tolist()) == {7, 2, 14, 0, 5, 9}
    assert set(columns.entries[:2].tolist()) == {7, 2}  # positions stay what they were
    np.testing.assert_array_equal(np.flatnonzero(columns.inside), np.sort(columns.entries))
    full = columns.spread(np.arange(1.0, 7.0))
    assert full.shape == (5, 3)
    np.testing.assert_array_equal(full.ravel()[columns.entries], np.arange(1.0, 7.0))
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
