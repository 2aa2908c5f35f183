"""The interior point on signed coefficients agrees with the one on kernels, and keeps directions."""

import numpy as np
import pytest

from kernelweave.gram.ramps.directed import DirectedRampStack
from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.kernels.monotone.knots import group_knots
from kernelweave.kernels.monotone.ramps import Ramps
from kernelweave.problems.margin import MarginProblem
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.interior_point import solve_interior_point
from kernelweave.solvers.monotone.descent import solve_descent
from kernelweave.solvers.monotone.directed import solve_directed

RNG = np.random.default_rng(0)
N, D = 60, 4
X = RNG.uniform(0, 1, (N, D))
SCORE = 2 * X[:, 0] ** 2 - np.sqrt(X[:, 1]) + 0.5 * X[:, 2] + 0.2 * RNG.normal(size=N)
Y = np.where(SCORE > 0.2, 1.0, -1.0)[None]
RAMPS = Ramps(group_knots(X, np.arange(D), 5), np.arange(D))
CELLS = RAMPS.cells(X)


def task_for(margin, C):
    box = np.full(N, C if margin == "l1" else np.inf)
    ridge = np.zeros(N) if margin == "l1" else np.full(N, 1 / C)
    return MarginProblem(Y, box, ridge, np.ones(RAMPS.n_ramps), 1.0, None, RAMPS.group_of_ramp)


@pytest.mark.parametrize("margin", ["l1", "l2"])
@pytest.mark.parametrize("C", [0.03, 1.0, 100.0])
def test_without_directions_it_is_the_margin_problem(margin, C):
    task, stack = task_for(margin, C), RampStack(CELLS)
    ours, other = (run(solver, task, stack, tol=1e-8) for solver in (solve_directed, solve_interior_point))
    assert ours.status is Status.OPTIMAL is other.status
    assert ours.certificate.primal == pytest.approx(other.certificate.primal, rel=1e-7)


@pytest.mark.parametrize("margin", ["l1", "l2"])
@pytest.mark.parametrize("directions", [(1, -1, 1, -1), (-1, 1, -1, -1), (1, 0, 0, -1)])
def test_directions_are_kept_and_certified(margin, directions):
    task, stack = task_for(margin, 2.0), DirectedRampStack(CELLS, RAMPS.n_ramps, np.array(directions, float))
    found = run(solve_directed, task, stack, tol=1e-8)
    assert found.status is Status.OPTIMAL
    free = run(solve_directed, task, RampStack(CELLS), tol=1e-8)
    assert found.certificate.primal >= free.certificate.dual
    # Coordinate descent brackets the same value.
    rough = run(solve_descent, task, stack, tol=1e-3, max_iter=100).certificate
    assert rough.dual <= found.certificate.primal * (1 + 1e-8)
    assert rough.primal >= found.certificate.dual * (1 - 1e-8)


def test_wrong_directions_leave_the_feature_out():
    task = task_for("l1", 1.0)
    wrong = DirectedRampStack(CELLS, RAMPS.n_ramps, np.array([-1.0, 0, 0, 0]))
    found = run(solve_directed, task, wrong, tol=1e-8)
    coefficients = wrong.backward(Y[0] * found.candidate.alpha[0])
    np.testing.assert_allclose(coefficients[CELLS.feature_of == 0], 0.0, atol=1e-6)
    assert (np.abs(coefficients[CELLS.feature_of == 1]) > 0.1).any()


def test_other_problems_are_refused():
    shared = Ramps((np.array([0.0, 0.5, 1.0]),), np.zeros(D, dtype=np.intp))
    task = MarginProblem(Y, np.ones(N), np.zeros(N), np.ones(2), 1.0)
    with pytest.raises(ValueError, match="one column each"):
        next(solve_directed(task, RampStack(shared.cells(X))))
    both = MarginProblem(
        np.concatenate([Y, -Y]), np.ones(N), np.zeros(N), np.ones(RAMPS.n_ramps), 1.0, None, RAMPS.group_of_ramp
    )
    with pytest.raises(ValueError, match="two classes"):
        next(solve_directed(both, RampStack(CELLS)))
