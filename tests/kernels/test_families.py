import numpy as np
import pytest
from sklearn.base import clone

from kernelweave.kernels import RBF, KernelFamily, Laplacian, Linear, Polynomial, WidthFamily, auto_kernels

RNG = np.random.default_rng(10)
X = RNG.normal(size=(30, 4))


def test_widths_are_multiples_of_one_resolved_width():
    middle = RBF("median").freeze(X).gamma
    members = WidthFamily(RBF("median"), factors=[0.5, 1, 8]).members(X)
    assert [label for label, _ in members] == ["0.5", "1", "8"]
    assert [kernel.gamma for _, kernel in members] == pytest.approx([0.5 * middle, middle, 8 * middle])
    assert all(isinstance(kernel, RBF) for _, kernel in members)


def test_other_kernels_have_widths_too():
    members = WidthFamily(Laplacian(0.5), factors=(1.0, 2.0)).members(X)
    assert [repr(kernel) for _, kernel in members] == ["Laplacian(gamma=0.5)", "Laplacian(gamma=1.0)"]
    assert WidthFamily(Polynomial(3), factors=(2.0,)).members(X)[0][1].get_params()["degree"] == 3


def test_the_family_is_left_alone():
    family = WidthFamily(RBF("median"))
    family.members(X)
    assert family.kernel.gamma == "median"
    assert clone(family).set_params(kernel__gamma=2.0).members(X)[2][1].gamma == 2.0


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (WidthFamily(Linear()), "a parameter gamma"),
        (WidthFamily(RBF(), factors=()), "at least one factor"),
        (WidthFamily(RBF(), factors=(1.0, -1.0)), "positive number, got -1.0"),
        (WidthFamily(RBF("auto")), "gamma must be"),
    ],
)
def test_impossible_families(family, message):
    with pytest.raises(ValueError, match=message):
        family.members(X)


def test_base_class_asks_for_members():
    with pytest.raises(NotImplementedError, match="members"):
        KernelFamily().members(X)


def test_auto_is_linear_quadratic_and_five_widths():
    linear, quadratic, widths = auto_kernels()
    assert [name for name, _ in auto_kernels()] == ["linear", "quadratic", "rbf"]
    assert isinstance(linear[1], Linear)
    assert quadratic[1].degree == 2
    middle = RBF("median").freeze(X).gamma
    gammas = [kernel.gamma for _, kernel in widths[1].members(X)]
    assert gammas == pytest.approx([middle / 16, middle / 4, middle, 4 * middle, 16 * middle])
