"""The l2 penalty through one matrix."""

import numpy as np
import pytest

from kernelweave.problems.base import Candidate
from kernelweave.problems.penalties import MixedNorm
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.mixed_norm import ridge as module
from kernelweave.solvers.mixed_norm.ridge import outer_products, solve_ridge

L2 = MixedNorm(2, 2)


def test_outer_products_by_blocks(make_problem, monkeypatch):
    _, gram = make_problem(L2, n=15)
    expected = sum(k @ k.T for k in (gram.read(np.array([t]), np.arange(15))[0] for t in range(4)))
    np.testing.assert_allclose(outer_products(gram), expected, rtol=1e-12)
    monkeypatch.setattr(module, "_BLOCK_BYTES", 8 * 15 * 4)
    np.testing.assert_allclose(outer_products(gram), expected, rtol=1e-12)


def test_oracle(oracle, from_oracle):
    for entry in oracle["problems"]:
        if (entry["p"], entry["q"]) == (2, 2):
            problem, gram = from_oracle(entry)
            result = run(solve_ridge, problem, gram, tol=1e-12)
            assert result.status is Status.OPTIMAL and result.n_iter <= 8
            assert result.certificate.primal == pytest.approx(entry["objective"], rel=1e-7)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("share", [10.0, 1e-2, 1e-6])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "squared"])
def test_all_losses(make_problem, loss, share, intercept):
    problem, gram = make_problem(L2, share, loss=loss, intercept=intercept)
    result = run(solve_ridge, problem, gram, tol=1e-8)
    assert result.status is Status.OPTIMAL
    assert result.n_iter <= 40


def test_squared_loss_is_a_linear_system(make_problem):
    problem, gram = make_problem(L2, 0.1, loss="squared", intercept=False, n=20)
    K = np.concatenate([gram.read(np.array([t]), np.arange(20))[0] for t in range(4)], axis=1)
    S = np.diag(problem.loss.weight)
    alpha = np.linalg.solve(2 * K.T @ S @ K + problem.strength * np.eye(80), 2 * K.T @ S @ problem.loss.y)
    result = run(solve_ridge, problem, gram, tol=1e-12)
    np.testing.assert_allclose(result.candidate.alpha, alpha.reshape(4, 20).T, rtol=1e-6, atol=1e-9)


def test_hands_on_the_matrix_along_a_path(make_problem, monkeypatch):
    problem, gram = make_problem(L2, 0.1)
    first = run(solve_ridge, problem, gram, tol=1e-10)
    monkeypatch.setattr(module, "outer_products", lambda gram: pytest.fail("formed again"))
    again = run(solve_ridge, problem, gram, tol=1e-10, start=first.candidate)
    assert again.n_iter <= 2
    assert again.certificate.primal == pytest.approx(first.certificate.primal, rel=1e-9)


def test_other_penalties_are_refused(make_problem):
    problem, gram = make_problem(MixedNorm(1, 1))
    with pytest.raises(ValueError, match="l2 penalty only"):
        next(solve_ridge(problem, gram, start=Candidate()))
