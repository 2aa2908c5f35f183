import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.svm import SVC

from kernelweave.kernels import RBF, ExponentialKernel, Laplacian

RNG = np.random.default_rng(6)
X, Y = RNG.normal(size=(25, 4)), RNG.normal(size=(6, 4))


def test_values_are_those_of_scikit_learn():
    np.testing.assert_allclose(RBF(0.3)(X, Y), rbf_kernel(X, Y, gamma=0.3), rtol=1e-12)
    np.testing.assert_allclose(Laplacian(0.3)(X, Y), laplacian_kernel(X, Y, gamma=0.3), rtol=1e-12)


def test_scale_is_the_rule_of_svc():
    X.flags.writeable = False
    model = SVC(gamma="scale").fit(X, X[:, 0] > 0)
    assert RBF().freeze(X).gamma == pytest.approx(model._gamma)


def test_median_rules():
    x = np.array([[0.0], [1.0], [4.0]])
    assert RBF("median").freeze(x).gamma == pytest.approx(1 / (2 * 9.0))
    assert Laplacian("median").freeze(x).gamma == pytest.approx(1 / 3.0)
    for kernel in (RBF("median"), Laplacian("median")):
        assert kernel.freeze(np.ones((5, 2))).gamma == 1.0


def test_median_follows_the_units_of_the_samples():
    for kernel in (RBF("median"), RBF("scale"), Laplacian("median")):
        np.testing.assert_allclose(kernel(1000 * X), kernel(X), rtol=1e-9)


def test_a_rule_is_resolved_on_one_set_only():
    np.testing.assert_array_equal(RBF("median")(X), RBF("median").freeze(X)(X))
    for kernel in (RBF("median"), RBF("scale"), Laplacian()):
        with pytest.raises(ValueError, match="freeze"):
            kernel(X, Y)


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, np.inf, "auto", None])
@pytest.mark.parametrize("kernel", [RBF, Laplacian])
def test_gamma_is_checked(kernel, gamma):
    for use in (kernel(gamma), kernel(gamma).freeze):
        with pytest.raises(ValueError, match="gamma must be a positive number or"):
            use(X)
    with pytest.raises(ValueError, match="gamma must be a positive number"):
        kernel(gamma).from_distances(np.zeros((1, 1)))


def test_laplacian_has_no_scale():
    with pytest.raises(ValueError, match='number or "median"'):
        Laplacian("scale").freeze(X)


def test_results_go_where_they_are_told_to():
    distances = RBF(1.0).distances(X, Y)
    for out in (np.empty((25, 6)), np.empty((6, 25)).T, np.empty((25, 12))[:, ::2]):
        assert RBF(0.5).from_distances(distances, out) is out
        np.testing.assert_allclose(out, np.exp(-0.5 * distances))
    turned = np.asfortranarray(distances)
    assert RBF(0.5).from_distances(turned, turned) is turned
    np.testing.assert_allclose(turned, np.exp(-0.5 * distances))


class EditDistance(ExponentialKernel):
    """A distance of one's own, with one more parameter."""

    vector_input = False
    positive_semidefinite = False

    def __init__(self, gamma="median", cost=1.0):
        self.gamma, self.cost = gamma, cost

    @property
    def distance(self):
        return f"edit[{self.cost}]"

    def distances(self, X, Y=None):
        Y = X if Y is None else Y
        return np.array([[self.cost * abs(len(a) - len(b)) for b in Y] for a in X], dtype=float)


def test_own_distances_share_the_rules():
    words = ["a", "abc", "abcdefg"]
    frozen = EditDistance(cost=2.0).freeze(words)
    assert frozen.get_params() == {"gamma": 1 / 8.0, "cost": 2.0}
    np.testing.assert_allclose(frozen(words, ["a"])[:, 0], np.exp([0, -0.5, -1.5]))
    assert frozen.diag(words).tolist() == [1.0, 1.0, 1.0]
