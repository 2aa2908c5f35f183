"""Directions stay orthonormal as they grow, and the most negative ones are found."""

import numpy as np
import pytest
import scipy.linalg

from kernelweave.gram.dense import DenseStack
from kernelweave.solvers.semidefinite.directions import Directions, most_negative
from kernelweave.solvers.semidefinite.face import find_face

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6))


def kernels():
    distances = ((X[:, None] - X) ** 2).sum(-1)
    return np.array([np.exp(-distances / 3), np.exp(-distances / 30), X @ X.T])


def growing(K):
    stack = DenseStack(K)
    units = 40.0 / stack.traces()
    face = find_face(stack, units, 1e-9)
    return Directions(stack, face, units), face, units


@pytest.mark.parametrize("centred", [False, True])
def test_blocks_are_the_kernels_on_orthonormal_directions(centred):
    K = kernels()
    if centred:
        P = np.eye(40) - 1 / 40
        K = P @ K @ P
    directions, face, units = growing(K)
    directions.start(2, 3)
    p = directions.basis.shape[1]
    assert p == 9
    assert directions.add(RNG.normal(size=(len(face.pivots), 4))) == 4
    B = face.embed(directions.basis, 40)
    scaled = units[:, None, None] * K
    np.testing.assert_allclose(directions.blocks, B.T @ scaled @ B, atol=1e-9)
    np.testing.assert_allclose(directions.blocks.mean(axis=0), np.eye(p + 4), atol=1e-9)


def test_known_directions_add_nothing():
    directions, _, _ = growing(kernels())
    directions.start(2, 3)
    before = directions.blocks.copy()
    assert directions.add(directions.basis[:, :3] @ RNG.normal(size=(3, 2))) == 0
    np.testing.assert_array_equal(directions.blocks, before)


@pytest.mark.parametrize("guess", [1e-9, 0.5, 50.0])
def test_most_negative_directions(guess):
    K = kernels()
    _, face, units = growing(K)
    indefinite = np.tensordot([2.0, -1.0, -0.3], units[:, None, None] * K, 1)
    exact = scipy.linalg.eigh(indefinite, face.uniform, eigvals_only=True)
    negative, values, vectors = most_negative(indefinite, face.uniform, guess, 4)
    np.testing.assert_allclose(values[0], exact[0], rtol=1e-3)
    assert values[1] < 0 and (values[1:] >= exact[1:4] - 1e-6 * abs(exact[0])).all()
    # A bound, and not a wild one.
    assert -exact[0] <= negative <= max(-3 * exact[0], guess)
    np.linalg.cholesky(indefinite + negative * face.uniform)
    np.testing.assert_allclose(vectors.T @ face.uniform @ vectors, np.eye(4), atol=1e-6)


def test_definite_combinations_are_not_negative():
    _, face, _ = growing(kernels())
    negative, values, _ = most_negative(face.uniform, face.uniform, 1e-9, 3)
    assert negative <= 1e-9
    np.testing.assert_allclose(values, 1.0, rtol=1e-6)


def test_hopeless_combinations():
    _, face, _ = growing(kernels())
    assert most_negative(-1e12 * face.uniform, face.uniform, 1.0, 3) is None
