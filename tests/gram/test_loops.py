"""The compiled passes beside plain twins."""

import numpy as np
import pytest

from kernelweave.gram import loops


def read_only(array):
    array.flags.writeable = False
    return array


def symmetric(n, dtype, seed=0):
    z = np.random.default_rng(seed).normal(size=(n, n))
    return read_only((z + z.T).astype(dtype))


def plain_add_lower(matrix, weight, scale, first, last, out):
    for r in range(first, last):
        for c in range(r + 1):
            out[r, c] += weight * scale[r] * float(matrix[r, c]) * scale[c]


def plain_support_products(matrix, support, vector):
    inside = np.zeros_like(vector)
    inside[support] = vector[support]
    return matrix.astype(np.float64) @ inside


SIZES = [1, 2, 31, 32, 33, 70]
DTYPES = [np.float64, np.float32]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_add_lower(n, dtype):
    matrix, first, last = symmetric(n, dtype), n // 3, n
    start = np.random.default_rng(1).normal(size=(n, n))
    compiled, plain = start.copy(), start.copy()
    loops.add_lower(matrix, -0.7, first, last, compiled)
    plain_add_lower(matrix, -0.7, np.ones(n), first, last, plain)
    np.testing.assert_allclose(compiled, plain, rtol=1e-13)
    assert np.array_equal(np.triu(compiled, 1), np.triu(start, 1))
    assert np.array_equal(compiled[:first], start[:first])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_add_lower_scaled(n, dtype):
    matrix, scale = symmetric(n, dtype), read_only(np.random.default_rng(2).uniform(0, 2, n))
    compiled, plain = np.zeros((n, n)), np.zeros((n, n))
    loops.add_lower_scaled(matrix, 0.3, scale, 0, n // 2 + 1, compiled)
    plain_add_lower(matrix, 0.3, scale, 0, n // 2 + 1, plain)
    np.testing.assert_allclose(compiled, plain, rtol=1e-13)


@pytest.mark.parametrize("n", SIZES)
def test_mirror_lower(n):
    matrix = np.random.default_rng(3).normal(size=(n, n))
    expected = np.tril(matrix) + np.tril(matrix, -1).T
    loops.mirror_lower(matrix)
    assert np.array_equal(matrix, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_support_products(n, dtype):
    matrix, rng = symmetric(n, dtype), np.random.default_rng(4)
    vector = np.where(rng.random(n) < 0.5, rng.normal(size=n), 0.0)
    support, out = loops.support_of(vector), np.full(n, np.nan)
    loops.support_products(matrix, support, vector, out)
    expected = plain_support_products(matrix, support, vector)
    np.testing.assert_allclose(out[support], expected[support], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_supported_rows(n, dtype):
    matrix, rng = symmetric(n, dtype), np.random.default_rng(5)
    vector = np.where(rng.random(n) < 0.5, rng.normal(size=n), 0.0)
    support, out = loops.support_of(vector), np.full(n, 2.0)
    loops.supported_rows(matrix, support, vector, out)
    np.testing.assert_allclose(out, 2.0 + plain_support_products(matrix, support, vector), rtol=1e-10, atol=1e-12)


def test_a_leading_block_of_a_larger_matrix():
    """Sizes come from the vectors, so a block needs no copy of its own."""
    matrix, n = symmetric(9, np.float64), 5
    vector, out = np.arange(1.0, 6.0), np.zeros(5)
    loops.supported_rows(matrix, loops.support_of(vector), vector, out)
    np.testing.assert_allclose(out, matrix[:n, :n] @ vector)
    loops.support_products(matrix, loops.support_of(vector), vector, out)
    np.testing.assert_allclose(out, matrix[:n, :n] @ vector)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_stays_so(bad):
    matrix = np.array(symmetric(4, np.float64))
    matrix[2, 1] = matrix[1, 2] = bad
    vector, out = np.ones(4), np.zeros(4)
    loops.supported_rows(matrix, loops.support_of(vector), vector, out)
    assert not np.isfinite(out[[1, 2]]).any() and np.isfinite(out[[0, 3]]).all()
    combined = np.zeros((4, 4))
    loops.add_lower(matrix, 1.0, 0, 4, combined)
    assert not np.isfinite(combined[2, 1])


def test_support_of():
    support = loops.support_of(np.array([0.0, 1e-300, -0.0, -2.0]))
    assert support.tolist() == [1, 3] and support.dtype == np.intp
