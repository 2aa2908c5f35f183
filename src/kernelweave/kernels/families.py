"""Entries that stand for several kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator, clone

from kernelweave.kernels.base import Kernel
from kernelweave.kernels.vector.exponential import RBF
from kernelweave.kernels.vector.vectors import Linear, Polynomial
from kernelweave.kernels.vector.widths import checked_gamma

__all__ = ["KernelFamily", "WidthFamily", "auto_kernels"]

_FACTORS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)


class KernelFamily(BaseEstimator):
    """Base class of entries that expand to several kernels on the same columns.

    Attributes
    ----------
    vector_input : bool or None
        As for `Kernel`.
    over_all_samples : bool
        The members depend on unlabelled samples too, where those are known at fit.
    """

    vector_input: bool | None = True
    over_all_samples: bool = False

    def members(self, X: Any) -> list[tuple[str, Kernel]]:
        """The kernels, frozen on training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples, with the unlabelled ones after them where ``over_all_samples``.

        Returns
        -------
        list of (str, Kernel)
            A label (the entry's name gets ``[label]`` appended) and a kernel each.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement members(X)")


class WidthFamily(KernelFamily):
    """One kernel at several widths.

    Parameters
    ----------
    kernel : Kernel with a parameter ``gamma``
        The kernel; a rule such as ``gamma="median"`` is resolved once for the whole family.
    factors : sequence of float, default=(1/16, 1/4, 1, 4, 16)
        The members' ``gamma`` is the kernel's times a factor. With ``gamma=1.0`` the
        factors are the members' ``gamma``.

    Examples
    --------
    >>> from kernelweave.kernels import RBF, WidthFamily
    >>> WidthFamily(RBF(gamma=1.0), factors=(0.1, 10)).members([[0.0], [2.0]])
    [('0.1', RBF(gamma=0.1)), ('10', RBF(gamma=10.0))]
    """

    def __init__(self, kernel: Kernel, factors: Sequence[float] = _FACTORS) -> None:
        self.kernel = kernel
        self.factors = factors

    @property
    def vector_input(self) -> bool | None:  # type: ignore[override]
        """As the kernel."""
        return self.kernel.vector_input

    def members(self, X: Any) -> list[tuple[str, Kernel]]:
        """The kernel at each width, labelled by its factor."""
        if "gamma" not in self.kernel.get_params(deep=False):
            raise ValueError(f"a family of widths needs a kernel with a parameter gamma, got {self.kernel!r}")
        if not len(self.factors):
            raise ValueError("a family of widths needs at least one factor")
        frozen = self.kernel.freeze(X)
        gamma = checked_gamma(frozen.get_params(deep=False)["gamma"], ())
        factors = [checked_gamma(factor, ()) for factor in self.factors]
        return [(f"{factor:.12g}", clone(frozen).set_params(gamma=gamma * factor)) for factor in factors]


def auto_kernels() -> list[tuple[str, Kernel | KernelFamily]]:
    """What ``kernels="auto"`` stands for.

    Returns
    -------
    list of (str, Kernel or KernelFamily)
        Linear, quadratic, and RBF of five widths around the median heuristic.
    """
    return [
        ("linear", Linear()),
        ("quadratic", Polynomial(degree=2, gamma="scale")),
        ("rbf", WidthFamily(RBF(gamma="median"))),
    ]
