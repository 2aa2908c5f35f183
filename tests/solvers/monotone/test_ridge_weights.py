"""Interior point for the squared loss: certified optima, against a general minimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.problems.ridge import RidgeProblem
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.monotone.ridge_weights import _Fit, solve_ridge_weights

RNG = np.random.default_rng(1)
N = 30
FACTORS = [RNG.normal(size=(N, r)) for r in (2, 1, 3, 2)]
STACKS = {"factor": FactorStack(FACTORS), "dense": DenseStack([Z @ Z.T for Z in FACTORS])}
TARGETS = FACTORS[0][:, 0] + 0.5 * FACTORS[2][:, 1] + 0.3 * RNG.normal(size=(2, N))


def task(C=1.0, groups=(0, 0, 0, 0), targets=TARGETS):
    return RidgeProblem(np.atleast_2d(targets), np.full(N, 1.0 / C), np.array(groups), 2.0)


@pytest.mark.parametrize("storage", ["factor", "dense"])
@pytest.mark.parametrize("groups", [(0, 0, 0, 0), (0, 1, 1, 0), (0, 1, 2, 3)])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_certified_optimum(storage, groups, C):
    found = run(solve_ridge_weights, task(C, groups), STACKS[storage], tol=1e-10)
    assert found.status is Status.OPTIMAL and found.n_iter < 25
    np.testing.assert_allclose(np.bincount(groups, found.candidate.weights), 2.0)


def test_agrees_with_a_general_minimiser():
    problem = task(0.3)
    found = run(solve_ridge_weights, problem, STACKS["dense"], tol=1e-10)

    def value(x):
        fit = _Fit(problem, STACKS["dense"], np.maximum(x, 0))
        return fit.value, -fit.q

    reference = minimize(
        value,
        np.full(4, 0.25),
        jac=True,
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    assert found.certificate.primal == pytest.approx(reference.fun, rel=1e-7)
    np.testing.assert_allclose(found.candidate.weights, 2.0 * reference.x, atol=1e-4)


def test_curvature_is_the_derivative_of_the_forms():
    problem, x, h = task(0.7), np.array([0.4, 0.3, 0.2, 0.1]), 1e-6
    fit = _Fit(problem, STACKS["factor"], x)
    for i in range(4):
        step = np.eye(4)[i] * h
        up, down = (_Fit(problem, STACKS["factor"], x + s).q for s in (step, -step))
        np.testing.assert_allclose((up - down) / (2 * h), -2 * fit.S[i], rtol=1e-5)


def test_targets_that_say_nothing():
    found = run(solve_ridge_weights, task(targets=np.zeros(N)), STACKS["dense"], tol=1e-6)
    assert found.status is Status.OPTIMAL and found.certificate.primal == 0.0
