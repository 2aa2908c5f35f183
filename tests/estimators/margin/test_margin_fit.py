"""From settings to problems, solvers, warnings."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelweave.estimators.margin import margin_fit
from kernelweave.estimators.margin.margin_fit import MarginSettings, fit_margin
from kernelweave.exceptions import NotSeparableError
from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.problems.base import Candidate
from kernelweave.solvers.bundle.bundle import solve_bundle
from kernelweave.solvers.driver import Status
from kernelweave.solvers.interior_point import solve_interior_point

LABELS = np.array([[1.0, 1.0, -1.0, -1.0]])
WEIGHT = np.array([1.0, 2.0, 0.5, 1.0])
TRACES = np.array([4.0, 8.0])
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(2, 4, 6))
STACK = DenseStack(Z @ Z.transpose(0, 2, 1))


def settings(**changes):
    given = {
        "margin": "l1", "C": 1.0, "trace": "mean", "tol": 1e-6, "max_iter": None, "time_limit": None,
        "solver": "auto", "callback": None,
    }  # fmt: skip
    return MarginSettings(**{**given, **changes})


def problem(**changes):
    return settings(**changes).problem(LABELS, WEIGHT, TRACES, 6)


def test_boxes_and_ridges_count_copies():
    assert problem(C=3.0).box.tolist() == (3.0 * WEIGHT).tolist() and not problem(C=3.0).ridge.any()
    squared = problem(margin="l2", C=4.0)
    assert squared.ridge.tolist() == (0.25 / WEIGHT).tolist() and np.isinf(squared.box).all()
    assert problem(margin="hard", C=4.0).is_hard
    learned = problem(margin="l2", C="auto")
    assert learned.ridge.tolist() == (1.0 / WEIGHT).tolist() and learned.ridge_price == 6.0


@pytest.mark.parametrize(
    ("trace", "C", "budget"),
    [
        ("mean", 1.0, 6.0),
        ("sum", 1.0, 12.0),
        (5.0, 1.0, 5.0),
        ("mean", "auto", 6.0),
        ("sum", "auto", 18.0),
        (5, "auto", 5.0),
    ],
)
def test_budgets(trace, C, budget):
    assert problem(margin="l2", C=C, trace=trace).budget == budget


def test_the_hard_margin_ignores_C():
    assert not settings(margin="hard", C=-1.0).learns_ridge


@pytest.mark.parametrize("value", [-1.0, "soon", float("nan")])
def test_time_limits_are_numbers(value):
    with pytest.raises(ValueError, match="time_limit must be a number of seconds"):
        settings(time_limit=value)
    assert settings(time_limit=0).time_limit == 0


@pytest.mark.parametrize("value", [0, 1.5, "many"])
def test_iterations_are_counted(value):
    with pytest.raises(ValueError, match="max_iter must be a whole number"):
        settings(max_iter=value)
    assert settings(max_iter=np.int64(3)).max_iter == 3


def chosen(n=1000, m=3, gram=None, **changes):
    y = np.where(np.arange(n) % 2, 1.0, -1.0)[None]
    asked = settings(**changes)
    return margin_fit._solvers(asked.problem(y, np.ones(n), np.ones(m), n), gram, asked)


def test_which_solver_is_asked_and_which_next():
    bundle, interior = solve_bundle, solve_interior_point
    assert chosen() == [bundle, interior]
    assert chosen(n=50_000) == [bundle]  # a factorisation a step is out of reach there
    assert chosen(n=50_000, gram=FactorStack([np.ones((2, 1))])) == [interior]
    assert chosen(n=100) == chosen(m=900) == chosen(tol=1e-10) == [interior]
    assert chosen(n=500, margin="hard") == [interior] and chosen(n=700, margin="hard") == [bundle, interior]
    assert chosen(solver="interior_point") == [interior]
    assert chosen(n=100, solver="bundle") == [bundle, interior]


def stalls(problem, gram, *, start=None, deadline=None):
    yield Candidate(weights=problem.budget / problem.all_prices / 2, alpha=np.full((1, 4), 0.1))


def test_a_stall_is_handed_over(monkeypatch):
    monkeypatch.setattr(margin_fit, "solve_bundle", stalls)
    fit = fit_margin(problem(), STACK, settings(solver="bundle"))
    assert fit.status is Status.OPTIMAL and fit.certificate.relative_gap <= 1e-6


@pytest.mark.parametrize("ended_by", [{"max_iter": 1}, {"time_limit": 0.0}, {"callback": lambda progress: True}])
def test_a_limit_is_not(monkeypatch, ended_by):
    def unreachable(*args, **options):
        raise AssertionError("a run that was stopped goes on")

    monkeypatch.setattr(margin_fit, "solve_bundle", stalls)
    monkeypatch.setattr(margin_fit, "solve_interior_point", unreachable)
    with pytest.warns(ConvergenceWarning, match=r"gap of \d.*Asked for: 1.0e-06"):
        fit = fit_margin(problem(), STACK, settings(solver="bundle", **ended_by))
    assert fit.status in (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.INTERRUPTED)
    assert np.isfinite(fit.certificate.primal) and fit.n_iter == 1


def test_the_better_of_two_stalls_is_kept(monkeypatch):
    def worse(problem, gram, *, start=None, deadline=None):
        yield Candidate(weights=problem.budget / problem.all_prices / 2, alpha=np.zeros((1, 4)))

    for order in ((stalls, worse), (worse, stalls)):
        monkeypatch.setattr(margin_fit, "solve_bundle", order[0])
        monkeypatch.setattr(margin_fit, "solve_interior_point", order[1])
        with pytest.warns(ConvergenceWarning, match="stalled"):
            fit = fit_margin(problem(), STACK, settings(solver="bundle"))
        assert fit.coefficients.any()


def test_time_left_over_is_what_the_second_solver_has(monkeypatch):
    seen = []

    def watch(problem, gram, *, start=None, deadline=None):
        seen.append(deadline)
        yield from stalls(problem, gram)

    monkeypatch.setattr(margin_fit, "solve_bundle", watch)
    monkeypatch.setattr(margin_fit, "solve_interior_point", watch)
    with pytest.warns(ConvergenceWarning):
        fit_margin(problem(), STACK, settings(solver="bundle", time_limit=100.0))
    assert seen[1] == pytest.approx(seen[0], abs=0.1)


def test_no_solution_is_an_error_with_its_proof():
    ones = DenseStack([np.ones((4, 4)), 2 * np.ones((4, 4))])
    with pytest.raises(NotSeparableError, match=r"direction.*margin='l1' or margin='l2'") as caught:
        fit_margin(problem(margin="hard"), ones, settings(margin="hard"))
    direction = caught.value.direction
    assert direction.shape == (1, 4) and (direction >= 0).all()
    np.testing.assert_allclose([direction[0, :2].sum(), direction[0, 2:].sum()], 1.0)


def test_a_fit_that_found_nothing_still_has_a_form(monkeypatch):
    monkeypatch.setattr(margin_fit, "solve_interior_point", lambda *args, **options: iter([]))
    with pytest.warns(ConvergenceWarning, match="stalled after 0 iterations with a relative duality gap of inf"):
        fit = fit_margin(problem(), STACK, settings(solver="interior_point"))
    np.testing.assert_allclose(fit.weights, 6.0 / TRACES / 2)
    assert not fit.coefficients.any() and fit.certificate.primal == np.inf and fit.n_iter == 1


def test_what_is_handed_out_fits_together():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = fit_margin(problem(margin="l2", C="auto"), STACK, settings(margin="l2", C="auto"))
    assert fit.weights @ TRACES + 6.0 * fit.ridge == pytest.approx(6.0)
    assert (fit.coefficients * LABELS >= 0).all() and abs(fit.coefficients.sum()) < 1e-12
