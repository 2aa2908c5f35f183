"""Kernels in groups, each with a budget of its own: the certificate and the solvers agree on what that means."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelweave.gram.factors.factor import FactorStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.svm import SVMProblem
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.interior_point import solve_interior_point

RNG = np.random.default_rng(0)
N, M = 30, 5
STACK = FactorStack([RNG.normal(size=(N, 2)) for _ in range(M)])
Y = np.where(RNG.random((1, N)) < 0.5, 1.0, -1.0)
PRICES = RNG.uniform(0.5, 2.0, M)


def problem(groups, budget=2.0, margin="l1", prices=PRICES):
    box = np.full(N, 1.5 if margin == "l1" else np.inf)
    ridge = np.zeros(N) if margin == "l1" else np.full(N, 0.7)
    return MarginProblem(Y, box, ridge, prices, budget, None, None if groups is None else np.array(groups))


@pytest.mark.parametrize("margin", ["l1", "l2"])
def test_one_group_is_no_grouping(margin):
    plain, grouped = problem(None, margin=margin), problem([0] * M, margin=margin)
    a, b = (run(solve_interior_point, task, STACK, tol=1e-9) for task in (plain, grouped))
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=1e-8)


@pytest.mark.parametrize("margin", ["l1", "l2"])
def test_groups_of_one_kernel_leave_nothing_to_learn(margin):
    task = problem([3, 1, 0, 4, 2], margin=margin)
    found = run(solve_interior_point, task, STACK, tol=1e-9)
    np.testing.assert_allclose(found.candidate.weights, 2.0 / PRICES)
    svm = SVMProblem(Y[0], task.box, task.ridge, 2.0 / PRICES)
    single = svm.certify(STACK, Candidate(alpha=found.candidate.alpha))
    assert found.certificate.primal == pytest.approx(single.primal, rel=1e-8)
    assert single.relative_gap < 1e-8


def test_more_groups_are_worth_more():
    values = []
    for groups in ([0] * M, [0, 0, 0, 1, 1], [0, 1, 2, 3, 4]):
        found = run(solve_interior_point, problem(groups), STACK, tol=1e-9)
        assert found.status is Status.OPTIMAL
        values.append(found.certificate.primal)
    # Every group brings its budget along, and a larger kernel has a smaller omega.
    assert values[0] > values[1] > values[2]


def test_each_group_keeps_its_budget():
    task = problem([0, 1, 0, 1, 1])
    weights = run(solve_interior_point, task, STACK, tol=1e-8).candidate.weights
    np.testing.assert_allclose(np.bincount(task.group_of, weights * PRICES), [2.0, 2.0])
    alpha = np.full((1, N), 0.1)
    short = task.certify(STACK, Candidate(weights=np.array([0.0, 1, 0, 1, 1]), alpha=alpha))
    assert short.primal == np.inf and short.infeasibility > 0.1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_any_point_brackets_the_optimum(seed):
    rng = np.random.default_rng(seed)
    task = problem([0, 1, 0, 1, 1])
    best = run(solve_interior_point, task, STACK, tol=1e-9).certificate
    alpha = rng.uniform(0, 1.5, (1, N))
    alpha[Y > 0] *= alpha[Y < 0].sum() / alpha[Y > 0].sum()
    alpha *= min(1.0, 1.5 / alpha.max())
    judged = task.certify(STACK, Candidate(weights=task.in_budget(rng.random(M)), alpha=alpha))
    assert judged.infeasibility < 1e-9
    assert judged.dual <= best.primal * (1 + 1e-9) and judged.primal >= best.dual * (1 - 1e-9)


def test_bad_groups_are_refused():
    with pytest.raises(ValueError, match="without gaps"):
        problem([0, 2, 2, 2, 0])
    with pytest.raises(ValueError, match="one number a kernel"):
        problem([0, 0])
    with pytest.raises(ValueError, match="cannot be combined"):
        MarginProblem(Y, np.full(N, np.inf), np.ones(N), PRICES, 1.0, 3.0, np.zeros(M, dtype=np.intp))
