"""The bundle beyond the conformance suite: coarse starts, many kernels, hand-over."""

import time

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem
from kernelweave.solvers.bundle import bundle
from kernelweave.solvers.bundle.bundle import solve_bundle
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.interior_point import solve_interior_point


def instance(n=90, m=6, margin="l1", C=1.0, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    distances = ((X[:, None] - X) ** 2).sum(-1)
    stack = DenseStack([np.exp(-g * distances) for g in np.geomspace(1e-3, 3, m)])
    codes = np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), np.linspace(-1, 1, n_classes + 1)[1:-1])
    signs = np.where(codes == np.arange(1 if n_classes == 2 else 0, n_classes)[:, None], 1.0, -1.0)
    box = np.full(n, C if margin == "l1" else np.inf)
    ridge = np.full(n, {"l2": 1.0 / C, "auto": 1.0}.get(margin, 0.0))
    return MarginProblem(
        signs, box, ridge, np.full(m, float(n)), float(n), float(n) if margin == "auto" else None
    ), stack


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("margin", ["l1", "l2", "auto", "hard"])
def test_agrees_with_the_interior_point(margin, n_classes):
    problem, stack = instance(margin=margin, n_classes=n_classes)
    one = run(solve_bundle, problem, stack, tol=1e-7)
    two = run(solve_interior_point, problem, stack, tol=1e-9)
    assert one.status is Status.OPTIMAL, one.message
    assert one.certificate.primal == pytest.approx(two.certificate.primal, rel=2e-7)


@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0, 1e3])
@pytest.mark.parametrize("margin", ["l1", "l2"])
def test_extreme_boxes_and_ridges(margin, C):
    problem, stack = instance(margin=margin, C=C)
    result = run(solve_bundle, problem, stack, tol=1e-6)
    assert result.status is Status.OPTIMAL, result.message


def test_steps_are_few():
    problem, stack = instance(n=200, m=20)
    assert run(solve_bundle, problem, stack, tol=1e-4).n_iter <= 25


def test_many_kernels_are_watched_in_part():
    problem, stack = instance(n=40, m=120)
    result = run(solve_bundle, problem, stack, tol=1e-6)
    assert result.status is Status.OPTIMAL, result.message


def test_one_kernel():
    problem, stack = instance(m=1)
    result = run(solve_bundle, problem, stack, tol=1e-9)
    assert result.status is Status.OPTIMAL and result.candidate.weights == pytest.approx([1.0])


@pytest.mark.parametrize("margin", ["l1", "l2", "auto"])
def test_a_coarse_start_leads_to_the_same_optimum(monkeypatch, margin):
    problem, stack = instance(n=150, margin=margin, n_classes=3)
    whole = run(solve_bundle, problem, stack, tol=1e-6)
    monkeypatch.setattr(bundle, "_COARSE_BELOW", 60)
    coarse = run(solve_bundle, problem, stack, tol=1e-6)
    assert coarse.status is Status.OPTIMAL
    assert coarse.certificate.primal == pytest.approx(whole.certificate.primal, rel=2e-6)


def test_a_deadline_cuts_the_coarse_start_short(monkeypatch):
    problem, stack = instance(n=150)
    monkeypatch.setattr(bundle, "_COARSE_BELOW", 60)
    candidate = next(solve_bundle(problem, stack, deadline=time.perf_counter() - 1.0))
    assert np.isfinite(problem.certify(stack, candidate).primal)


def test_a_warm_start_is_nearly_there():
    problem, stack = instance(margin="l2")
    first = run(solve_bundle, problem, stack, tol=1e-5)
    again = run(solve_bundle, problem, stack, tol=1e-4, start=first.candidate)
    assert again.n_iter <= 2 < first.n_iter


@pytest.mark.parametrize("parts", [("weights",), ("weights", "alpha"), ()])
def test_partial_starts(parts):
    problem, stack = instance()
    given = {"weights": np.full(6, 1.0 / 6), "alpha": np.full((1, 90), 0.2)}
    start = Candidate(**{name: given[name] for name in parts})
    assert run(solve_bundle, problem, stack, tol=1e-6, start=start).status is Status.OPTIMAL


def test_a_start_with_all_weight_on_a_useless_kernel():
    problem, stack = instance()
    start = Candidate(weights=np.array([0.0, 0, 0, 0, 0, 1.0]))
    result = run(solve_bundle, problem, stack, tol=1e-6, start=start)
    assert result.status is Status.OPTIMAL, result.message


def test_a_hard_margin_that_may_have_no_solution_is_left_to_others():
    n = 20
    problem = MarginProblem(
        np.where(np.arange(n) % 2, 1.0, -1.0)[None], np.full(n, np.inf), np.zeros(n), np.array([n * 1.0]), n * 1.0
    )
    result = run(solve_bundle, problem, DenseStack([np.ones((n, n))]), tol=1e-6)
    assert result.status in (Status.NOT_SEPARABLE, Status.STALLED)
    assert result.certificate.primal == np.inf
