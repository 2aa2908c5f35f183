"""A fitted sum of kernels on new samples, by definition."""

import numpy as np
import pytest

from kernelweave.estimators.expansion import KernelExpansion
from kernelweave.gram.build import build_stack
from kernelweave.kernels import RBF, Linear, freeze_kernels, resolve_entries

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(9, 3)) + 0.5, RNG.normal(size=(4, 3))
N_LABELLED, N_OUTPUTS = 6, 2
COEFFICIENTS = RNG.normal(size=(N_OUTPUTS, N_LABELLED)) * (RNG.random((N_OUTPUTS, N_LABELLED)) < 0.5)
INTERCEPT = np.array([0.5, -1.0])


def expansion(weights, center=False):
    named = freeze_kernels(resolve_entries([("a", RBF(0.3)), ("b", Linear()), ("c", Linear(), [0, 1])]), X)
    _, prepared = build_stack(named, X, normalize="cosine", center=center)
    return KernelExpansion(prepared, X, COEFFICIENTS, np.array(weights), INTERCEPT)


def kernels(center):
    both = np.vstack([X, NEW])
    raw = [np.exp(-0.3 * ((both[:, None] - both) ** 2).sum(-1)), both @ both.T, both[:, :2] @ both[:, :2].T]
    result = []
    for K in raw:
        if center:
            mean = K[:, :9].mean(axis=1)
            K = K - mean[:, None] - mean + K[:9, :9].mean()
        result.append((K / np.sqrt(np.outer(K.diagonal(), K.diagonal())))[9:, :N_LABELLED])
    return np.stack(result)


SHARED, OWN = [[0.5, 0.0, 2.0]], [[0.5, 0.0, 2.0], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weights", [SHARED, OWN])
def test_contributions_and_scores(weights, center):
    fitted = expansion(weights, center)
    each = np.array(weights) if len(weights) == N_OUTPUTS else np.tile(weights, (N_OUTPUTS, 1))
    expected = np.einsum("tnj,kj,kt->nkt", kernels(center), COEFFICIENTS, each)
    np.testing.assert_allclose(fitted.contributions(NEW), expected, atol=1e-12)
    np.testing.assert_allclose(fitted.scores(NEW), expected.sum(axis=2) + INTERCEPT, atol=1e-12)


@pytest.mark.parametrize("center", [False, True])
def test_combined_kernel(center):
    combined = expansion(SHARED, center).combined(NEW)
    np.testing.assert_allclose(combined, np.tensordot(SHARED[0], kernels(center), 1), atol=1e-12)
    with pytest.raises(ValueError, match="no single combined kernel"):
        expansion(OWN, center).combined(NEW)


def test_without_weights_only_the_bias_is_left():
    fitted = expansion([[0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(fitted.scores(NEW), np.tile(INTERCEPT, (4, 1)))
    assert not fitted.contributions(NEW).any() and not fitted.combined(NEW).any()
