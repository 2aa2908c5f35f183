"""The driver, on made-up solvers and problems."""

import time

import numpy as np
import pytest

from kernelweave.problems.base import Candidate, Certificate
from kernelweave.solvers.driver import Progress, Result, Status, run


class Halving:
    """Judges candidate k (its first weight) by a gap of 2^-k around the optimum 4."""

    def __init__(self):
        self.judged = []

    def certify(self, gram, candidate):
        if candidate.weights is None or not np.isfinite(candidate.weights).all():
            return Certificate(float("inf"), -float("inf"), float("inf"))
        self.judged.append(candidate.weights[0])
        gap = 4.0 * 2.0 ** -candidate.weights[0]
        return Certificate(4.0 + gap / 2, 4.0 - gap / 2)


def point(k, gap=None, **parts):
    return Candidate(weights=np.array([float(k)]), gap=2.0**-k if gap is None else gap, **parts)


def honest(problem, gram, *, start=None, deadline=None):
    for k in range(1, 60):
        yield point(k)


def solver_of(*candidates):
    return lambda problem, gram, *, start=None, deadline=None: iter(candidates)


def test_optimal_when_certified():
    problem = Halving()
    result = run(honest, problem, None, tol=0.01)
    assert result.status is Status.OPTIMAL and result.n_iter == 7
    assert result.certificate.relative_gap <= 0.01
    # A solver that does not think it is done is not asked for proof: certificates cost.
    assert problem.judged == [7]
    assert [line.certified for line in result.history] == [False] * 6 + [True]
    assert [line.iteration for line in result.history] == [1, 2, 3, 4, 5, 6, 7]
    assert result.history[3].gap == 2.0**-4
    assert result.history[-1].gap == result.certificate.relative_gap


def test_belief_is_not_proof():
    result = run(solver_of(*[point(1, gap=0.0)] * 30), Halving(), None, tol=0.01)
    assert result.status is Status.STALLED and result.certificate.relative_gap > 0.1


def test_a_solver_that_believed_too_early_is_asked_again_after_progress_or_a_few_steps():
    problem = Halving()
    beliefs = [1e-2, 1e-2, 0.9e-2, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-4]
    run(solver_of(*[point(k / 10, gap) for k, gap in enumerate(beliefs)]), problem, None, tol=0.01)
    assert problem.judged == [0.0, 0.3, 0.8, 0.9]


def test_the_end_of_a_generator_is_a_stall_with_its_last_point_certified():
    problem = Halving()
    result = run(solver_of(point(1), point(2)), problem, None, tol=1e-9)
    assert result.status is Status.STALLED and problem.judged == [2] and result.n_iter == 2
    assert "stalled after 2 iterations" in result.message and "2.2e-01" in result.message
    assert Status.STALLED.value in result.message


def test_of_points_that_get_worse_again_the_most_promising_is_certified_too():
    problem = Halving()
    result = run(solver_of(point(1, 1e-2), point(40, 1e-5), point(2, 1e-3)), problem, None, tol=1e-9)
    assert problem.judged == [2, 40]
    assert result.status is Status.OPTIMAL


def test_the_last_point_may_turn_out_optimal():
    result = run(solver_of(point(30, gap=0.5)), Halving(), None, tol=1e-3)
    assert result.status is Status.OPTIMAL


def test_a_solver_without_candidates():
    result = run(solver_of(), Halving(), None, tol=1e-3)
    assert result.status is Status.STALLED and result.n_iter == 0 and result.candidate.weights is None
    assert result.certificate.relative_gap == np.inf


@pytest.mark.parametrize("max_iter", [1, 3])
def test_iteration_limit(max_iter):
    result = run(honest, Halving(), None, tol=1e-9, max_iter=max_iter)
    assert result.status is Status.ITERATION_LIMIT and result.n_iter == max_iter
    assert result.candidate.weights[0] == max_iter


