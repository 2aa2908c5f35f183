"""Several classes: shared weights or one vector each."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelweave.estimators.margin.class_fit import fit_classes
from kernelweave.estimators.margin.margin_fit import MarginSettings
from kernelweave.gram.dense import DenseStack
from kernelweave.solvers.driver import Status

N = 24
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(2, N, 5))
STACK = DenseStack(Z @ Z.transpose(0, 2, 1))
CODES = np.digitize(Z[0, :, 0], [-0.5, 0.5])
LABELS = np.where(np.arange(3)[:, None] == CODES, 1.0, -1.0)


def fit(*, shared, n_jobs=None, **changes):
    given = {
        "margin": "l1", "C": 1.0, "trace": "mean", "tol": 1e-8, "max_iter": None, "time_limit": None,
        "solver": "auto", "callback": None,
    }  # fmt: skip
    settings = MarginSettings(**{**given, **changes})
    return fit_classes(LABELS, np.ones(N), STACK, STACK.traces(), N, settings, shared=shared, n_jobs=n_jobs)


def test_weights_of_their_own_are_never_worse_than_shared_ones():
    shared, own = fit(shared=True), fit(shared=False)
    assert own.certificate.primal <= shared.certificate.primal * (1 + 1e-7)
    assert shared.weights.shape == (1, 2) and own.weights.shape == (3, 2)
    assert shared.coefficients.shape == own.coefficients.shape == (3, N)
    np.testing.assert_allclose(own.importances.sum(axis=1), 1.0)
    assert shared.certificate.relative_gap <= 1e-8 >= own.certificate.relative_gap


def test_jobs_change_nothing():
    one, two = fit(shared=False), fit(shared=False, n_jobs=2)
    np.testing.assert_array_equal(one.weights, two.weights)
    np.testing.assert_array_equal(one.coefficients, two.coefficients)


def test_learned_ridges():
    own = fit(shared=False, margin="l2", C="auto")
    assert own.ridges.shape == (3,) and (own.ridges >= 0).all()
    spent = own.weights @ STACK.traces() + N * own.ridges
    np.testing.assert_allclose(spent, own.budget)
    assert fit(shared=True, margin="l2", C="auto").ridges.shape == (1,)
    assert fit(shared=True).ridges is None


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_each_unfinished_class_warns_and_the_status_tells(n_jobs):
    with pytest.warns(ConvergenceWarning, match="iteration limit") as caught:
        result = fit(shared=False, max_iter=1, n_jobs=n_jobs)
    assert len(caught) == 3
    assert result.status is Status.ITERATION_LIMIT and result.n_iter == 1
