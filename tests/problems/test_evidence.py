"""The Gaussian-process criterion: its value by definition, its derivatives, and what its bound bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from kernelweave.gram.dense import DenseStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.evidence import EvidenceProblem


def setting(n=12, m=3, k=2, seed=0):
    rng = np.random.default_rng(seed)
    factors = [rng.normal(size=(n, 4 + i)) for i in range(m)]
    gram = DenseStack([z @ z.T / z.shape[1] for z in factors])
    return EvidenceProblem(rng.normal(size=(n, k)), 1e-3), gram, rng.uniform(0.1, 1.0, m + 1)


def test_value_is_minus_the_log_likelihood_up_to_a_constant():
    problem, gram, mu = setting()
    n, _k = problem.columns.shape
    other = mu[::-1].copy()

    def likelihood(weights):
        S = gram.combine(weights[:-1]) + weights[-1] * np.eye(n)
        return sum(multivariate_normal(np.zeros(n), S).logpdf(u) for u in problem.columns.T)

    difference = problem.at(gram, mu).value - problem.at(gram, other).value
    assert difference == pytest.approx(likelihood(other) - likelihood(mu), rel=1e-9)
    assert problem.at(gram, mu).value > 0


def test_derivatives():
    problem, gram, mu = setting()
    point = problem.at(gram, mu)
    for i in range(len(mu)):
        step = 1e-6 * np.eye(len(mu))[i]
        slope = (problem.at(gram, mu + step).value - problem.at(gram, mu - step).value) / 2e-6
        assert slope == pytest.approx(0.5 * (point.determinant[i] - point.fit[i]), rel=1e-5)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 500), there=st.lists(st.floats(0.0, 5.0), min_size=4, max_size=4))
def test_the_bound_is_below_the_majoriser_everywhere(seed, there):
    problem, gram, mu = setting(seed=seed)
    n, _k = problem.columns.shape
    point, nu = problem.at(gram, mu), np.array(there)
    nu[-1] = max(nu[-1], problem.floor)
    S = gram.combine(nu[:-1]) + nu[-1] * np.eye(n)
    fit = 0.5 * np.vdot(problem.columns, np.linalg.solve(S, problem.columns))
    tangent = point.value - 0.5 * np.vdot(problem.columns, point.solved) + 0.5 * (point.determinant @ (nu - mu))
    assert problem.bound(point) <= (tangent + fit) * (1 + 1e-9)
    assert problem.bound(point) <= point.value


def test_one_kernel_in_closed_form():
    """K = I twice (kernel and noise): any split of the variance |u|^2 / n is stationary, nothing else is."""
    problem = EvidenceProblem(np.array([[1.0], [2.0], [-1.0]]), 1e-6)
    gram = DenseStack([np.eye(3)])
    for share in (0.0, 0.3, 0.9):
        judged = problem.certify(gram, Candidate(weights=np.array([2.0 * share, 2.0 * (1 - share)])))
        assert judged.relative_gap <= 1e-12
    assert problem.certify(gram, Candidate(weights=np.array([1.0, 2.0]))).relative_gap > 1e-4


@pytest.mark.parametrize("weights", [None, np.ones(2), np.full(4, np.nan)])
def test_missing_weights_have_no_value(weights):
    problem, gram, _ = setting()
    assert problem.certify(gram, Candidate(weights=weights)).primal == np.inf


def test_negative_weights_are_judged_where_they_were_cut_off():
    problem, gram, mu = setting()
    cut = mu * np.array([1, 1, 0, 1])
    judged = problem.certify(gram, Candidate(weights=cut - np.array([0, 0, 0.5, 0])))
    assert judged.primal == problem.certify(gram, Candidate(weights=cut)).primal and judged.infeasibility > 0.1


@pytest.mark.parametrize(
    ("columns", "floor"),
    [(np.zeros((3, 1)), 1.0), (np.ones(3), 1.0), (np.full((3, 1), np.nan), 1.0), (np.ones((3, 1)), 0)],
)
def test_bad_data(columns, floor):
    with pytest.raises(ValueError):
        EvidenceProblem(columns, floor)
