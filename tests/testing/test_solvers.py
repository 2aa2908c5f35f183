"""Each check of the conformance suite for solvers can fail."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import kernelweave.testing.solvers as suite
from kernelweave.gram.dense import DenseStack
from kernelweave.problems.base import Candidate, Certificate
from kernelweave.problems.margin import MarginProblem
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.interior_point import solve_interior_point
from kernelweave.testing import check_solver

N, M = 12, 3
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(M, N, 20))
KERNELS = Z @ Z.transpose(0, 2, 1)
LABELS = np.where(np.arange(N) % 3 > 0, 1.0, -1.0)
PROBLEM = MarginProblem(
    LABELS[None], np.full(N, np.inf), np.full(N, 0.5), np.trace(KERNELS, axis1=1, axis2=2), float(np.trace(KERNELS[0]))
)


def gives_up(problem, gram, *, start=None, deadline=None):
    candidates = solve_interior_point(problem, gram)
    yield next(candidates)
    yield next(candidates)


def never_moves(problem, gram, *, start=None, deadline=None):
    first = next(solve_interior_point(problem, gram))
    while True:
        yield first


def takes_no_deadline(problem, gram, *, start=None):
    yield from solve_interior_point(problem, gram)


def crashes(problem, gram, *, start=None, deadline=None):
    yield from [candidate.weights[99] for candidate in solve_interior_point(problem, gram)]


def yields_no_numbers(problem, gram, *, start=None, deadline=None):
    for candidate in solve_interior_point(problem, gram):
        yield replace(candidate, weights=np.full(M, np.nan))


def yields_an_infinite_dual(problem, gram, *, start=None, deadline=None):
    first, *others = solve_interior_point(problem, gram)
    yield replace(first, dual_alpha=np.full_like(first.alpha, np.inf))
    yield from others


def believes_in_no_number(problem, gram, *, start=None, deadline=None):
    first, *others = solve_interior_point(problem, gram)
    yield replace(first, gap=float("nan"))
    yield from others


def yields_something_like_it(problem, gram, *, start=None, deadline=None):
    for c in solve_interior_point(problem, gram):
        yield SimpleNamespace(weights=c.weights, alpha=c.alpha, bias=c.bias, gap=c.gap, dual_alpha=None, ray=None)


def changes_shape(problem, gram, *, start=None, deadline=None):
    first, *others = solve_interior_point(problem, gram)
    yield replace(first, weights=first.weights[:-1])
    yield from others


def trips_over_a_start(problem, gram, *, start=None, deadline=None):
    yield from solve_interior_point(problem, gram) if start is None else [start, start]


def trips_over_a_rough_start(problem, gram, *, start=None, deadline=None):
    good = start is None or problem.certify(gram, start).relative_gap < 1e-3
    yield from solve_interior_point(problem, gram) if good else [start, start]


def writes_into_the_start(problem, gram, *, start=None, deadline=None):
    if start is not None:
        np.maximum(start.weights, 0.0, out=start.weights)
    yield from solve_interior_point(problem, gram)


def writes_into_the_problem(problem, gram, *, start=None, deadline=None):
    problem.labels[...] = np.sign(problem.labels)
    yield from solve_interior_point(problem, gram)


def writes_into_the_kernels(problem, gram, *, start=None, deadline=None):
    if hasattr(gram, "open_memory"):
        gram.open_memory[0, 0, 0] += 1e-13
    yield from solve_interior_point(problem, gram)


def is_used_to_one_scale(problem, gram, *, start=None, deadline=None):
    solve = solve_interior_point if 0.1 < problem.ridge[0] < 10.0 else gives_up
    yield from solve(problem, gram)


def is_used_to_like_prices(problem, gram, *, start=None, deadline=None):
    solve = solve_interior_point if np.ptp(np.log(problem.prices)) < 5.0 else gives_up
    yield from solve(problem, gram)


def is_used_to_one_order(problem, gram, *, start=None, deadline=None):
    yield from (solve_interior_point if (problem.labels[0] == LABELS).all() else gives_up)(problem, gram)


def is_used_to_a_first_kernel(problem, gram, *, start=None, deadline=None):
    solve = gives_up if np.argmin(np.abs(problem.prices - PROBLEM.prices[-1])) == 0 else solve_interior_point
    yield from solve(problem, gram)


def is_used_to_few_kernels(problem, gram, *, start=None, deadline=None):
    yield from (solve_interior_point if gram.n_kernels <= M else gives_up)(problem, gram)


REASONS = {
    gives_up: "does not reach the tolerance: stalled",
    never_moves: "does not reach the tolerance: iteration limit",
    takes_no_deadline: "raises TypeError on the problem",
    crashes: "raises IndexError on the problem",
    yields_no_numbers: "does not reach the tolerance: numerical failure",
    yields_an_infinite_dual: "dual_alpha is not finite",
    believes_in_no_number: "not a number",
    yields_something_like_it: "yields SimpleNamespace",
    changes_shape: "weights of changing shapes",
    trips_over_a_start: "from its first candidate",
    trips_over_a_rough_start: "from its first candidate",
    writes_into_the_start: "writes into what it was given",
    writes_into_the_problem: "writes into what it was given",
    writes_into_the_kernels: "writes into the kernels",
    is_used_to_one_scale: "divided by 100",
    is_used_to_like_prices: "kernels of other scales",
    is_used_to_one_order: "samples in another order",
    is_used_to_a_first_kernel: "kernels in another order",
    is_used_to_few_kernels: "given twice",
}


def open_stack():
    stack = DenseStack(KERNELS.copy())
    stack.open_memory = np.array(stack.read(np.arange(M), np.arange(N)))
    opened = DenseStack(stack.open_memory)
    opened.open_memory = stack.open_memory
    return opened


def test_the_unbroken_solver_passes():
    check_solver(solve_interior_point, PROBLEM, open_stack())


@pytest.mark.parametrize("broken", REASONS, ids=lambda broken: broken.__name__)
def test_broken_solvers(broken, monkeypatch):
    monkeypatch.setattr(suite, "_STUCK", 30)
    with pytest.raises(AssertionError, match=REASONS[broken]) as caught:
        check_solver(broken, PROBLEM, open_stack())
    assert broken.__name__ in str(caught.value)


def test_a_wrong_optimum():
    with pytest.raises(AssertionError, match="which misses the optimum"):
        check_solver(solve_interior_point, PROBLEM, open_stack(), optimum=1.0)


class OffsetProblem(MarginProblem):
    """Judges wrongly: as if there was a part of the objective that knows no scale."""

    def certify(self, gram, candidate):
        judged = super().certify(gram, candidate)
        return Certificate(judged.primal + 1.0, judged.dual + 1.0)


def test_a_problem_without_the_symmetry():
    problem = OffsetProblem(PROBLEM.labels, PROBLEM.box, PROBLEM.ridge, PROBLEM.prices, PROBLEM.budget)
    with pytest.raises(AssertionError, match="another optimum with kernels divided by 100"):
        check_solver(solve_interior_point, problem, open_stack())


def flattering(*args, **options):
    return replace(run(*args, **options), status=Status.OPTIMAL)


def without_history(*args, **options):
    return replace(run(*args, **options), history=[])


def without_limits(*args, **options):
    return run(*args, **{**options, "max_iter": None, "tol": 1e-9 if options["max_iter"] < 3 else options["tol"]})


def fond_of_failure(*args, **options):
    result = run(*args, **options)
    return replace(result, status=Status.NUMERICAL_FAILURE) if options["max_iter"] < 3 else result


def timeless(*args, **options):
    return run(*args, **{**options, "time_limit": None})


def out_of_time_for_nothing(*args, **options):
    result = run(*args, **options)
    return replace(result, status=Status.INTERRUPTED) if "time_limit" in options else result


def deaf(*args, **options):
    callback = options.pop("callback", None)
    result = run(*args, **options, callback=callback and (lambda progress: callback(progress) and False))
    return replace(result, status=Status.INTERRUPTED) if callback else result


def deaf_and_silent(*args, **options):
    return replace(run(*args, **options), status=Status.TIME_LIMIT if "callback" in options else Status.OPTIMAL)


@pytest.mark.parametrize(
    ("driver", "reason"),
    [
        (flattering, "passes for optimal after 1 iterations"),
        (without_history, "history"),
        (without_limits, "iterations when cut to 1"),
        (fond_of_failure, "NUMERICAL_FAILURE when cut to 1"),
        (timeless, "when it has no time"),
        (out_of_time_for_nothing, "INTERRUPTED when it has no time"),
        (deaf, "goes on after the callback"),
    ],
)
def test_broken_drivers(driver, reason, monkeypatch):
    monkeypatch.setattr(suite, "run", driver)
    with pytest.raises(AssertionError, match=reason):
        check_solver(solve_interior_point, PROBLEM, open_stack())


def ray_of(ray):
    def solver(problem, gram, *, start=None, deadline=None):
        yield Candidate(ray=ray)

    return solver


@pytest.mark.parametrize(
    ("ray", "reason"),
    [
        (np.ones(N), "no ray"),
        (-np.ones((1, N)), "negative or zero"),
        (np.zeros((1, N)), "negative or zero"),
        (np.ones((1, N)), "unbalanced"),
        (np.where(LABELS > 0, 1.0, 2.0)[None], "still separates"),
    ],
)
def test_false_proofs_that_there_is_no_solution(ray, reason):
    hard = replace(PROBLEM, ridge=np.zeros(N))
    with pytest.raises(AssertionError, match=reason):
        check_solver(ray_of(ray), hard, open_stack(), optimum=np.inf)


def test_a_solution_where_there_should_be_none():
    with pytest.raises(AssertionError, match="where there is no solution"):
        check_solver(solve_interior_point, PROBLEM, open_stack(), optimum=np.inf)
