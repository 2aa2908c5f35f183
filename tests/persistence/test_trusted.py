"""What a model file may hold."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_selector
from sklearn.gaussian_process.kernels import Matern

import kernelweave
from kernelweave import MKLClassifier, kernels
from kernelweave.kernels import RBF, FunctionKernel, Kernel, Linear, Product, Scaled, Sum, WidthFamily
from kernelweave.persistence.trusted import ESTIMATORS, refuse_unstorable, trusted_names


def dot(X, Y):
    return np.asarray(X) @ np.asarray(Y).T


class Mine(Kernel):
    def __call__(self, X, Y=None):
        return dot(X, X if Y is None else Y)


def test_every_public_estimator_is_trusted():
    public = [getattr(kernelweave, name) for name in kernelweave.__all__]
    estimators = [kind for kind in public if inspect.isclass(kind) and issubclass(kind, BaseEstimator)]
    assert set(estimators) == set(ESTIMATORS)


def test_every_kernel_but_the_one_made_of_a_function_is_trusted():
    names = set(trusted_names())
    for name in kernels.__all__:
        kind = getattr(kernels, name)
        if inspect.isclass(kind) and issubclass(kind, Kernel):
            assert (f"{kind.__module__}.{kind.__qualname__}" in names) == (kind is not FunctionKernel)


def test_nothing_trusted_is_code():
    for name in trusted_names():
        assert name.startswith(
            ("kernelweave.", "sklearn.gaussian_process.kernels.", "scipy.sparse._csr.", "sklearn.compose.")
        )
        assert "function" not in name.lower()


@pytest.mark.parametrize(
    "kernel",
    [dot, lambda X, Y: dot(X, Y), FunctionKernel(dot), Sum(Linear(), FunctionKernel(dot)), Scaled(FunctionKernel(dot))],
)
def test_functions_are_refused_by_the_kernel_s_name(kernel):
    with pytest.raises(ValueError, match=r"kernel 'mine' is a function.*pickle"):
        refuse_unstorable(MKLClassifier([("other", Linear()), ("mine", kernel)]))


def test_bare_functions_are_refused_by_the_name_they_get():
    with pytest.raises(ValueError, match="kernel 'dot' is a function"):
        refuse_unstorable(MKLClassifier([dot]))


@pytest.mark.parametrize("kernel", [Mine(), Product(Linear(), Mine()), WidthFamily(Mine())])
def test_classes_of_others_are_refused_by_the_kernel_s_name(kernel):
    with pytest.raises(ValueError, match=r"kernel 'mine' is of the class Mine of"):
        refuse_unstorable(MKLClassifier([("mine", kernel)]))


def test_columns_chosen_by_a_function_are_refused():
    with pytest.raises(ValueError, match=r"columns of kernel 'k' are chosen by a function.*by name or position"):
        refuse_unstorable(MKLClassifier([("k", Linear(), make_column_selector("a"))]))


@pytest.mark.parametrize("kernel", ["auto", [("k", Matern())], ["rbf"], [Linear() + 2.0 * RBF()], [WidthFamily(RBF())]])
def test_the_rest_passes(kernel):
    refuse_unstorable(MKLClassifier(kernel))
