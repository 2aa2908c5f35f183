"""Named kernels as parameters."""

import pytest
from sklearn.base import clone

from kernelweave.estimators.kernel_parameters import KernelParameters
from kernelweave.kernels import RBF, Linear


class Model(KernelParameters):
    def __init__(self, kernels="auto", C=1.0):
        self.kernels = kernels
        self.C = C


def kernels():
    return [("wide", RBF(gamma=0.1), [0]), ("flat", Linear()), RBF(), ("metric", "rbf", [1])]


def test_get_params():
    model = Model(kernels())
    shallow = model.get_params(deep=False)
    assert set(shallow) == {"kernels", "C"}
    deep = model.get_params()
    assert deep["wide"] is model.kernels[0][1] and deep["wide__gamma"] == 0.1
    assert deep["metric"] == "rbf" and "flat" in deep
    assert set(Model().get_params()) == {"kernels", "C"}


def test_set_nested_parameters_and_kernels():
    model = Model(kernels())
    given = model.kernels
    assert model.set_params(wide__gamma=2.0, C=3.0) is model
    assert model.kernels[0][1].gamma == 2.0 and model.C == 3.0 and model.kernels is given
    model.set_params(flat=RBF(gamma=7.0), flat__gamma=8.0)
    assert model.kernels[1][1].gamma == 8.0 and model.kernels[1][0] == "flat"
    # A replaced kernel is in a new list; the caller's own stays.
    assert isinstance(given[1][1], Linear)


def test_replacing_keeps_columns_and_order():
    model = Model(kernels()).set_params(metric=Linear())
    assert [item[0] for item in model.kernels if isinstance(item, tuple)] == ["wide", "flat", "metric"]
    assert model.kernels[3][2] == [1] and isinstance(model.kernels[3][1], Linear)


def test_kernels_first_then_their_parameters():
    model = Model().set_params(kernels=kernels(), wide__gamma=5.0)
    assert model.kernels[0][1].gamma == 5.0


@pytest.mark.parametrize("name", ["nobody", "nobody__gamma", "wide__nothing"])
def test_unknown_parameters(name):
    with pytest.raises(ValueError, match="Invalid parameter"):
        Model(kernels()).set_params(**{name: 1.0})


def test_clones_are_independent():
    model = Model(kernels())
    clone(model).set_params(wide__gamma=9.0)
    assert model.kernels[0][1].gamma == 0.1
