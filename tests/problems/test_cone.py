"""Spans of kernels, and weights that are mixed until their combination is semidefinite."""

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.problems.cone import inverse_root, mixed_until_semidefinite


def test_basis_of_a_span_ignores_copies():
    rng = np.random.default_rng(3)
    matrices = rng.normal(size=(3, 50))
    matrices = np.vstack([matrices, matrices[:1], 1e6 * matrices[1:2]])
    inner = matrices @ matrices.T
    root = inverse_root(inner)
    assert root.shape == (5, 3)
    np.testing.assert_allclose(root.T @ inner @ root, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(inner @ root @ root.T @ inner, inner, rtol=1e-9)


@pytest.mark.parametrize(("second", "share"), [(-0.25, 0.0), (-0.2500001, 1e-6), (-0.3, 1.0), (-0.9, 1.0)])
def test_mixing_is_as_little_as_needed(second, share):
    """I + s 11' on four samples is semidefinite for s >= -1/4."""
    gram, prices = DenseStack([np.eye(4), np.ones((4, 4))]), np.array([4.0, 4.0])
    mu = np.array([1.0, second])
    mixed, used = mixed_until_semidefinite(gram, mu, prices)
    assert used <= share
    assert mixed @ prices == pytest.approx(mu @ prices)
    assert np.linalg.eigvalsh(gram.combine(mixed))[0] >= -1e-8 * gram.combine(mixed).max()
    assert (used == 0) == (share == 0)


def test_no_weights_when_even_uniform_ones_are_indefinite():
    gram = DenseStack([-np.eye(3), np.diag([1.0, 1.0, 0.0])])
    assert mixed_until_semidefinite(gram, np.array([1.0, 1.0]), np.ones(2)) == (None, np.inf)
