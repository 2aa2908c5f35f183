"""The evidence solver against a general optimiser, and never uphill."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from kernelweave.gram.centred import CentredStack
from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.evidence import EvidenceProblem
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.evidence import solve_evidence


def setting(n, m, k, seed):
    rng = np.random.default_rng(seed)
    points = [rng.normal(size=(n, 2)) for _ in range(m)]
    kernels = [np.exp(-0.5 * ((z[:, None] - z) ** 2).sum(axis=2)) for z in points]
    S = 2.0 * kernels[0] + 0.5 * kernels[1] + 0.3 * np.eye(n)
    return EvidenceProblem(np.linalg.cholesky(S) @ rng.normal(size=(n, k)), 1e-6), DenseStack(kernels)


@pytest.mark.parametrize(("n", "m", "k", "seed"), [(40, 3, 1, 0), (60, 6, 3, 1), (50, 12, 1, 2)])
def test_against_a_general_optimiser(n, m, k, seed):
    problem, gram = setting(n, m, k, seed)
    result = run(solve_evidence, problem, gram, tol=1e-8)
    assert result.status is Status.OPTIMAL

    def value(mu):
        point = problem.at(gram, mu)
        return point.value, 0.5 * (point.determinant - point.fit)

    bounds = [(0.0, None)] * m + [(problem.floor, None)]
    found = minimize(value, np.full(m + 1, 0.3), jac=True, bounds=bounds, options={"ftol": 1e-15, "maxiter": 3000})
    assert result.certificate.primal == pytest.approx(found.fun, rel=1e-7)
    # The generating weights are worse on the sample than the fitted ones.
    truth = np.concatenate([[2.0, 0.5], np.zeros(m - 2), [0.3]])
    assert result.certificate.primal <= problem.at(gram, truth).value


def test_values_never_rise():
    problem, gram = setting(40, 5, 2, 3)
    values = [problem.at(gram, c.weights).value for c in solve_evidence(problem, gram)]
    assert len(values) > 3 and all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(values))


def test_scale_of_targets_and_kernels():
    problem, gram = setting(40, 3, 1, 4)
    plain = run(solve_evidence, problem, gram, tol=1e-9).candidate.weights
    scaled = DenseStack([10.0 * gram.combine(e) for e in np.eye(3)])
    other = run(solve_evidence, EvidenceProblem(3.0 * problem.columns, 9e-6), scaled, tol=1e-9).candidate.weights
    np.testing.assert_allclose(other, 9.0 * plain / np.array([10.0, 10.0, 10.0, 1.0]), atol=1e-4)


def test_a_warm_start_ends_at_once():
    problem, gram = setting(40, 3, 1, 5)
    first = run(solve_evidence, problem, gram, tol=1e-8)
    again = run(solve_evidence, problem, gram, tol=1e-8, start=Candidate(weights=first.candidate.weights))
    assert again.n_iter == 1


def test_duplicates_share():
    problem, gram = setting(40, 2, 1, 6)
    twice = DenseStack([gram.combine(e) for e in (np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([1.0, 0.0]))])
    one, two = (run(solve_evidence, problem, stack, tol=1e-8) for stack in (gram, twice))
    assert two.certificate.primal == pytest.approx(one.certificate.primal, rel=1e-8)


def test_other_stacks():
    rng = np.random.default_rng(0)
    factors = [rng.normal(size=(30, 3)) for _ in range(3)]
    u = (factors[0] @ rng.normal(size=3) + 0.3 * rng.normal(size=30))[:, None]
    problem = EvidenceProblem(u - u.mean(), 1e-6)
    dense = DenseStack([z @ z.T for z in factors])
    values = [
        run(solve_evidence, problem, CentredStack(stack), tol=1e-8).certificate.primal
        for stack in (dense, FactorStack(factors))
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-9)
