"""Largest linear value at a fixed trace: known answers, the certificate, both ways to hold the cone."""

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.trace_maximum import TraceMaximumProblem
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.semidefinite import trace_maximum
from kernelweave.solvers.semidefinite.trace_maximum import solve_trace_maximum
from kernelweave.testing import check_solver


def setting(n, m, seed, rank=None):
    rng = np.random.default_rng(seed)
    factors = [rng.normal(size=(n, rank or max(2, n // (i + 1)))) for i in range(m)]
    gram = DenseStack([z @ z.T for z in factors])
    sigma = rng.choice([-1.0, 1.0], n)
    return TraceMaximumProblem(gram.quadratic_forms(sigma), gram.traces(), float(n)), gram


@pytest.mark.parametrize("n", [5, 12])
def test_against_a_conic_solver(n):
    cp = pytest.importorskip("cvxpy")
    problem, gram = setting(n, 4, n)
    mu = cp.Variable(4)
    K = sum(mu[i] * gram.combine(np.eye(4)[i]) for i in range(4))
    reference = cp.Problem(cp.Maximize(problem.q @ mu), [problem.prices @ mu == problem.budget, K >> 0])
    reference.solve(solver="SCS", eps=1e-9)
    result = run(solve_trace_maximum, problem, gram, tol=1e-8)
    assert result.status is Status.OPTIMAL
    assert -result.certificate.primal == pytest.approx(reference.value, rel=1e-6)


@pytest.mark.parametrize("whole", [True, False])
def test_contract(monkeypatch, whole):
    monkeypatch.setattr(trace_maximum, "_SMALL_RANK", 1000 if whole else 4)
    problem, gram = setting(40, 5, 3)
    check_solver(solve_trace_maximum, problem, gram, tol=1e-7)


def test_growing_and_whole_agree(monkeypatch):
    problem, gram = setting(60, 4, 8)
    whole = run(solve_trace_maximum, problem, gram, tol=1e-8).certificate
    monkeypatch.setattr(trace_maximum, "_SMALL_RANK", 4)
    growing = run(solve_trace_maximum, problem, gram, tol=1e-8).certificate
    assert growing.primal == pytest.approx(whole.primal, rel=1e-7)


def test_orthogonal_rank_one_kernels_give_the_largest_ratio():
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0][:, :3]
    gram = DenseStack([np.outer(v, v) for v in vectors.T])
    problem = TraceMaximumProblem(np.array([1.0, 3.0, 2.0]), gram.traces(), 2.0)
    result = run(solve_trace_maximum, problem, gram, tol=1e-9)
    assert -result.certificate.primal == pytest.approx(6.0, rel=1e-8)


def test_no_multiplier_claims_too_little():
    problem, gram = setting(8, 3, 2)
    best = -run(solve_trace_maximum, problem, gram, tol=1e-9).certificate.primal
    rng = np.random.default_rng(0)
    for _ in range(40):
        z = rng.normal(size=(8, 2)) * 10.0 ** rng.uniform(-3, 2)
        cone = trace_maximum.ConeDual(z, np.diag(rng.normal(size=2)))
        judged = problem.certify(gram, Candidate(weights=rng.normal(size=3), extras={"cone_dual": cone}))
        assert -judged.dual >= best * (1 - 1e-8)
        assert -judged.primal <= best * (1 + 1e-8)


@pytest.mark.parametrize("weights", [None, np.ones(2), np.full(3, np.nan), -np.ones(3)])
def test_hopeless_weights_have_no_value(weights):
    problem, gram = setting(5, 3, 1)
    assert problem.certify(gram, Candidate(weights=weights)).primal == np.inf


@pytest.mark.parametrize(
    ("q", "prices", "budget"),
    [
        (np.ones(2), np.ones(3), 1.0),
        (np.array([]), np.array([]), 1.0),
        (np.array([np.inf]), np.ones(1), 1.0),
        (np.ones(1), np.zeros(1), 1.0),
        (np.ones(1), np.ones(1), 0.0),
    ],
)
def test_bad_data(q, prices, budget):
    with pytest.raises(ValueError):
        TraceMaximumProblem(q, prices, budget)
