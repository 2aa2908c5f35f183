import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import kernel_metrics, pairwise_kernels

from kernelweave.kernels import RBF, FunctionKernel, GaussianProcessKernel, MetricKernel, as_kernel

RNG = np.random.default_rng(9)
X, Y = RNG.random((8, 3)), RNG.random((5, 3))


def product(X, Y):
    return X @ Y.T


def test_everything_users_write_becomes_a_kernel():
    kernel = RBF()
    assert as_kernel(kernel) is kernel
    assert isinstance(as_kernel(product), FunctionKernel)
    assert isinstance(as_kernel(lambda X, Y: product(X, Y)), FunctionKernel)
    assert isinstance(as_kernel(gp.RBF(2.0)), GaussianProcessKernel)
    for name in kernel_metrics():
        assert isinstance(as_kernel(name), MetricKernel)


@pytest.mark.parametrize(
    ("written", "error", "message"),
    [
        (RBF, TypeError, r"give an instance: RBF\(\.\.\.\)"),
        ("gauss", ValueError, "unknown kernel name 'gauss'; the names are additive_chi2, chi2, cosine"),
        ("precomputed", ValueError, r"Precomputed\(K\)"),
        (np.eye(2), TypeError, r"wrap a matrix: Precomputed\(K\)"),
        (3.0, TypeError, "got float"),
        (None, TypeError, "got NoneType"),
    ],
)
def test_what_is_no_kernel_is_refused(written, error, message):
    with pytest.raises(error, match=message):
        as_kernel(written)


@pytest.mark.parametrize("metric", sorted(kernel_metrics()))
def test_metrics_are_those_of_scikit_learn(metric):
    kernel = MetricKernel(metric)
    np.testing.assert_allclose(kernel(X, Y), pairwise_kernels(X, Y, metric=metric))
    np.testing.assert_allclose(kernel(X), pairwise_kernels(X, metric=metric))
    np.testing.assert_allclose(kernel(scipy.sparse.csr_matrix(X), scipy.sparse.csr_matrix(Y)), kernel(X, Y))


def test_metrics_take_their_arguments():
    kernel = MetricKernel("polynomial", {"degree": 2, "gamma": 0.5, "coef0": 0.0})
    np.testing.assert_allclose(kernel(X, Y), (0.5 * X @ Y.T) ** 2)
    assert clone(kernel).params == kernel.params
    with pytest.raises(ValueError, match="unknown kernel name"):
        MetricKernel("nothing")(X)


def test_metrics_promise_what_is_known():
    assert not MetricKernel("sigmoid").positive_semidefinite
    assert not MetricKernel("additive_chi2").positive_semidefinite
    assert MetricKernel("rbf").unit_diagonal
    assert not MetricKernel("linear").unit_diagonal


def test_functions_are_called_with_both_sets():
    calls = []

    def kernel(*arguments):
        calls.append(len(arguments))
        return product(*arguments)

    np.testing.assert_allclose(FunctionKernel(kernel)(X), X @ X.T)
    np.testing.assert_allclose(FunctionKernel(kernel)(X, Y), X @ Y.T)
    np.testing.assert_allclose(FunctionKernel(kernel).diag(X), (X**2).sum(axis=1))
    assert set(calls) == {2}


def test_the_memory_of_a_function_stays_its_own():
    stored = X @ X.T
    result = FunctionKernel(lambda X, Y: stored)(X)
    assert np.shares_memory(result, stored)
    assert not result.flags.writeable
    assert stored.flags.writeable


def test_functions_may_return_sparse_or_whole_numbers():
    assert FunctionKernel(lambda X, Y: scipy.sparse.csr_matrix(np.eye(8)))(X).tolist() == np.eye(8).tolist()
    assert FunctionKernel(lambda X, Y: np.eye(8, dtype=int))(X).dtype == np.float64


def test_functions_that_return_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"returned shape \(5, 8\) for 8 and 5 samples"):
        FunctionKernel(lambda X, Y: Y @ X.T)(X, Y)


def test_gaussian_process_kernels():
    inner = gp.ConstantKernel(2.0) * gp.Matern(0.7)
    kernel = GaussianProcessKernel(inner)
    np.testing.assert_allclose(kernel(X, Y), inner(X, Y))
    np.testing.assert_array_equal(kernel.diag(X), inner.diag(X))
    assert kernel.get_params()["kernel__k2__length_scale"] == 0.7
    assert clone(kernel).set_params(kernel__k2__length_scale=2.0).kernel.k2.length_scale == 2.0
    assert inner.k2.length_scale == 0.7
    np.testing.assert_allclose(kernel(scipy.sparse.csr_matrix(X)), inner(X))


def test_white_noise_counts_within_a_set_only():
    kernel = GaussianProcessKernel(gp.WhiteKernel(0.5))
    assert kernel(X).tolist() == (0.5 * np.eye(8)).tolist()
    assert not kernel(X, X[:2].copy()).any()
    assert kernel.diag(X).tolist() == [0.5] * 8


class LengthKernel(gp.GenericKernelMixin, gp.Kernel):
    """A Gaussian process kernel of structured samples."""

    def __call__(self, X, Y=None, eval_gradient=False):
        return np.array([[float(len(a) * len(b)) for b in (X if Y is None else Y)] for a in X])

    def diag(self, X):
        return np.array([float(len(a) ** 2) for a in X])

    def is_stationary(self):
        return False


def test_gaussian_process_kernels_of_structured_samples():
    kernel = as_kernel(LengthKernel())
    assert kernel.vector_input is False
    assert kernel(["a", "bb"]).tolist() == [[1.0, 2.0], [2.0, 4.0]]
