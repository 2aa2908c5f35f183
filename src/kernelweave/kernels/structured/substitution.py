"""Kernels made from distances that come from no inner product, by putting them where a norm would stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelweave.kernels.base import FloatArray, n_samples
from kernelweave.kernels.vector.exponential import ExponentialKernel
from kernelweave.kernels.vector.widths import checked_gamma

__all__ = ["DistanceSubstitution"]

_FORMS = ("exponential", "negative")


class DistanceSubstitution(ExponentialKernel):
    """Base class of kernels that put a distance d where a norm would stand.

    ``form="exponential"`` is ``exp(-gamma d(x, z)^power)``, ``form="negative"`` is ``-gamma d(x, z)^power``. Neither
    is positive semidefinite in general; the second never is, and its diagonal is zero.

    Parameters
    ----------
    gamma : float or "median", default="median"
        Width factor; "median" is one over the median of ``d^power`` between distinct training samples (of at
        most 1000 of them, as for `RBF`).
    form : {"exponential", "negative"}, default="exponential"
        How the distance becomes a similarity.
    power : float, default=1.0
        Power of the distance, positive.

    References
    ----------
    .. [1] Haasdonk, Bahlmann, "Learning with distance substitution kernels", DAGM 2004.
    """

    positive_semidefinite = False
    form: str
    power: float

    def __init__(self, gamma: float | str = "median", *, form: str = "exponential", power: float = 1.0) -> None:
        self.gamma = gamma
        self.form = form
        self.power = power

    @property
    def unit_diagonal(self) -> bool:  # type: ignore[override]
        """Whether the form is the exponential."""
        return self.form == "exponential"

    def diag(self, X: Any) -> FloatArray:
        """One for the exponential form, else zero."""
        return super().diag(X) if self.unit_diagonal else np.zeros(n_samples(X))

    def from_distances(self, distances: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """The kernel's values at given distances."""
        if self.form not in _FORMS:
            raise ValueError(f"form must be one of {_FORMS}, got {self.form!r}")
        self._checked_power()
        if self.power != 1:
            distances = out = np.power(distances, self.power, out=out)
        if self.form == "exponential":
            return super().from_distances(distances, out)
        return np.multiply(distances, -checked_gamma(self.gamma, ()), out=out)

    def _median_gamma(self, X: Any) -> float:
        # The median of powers is the power of the median.
        return float(super()._median_gamma(X) ** self._checked_power())

    def _checked_power(self) -> float:
        if not 0 < self.power < np.inf:
            raise ValueError(f"power must be a positive number, got {self.power!r}")
        return float(self.power)
