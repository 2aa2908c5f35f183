import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import cosine_similarity, polynomial_kernel, sigmoid_kernel

from kernelweave.kernels import Cosine, Linear, Polynomial, Sigmoid

RNG = np.random.default_rng(2)
X, Y = RNG.normal(size=(12, 5)), RNG.normal(size=(7, 5))


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5, 7, 8, 11])
def test_polynomial_agrees_with_scikit_learn(degree):
    kernel = Polynomial(degree, gamma=0.3, coef0=0.7)
    np.testing.assert_allclose(kernel(X, Y), polynomial_kernel(X, Y, degree, gamma=0.3, coef0=0.7), rtol=1e-12)


def test_others_agree_with_scikit_learn():
    np.testing.assert_allclose(Linear()(X, Y), X @ Y.T)
    np.testing.assert_allclose(Cosine()(X, Y), cosine_similarity(X, Y), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        Sigmoid(0.3, coef0=-0.2)(X, Y), sigmoid_kernel(X, Y, gamma=0.3, coef0=-0.2), rtol=1e-12, atol=1e-15
    )


@pytest.mark.parametrize("kernel", [Linear(), Cosine(), Polynomial(3), Sigmoid()])
@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix])
def test_diag_is_exactly_the_diagonal(kernel, container):
    samples = container(X)
    kernel = kernel.freeze(samples)
    np.testing.assert_array_equal(kernel.diag(samples), np.diagonal(kernel(samples)))


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix])
def test_scale_is_the_rule_of_scikit_learn(container):
    for kernel in (Polynomial(gamma="scale"), Sigmoid(gamma="scale")):
        assert kernel.freeze(container(X)).gamma == pytest.approx(1 / (5 * X.var()))
    assert Polynomial(gamma="scale", degree=3, coef0=2.0).freeze(X).get_params()["coef0"] == 2.0


def test_scale_needs_to_know_the_training_samples():
    with pytest.raises(ValueError, match="freeze"):
        Polynomial(gamma="scale")(X, Y)
    np.testing.assert_allclose(Polynomial(gamma="scale")(X), Polynomial(gamma="scale").freeze(X)(X))


@pytest.mark.parametrize("degree", [0, -1, 2.5, "2", None])
def test_degree_must_be_a_whole_number(degree):
    with pytest.raises(ValueError, match="degree"):
        Polynomial(degree)(X)


@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, np.inf, "median", "auto", None, True])
@pytest.mark.parametrize("kernel", [Polynomial, Sigmoid])
def test_gamma_must_be_positive_or_a_rule(kernel, gamma):
    with pytest.raises(ValueError, match='gamma must be a positive number or "scale"'):
        kernel(gamma=gamma)(X)
    if isinstance(gamma, str):
        with pytest.raises(ValueError, match="gamma must be"):
            kernel(gamma=gamma).freeze(X)


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix])
def test_cosine_of_zero_tiny_and_huge_samples(container):
    samples = container(np.array([[0.0, 0.0], [1e-310, 0.0], [3e180, 4e180], [-1.0, 0.0]]))
    expected = [[0, 0, 0, 0], [0, 1, 0.6, -1], [0, 0.6, 1, -0.6], [0, -1, -0.6, 1]]
    np.testing.assert_allclose(Cosine()(samples), expected, atol=1e-15)
    assert Cosine().diag(samples).tolist() == [0, 1, 1, 1]


def test_definiteness_depends_on_the_constant():
    assert Polynomial(coef0=0).positive_semidefinite
    assert not Polynomial(coef0=-0.1).positive_semidefinite
    assert not Sigmoid().positive_semidefinite


def test_features_stay_sparse():
    rows = scipy.sparse.csr_matrix(X)
    for kernel in (Linear(), Cosine(), 2.0 * Linear() + Cosine()):
        assert scipy.sparse.issparse(kernel.features(rows))
        np.testing.assert_allclose((kernel.features(rows) @ kernel.features(rows).T).toarray(), kernel(rows))


def test_dense_and_sparse_samples_mix():
    for kernel in (Linear(), Cosine(), Polynomial(), Sigmoid(0.1)):
        np.testing.assert_allclose(kernel(X, scipy.sparse.csr_matrix(Y)), kernel(X, Y))
        np.testing.assert_allclose(kernel(scipy.sparse.csr_matrix(X), Y), kernel(X, Y))