def test_the_limit_does_not_hide_an_optimum():
    assert run(solver_of(point(30, gap=0.5)), Halving(), None, tol=1e-3, max_iter=1).status is Status.OPTIMAL


def test_time_limit():
    def slow(problem, gram, *, start=None, deadline=None):
        assert deadline <= time.perf_counter() + 0.05
        for k in range(1, 1000):
            time.sleep(0.01)
            yield point(1, gap=1.0 / k)

    result = run(slow, Halving(), None, tol=1e-9, time_limit=0.05)
    assert result.status is Status.TIME_LIMIT and 1 <= result.n_iter < 20
    assert 0.05 <= result.seconds < 1.0
    assert result.history[-1].seconds <= result.seconds
    assert run(slow, Halving(), None, tol=1e-9, time_limit=0.0).n_iter == 1


def test_no_limits_no_deadline():
    def check(problem, gram, *, start=None, deadline=None):
        assert deadline is None and start is not None and problem is not None and gram == "gram"
        yield point(40)

    assert run(check, Halving(), "gram", tol=1e-3, start=Candidate()).status is Status.OPTIMAL


def test_callback():
    seen = []
    result = run(honest, Halving(), None, tol=1e-9, callback=lambda progress: seen.append(progress) or len(seen) == 4)
    assert result.status is Status.INTERRUPTED and result.n_iter == 4
    assert seen == result.history and isinstance(seen[0], Progress)
    assert result.candidate.weights[0] == 4.0
    seen.clear()
    assert run(honest, Halving(), None, tol=0.01, callback=lambda progress: None).status is Status.OPTIMAL


def test_what_a_callback_raises_comes_through():
    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(honest, Halving(), None, tol=1e-9, callback=interrupt)


def test_the_best_primal_and_the_best_dual_point_are_kept_apart():
    class Apart:
        def certify(self, gram, candidate):
            return [Certificate(5.0, 1.0), Certificate(4.0, 0.0), Certificate(9.0, 3.0)][int(candidate.weights[0])]

    result = run(solver_of(*[point(k, gap=10.0**-k * 1e-3) for k in range(3)]), Apart(), None, tol=1e-2)
    assert (result.certificate.primal, result.certificate.dual) == (4.0, 3.0)
    assert result.candidate.weights[0] == 1 and result.dual_candidate.weights[0] == 2
    assert result.status is Status.STALLED


def test_two_halves_of_a_proof_make_one():
    class Apart:
        def certify(self, gram, candidate):
            return [Certificate(4.0, -1.0), Certificate(9.0, 4.0)][int(candidate.weights[0])]

    result = run(solver_of(point(0, gap=1e-3), point(1, gap=1e-5)), Apart(), None, tol=1e-2)
    assert result.status is Status.OPTIMAL and result.certificate.gap == 0.0


@pytest.mark.parametrize("part", ["weights", "alpha", "bias"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_none(part, value):
    broken = Candidate(**{"weights": np.ones(1), part: np.array([value])})
    result = run(solver_of(point(3, gap=1e-3), broken, point(50)), Halving(), None, tol=1e-2)
    assert result.status is Status.NUMERICAL_FAILURE
    assert result.candidate.weights[0] == 3.0  # the best point so far is kept
    result = run(solver_of(broken), Halving(), None, tol=1e-2)
    assert result.status is Status.NUMERICAL_FAILURE


def test_not_separable():
    ray = np.ones((1, 2))
    result = run(solver_of(point(1), point(2, ray=ray), point(50)), Halving(), None, tol=1e-9)
    assert result.status is Status.NOT_SEPARABLE and result.candidate.ray is ray


def test_every_status_says_what_to_do():
    for status in Status:
        assert len(status.value) > 20
    result = Result(Candidate(), Candidate(), Certificate(2.0, 1.0), Status.TIME_LIMIT, 3, 0.1)
    assert result.message == (
        "time limit after 3 iterations with a relative duality gap of 5.0e-01: "
        "the time limit was reached; raise time_limit or accept the gap."
    )
