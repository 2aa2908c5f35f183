import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from kernelweave.kernels import JensenShannon, KullbackLeibler

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(1.0, size=(12, 7)) + np.eye(12, 7)
OTHERS = RNG.poisson(3.0, size=(5, 7)) + 1.0


def smoothed(counts, share):
    return (1 - share) * counts / counts.sum(axis=1, keepdims=True) + share / counts.shape[1]


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix])
def test_kullback_leibler_is_that_of_scipy(container):
    p, q = smoothed(COUNTS, 0.05), smoothed(OTHERS, 0.05)
    expected = np.array([[entropy(a, b) for b in q] for a in p])
    kernel = KullbackLeibler(smoothing=0.05)
    np.testing.assert_allclose(kernel.distances(container(COUNTS), container(OTHERS)), expected, rtol=1e-12, atol=1e-14)
    both = KullbackLeibler(smoothing=0.05, symmetrize=True)
    back = np.array([[entropy(b, a) for b in q] for a in p])
    np.testing.assert_allclose(both.distances(container(COUNTS), container(OTHERS)), expected + back, rtol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix])
def test_jensen_shannon_is_that_of_scipy(container):
    expected = np.array([[jensenshannon(a, b) ** 2 for b in OTHERS] for a in COUNTS])
    distances = JensenShannon().distances(container(COUNTS), container(OTHERS))
    np.testing.assert_allclose(distances, expected, rtol=1e-12, atol=1e-14)
    assert distances.max() <= np.log(2)


def test_kullback_leibler_is_neither_symmetric_nor_definite():
    kernel = KullbackLeibler(gamma=1.0)
    K = kernel(COUNTS)
    assert not kernel.symmetric
    assert np.abs(K - K.T).max() > 0.01
    both = KullbackLeibler(gamma=0.01, symmetrize=True)
    counts = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]])
    assert both.symmetric
    assert np.linalg.eigvalsh(both(counts))[0] < -5e-4


def test_the_rule_for_the_width_takes_both_directions():
    frozen = KullbackLeibler().freeze(COUNTS)
    assert frozen.gamma == pytest.approx(KullbackLeibler().freeze(COUNTS[::-1]).gamma)
    distances = KullbackLeibler().distances(COUNTS)
    pairs = (0.5 * (distances + distances.T))[np.tri(12, k=-1, dtype=bool)]
    assert frozen.gamma == pytest.approx(1 / np.median(pairs))


@pytest.mark.parametrize("kernel", [KullbackLeibler(), JensenShannon()])
def test_sizes_of_histograms_do_not_matter(kernel):
    factors = RNG.gamma(2.0, size=(12, 1))
    np.testing.assert_allclose(kernel(COUNTS * factors), kernel(COUNTS), rtol=1e-10)


@pytest.mark.parametrize("kernel", [KullbackLeibler(1.0), JensenShannon(1.0)])
def test_bad_histograms(kernel):
    with pytest.raises(ValueError, match="sample 1 is an empty histogram"):
        kernel([[1.0, 2.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match="must not be negative, but feature 1 of sample 0"):
        kernel([[1.0, -2.0]])


@pytest.mark.parametrize("smoothing", [0.0, 1.0, -1.0, float("nan")])
def test_smoothing_must_be_a_share(smoothing):
    with pytest.raises(ValueError, match="between 0 and 1"):
        KullbackLeibler(1.0, smoothing=smoothing)(COUNTS)


counts = st.one_of(st.integers(0, 5).map(float), st.floats(0, 1e6, allow_subnormal=False), st.just(1e-8))
histograms = st.tuples(st.integers(1, 7), st.integers(1, 5)).flatmap(
    lambda size: arrays(np.float64, size, elements=counts)
)


@settings(max_examples=60, deadline=None)
@given(histograms, st.floats(0.01, 10.0))
def test_any_histograms(X, gamma):
    X[X.sum(axis=1) == 0, 0] = 1.0
    mutual = JensenShannon().distances(X)
    assert (mutual >= 0).all() and (mutual <= np.log(2) + 1e-12).all()
    assert np.linalg.eigvalsh(JensenShannon(gamma)(X))[0] > -1e-8
    kernel = KullbackLeibler(smoothing=0.1)
    directed, sparse = kernel.distances(X), kernel.distances(scipy.sparse.csr_matrix(X))
    np.testing.assert_allclose(directed, sparse, rtol=1e-9, atol=1e-12)
    assert (directed >= 0).all()
    # Pinsker: the divergence is at least half the square of the difference in shares.
    p = smoothed(X, 0.1)
    apart = np.abs(p[:, None] - p).sum(axis=2)
    assert (directed >= 0.5 * apart**2 - 1e-12).all()
