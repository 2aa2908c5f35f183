"""Pivots that span the joint range, and a basis of the span of the kernels."""

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.solvers.semidefinite.face import face_floors, find_face, span_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))


def face_of(kernels, floor=1e-9):
    stack = DenseStack(np.array(kernels))
    return find_face(stack, 30.0 / stack.traces(), floor), stack


def test_definite_kernels_keep_every_sample():
    face, _ = face_of([np.eye(30), X @ X.T])
    np.testing.assert_array_equal(face.pivots, np.arange(30))
    np.testing.assert_allclose(face.factor @ face.factor.T, face.uniform, atol=1e-12)
    assert np.trace(face.uniform) == pytest.approx(30.0)


@pytest.mark.parametrize(
    ("kernels", "rank"),
    [
        ([X[:, :2] @ X[:, :2].T, X[:, 1:] @ X[:, 1:].T], 4),
        ([np.tile(K, (2, 2)) for K in (X[:15] @ X[:15].T, np.eye(15))], 15),
        ([(np.arange(30) % 3 > 0) * np.eye(30)], 20),
        ([np.eye(30) - 1 / 30], 29),
    ],
    ids=["low rank", "twins", "zero rows", "centred"],
)
def test_null_directions_are_left_out(kernels, rank):
    face, _ = face_of(kernels)
    assert len(face.pivots) == rank
    assert np.linalg.eigvalsh(face.uniform)[0] > 1e-6


def test_semidefinite_on_the_pivots_is_semidefinite():
    factors = [X[:, :2], X[:, 1:], X[:, [0, 3]]]
    stack = FactorStack(factors)
    face = find_face(stack, 30.0 / stack.traces(), 1e-9)
    seen = set()
    for _ in range(300):
        K = stack.combine(RNG.normal(size=3) + 0.4)
        values = [np.linalg.eigvalsh(block)[0] for block in (K, K[np.ix_(face.pivots, face.pivots)])]
        assert (values[0] > -1e-9) == (values[1] > -1e-9)
        seen.add(values[0] > -1e-9)
    assert seen == {True, False}


def test_scale_of_a_sample_does_not_matter():
    scale = 10.0 ** RNG.integers(-6, 6, size=30)
    face, _ = face_of([np.diag(scale**2)])
    assert len(face.pivots) == 30


def test_embedding_fills_other_rows_with_zeros():
    face, _ = face_of([X[:, :2] @ X[:, :2].T])
    block = RNG.normal(size=(2, 3))
    embedded = face.embed(block, 30)
    np.testing.assert_array_equal(embedded[face.pivots], block)
    assert np.count_nonzero(embedded) == 6


def test_span_with_and_without_ridge():
    kernels = np.array([np.eye(5), np.ones((5, 5)), np.eye(5)])
    inner = DenseStack(kernels).frobenius_products()
    span = span_of(inner, with_ridge=False)
    assert span.shape == (3, 2)
    np.testing.assert_allclose(span.T @ inner @ span, np.eye(2), atol=1e-12)
    with_ridge = span_of(inner, with_ridge=True)
    assert with_ridge.shape == (4, 3) and with_ridge[-1, -1] == 1 and not with_ridge[-1, :-1].any()


def test_floors_depend_on_the_storage():
    assert max(face_floors(np.float64)) < min(face_floors(np.float32))
    for dtype in (np.float32, np.float64):
        assert list(face_floors(dtype)) == sorted(face_floors(dtype), reverse=True)
