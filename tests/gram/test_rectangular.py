"""Rectangular stacks against plain sums."""

import numpy as np
import pytest

from kernelweave.gram.base import GramStack
from kernelweave.gram.rectangular import RectangularStack, _add_adjoint, _add_apply

RNG = np.random.default_rng(0)


def matrices(dtype=np.float64, n=7, n_points=5, m=3):
    K = RNG.normal(size=(m, n, n_points)).astype(dtype)
    K.flags.writeable = False
    return K


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_both_ways(dtype):
    K = matrices(dtype)
    stack = RectangularStack(K)
    alpha, w = RNG.normal(size=(5, 3)), RNG.normal(size=7)
    alpha[:, 1] = 0.0
    exact = K.astype(np.float64)
    np.testing.assert_allclose(stack.apply(alpha), np.einsum("tij,jt->i", exact, alpha), rtol=1e-13)
    np.testing.assert_allclose(stack.adjoint(w), np.einsum("tij,i->jt", exact, w), rtol=1e-13)
    assert stack.apply(np.zeros((5, 3))).tolist() == [0.0] * 7
    some = np.array([2, 0])
    np.testing.assert_array_equal(stack.adjoint(w, some), stack.adjoint(w)[:, some])
    np.testing.assert_allclose(GramStack.adjoint(stack, w, some), stack.adjoint(w, some), rtol=1e-12)


def test_single_precision_is_summed_in_double():
    K = np.full((1, 1, 100_000), 0.1, dtype=np.float32)
    expected = 100_000 * float(np.float32(0.1))
    assert RectangularStack(K).apply(np.ones((100_000, 1)))[0] == pytest.approx(expected, rel=1e-12)
    tall = K.transpose(0, 2, 1).copy()
    assert RectangularStack(tall).adjoint(np.ones(100_000))[0, 0] == pytest.approx(expected, rel=1e-12)


def test_compiled_loops_and_their_twins():
    K, x, w = matrices()[0], RNG.normal(size=5), RNG.normal(size=7)
    w[2] = 0.0
    out, back = np.ones(7), np.ones(5)
    _add_apply(K, x, out)
    _add_adjoint(K, w, back)
    np.testing.assert_allclose(out, [1 + sum(K[i, j] * x[j] for j in range(5)) for i in range(7)], rtol=1e-13)
    np.testing.assert_allclose(back, [1 + sum(K[i, j] * w[i] for i in range(7)) for j in range(5)], rtol=1e-13)


def test_reading_restricting_selecting():
    K = matrices()
    stack = RectangularStack(K)
    rows, cols, some = np.array([4, 1]), np.array([0, 3, 3]), np.array([2, 0])
    np.testing.assert_array_equal(stack.read(some, rows, cols), K[np.ix_(some, rows, cols)])
    np.testing.assert_array_equal(stack.read(some, np.arange(7)), K[some])
    np.testing.assert_array_equal(stack.read(some, np.arange(7), cols), K[some][:, :, cols])
    run = np.array([2, 3, 4])
    np.testing.assert_array_equal(stack.read(some, run, cols), K[np.ix_(some, run, cols)])
    np.testing.assert_array_equal(stack.read(some, rows, run), K[np.ix_(some, rows, run)])
    assert stack.read(some, run, run[:0]).shape == (2, 3, 0)
    part = stack.restrict(rows, cols)
    assert part.shape == (2, 3)
    np.testing.assert_array_equal(part.read(np.arange(3), np.arange(2)), K[np.ix_([0, 1, 2], rows, cols)])
    chosen = stack.select(some)
    np.testing.assert_array_equal(chosen.read(np.array([0]), rows)[0], K[2, rows])
    assert np.shares_memory(chosen._matrices[0], K)
    np.testing.assert_array_equal(stack.diagonals(), [np.diagonal(k) for k in K])


def test_defaults_of_the_base_agree():
    K = matrices(n=6, n_points=6)
    stack = RectangularStack(K)
    mu, v = np.array([1.0, 0.0, 2.0]), RNG.normal(size=6)
    np.testing.assert_allclose(stack.combine(mu), K[0] + 2 * K[2], rtol=1e-14)
    np.testing.assert_allclose(stack.products(v), K @ v, rtol=1e-13)


def test_memory_maps_stay_on_disk(tmp_path):
    K = matrices()
    np.save(tmp_path / "k.npy", K[0])
    mapped = np.load(tmp_path / "k.npy", mmap_mode="r")
    stack = RectangularStack([mapped])
    assert np.shares_memory(stack._matrices[0], mapped)
    np.testing.assert_allclose(stack.adjoint(np.ones(7))[:, 0], K[0].sum(axis=0), rtol=1e-14)


def test_bad_matrices_are_refused():
    with pytest.raises(ValueError, match="at least one kernel matrix"):
        RectangularStack([])
    with pytest.raises(ValueError, match=r"Kernel matrix 1 has shape \(2, 3\); expected \(2, 2\)"):
        RectangularStack([np.eye(2), np.ones((2, 3))])


def test_other_types_are_converted():
    stack = RectangularStack([np.eye(3, dtype=int), np.asfortranarray(np.ones((3, 3), dtype=np.float32))])
    assert stack.dtype == np.float64
    assert stack.apply(np.ones((3, 2))).tolist() == [4.0, 4.0, 4.0]
