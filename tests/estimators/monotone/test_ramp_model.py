"""The fitted additive model: scores by definition, curves, and the check of monotonicity."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from kernelweave.estimators.monotone.ramp_model import RampModel
from kernelweave.kernels.monotone.ramps import Ramps

KNOTS = (np.array([-1.0, 0.0, 2.0]), np.array([0.0, 1.0]))
RAMPS = Ramps(KNOTS, np.array([0, 1, 0]))
WEIGHTS = np.array([0.25, 0.75, 1.0])
MODEL = RampModel(RAMPS, WEIGHTS, np.array([[1.0, -2.0, 3.0, 0.5, 4.0]]), np.array([0.5]))


def phi(x, a, b):
    return np.clip((x - a) / (b - a), 0, 1)


def test_scores_follow_the_definition():
    X = np.random.default_rng(0).normal(size=(20, 3))
    expected = (
        1.0 * phi(X[:, 0], -1, 0)
        - 2.0 * phi(X[:, 0], 0, 2)
        + 3.0 * phi(X[:, 1], 0, 1)
        + 0.5 * phi(X[:, 2], -1, 0)
        + 4.0 * phi(X[:, 2], 0, 2)
        + 0.5
    )
    np.testing.assert_allclose(MODEL.scores(X)[:, 0], expected, atol=1e-14)


def test_curves():
    knots, values = MODEL.transform_curve(2)
    np.testing.assert_allclose((knots, values), [[-1, 0, 2], [0, 0.25, 1.0]])
    knots, values = MODEL.score_curve(0)
    np.testing.assert_allclose(values, [[0, 1, -1]])
    anchored = replace(MODEL, ramps=replace(RAMPS, anchored=True))
    np.testing.assert_allclose(anchored.transform_curve(0)[1], [-0.25, 0, 0.75])


def test_curves_of_anchored_ramps_start_at_zero():
    ramps = replace(RAMPS, anchored=True)
    columns = RampModel(ramps, WEIGHTS, np.ones((1, 5)), np.array([0.5]))
    # Columns: above zero of features 0, 1, 2, then below zero of features 0 and 2, counted downwards.
    np.testing.assert_allclose(columns.score_curve(0)[1], [[1, 0, 1]])
    X = scipy.sparse.csr_matrix(np.array([[0.0, 0.0, 0.0], [1.0, 0.5, -1.0]]))
    np.testing.assert_allclose(columns.scores(X)[:, 0], [0.5, 0.5 + 0.5 + 0.5 + 1.0])


def test_what_is_not_monotone_is_found():
    MODEL.check_monotone()
    for weights in ([1.25, -0.25, 1.0], [0.25, 0.75, 0.9], [np.nan, 0.0, 1.0]):
        with pytest.raises(RuntimeError, match="not monotone"):
            replace(MODEL, weights=np.array(weights)).check_monotone()


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="do not fit ramps"):
        replace(MODEL, coefficients=np.ones((1, 4))).scores(np.ones((1, 3)))
    with pytest.raises(ValueError, match="do not fit ramps"):
        MODEL.scores(scipy.sparse.csr_matrix((1, 4)))
