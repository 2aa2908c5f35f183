"""Directed ramps: projections of coefficients in place of kernels."""

import numpy as np
import pytest
import scipy.sparse

from kernelweave.gram.ramps.directed import DirectedRampStack
from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.kernels.monotone.ramps import Ramps

RNG = np.random.default_rng(0)
RAMPS = Ramps((np.array([-1.0, 0.0, 1.0]),) * 3, np.arange(3))
CELLS = RAMPS.cells(RNG.normal(size=(12, 3)))
FEATURES = np.array([1.0, -1.0, 0.0])
DIRECTIONS = np.repeat(FEATURES, 2)


def test_only_the_allowed_signs_remain():
    stack, plain = DirectedRampStack(CELLS, 6, FEATURES), RampStack(CELLS)
    v, mu = RNG.normal(size=12), RNG.random(6)
    w = plain.backward(v)
    expected = np.where(DIRECTIONS * w >= 0, w, 0.0)
    assert not np.array_equal(w, expected)
    np.testing.assert_array_equal(stack.directions, DIRECTIONS)
    np.testing.assert_array_equal(stack.backward(v), expected)
    np.testing.assert_array_equal(stack.unrestricted(v), w)
    np.testing.assert_allclose(stack.quadratic_forms(v), expected**2)
    np.testing.assert_allclose(stack.matvec(mu, v), plain.forward(mu * expected))
    np.testing.assert_allclose(v @ stack.matvec(mu, v), mu @ expected**2)


def test_no_directions_are_plain_ramps():
    free, plain = DirectedRampStack(CELLS, 6, np.zeros(3)), RampStack(CELLS)
    v = RNG.normal(size=12)
    np.testing.assert_array_equal(free.products(v), plain.products(v))


def test_restriction_keeps_directions_and_interior_points_are_refused():
    stack = DirectedRampStack(CELLS, 6, FEATURES)
    part = stack.restrict(np.arange(4))
    assert part.shape == (4, 4) and part.feature_directions is FEATURES
    with pytest.raises(NotImplementedError, match="descent"):
        stack.image(np.ones(12))


def test_below_zero_an_anchored_ramp_points_the_other_way():
    ramps = Ramps((np.array([-1.0, 0.0, 1.0]),) * 2, np.arange(2), anchored=True)
    X = scipy.sparse.csr_matrix([[0.5, 0.0], [-0.5, 0.0], [0.0, 0.5], [0.0, -0.5]])
    stack = DirectedRampStack(ramps.cells(X), 4, np.array([1.0, -1.0]))
    v = np.array([1.0, -1.0, 1.0, -1.0])
    scores = stack.matvec(np.ones(4), v)
    # Both classes agree that the first feature increases; the second one may not.
    assert scores[0] > 0 > scores[1]
    np.testing.assert_array_equal(scores[2:], [0.0, 0.0])
