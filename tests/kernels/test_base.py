import numpy as np
import pytest
from sklearn.base import clone

from kernelweave.kernels import RBF, Kernel, Laplacian, Linear, Precomputed, Product, Scaled, Sigmoid, Sum

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(9, 3)), RNG.normal(size=(4, 3))


class Plain(Kernel):
    """Records the sizes it was asked for."""

    def __init__(self, vector_input=True):
        self.vector_input = vector_input
        self.asked = []

    def __call__(self, X, Y=None):
        self.asked.append(len(X))
        return np.array([[float(a * b) for b in (X if Y is None else Y)] for a in X])


def test_base_class_asks_for_the_missing_methods():
    with pytest.raises(NotImplementedError, match="must implement __call__"):
        Kernel()(X)
    with pytest.raises(NotImplementedError, match="not a function of a distance"):
        Kernel().distances(X)
    with pytest.raises(NotImplementedError, match="not a function of a distance"):
        Kernel().from_distances(X)
    assert (kernel := Kernel()).freeze(X) is kernel


@pytest.mark.parametrize(("vector_input", "largest"), [(True, 32), (None, 32), (False, 1)])
def test_default_diagonal_works_in_blocks(vector_input, largest):
    kernel = Plain(vector_input)
    assert kernel.diag(np.arange(70.0)).tolist() == (np.arange(70.0) ** 2).tolist()
    assert max(kernel.asked) == largest
    assert kernel.diag([]).shape == (0,)


def test_operators_build_the_algebra():
    a, b = RBF(0.5), Linear()
    assert isinstance(a + b, Sum)
    assert isinstance(a * b, Product)
    for scaled in (2 * a, a * 2, np.float64(2) * a, a * np.int64(2)):
        assert isinstance(scaled, Scaled)
        assert scaled.scale == 2.0
    np.testing.assert_allclose((a + 2 * b)(X, Y), a(X, Y) + 2 * X @ Y.T)
    np.testing.assert_allclose((a * b).diag(X), np.sum(X**2, axis=1))
    np.testing.assert_allclose(sum([a, b, a])(X), 2 * a(X) + b(X))


@pytest.mark.parametrize("other", [np.minimum, "rbf", np.eye(2), None])
def test_operators_refuse_what_is_no_kernel(other):
    with pytest.raises(TypeError, match="as_kernel"):
        RBF() + other
    with pytest.raises(TypeError, match="as_kernel"):
        RBF() * other
    with pytest.raises(TypeError, match="as_kernel"):
        1 + RBF()


def test_promises_follow_the_algebra():
    assert (RBF() * Laplacian()).unit_diagonal
    assert not (RBF() * Linear()).unit_diagonal
    assert not (RBF() + RBF()).unit_diagonal
    assert (1.0 * RBF()).unit_diagonal
    assert not (2.0 * RBF()).unit_diagonal
    assert not (-1.0 * RBF()).positive_semidefinite
    assert not (RBF() + Sigmoid()).positive_semidefinite
    assert (RBF() + Linear()).positive_semidefinite
    asymmetric = Linear()
    asymmetric.symmetric = False
    assert not (asymmetric + RBF()).symmetric
    assert not (2.0 * asymmetric).symmetric


def test_parameters_nest():
    kernel = RBF(0.5) + 2.0 * Linear()
    assert kernel.get_params()["left__gamma"] == 0.5
    kernel.set_params(left__gamma=0.25, right__scale=3.0)
    np.testing.assert_allclose(kernel(X), RBF(0.25)(X) + 3 * X @ X.T)
    assert repr(clone(kernel)) == repr(kernel)


def test_freezing_reaches_the_parts_and_keeps_frozen_kernels():
    kernel = 0.5 * (RBF("median") + Linear()) * Laplacian("median")
    frozen = kernel.freeze(X)
    np.testing.assert_allclose(frozen(X), kernel(X))
    assert frozen.freeze(Y) is frozen
    assert kernel.get_params()["right__gamma"] == "median"


def test_sums_share_one_distance():
    assert (RBF() + RBF()).distance == "sqeuclidean"
    assert (RBF() + Laplacian()).distance is None
    assert (2.0 * Laplacian()).distance == "manhattan"
    kernel = RBF(0.5) + 3.0 * RBF(0.1)
    np.testing.assert_allclose(kernel.from_distances(kernel.distances(X, Y)), kernel(X, Y))


def test_factors_follow_the_algebra():
    kernel = 2.0 * Linear() + Linear()
    np.testing.assert_allclose(kernel.features(X) @ kernel.features(Y).T, kernel(X, Y))
    for without in (2.0 * RBF(), -1.0 * Linear(), RBF() + Linear(), Linear() * Linear()):
        assert not hasattr(without, "features")


def test_borrowed_matrices_survive_the_algebra():
    K = X @ X.T
    kept = K.copy()
    kernel = Precomputed(K)
    np.testing.assert_allclose((2.0 * kernel + kernel * kernel)(np.arange(9)), 2 * kept + kept**2)
    assert (2.0 * Precomputed(K.astype(np.float32)))(np.arange(9)).dtype == np.float64
    np.testing.assert_array_equal(K, kept)


def test_vectors_and_structured_samples_do_not_mix():
    kernel = Precomputed(np.eye(3)) + RBF()
    assert "Precomputed" in repr(kernel)
    with pytest.raises(ValueError, match="its own entry and columns"):
        kernel.vector_input  # noqa: B018
