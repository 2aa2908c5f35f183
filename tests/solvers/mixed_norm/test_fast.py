"""The fast solver of each penalty: all oracles, all losses, and the reference methods agree."""

import numpy as np
import pytest

from kernelweave.problems.penalties import MixedNorm
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.mixed_norm.fast import solve_fast
from kernelweave.solvers.mixed_norm.forward_backward import solve_accelerated, solve_forward_backward

ALL = [MixedNorm(1, 1), MixedNorm(2, 2), *(MixedNorm(p, 3 - p, r) for p in (1, 2) for r in (1, 2))]
each_penalty = pytest.mark.parametrize("penalty", ALL, ids=str)


def test_all_oracles(oracle, from_oracle):
    assert len(oracle["problems"]) == 48
    for entry in oracle["problems"]:
        problem, gram = from_oracle(entry)
        result = run(solve_fast, problem, gram, tol=1e-8)
        assert result.status is Status.OPTIMAL, (entry["dataset"], problem, result.message)
        assert abs(result.certificate.relative_gap) <= 1e-8
        assert result.certificate.primal == pytest.approx(entry["objective"], rel=1e-7)
        w = problem.loss.slopes(gram.apply(result.candidate.alpha) + result.candidate.bias[0])
        np.testing.assert_allclose(w * problem.loss.y, entry["v"], atol=1e-3)
        assert (not result.candidate.alpha.any()) == entry["omega_zero"]


@pytest.mark.parametrize("share", [0.9, 0.1, 1e-3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "squared"])
@each_penalty
def test_every_combination_is_certified(make_problem, penalty, loss, intercept, share):
    problem, gram = make_problem(penalty, share, loss=loss, intercept=intercept)
    result = run(solve_fast, problem, gram, tol=1e-8, max_iter=100)
    assert result.status is Status.OPTIMAL, result.message


@each_penalty
def test_agrees_with_the_reference(make_problem, penalty):
    problem, gram = make_problem(penalty, 0.5, n=12)
    fast = run(solve_fast, problem, gram, tol=1e-10)
    for solver, tol in ((solve_forward_backward, 1e-2), (solve_accelerated, 1e-4)):
        slow = run(solver, problem, gram, tol=tol, max_iter=50_000)
        assert slow.status is Status.OPTIMAL
        assert slow.certificate.dual <= fast.certificate.primal * (1 + 1e-12)
        assert fast.certificate.primal <= slow.certificate.primal * (1 + 1e-10)


@each_penalty
def test_single_precision_storage(make_problem, penalty):
    problem, gram = make_problem(penalty, 0.1, dtype=np.float32)
    assert gram.dtype == np.float32
    assert run(solve_fast, problem, gram, tol=1e-8).status is Status.OPTIMAL
