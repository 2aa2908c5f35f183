"""Margin MKL: what the problem refuses, its values, and its certificate."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem

RNG = np.random.default_rng(0)
N, M = 10, 3
Y = np.where(np.arange(N) % 2 > 0, 1.0, -1.0)
FACTORS = [RNG.normal(size=(N, 4)) for _ in range(M)]
STACK = FactorStack(FACTORS)
K = STACK.read(np.arange(M), np.arange(N))
PRICES = STACK.traces()
L1 = MarginProblem(Y[None], np.full(N, 1.0), np.zeros(N), PRICES, 5.0)
L2 = replace(L1, box=np.full(N, np.inf), ridge=np.full(N, 0.3))
HARD = replace(L2, ridge=np.zeros(N))
AUTO = replace(L2, ridge=np.ones(N), ridge_price=float(N))
SHARED = replace(L1, labels=np.stack([Y, np.where(np.arange(N) < 4, 1.0, -1.0)]))
PROBLEMS = {"l1": L1, "l2": L2, "hard": HARD, "auto": AUTO, "shared": SHARED}


def feasible_weights(problem):
    return problem.budget / problem.all_prices / len(problem.all_prices)


def feasible_alpha(problem):
    positive = problem.labels > 0
    n_plus, n_minus = positive.sum(axis=1, keepdims=True), (~positive).sum(axis=1, keepdims=True)
    return 0.5 * np.where(positive, np.minimum(1, n_minus / n_plus), np.minimum(1, n_plus / n_minus))


def plain_dual(problem, alpha):
    """Largest value along the ray of alpha, by definition."""
    forms = sum(np.einsum("a,tab,b->t", y * a, K, y * a) for a, y in zip(alpha, problem.labels, strict=True))
    ridge = problem.ridge if problem.ridge_price is None else np.zeros(N)
    if problem.ridge_price is not None:
        forms = np.append(forms, (problem.ridge * alpha**2).sum())
    curvature = problem.budget * (forms / problem.all_prices).max() + (ridge * alpha**2).sum()
    scales = np.linspace(0, min(1e3, (problem.box / alpha.max(axis=0)).min()), 2_000_001)
    return (2 * scales * alpha.sum() - scales**2 * curvature).max()


def plain_primal(problem, weights, alpha):
    """w from alpha; hinge or squared hinge at the best bias on a fine grid."""
    kernel, ridge = np.tensordot(weights[:M], K, 1), problem.ridge
    if problem.ridge_price is not None:
        ridge = weights[-1] * problem.ridge
    total = 0.0
    for a, y in zip(alpha, problem.labels, strict=True):
        scores = kernel @ (y * a)
        slack = np.maximum(1 - y * (scores + np.linspace(-5, 5, 200_001)[:, None]), 0)
        loss = (slack**2 / ridge).sum(1) if ridge.any() else 2 * (problem.box * slack).sum(1)
        total += (y * a) @ scores + loss.min()
    return total


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "hard"])
@pytest.mark.parametrize("storage", ["dense", "factor"])
def test_certificate_by_definition(name, storage):
    problem = PROBLEMS[name]
    weights, alpha = feasible_weights(problem), feasible_alpha(problem)
    stack = STACK if storage == "factor" else DenseStack(K)
    certificate = problem.certify(stack, Candidate(weights=weights, alpha=alpha))
    assert certificate.primal == pytest.approx(plain_primal(problem, weights, alpha), rel=1e-6)
    assert certificate.dual == pytest.approx(plain_dual(problem, alpha), rel=1e-6)
    assert certificate.infeasibility < 1e-12


def test_hard_certificate_by_definition():
    beta = np.linalg.solve(np.tensordot(feasible_weights(HARD), K, 1) + 1e-9 * np.eye(N), Y)
    alpha = np.maximum(Y * beta, 0.0)[None]
    certificate = HARD.certify(
        STACK, Candidate(weights=feasible_weights(HARD), alpha=alpha, dual_alpha=feasible_alpha(HARD))
    )
    kernel = np.tensordot(feasible_weights(HARD), K, 1)
    scores = kernel @ (Y * alpha[0])
    half = 0.5 * (scores[Y > 0].min() - scores[Y < 0].max())
    expected = (Y * alpha[0]) @ scores / half**2 if half > 0 else np.inf
    assert certificate.primal == pytest.approx(expected)
    assert certificate.dual == pytest.approx(plain_dual(HARD, feasible_alpha(HARD)), rel=1e-4)


def test_a_dual_point_of_its_own_serves_the_lower_bound_only():
    weights, alpha = feasible_weights(L1), feasible_alpha(L1)
    other = 0.1 * alpha * np.array([0, 0, *[1] * (N - 2)])
    both = L1.certify(STACK, Candidate(weights=weights, alpha=alpha, dual_alpha=other))
    assert both.primal == L1.certify(STACK, Candidate(weights=weights, alpha=alpha)).primal
    assert both.dual == L1.certify(STACK, Candidate(alpha=other)).dual


def test_the_dual_point_is_taken_at_its_best_scale():
    alpha = feasible_alpha(L2)
    values = [L2.certify(STACK, Candidate(alpha=s * alpha)).dual for s in (1e-6, 1.0, 1e6)]
    np.testing.assert_allclose(values, values[0])


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(
    "part",
    [
        {"weights": None},
        {"weights": np.ones(M + 2)},
        {"weights": np.ones((1, M))},
        {"weights": np.full(M, np.nan)},
        {"weights": np.full(M + 1, np.inf)},
        {"weights": np.zeros(M)},
        {"alpha": None},
        {"alpha": np.ones(N)},
        {"alpha": np.ones((1, N + 1))},
        {"alpha": np.full((1, N), np.nan)},
        {"alpha": np.full((2, N), -np.inf)},
        {"alpha": np.ones((0, N))},
    ],
    ids=lambda part: next(f"{k} {None if v is None else (v.shape, v.ravel()[:1])}" for k, v in part.items()),
)
def test_broken_parts_bound_nothing(name, part):
    problem = PROBLEMS[name]
    whole = {"weights": feasible_weights(problem), "alpha": feasible_alpha(problem)}
    certificate = problem.certify(STACK, Candidate(**{**whole, **part}))
    assert certificate.primal == np.inf
    assert certificate.infeasibility == pytest.approx(np.inf) or "weights" in part
    assert (certificate.dual == -np.inf) == ("alpha" in part)


@pytest.mark.parametrize("change", [1.01, 0.99, "negative"])
def test_weights_off_budget_or_negative_are_infeasible(change):
    weights = feasible_weights(L1)
    if change == "negative":
        weights = weights * np.array([2.0, 2.0, -1.0])
    else:
        weights = change * weights
    certificate = L1.certify(STACK, Candidate(weights=weights, alpha=feasible_alpha(L1)))
    assert certificate.primal == np.inf and certificate.infeasibility >= 0.009


def test_rounding_of_weights_is_repaired():
    weights, alpha = feasible_weights(L1), feasible_alpha(L1)
    exact = L1.certify(STACK, Candidate(weights=weights, alpha=alpha)).primal
    near = L1.certify(STACK, Candidate(weights=weights * (1 + 1e-8), alpha=alpha))
    assert near.primal == pytest.approx(exact, rel=1e-12) and 0 < near.infeasibility < 1e-7


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": Y}, "labels must have shape"),
        ({"box": np.ones(N + 1)}, "labels must have shape"),
        ({"ridge": np.ones(1)}, "labels must have shape"),
        ({"labels": 2 * Y[None]}, "labels must be -1 or"),
        ({"labels": np.ones((1, N))}, "samples of both classes"),
        ({"labels": np.stack([Y, -np.ones(N)])}, "samples of both classes"),
        ({"box": np.zeros(N)}, "box must be positive"),
        ({"box": np.full(N, np.nan)}, "box must be positive"),
        ({"ridge": np.full(N, -1.0)}, "ridge nonnegative"),
        ({"ridge": np.full(N, np.inf)}, "ridge nonnegative and finite"),
        ({"prices": np.array([1.0, 0.0, 1.0])}, "budget must be positive and finite"),
        ({"prices": np.array([1.0, np.inf, 1.0])}, "budget must be positive and finite"),
        ({"budget": 0.0}, "budget must be positive and finite"),
        ({"budget": np.inf}, "budget must be positive and finite"),
        ({"ridge_price": 0.0}, "of the ridge too"),
        ({"ridge_price": np.nan}, "of the ridge too"),
    ],
)
def test_bad_problems_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(L1, **changes)


def test_problems_are_frozen():
    with pytest.raises(FrozenInstanceError):
        L1.budget = 1.0


def test_properties():
    assert [PROBLEMS[name].is_hard for name in PROBLEMS] == [False, False, True, False, False]
    assert [PROBLEMS[name].learns_ridge for name in PROBLEMS] == [False, False, False, True, False]
    weights = np.array([1.0, 2.0, 3.0, 0.5])
    assert AUTO.all_prices.tolist() == [*PRICES, N] and AUTO.kernel_part(weights).tolist() == [1.0, 2.0, 3.0]
    assert AUTO.ridge_at(weights).tolist() == [0.5] * N and not AUTO.fixed_ridge.any()
    assert L2.ridge_at(weights[:3]) is L2.ridge is L2.fixed_ridge
