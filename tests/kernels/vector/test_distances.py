import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist

from kernelweave.kernels import RBF
from kernelweave.kernels.vector import loops
from kernelweave.kernels.vector.distances import compare_rows, pairwise_distances, refuse_negative, squared_norms

RNG = np.random.default_rng(5)
X, Y = RNG.poisson(1.0, size=(40, 6)) + RNG.random((40, 6)), RNG.poisson(1.0, size=(9, 6)) * 1.0
NAMES = ["sqeuclidean", "manhattan", "chi2"]


def reference(name, X, Y):
    if name == "chi2":
        total = X[:, None] + Y
        return np.divide((X[:, None] - Y) ** 2, total, out=np.zeros_like(total), where=total > 0).sum(axis=2)
    return cdist(X, Y, {"manhattan": "cityblock"}.get(name, name))


@pytest.mark.parametrize("left", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("right", [np.asarray, scipy.sparse.csc_array])
@pytest.mark.parametrize("name", NAMES)
def test_distances_of_all_containers(name, left, right):
    np.testing.assert_allclose(pairwise_distances(name, left(X), right(Y)), reference(name, X, Y), rtol=1e-11)


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix, np.asfortranarray])
@pytest.mark.parametrize("name", NAMES)
def test_one_set_is_exactly_symmetric_with_a_zero_diagonal(name, container):
    distances = pairwise_distances(name, container(X))
    np.testing.assert_array_equal(distances, distances.T)
    assert not distances.diagonal().any()
    assert (distances >= 0).all()
    np.testing.assert_allclose(distances, reference(name, X, X), rtol=1e-11, atol=1e-12)


def test_squared_distances_survive_a_large_offset():
    small = RNG.normal(size=(30, 3))
    far = small + 1.7e9
    expected = cdist(far, far, "sqeuclidean")
    np.testing.assert_allclose(pairwise_distances("sqeuclidean", far), expected, rtol=1e-9)
    np.testing.assert_allclose(pairwise_distances("sqeuclidean", far, far[:4].copy()), expected[:, :4], atol=1e-9)


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix])
def test_near_samples_among_far_ones_keep_their_digits(container):
    """Norms and products alone give 1e-3 relative to distances of one here, and 1e-17 for twins."""
    near = np.repeat(RNG.normal(size=(20, 4)), 2, axis=0)
    samples = np.vstack([near, near + 1e6, near - 3e6])
    for other in (None, container(samples.copy())):
        distances = pairwise_distances("sqeuclidean", container(samples), other)
        np.testing.assert_allclose(distances, cdist(samples, samples, "sqeuclidean"), rtol=1e-11)


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix])
def test_twins_do_not_decide_the_median(container):
    """Found by a property: rounding between equal samples once passed for the smallest positive distance."""
    samples = container(np.array([[0.0, 0.0]] * 5 + [[1.0, 2.0]]))
    assert RBF("median").freeze(samples).gamma == pytest.approx(0.1)
    assert (RBF("median")(samples)[:5, :5] == 1).all()


@pytest.mark.parametrize("name", NAMES)
def test_no_samples(name):
    assert pairwise_distances(name, np.zeros((0, 2))).shape == (0, 0)
    assert pairwise_distances(name, np.zeros((0, 2)), np.zeros((3, 2))).shape == (0, 3)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="unknown distance 'cosine'"):
        pairwise_distances("cosine", X)


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix])
def test_negative_histograms_are_refused(container):
    bad = X.copy()
    bad[4, 2] = -0.5
    with pytest.raises(ValueError, match="feature 2 of sample 4"):
        pairwise_distances("chi2", container(X), container(bad))
    with pytest.raises(ValueError, match="feature 2 of sample 4"):
        refuse_negative(container(bad))
    refuse_negative(container(X), np.zeros((0, 3)))


def test_comparisons_take_one_dense_and_one_sparse_matrix():
    expected = np.minimum(X[:, None], Y).sum(axis=2)
    result = compare_rows(loops.INTERSECTION, scipy.sparse.csr_matrix(X), Y)
    np.testing.assert_allclose(result, expected)


def test_squared_norms():
    np.testing.assert_allclose(squared_norms(X), (X**2).sum(axis=1))
    np.testing.assert_allclose(squared_norms(scipy.sparse.csr_matrix(X)), (X**2).sum(axis=1))
