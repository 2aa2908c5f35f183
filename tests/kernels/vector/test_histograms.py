import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import chi2_kernel

from kernelweave.kernels import ChiSquared, HistogramIntersection

RNG = np.random.default_rng(7)
X, Y = RNG.poisson(1.0, size=(25, 8)) * 1.0, RNG.poisson(1.0, size=(6, 8)) * 0.3
CONTAINERS = [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csr_array]


@pytest.mark.parametrize("container", CONTAINERS)
def test_chi_squared_agrees_with_scikit_learn(container):
    expected = chi2_kernel(X.copy(), Y.copy(), gamma=0.3)
    np.testing.assert_allclose(ChiSquared(0.3)(container(X), container(Y)), expected, rtol=1e-12)


@pytest.mark.parametrize("container", CONTAINERS)
def test_intersection_is_the_sum_of_minima(container):
    kernel = HistogramIntersection()
    np.testing.assert_allclose(kernel(container(X), container(Y)), np.minimum(X[:, None], Y).sum(axis=2))
    np.testing.assert_array_equal(kernel.diag(container(X)), np.diagonal(kernel(container(X))))
    np.testing.assert_allclose(kernel.diag(container(X)), X.sum(axis=1))


@pytest.mark.parametrize("kernel", [ChiSquared(0.5), HistogramIntersection()])
def test_negative_entries_are_refused(kernel):
    with pytest.raises(ValueError, match="histograms must not be negative"):
        kernel(X - 0.5)
    with pytest.raises(ValueError, match="histograms must not be negative"):
        kernel(X, Y - 0.5)


def test_intersection_refuses_negative_entries_on_the_diagonal_too():
    with pytest.raises(ValueError, match="histograms must not be negative"):
        HistogramIntersection().diag(X - 0.5)


def test_empty_histograms():
    empty = np.zeros((2, 3))
    assert ChiSquared(1.0)(empty).tolist() == [[1, 1], [1, 1]]
    assert HistogramIntersection()(empty).tolist() == [[0, 0], [0, 0]]


def test_median_of_chi_squared_distances():
    x = np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 0.0]])
    # Distances: 2, (3-1)^2/4 = 1, 4.
    assert ChiSquared().freeze(x).gamma == pytest.approx(0.5)
