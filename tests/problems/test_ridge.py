"""The squared loss judges weights: values from the definition, and nothing from what is infeasible."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from kernelweave.gram.factors.factor import FactorStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.ridge import RidgeProblem

RNG = np.random.default_rng(0)
N = 25
FACTORS = [RNG.normal(size=(N, 3)), RNG.normal(size=(N, 2)), RNG.normal(size=(N, 1))]
STACK = FactorStack(FACTORS)
TARGETS = RNG.normal(size=(2, N)) + np.array([[0.0], [5.0]])
RIDGE = 1.0 / RNG.uniform(0.5, 3.0, N)
GROUPS = np.array([0, 1, 0])
TASK = RidgeProblem(TARGETS, RIDGE, GROUPS)
MU = np.array([0.3, 1.0, 0.7])


def solution(mu, target):
    K = sum(m * Z @ Z.T for m, Z in zip(mu, FACTORS, strict=True)) + np.diag(RIDGE)
    system = np.block([[K, np.ones((N, 1))], [np.ones((1, N)), np.zeros((1, 1))]])
    return np.linalg.solve(system, np.append(target, 0.0))[:N]


def test_value_is_that_of_ridge_regression():
    alpha = np.stack([solution(MU, t) for t in TARGETS])
    judged = TASK.certify(STACK, Candidate(MU, alpha))
    Z = np.hstack([np.sqrt(m) * F for m, F in zip(MU, FACTORS, strict=True)])
    expected = 0.0
    for target in TARGETS:
        model = Ridge(alpha=1.0, tol=1e-12).fit(Z, target, 1.0 / RIDGE)
        expected += model.coef_ @ model.coef_ + ((target - model.predict(Z)) ** 2 / RIDGE).sum()
    assert judged.primal == pytest.approx(expected, rel=1e-10)
    assert judged.dual < judged.primal and judged.infeasibility < 1e-12


def test_bounds_hold_whatever_the_point():
    best = min(
        TASK.certify(STACK, Candidate(m, np.stack([solution(m, t) for t in TARGETS]))).primal
        for m in (np.array([a, 1.0, 1 - a]) for a in np.linspace(0, 1, 101))
    )
    for _ in range(20):
        alpha = RNG.normal(size=(2, N))
        alpha -= alpha.mean(axis=1, keepdims=True)
        judged = TASK.certify(STACK, Candidate(TASK.in_budget(RNG.random(3)), alpha))
        assert judged.dual <= best * (1 + 1e-6) and judged.primal >= best * (1 - 1e-6)


def test_missing_and_infeasible_parts_bound_nothing():
    alpha = np.stack([solution(MU, t) for t in TARGETS])
    assert TASK.certify(STACK, Candidate(MU)).dual == -np.inf
    assert TASK.certify(STACK, Candidate(MU, alpha + 1.0)).dual == -np.inf
    assert TASK.certify(STACK, Candidate(MU, alpha * np.nan)).primal == np.inf
    for weights in (None, -MU, 2 * MU, np.ones(2), np.array([0.0, 1.0, 0.0])):
        assert TASK.certify(STACK, Candidate(weights, alpha)).primal == np.inf


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((TARGETS[0], RIDGE, GROUPS), "targets must have shape"),
        ((TARGETS * np.inf, RIDGE, GROUPS), "targets must be finite"),
        ((TARGETS, 0 * RIDGE, GROUPS), "ridge and budget must be positive"),
        ((TARGETS, RIDGE, np.array([0, 2, 0])), "without gaps"),
    ],
)
def test_bad_parts(parts, message):
    with pytest.raises(ValueError, match=message):
        RidgeProblem(*parts)
