"""The proximal point method on a growing working set."""

import time

import numpy as np
import pytest

from kernelweave.gram.rectangular import RectangularStack
from kernelweave.problems.losses import SquaredHingeLoss
from kernelweave.problems.mixed_norm import MixedNormProblem
from kernelweave.problems.penalties import MixedNorm
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.mixed_norm import augmented_lagrangian as module
from kernelweave.solvers.mixed_norm.augmented_lagrangian import solve_augmented_lagrangian
from kernelweave.solvers.mixed_norm.columns import StreamedColumns

PENALTIES = [MixedNorm(1, 1), *(MixedNorm(p, 3 - p, r) for p in (1, 2) for r in (1, 2))]
each_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=str)


@each_penalty
def test_believes_the_gap_that_the_problem_certifies(make_problem, penalty):
    problem, gram = make_problem(penalty, 0.05)
    best = -np.inf
    for candidate in solve_augmented_lagrangian(problem, gram):
        judged = problem.certify(gram, candidate)
        best = max(best, judged.dual)
        assert candidate.gap == pytest.approx(max(1 - best / judged.primal, 0.0), rel=1e-6, abs=1e-11)
        if candidate.gap < 1e-8:
            break
    else:
        pytest.fail("ended above 1e-8")


@each_penalty
def test_warm_start_is_shorter(make_problem, penalty):
    problem, gram = make_problem(penalty, 0.05)
    cold = run(solve_augmented_lagrangian, problem, gram, tol=1e-7)
    warm = run(solve_augmented_lagrangian, problem, gram, tol=1e-7, start=cold.candidate)
    assert warm.n_iter <= 2 < cold.n_iter
    assert warm.status is Status.OPTIMAL


def test_candidates_keep_their_arrays(make_problem):
    problem, gram = make_problem(MixedNorm(2, 1, 1), 0.02)
    seen = []
    for candidate in solve_augmented_lagrangian(problem, gram):
        seen.append((candidate.alpha, candidate.alpha.copy()))
        if candidate.gap < 1e-6:
            break
    assert len(seen) > 3
    for kept, copied in seen:
        np.testing.assert_array_equal(kept, copied)


@each_penalty
def test_ends_by_itself_at_the_numerical_floor(make_problem, penalty):
    problem, gram = make_problem(penalty, 0.1, n=15)
    result = run(solve_augmented_lagrangian, problem, gram, tol=0.0, time_limit=20)
    assert result.status in (Status.STALLED, Status.OPTIMAL)
    assert result.certificate.relative_gap < 1e-9


def test_a_short_run_does_not_pass_for_optimal(make_problem):
    problem, gram = make_problem(MixedNorm(1, 1), 0.01)
    result = run(solve_augmented_lagrangian, problem, gram, tol=1e-8, max_iter=2)
    assert result.status is Status.ITERATION_LIMIT and result.certificate.relative_gap > 1e-8


def test_looks_at_the_deadline_inside_a_step(make_problem):
    problem, gram = make_problem(MixedNorm(1, 2, 1), 0.01, n=60)
    steps = solve_augmented_lagrangian(problem, gram, deadline=time.perf_counter() - 1.0)
    next(steps)
    late = next(steps).gap
    steps = solve_augmented_lagrangian(problem, gram)
    next(steps)
    assert next(steps).gap < late


def test_kernels_of_any_scale(make_problem):
    """The step length follows the scale of the kernels: the same iterations in other units."""
    problem, gram = make_problem(MixedNorm(1, 1), 0.05)
    K = np.stack([gram.read(np.array([t]), np.arange(40))[0] for t in range(4)])
    for scale in (1e-6, 1e6):
        scaled = type(problem)(problem.loss, problem.penalty, problem.strength * scale)
        result = run(solve_augmented_lagrangian, scaled, RectangularStack(K * scale), tol=1e-8)
        assert result.status is Status.OPTIMAL and result.n_iter <= 20


def test_zero_kernels_and_duplicates():
    rng = np.random.default_rng(0)
    K = rng.normal(size=(2, 12, 12))
    gram = RectangularStack([K[0], K[0], np.zeros((12, 12)), K[1]])
    y = np.where(rng.random(12) < 0.5, 1.0, -1.0)
    for penalty in PENALTIES:
        problem = MixedNormProblem(SquaredHingeLoss(y, np.ones(12)), penalty, 0.5)
        result = run(solve_augmented_lagrangian, problem, gram, tol=1e-8)
        assert result.status is Status.OPTIMAL, (penalty, result.message)
        assert not result.candidate.alpha[:, 2].any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_are_streamed_once_they_are_many(make_problem, monkeypatch, dtype):
    """The same steps, but for rounding, whether columns are copied or read where they are."""
    problem, gram = make_problem(MixedNorm(1, 2, 1), 0.05, dtype=dtype)
    monkeypatch.setattr(module, "_HELD_SHARE", 2.0)
    held = run(solve_augmented_lagrangian, problem, gram, tol=1e-8)
    handed = []
    original = StreamedColumns.instead_of
    monkeypatch.setattr(StreamedColumns, "instead_of", lambda columns: handed.append(len(columns)) or original(columns))
    monkeypatch.setattr(module, "_HELD_SHARE", 0.6 * 8 / np.dtype(dtype).itemsize)
    streamed = run(solve_augmented_lagrangian, problem, gram, tol=1e-8)
    assert len(handed) == 1 and 0 < handed[0] <= 0.6 * 160
    assert streamed.status is Status.OPTIMAL
    assert streamed.certificate.primal == pytest.approx(held.certificate.primal, rel=1e-7)
