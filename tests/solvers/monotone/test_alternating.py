"""The local search: never up, groups and directions kept, honest about what its end is."""

import time

import numpy as np
import pytest

from kernelweave.gram.ramps.directed import DirectedRampStack
from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.kernels.monotone.knots import group_knots
from kernelweave.kernels.monotone.ramps import Ramps
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.monotone import MonotoneProblem
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.interior_point import solve_interior_point
from kernelweave.solvers.monotone.alternating import _Search, solve_alternating

RNG = np.random.default_rng(0)
N, D = 60, 4
X = RNG.uniform(0, 1, (N, D))
SCORE = 2 * X[:, 0] ** 2 - np.sqrt(X[:, 1]) + 0.5 * X[:, 2] + 0.2 * RNG.normal(size=N)
BINARY = np.where(SCORE > 0.2, 1.0, -1.0)[None]
THREE = np.where(np.digitize(SCORE, [-0.1, 0.5]) == np.arange(3)[:, None], 1.0, -1.0)


def setting(labels=BINARY, groups=(0, 0, 0, 0), margin="l1", directions=None):
    groups = np.array(groups)
    ramps = Ramps(group_knots(X, groups, 5), groups)
    box = np.full(N, 1.0 if margin == "l1" else np.inf)
    ridge = np.zeros(N) if margin == "l1" else np.ones(N)
    convex = MarginProblem(labels, box, ridge, np.ones(ramps.n_ramps), 1.0, None, ramps.group_of_ramp)
    cells = ramps.cells(X)
    stack = RampStack(cells) if directions is None else DirectedRampStack(cells, ramps.n_ramps, np.array(directions))
    return MonotoneProblem(convex), stack, ramps


@pytest.mark.parametrize(
    ("labels", "margin", "groups"),
    [
        (BINARY, "l1", (0, 0, 0, 0)),
        (BINARY, "l2", (0, 1, 1, 0)),
        (BINARY, "l1", (0, 1, 2, 3)),
        (THREE, "l1", (0, 1, 1, 0)),
        (THREE, "l2", (0, 0, 0, 0)),
    ],
)
def test_never_up_and_always_on_the_simplexes(labels, margin, groups):
    task, stack, ramps = setting(labels, groups, margin)
    points = list(solve_alternating(task, stack))
    values = [task.certify(stack, point).primal for point in points]
    assert (np.diff(values) <= 0).all() and values[-1] < values[0]
    for point in points:
        np.testing.assert_allclose(np.bincount(ramps.group_of_ramp, point.weights), 1.0)
        assert (point.weights >= 0).all()


def test_the_end_is_called_a_local_minimum():
    task, stack, _ = setting()
    found = run(solve_alternating, task, stack, tol=1e-9)
    assert found.status is Status.LOCAL_MINIMUM
    assert found.certificate.relative_gap > 1e-9


def test_the_linear_program_is_exact():
    """No other transform is better for the same classifier, whatever its bias."""
    task, stack, _ = setting()
    search = _Search(task, stack, None)
    point = search.fit(np.full(4, 0.25), None)
    w = task.feature_weights(stack, point.m, point.alpha)

    def hinges(m):
        return task.primal_value(w, task.scores(stack, m, w)) - float((w**2).sum())

    best = search._linear_program(point, stack.matrix())
    assert hinges(best) < hinges(point.m)
    others = RNG.dirichlet(np.ones(4), 300)
    assert hinges(best) <= min(hinges(m) for m in others) + 1e-9
    near = [0.99 * best + 0.01 * m for m in others]
    assert hinges(best) <= min(hinges(m) for m in near) + 1e-9


def test_smooth_descent_goes_on_where_alternation_stops():
    task, stack, _ = setting()
    search = _Search(task, stack, None)
    stopped = list(search.alternations(search.fit(np.full(4, 0.25), None)))[-1]
    further = list(search.smooth_steps(stopped))
    assert further and further[-1].value < stopped.value


def test_directions_are_kept():
    directions = [1.0, -1.0, 1.0, -1.0]
    task, stack, _ = setting(groups=(0, 1, 2, 3), margin="l2", directions=directions)
    found = run(solve_alternating, task, stack, tol=1e-9)
    w = task.feature_weights(stack, found.candidate.weights, found.candidate.alpha)
    assert (w * directions >= 0).all() and w.any()
    free = run(solve_alternating, task, RampStack(stack.cells), tol=1e-9)
    assert found.certificate.primal > free.certificate.primal


def test_a_start_is_used_and_a_deadline_ends_the_search():
    task, stack, _ = setting()
    full = run(solve_alternating, task, stack, tol=1e-9)
    again = list(solve_alternating(task, stack, start=full.candidate))
    assert task.certify(stack, again[0]).primal == pytest.approx(full.certificate.primal, rel=1e-6)
    late = list(solve_alternating(task, stack, start=Candidate(weights=np.ones(4)), deadline=time.perf_counter() - 1))
    assert len(late) == 2 and not late[-1].extras["local_minimum"]


def test_a_bound_of_the_relaxation_goes_along_and_ends_the_search():
    task, stack, _ = setting()
    relaxed = run(solve_interior_point, task.convex, stack, tol=1e-9)
    start = Candidate(dual_alpha=relaxed.candidate.alpha)
    for point in solve_alternating(task, stack, start=start):
        judged = task.certify(stack, point)
        assert point.gap == pytest.approx(judged.relative_gap, abs=1e-6)
        assert judged.dual == pytest.approx(relaxed.certificate.dual, rel=1e-6)
    alone, ended = (run(solve_alternating, task, stack, tol=1.1 * point.gap, start=s) for s in (None, start))
    assert ended.status is Status.OPTIMAL and ended.n_iter < alone.n_iter
