"""Dense stacks: what they borrow, copy and refuse (values are compared in tests/conformance)."""

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack


def spd(n=6, seed=0, dtype=np.float64):
    z = np.random.default_rng(seed).normal(size=(n, n))
    return np.ascontiguousarray(z @ z.T).astype(dtype)


def memory(stack):
    return stack._matrices


def test_row_contiguous_matrices_are_borrowed_read_only():
    stored = [spd(), spd(dtype=np.float32)]
    stack = DenseStack(stored)
    for matrix, held in zip(stored, memory(stack), strict=True):
        assert np.shares_memory(matrix, held)
        assert not held.flags.writeable
        assert matrix.flags.writeable  # the caller's own array stays as it was


def test_column_contiguous_matrices_are_borrowed_as_their_own_transposes():
    stored = np.asfortranarray(spd())
    assert np.shares_memory(memory(DenseStack([stored]))[0], stored)


def test_scattered_matrices_are_copied():
    stored = np.repeat(np.repeat(spd(), 2, axis=0), 2, axis=1)[::2, ::2]
    held = memory(DenseStack([stored]))[0]
    assert held.flags.c_contiguous and not np.shares_memory(held, stored)


def test_an_array_of_matrices_is_borrowed():
    stored = np.stack([spd(seed=0), spd(seed=1)])
    assert all(np.shares_memory(held, stored) for held in memory(DenseStack(stored)))


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        ([np.float32, np.float32], np.float32),
        ([np.float32, np.float64], np.float64),
        ([np.float32, np.int64], np.float64),
        ([np.float16], np.float64),
    ],
)
def test_dtype_is_the_widest(dtypes, expected):
    assert DenseStack([np.eye(3, dtype=dtype) for dtype in dtypes]).dtype == expected


def test_a_leading_block_shares_the_memory_and_others_do_not():
    stack = DenseStack([spd()], [np.arange(1.0, 7.0)])
    leading = stack.restrict(np.arange(4))
    assert np.shares_memory(memory(leading)[0], memory(stack)[0])
    scattered = stack.restrict(np.array([5, 1]))
    assert not np.shares_memory(memory(scattered)[0], memory(stack)[0])
    assert scattered.shape == (2, 2) and stack.shape == (6, 6)


def test_rectangles_are_for_read():
    with pytest.raises(ValueError, match=r"symmetric.*use read\(\)"):
        DenseStack([spd()]).restrict(np.arange(3), np.arange(2))


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        ([], "at least one kernel matrix"),
        ([np.eye(3), np.eye(4)], r"Kernel matrix 1 has shape \(4, 4\); expected \(3, 3\)"),
        ([np.eye(3), np.ones((3, 2))], r"Kernel matrix 1 has shape \(3, 2\)"),
        ([np.ones((3, 2))], r"Kernel matrix 0 has shape \(3, 2\)"),
    ],
)
def test_shapes_that_do_not_fit(matrices, message):
    with pytest.raises(ValueError, match=message):
        DenseStack(matrices)


def test_one_sample():
    stack = DenseStack([np.array([[2.0]]), np.array([[3.0]])])
    assert stack.combine(np.array([1.0, 2.0])).tolist() == [[8.0]]
    assert stack.support_products(np.array([0.5])).tolist() == [[1.0], [1.5]]


@pytest.mark.parametrize("n", [15, 16, 17, 33])
def test_combine_at_the_edges_of_its_blocks(n):
    stored = [spd(n, seed) for seed in range(3)]
    weights = np.array([0.5, 0.0, -2.0])
    np.testing.assert_allclose(
        DenseStack(stored).combine(weights), np.tensordot(weights, np.stack(stored), 1), atol=1e-12
    )


def test_sums_are_in_double_precision_over_single_storage():
    n = 2000
    matrix = np.full((n, n), 0.1, dtype=np.float32)
    product = DenseStack([matrix]).products(np.ones(n))
    np.testing.assert_allclose(product[0], n * np.float64(np.float32(0.1)), rtol=1e-13)
