"""Each compiled loop against a plain twin."""

import math

import numpy as np
import pytest
import scipy.sparse

from kernelweave.kernels.vector import loops

RNG = np.random.default_rng(4)


def twin(kind, x, y):
    if kind == loops.MANHATTAN:
        return math.fsum(abs(a - b) for a, b in zip(x, y, strict=True))
    if kind == loops.CHI_SQUARED:
        return math.fsum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0)
    return math.fsum(min(a, b) for a, b in zip(x, y, strict=True))


KINDS = [loops.MANHATTAN, loops.CHI_SQUARED, loops.INTERSECTION]


def counts(n, d=7):
    X = RNG.poisson(1.0, size=(n, d)) * RNG.random((n, d))
    X.flags.writeable = False
    return X


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 70), (70, 3), (130, 65)])
def test_comparisons_of_two_sets(kind, n, m):
    X, Y = counts(n), counts(m)
    expected = [[twin(kind, x, y) for y in Y] for x in X]
    out = np.full((n, m), np.nan)
    loops.compare(kind, X, Y, False, out)
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 64, 65, 150])
def test_comparisons_of_one_set(kind, n):
    X = counts(n)
    out, full = np.full((n, n), np.nan), np.empty((n, n))
    loops.compare(kind, X, X, True, out)
    loops.compare(kind, X, X, False, full)
    np.testing.assert_array_equal(out, out.T)
    np.testing.assert_allclose(out, full, rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_sparse_comparisons_agree_with_dense_ones(kind, symmetric):
    X = counts(20, 30)
    Y = X if symmetric else counts(11, 30)
    expected, out = np.empty((len(X), len(Y))), np.full((len(X), len(Y)), np.nan)
    loops.compare(kind, X, Y, symmetric, expected)
    arrays = [part for S in map(scipy.sparse.csr_array, (X, Y)) for part in (S.data, S.indices, S.indptr)]
    loops.compare_sparse(kind, *arrays, 30, symmetric, out)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-13)
    assert (out >= 0).all()


def test_sparse_manhattan_of_signed_numbers():
    X = scipy.sparse.csr_array(RNG.normal(size=(5, 8)) * (RNG.random((5, 8)) < 0.5))
    out = np.empty((5, 5))
    loops.compare_sparse(loops.MANHATTAN, *2 * (X.data, X.indices, X.indptr), 8, False, out)
    dense = X.toarray()
    np.testing.assert_allclose(out, np.abs(dense[:, None] - dense).sum(axis=2), atol=1e-14)


def test_squared_distances_where_norms_and_products_cancel():
    X = np.array([[1e8, 0.0, 0.0], [1e8, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    Y = np.array([[1e8, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    expected = ((X[:, None] - Y) ** 2).sum(axis=2)
    D = X @ Y.T
    loops.squared_from_products(D, (X**2).sum(axis=1), (Y**2).sum(axis=1))
    marked = np.zeros_like(D, dtype=bool)
    marked[[0, 1, 2, 3], [0, 0, 1, 2]] = True
    np.testing.assert_array_equal(D == -1.0, marked)
    np.testing.assert_allclose(D[~marked], expected[~marked], rtol=1e-12)
    sparse = D.copy()
    loops.repair(D, X, Y)
    np.testing.assert_allclose(D, expected, rtol=1e-12)
    arrays = [part for S in map(scipy.sparse.csr_array, (X, Y)) for part in (S.data, S.indices, S.indptr)]
    loops.repair_sparse(sparse, *arrays)
    np.testing.assert_allclose(sparse, expected, rtol=1e-12)


def test_squared_distances_keep_what_is_not_a_number():
    D = np.array([[np.nan, np.inf]])
    loops.squared_from_products(D, np.ones(1), np.ones(2))
    assert np.isnan(D[0, 0])
    assert D[0, 1] == -1.0


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0, 30.0, 700.0])
def test_exponential_is_right_to_one_unit_in_the_last_place(size):
    distances = size * RNG.random((4, 5001))
    out = np.empty_like(distances)
    loops.exponential(distances, 1.0, out)
    exact = np.exp(-distances.astype(np.longdouble))
    assert float(np.max(np.abs(out - exact) / exact)) < 2.0**-52


def test_exponential_at_the_ends():
    distances = np.array([[0.0, 1e-320, 707.9, 708.0, 1e9, np.inf, np.nan]])
    out = np.empty_like(distances)
    loops.exponential(distances, 1.0, out)
    assert out[0, 0] == out[0, 1] == 1.0
    assert out[0, 2] == pytest.approx(math.exp(-707.9), rel=1e-15)
    assert out[0, 3:6].tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(out[0, 6])


def test_exponential_in_place():
    distances = RNG.random((7, 33))
    expected = np.exp(-2.5 * distances)
    loops.exponential(distances, 2.5, distances)
    np.testing.assert_allclose(distances, expected, rtol=4e-16)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gather(order, dtype):
    matrix = np.asarray(RNG.random((9, 9)), dtype=dtype, order=order)
    rows, cols = np.array([3, 3, 0]), np.array([8, 1])
    out = np.empty((3, 2), dtype=dtype)
    loops.gather(matrix, rows, cols, out)
    np.testing.assert_array_equal(out, matrix[np.ix_(rows, cols)])
