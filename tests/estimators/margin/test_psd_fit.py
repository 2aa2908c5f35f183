"""Choice of solvers for weights of any sign, and weights from points that have none to offer."""

import numpy as np
import pytest

from kernelweave.estimators.margin.psd_fit import psd_solvers, psd_weights
from kernelweave.gram.dense import DenseStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.solvers.semidefinite.psd_primal_dual import solve_psd_primal_dual
from kernelweave.solvers.semidefinite.psd_subspace import solve_psd_subspace

GRAM = DenseStack([np.eye(4), np.ones((4, 4))])
PROBLEM = PSDMarginProblem(
    np.array([[1.0, -1.0]]), np.full(2, np.inf), np.ones(2), np.array([4.0, 4.0]), 12.0, ridge_price=4.0
)


@pytest.mark.parametrize(
    ("name", "n", "solvers"),
    [
        ("auto", 100, [solve_psd_subspace, solve_psd_primal_dual]),
        ("subspace", 100, [solve_psd_subspace, solve_psd_primal_dual]),
        ("auto", 5000, [solve_psd_subspace]),
        ("primal_dual", 5000, [solve_psd_primal_dual]),
    ],
)
def test_the_whole_cone_is_the_fallback_where_affordable(name, n, solvers):
    assert psd_solvers(name, n) == solvers


def test_weights_are_made_feasible():
    weights = psd_weights(PROBLEM, GRAM, Candidate(weights=np.array([2.0, -1.0, 2.0])))
    assert weights @ PROBLEM.all_prices == pytest.approx(12.0)
    assert np.linalg.eigvalsh(GRAM.combine(weights[:2]))[0] >= -1e-7
    np.testing.assert_allclose(psd_weights(PROBLEM, GRAM, Candidate()), np.ones(3))
