"""Blocks of rows, and what the defaults promise beyond the conformance suite."""

import numpy as np
import pytest

from kernelweave.gram.base import GramStack, row_blocks


class Indefinite(GramStack):
    n_kernels, shape, dtype = 1, (3, 3), np.dtype(np.float64)

    def read(self, kernels, rows, cols=None):
        return np.diag([1.0, -1.0, 1.0])[None, rows]

    def restrict(self, rows, cols=None):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("n_rows", "row_bytes", "sizes"),
    [
        (5, 2**24, [1] * 5),  # a row fills a block
        (5, 2**30, [1] * 5),  # a row is more than a block
        (5, 2**23, [2, 2, 1]),
        (5, 1, [5]),
        (5, 0, [5]),
        (0, 8, []),
    ],
)
def test_row_blocks_cover_all_rows_once(n_rows, row_bytes, sizes):
    blocks = list(row_blocks(n_rows, row_bytes))
    assert [len(block) for block in blocks] == sizes
    assert np.concatenate([*blocks, np.empty(0)]).tolist() == list(range(n_rows))
    assert all(block.dtype == np.intp for block in blocks)


def test_read_and_restrict_are_all_that_is_asked():
    assert GramStack.__abstractmethods__ == {"read", "restrict"}
    with pytest.raises(TypeError, match="abstract"):
        GramStack()


def test_shifted_solve_refuses_an_indefinite_sum():
    stack = Indefinite()
    with pytest.raises(np.linalg.LinAlgError):
        stack.shifted_solve(np.ones(1), np.full(3, 0.5))
    solve = stack.shifted_solve(np.ones(1), np.full(3, 2.0))
    np.testing.assert_allclose(solve(np.ones(3)), [1 / 3, 1.0, 1 / 3])
