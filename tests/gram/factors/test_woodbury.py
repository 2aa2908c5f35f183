"""Solves with a low-rank matrix plus a diagonal, against dense Cholesky."""

import numpy as np
import pytest
import scipy.linalg

from kernelweave.gram.factors.woodbury import low_rank_solve

N, RANK = 40, 6
RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(N, RANK))
# Twice the same directions: the rank is less than the number of columns.
REPEATED = np.hstack([FEATURES, 0.3 * FEATURES[:, :4]])


def diagonal(small, large, n_small):
    values = np.where(np.arange(N) < n_small, small, large) * RNG.uniform(0.1, 10, N)
    return RNG.permutation(values)


def errors(features, d, rhs):
    """Largest residual of ours and of dense Cholesky, relative to what the system is made of."""
    matrix = features @ features.T + np.diag(d)
    ours = low_rank_solve(features, d)(rhs)
    dense = scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix), rhs)
    size = [np.abs(matrix) @ np.abs(x) + np.abs(rhs) for x in (ours, dense)]
    return [np.max(np.abs(matrix @ x - rhs) / s) for x, s in zip((ours, dense), size, strict=True)]


@pytest.mark.parametrize("features", [FEATURES, REPEATED, 1e-5 * FEATURES, 1e5 * REPEATED], ids=range(4))
@pytest.mark.parametrize("n_small", [0, 1, RANK, RANK + 1, N])
@pytest.mark.parametrize(("small", "large"), [(1.0, 1.0), (1e-6, 1.0), (1e-12, 1.0), (1e-15, 1e15), (1e8, 1e8)])
def test_backward_errors_are_those_of_dense_cholesky(features, n_small, small, large):
    if n_small > RANK and small < 1e-6:
        small = 1e-6  # otherwise the matrix itself is singular to working precision
    scale = np.vdot(features, features) / N
    ours, dense = errors(features, diagonal(small, large, n_small) * scale, RNG.normal(size=(N, 3)))
    assert ours < max(100 * dense, 1e-13)


def test_vectors_and_blocks():
    d = diagonal(1e-9, 1.0, 3)
    solve, block = low_rank_solve(FEATURES, d), RNG.normal(size=(N, 2))
    block.flags.writeable = False
    np.testing.assert_allclose(solve(block)[:, 1], solve(block[:, 1]), rtol=1e-6)
    np.testing.assert_allclose(low_rank_solve(np.empty((N, 0)), d)(block), block / d[:, None])
    np.testing.assert_allclose(low_rank_solve(np.empty((N, 0)), d)(block[:, 0]), block[:, 0] / d)


def test_more_columns_than_rows():
    features, d = RNG.normal(size=(5, 5)), np.full(5, 1e-3)
    rhs = RNG.normal(size=5)
    np.testing.assert_allclose(
        low_rank_solve(features, d)(rhs), np.linalg.solve(features @ features.T + np.diag(d), rhs), rtol=1e-7
    )


def test_a_matrix_that_is_not_definite_is_refused():
    with pytest.raises(np.linalg.LinAlgError):
        low_rank_solve(FEATURES, np.where(np.arange(N) < 1, -50.0, 1.0))
