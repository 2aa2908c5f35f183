"""Completed kernel matrices: closed forms, the optimality condition, references, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from kernelweave import complete_kernel
from kernelweave.exceptions import InvalidKernelError
from kernelweave.problems.base import Candidate
from kernelweave.problems.completion import CompletionProblem
from kernelweave.solvers.completion import solve_completion
from kernelweave.solvers.driver import Status, run


def kernel(n, seed, rank=None):
    z = np.random.default_rng(seed).normal(size=(n, rank or n + 3))
    K = z @ z.T
    size = np.sqrt(np.diagonal(K))
    return K / np.outer(size, size)


def holes(n, share, seed):
    mask = np.triu(np.random.default_rng(seed).random((n, n)) < share, 1)
    return mask | mask.T


def with_holes(K, missing):
    return np.where(missing, np.nan, K)


def test_a_chain_multiplies_along():
    """Known neighbours only: the Markov chain, whose correlations multiply."""
    n, rho = 8, 0.6
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    full = rho**distance
    np.testing.assert_allclose(complete_kernel(with_holes(full, distance > 1), tol=1e-12), full, atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(n=st.integers(2, 12), share=st.floats(0.05, 0.95), seed=st.integers(0, 300), aided=st.booleans())
def test_the_inverse_is_that_of_the_reference_at_the_holes(n, share, seed, aided):
    K, missing = kernel(n, seed), holes(n, share, seed)
    reference = kernel(n, seed + 1) + 0.2 * np.eye(n) if aided else None
    completed = complete_kernel(with_holes(K, missing), reference, tol=1e-11)
    np.testing.assert_array_equal(completed, completed.T)
    np.testing.assert_allclose(completed[~missing], K[~missing], rtol=1e-12)
    wanted = np.linalg.inv(reference) if aided else np.zeros((n, n))
    inverse = np.linalg.inv(completed)
    assert np.linalg.eigvalsh(completed)[0] > 0
    np.testing.assert_allclose(inverse[missing], wanted[missing], atol=1e-3 * np.abs(inverse).max())


@pytest.mark.parametrize("seed", range(3))
def test_no_other_completion_has_a_larger_determinant(seed):
    K, missing = kernel(8, seed), holes(8, 0.4, seed)
    best = np.linalg.slogdet(complete_kernel(with_holes(K, missing)))[1]
    rng = np.random.default_rng(seed)
    assert best >= np.linalg.slogdet(K)[1]
    for _ in range(50):
        other = K + np.where(missing, 0.1 * kernel(8, rng.integers(1000)), 0.0)
        if np.linalg.eigvalsh(other)[0] > 0:
            assert best >= np.linalg.slogdet(other)[1] - 1e-9


def test_against_a_conic_solver():
    cp = pytest.importorskip("cvxpy")
    K, missing, reference = kernel(6, 1), holes(6, 0.5, 1), kernel(6, 2) + 0.3 * np.eye(6)
    X = cp.Variable((6, 6), symmetric=True)
    value = cp.trace(np.linalg.inv(reference) @ X) - cp.log_det(X)
    cp.Problem(cp.Minimize(value), [X[i, j] == K[i, j] for i, j in np.argwhere(~missing)]).solve(solver="SCS", eps=1e-8)
    np.testing.assert_allclose(complete_kernel(with_holes(K, missing), reference), X.value, atol=1e-4)


def test_samples_that_miss_the_view_follow_the_reference():
    K, reference = kernel(9, 3), kernel(9, 4) + 0.1 * np.eye(9)
    absent = [2, 5, 8]
    holed = K.copy()
    holed[absent] = np.nan
    holed[:, absent] = np.nan
    completed = complete_kernel(holed, reference)
    assert np.linalg.eigvalsh(completed)[0] > 0
    # Given the others, they are distributed as in the reference: the same rows of the inverse.
    np.testing.assert_allclose(np.linalg.inv(completed)[absent], np.linalg.inv(reference)[absent], atol=1e-8)
    np.testing.assert_allclose(complete_kernel(holed, reference)[np.ix_([0, 1], [0, 1])], K[:2, :2])
    # The same answer as by iteration, where it can be had: with the diagonal and one known entry removed again.
    holed[2, 0] = holed[0, 2] = completed[2, 0]
    holed[2, 2] = completed[2, 2]
    np.testing.assert_allclose(complete_kernel(holed, reference, tol=1e-12), completed, atol=1e-5)


def test_nearly_singular_matrices_have_a_completion_found_through_a_heavier_diagonal():
    K, missing = 0.999 * kernel(40, 5, rank=5) + 0.001 * np.eye(40), holes(40, 0.3, 5)
    assert np.linalg.eigvalsh(np.where(missing, 0.0, K))[0] < 0
    problem = CompletionProblem(K, missing)
    result = run(solve_completion, problem, None, tol=1e-8)
    assert result.status is Status.OPTIMAL


def test_a_start_is_taken_up():
    K, missing = kernel(10, 6), holes(10, 0.4, 6)
    problem = CompletionProblem(K, missing)
    first = run(solve_completion, problem, None, tol=1e-10)
    assert run(solve_completion, problem, None, tol=1e-9, start=first.candidate).n_iter == 1


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 200), scale=st.floats(0.01, 3.0))
def test_no_matrix_claims_too_high_a_bound(seed, scale):
    K, missing = kernel(6, seed), holes(6, 0.4, seed)
    problem = CompletionProblem(K, missing, np.linalg.inv(kernel(6, seed + 1) + 0.5 * np.eye(6)))
    best = run(solve_completion, problem, None, tol=1e-10).certificate.primal
    assert problem.bound(scale * np.linalg.inv(kernel(6, seed + 2))) <= best + 1e-8
    other = np.where(missing, 0.3 * kernel(6, seed + 3), K)
    assert problem.certify(None, Candidate(extras={"completed": other})).primal >= best - 1e-8


def test_nothing_missing_is_nothing_done():
    K = kernel(5, 0)
    np.testing.assert_allclose(complete_kernel(K), K)


def test_stopping_short_warns_with_the_gap():
    with pytest.warns(ConvergenceWarning, match="gap"):
        complete_kernel(with_holes(kernel(12, 1), holes(12, 0.5, 1)), max_iter=1)


HOLE = np.array([[1.0, np.nan], [np.nan, 1.0]])


@pytest.mark.parametrize(
    ("K", "reference", "message"),
    [
        (np.ones((2, 3)), None, "square"),
        (np.array([[1.0, np.inf], [np.inf, 1.0]]), None, "infinite"),
        (np.array([[1.0, np.nan], [0.2, 1.0]]), None, "symmetric"),
        (np.array([[1.0, 0.3], [0.2, 1.0]]), None, "symmetric"),
        (np.array([[np.nan, 0.5], [0.5, 1.0]]), np.eye(2), "diagonal"),
        (np.array([[1.0, np.nan], [np.nan, np.nan]]), None, "reference"),
        (np.full((2, 2), np.nan), np.eye(2), "Every entry"),
        (np.diag([1.0, 0.0]), None, "sample 1 is not positive"),
        (HOLE, np.eye(3), "shape"),
        (HOLE, np.ones((2, 2)), "positive definite"),
        (np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]), None, "No positive"),
    ],
)
def test_bad_matrices(K, reference, message):
    if message == "No positive":
        # Five entries that contradict each other, whatever stands in the sixth.
        K = np.pad(K, ((0, 1), (0, 1)), constant_values=0.0)
        K[3, 3], K[0, 3], K[3, 0] = 1.0, np.nan, np.nan
    with pytest.raises(InvalidKernelError, match=message):
        complete_kernel(K, reference)
