"""Forward-backward splitting: the printed iteration, and its accelerated variant."""

from itertools import islice, pairwise

import numpy as np
import pytest

from kernelweave.gram.rectangular import RectangularStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.losses import SquaredLoss
from kernelweave.problems.mixed_norm import MixedNormProblem
from kernelweave.problems.penalties import MixedNorm
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.mixed_norm.forward_backward import (
    largest_curvature,
    solve_accelerated,
    solve_forward_backward,
)
from kernelweave.solvers.mixed_norm.prox import prox

ALL = [MixedNorm(1, 1), MixedNorm(2, 2), *(MixedNorm(p, 3 - p, r) for p in (1, 2) for r in (1, 2))]


@pytest.mark.parametrize("penalty", ALL, ids=str)
def test_the_printed_algorithm(oracle, from_oracle, penalty):
    """[K09] Algorithm 2 with its own lambda (half of ours) takes the same steps."""
    entry = next(
        e
        for e in oracle["problems"]
        if (e["p"], e["q"], e["r"], e["intercept"]) == (penalty.p, penalty.q, penalty.r, False)
    )
    problem, gram = from_oracle(entry)
    y, lam = problem.loss.y, entry["lam"] / 2
    K = np.concatenate([gram.read(np.array([t]), np.arange(len(y)))[0] for t in range(gram.n_kernels)], axis=1)
    Ky, norm2 = y[:, None] * K, largest_curvature(problem, gram) / 2
    assert norm2 == pytest.approx(np.linalg.norm(K, 2) ** 2, rel=3e-3)
    assert norm2 >= np.linalg.norm(K, 2) ** 2
    alpha = np.zeros((len(y), gram.n_kernels))
    for candidate in islice(solve_forward_backward(problem, gram), 5):
        np.testing.assert_allclose(candidate.alpha, alpha, rtol=1e-10, atol=1e-13)
        residual = np.maximum(1 - Ky @ alpha.T.ravel(), 0)
        forward = alpha + (Ky.T @ residual).reshape(gram.n_kernels, len(y)).T / norm2
        alpha = prox(penalty, forward, lam / norm2)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", ALL, ids=str)
def test_objective_falls_and_the_gap_is_believed_rightly(make_problem, penalty, intercept):
    problem, gram = make_problem(penalty, 0.3, n=20, intercept=intercept)
    values = []
    for candidate in islice(solve_forward_backward(problem, gram), 30):
        judged = problem.certify(gram, candidate)
        assert candidate.gap == pytest.approx(judged.relative_gap, rel=1e-6, abs=1e-12)
        values.append(judged.primal)
    assert all(b <= a * (1 + 1e-13) for a, b in pairwise(values))


@pytest.mark.parametrize("penalty", ALL, ids=str)
def test_oracle_values(oracle, from_oracle, penalty):
    entries = [e for e in oracle["problems"] if (e["p"], e["q"]) == (penalty.p, penalty.q)]
    for entry in [e for e in entries if penalty.separable or e["r"] == penalty.r]:
        problem, gram = from_oracle(entry)
        result = run(solve_accelerated, problem, gram, tol=1e-3, max_iter=20_000)
        assert result.status is Status.OPTIMAL
        assert result.certificate.dual <= entry["objective"] * (1 + 1e-7)
        assert result.certificate.primal == pytest.approx(entry["objective"], rel=1.1e-3)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_both_variants_agree(make_problem, loss):
    problem, gram = make_problem(MixedNorm(2, 1, 2), 0.5, loss=loss, n=12)
    plain = run(solve_forward_backward, problem, gram, tol=1e-3, max_iter=20_000)
    quick = run(solve_accelerated, problem, gram, tol=1e-5, max_iter=20_000)
    assert plain.status is quick.status is Status.OPTIMAL
    assert quick.n_iter < plain.n_iter
    assert plain.certificate.primal == pytest.approx(quick.certificate.primal, rel=1.1e-3)


@pytest.mark.parametrize("solver", [solve_forward_backward, solve_accelerated])
def test_starts_from_what_is_given_without_changing_it(make_problem, solver):
    problem, gram = make_problem(MixedNorm(1, 1), 0.2, n=20)
    alpha = np.random.default_rng(0).normal(size=(20, 4))
    alpha.flags.writeable = False
    first = next(solver(problem, gram, start=Candidate(alpha=alpha)))
    np.testing.assert_array_equal(first.alpha, alpha)


def test_a_short_run_does_not_pass_for_optimal(make_problem):
    problem, gram = make_problem(MixedNorm(1, 1), 0.05)
    result = run(solve_accelerated, problem, gram, tol=1e-8, max_iter=3)
    assert result.status is Status.ITERATION_LIMIT and result.certificate.relative_gap > 1e-8


@pytest.mark.parametrize("n", [1, 2])
def test_curvature_of_tiny_samples(n):
    K = np.arange(1.0, 2 * n * n + 1).reshape(2, n, n)
    problem = MixedNormProblem(SquaredLoss(np.ones(n), np.ones(n)), MixedNorm(1, 1), 1.0)
    exact = 2 * np.linalg.norm(np.concatenate(list(K), axis=1), 2) ** 2
    assert largest_curvature(problem, RectangularStack(K)) >= exact
