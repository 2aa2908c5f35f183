import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern

from kernelweave.kernels import RBF, FunctionKernel, Linear, MetricKernel, WidthFamily, resolve_entries


def product(X, Y):
    return X @ Y.T


class Similarity:
    def __call__(self, X, Y):
        return X @ Y.T


def names(kernels):
    return [entry.name for entry in resolve_entries(kernels)]


def test_auto():
    assert names("auto") == ["linear", "quadratic", "rbf"]


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (RBF(), "rbf"),
        (WidthFamily(RBF()), "widthfamily"),
        (product, "product"),
        (lambda X, Y: X @ Y.T, "function"),
        (Similarity(), "similarity"),
        (Matern(), "matern"),
        ("chi2", "chi2"),
    ],
)
def test_one_bare_kernel(kernel, name):
    assert names(kernel) == names([kernel]) == names((kernel,)) == [name]


def test_bare_kernels_are_numbered_when_repeated():
    assert names([RBF(), Linear(), ("mine", RBF(), 0), RBF(2.0)]) == ["rbf-1", "linear", "mine", "rbf-2"]
    assert names(["rbf", "linear"]) == names(("rbf", "linear")) == ["rbf", "linear"]


def test_entries_keep_what_was_written():
    kernel, columns = RBF(), ["a", "b"]
    first, second, third = resolve_entries([("one", kernel, columns), ("two", "chi2"), ("three", product, None)])
    assert first.kernel is kernel
    assert first.columns is columns
    assert isinstance(second.kernel, MetricKernel)
    assert isinstance(third.kernel, FunctionKernel)
    assert second.columns is third.columns is None


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ([], "empty list"),
        ((), "empty list"),
        (("age", Linear(), [0]), r"put it into a list: kernels=\[\.\.\.\]"),
        (("age", Linear()), "put it into a list"),
        ([("age",)], "entry 0 of kernels must be"),
        ([RBF(), ("age", Linear(), 0, 1)], "entry 1 of kernels must be"),
        ([(Linear(), "age")], "entry 0 of kernels must be"),
        ([("a", RBF()), ("a", Linear())], "'a' is used 2 times"),
        ([RBF(), ("rbf", Linear())], "'rbf' is used 2 times"),
        ([("a__b", RBF())], "contains '__'"),
        ([("", RBF())], "name is empty"),
        ([("a", "gauss")], "kernel 'a': unknown kernel name 'gauss'"),
        ("gauss", "entry 0 of kernels: unknown kernel name 'gauss'"),
    ],
)
def test_malformed_lists(kernels, message):
    with pytest.raises(ValueError, match=message):
        resolve_entries(kernels)


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ([("a", RBF)], r"kernel 'a': RBF is a class; give an instance"),
        ([RBF(), 3], "entry 1 of kernels: a kernel is one of"),
        (np.ones((2, 3, 3)), r"entry 0 of kernels: .*Precomputed\(K\)"),
        (None, "entry 0 of kernels: .*got NoneType"),
    ],
)
def test_what_is_no_kernel(kernels, message):
    with pytest.raises(TypeError, match=message):
        resolve_entries(kernels)
