"""Coordinate descent on ramps: certified, for every kind of problem it takes, and the same as the interior point."""

import numpy as np
import pytest
import scipy.sparse

from kernelweave.gram.ramps.directed import DirectedRampStack
from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.kernels.monotone.knots import group_knots
from kernelweave.kernels.monotone.ramps import Ramps
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.interior_point import solve_interior_point
from kernelweave.solvers.monotone.descent import _balanced, solve_descent

RNG = np.random.default_rng(0)
N, D = 80, 4
X = RNG.uniform(0, 1, (N, D))
SCORE = 2 * X[:, 0] ** 2 - np.sqrt(X[:, 1]) + 0.5 * X[:, 2] + 0.2 * RNG.normal(size=N)
BINARY = np.where(SCORE > 0.2, 1.0, -1.0)[None]
THREE = np.where(np.digitize(SCORE, [-0.1, 0.5]) == np.arange(3)[:, None], 1.0, -1.0)
GROUPS = {"all": np.zeros(D, dtype=np.intp), "pairs": np.arange(D) // 2, "feature": np.arange(D)}


def problem(labels, ramps, margin="l1", C=1.0, weight=1.0):
    weight = np.broadcast_to(weight, (labels.shape[1],))
    box = C * weight if margin == "l1" else np.full(labels.shape[1], np.inf)
    ridge = np.zeros(labels.shape[1]) if margin == "l1" else 1 / (C * weight)
    return MarginProblem(labels, box, ridge, np.ones(ramps.n_ramps), 1.0, None, ramps.group_of_ramp)


def ramps_for(X, groups, n_knots=5):
    return Ramps(group_knots(X, groups, n_knots), groups)


@pytest.mark.parametrize("margin", ["l1", "l2"])
@pytest.mark.parametrize("labels", [BINARY, THREE], ids=["two", "three"])
@pytest.mark.parametrize("share", ["all", "pairs"])
def test_agrees_with_the_interior_point(share, labels, margin):
    ramps = ramps_for(X, GROUPS[share])
    stack, task = RampStack(ramps.cells(X)), problem(labels, ramps, margin)
    exact = run(solve_interior_point, task, stack, tol=1e-9)
    found = run(solve_descent, task, stack, tol=1e-4)
    assert found.status is Status.OPTIMAL
    assert found.certificate.relative_gap <= 1e-4
    assert found.certificate.dual <= exact.certificate.primal * (1 + 1e-9)
    assert found.certificate.primal >= exact.certificate.dual * (1 - 1e-9)


def test_sparse_samples_and_unequal_weights():
    sparse = scipy.sparse.random(150, 40, 0.1, format="csr", random_state=3, data_rvs=lambda k: RNG.exponential(size=k))
    y = np.where(np.sqrt(sparse).sum(axis=1).A1 + RNG.normal(size=150) > 5.0, 1.0, -1.0)[None]
    assert 0.1 < (y > 0).mean() < 0.4, "the bias must matter"
    ramps = ramps_for(sparse, np.zeros(40, dtype=np.intp), 6)
    task = problem(y, ramps, weight=RNG.integers(1, 4, 150).astype(float))
    stack = RampStack(ramps.cells(sparse))
    found = run(solve_descent, task, stack, tol=1e-5)
    assert found.status is Status.OPTIMAL
    exact = run(solve_interior_point, task, stack, tol=1e-8)
    assert found.certificate.primal == pytest.approx(exact.certificate.primal, rel=1e-5)


def test_a_weight_counts_as_copies():
    weight = RNG.integers(1, 3, N)
    ramps = ramps_for(X, GROUPS["all"])
    cells = ramps.cells(X)
    copies = np.repeat(np.arange(N), weight)
    task = problem(BINARY, ramps, "l2", weight=weight.astype(float))
    once = run(solve_descent, task, RampStack(cells), tol=1e-5)
    many = run(solve_descent, problem(BINARY[:, copies], ramps, "l2"), RampStack(cells.take(copies)), tol=1e-5)
    assert once.certificate.primal == pytest.approx(many.certificate.primal, rel=2e-5)


def test_a_warm_start_is_used():
    ramps = ramps_for(X, GROUPS["all"])
    stack, task = RampStack(ramps.cells(X)), problem(BINARY, ramps)
    first = run(solve_descent, task, stack, tol=1e-5)
    again = run(solve_descent, task, stack, tol=1e-4, start=first.candidate)
    assert again.n_iter <= 3 < first.n_iter
    generator = solve_descent(task, stack, start=Candidate(weights=first.candidate.weights))
    np.testing.assert_allclose(next(generator).weights, first.candidate.weights)


def test_directions_give_monotone_scores_and_a_certificate():
    ramps = ramps_for(X, GROUPS["feature"])
    cells = ramps.cells(X)
    stack = DirectedRampStack(cells, ramps.n_ramps, np.array([1.0, -1.0, 1.0, -1.0]))
    task = problem(BINARY, ramps, "l2")
    found = run(solve_descent, task, stack, tol=1e-5)
    assert found.status is Status.OPTIMAL
    free = run(solve_interior_point, task, RampStack(cells), tol=1e-8)
    # A restriction costs something; directions that hold anyhow cost nothing.
    assert found.certificate.dual > free.certificate.primal
    coefficients = stack.backward(BINARY[0] * found.candidate.alpha[0])
    assert (stack.directions * coefficients >= 0).all() and coefficients.any()
    natural = np.array([1.0, -1.0, 0.0, 0.0])
    same = run(solve_descent, task, DirectedRampStack(cells, ramps.n_ramps, natural), tol=1e-5)
    assert same.certificate.primal == pytest.approx(free.certificate.primal, rel=1e-5)


def test_balancing_leaves_bounds_alone():
    y = np.where(np.arange(12) % 3 == 0, 1.0, -1.0)
    box = np.full(12, 2.0)
    alpha = RNG.uniform(0.5, 1.5, 12)
    alpha[:3], alpha[3:6] = 0.0, 2.0
    kept = alpha.copy()
    moved = _balanced(alpha, y, box)
    assert abs(y @ moved) < 1e-12 and (moved >= 0).all() and (moved <= box).all()
    np.testing.assert_array_equal(alpha, kept)
    heavy = np.where(y > 0, 2.0, 0.1)
    assert abs(y @ _balanced(heavy, y, box)) < 1e-12
