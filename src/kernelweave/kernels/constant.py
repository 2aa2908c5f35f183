"""The constant kernel, which is a penalised intercept."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelweave.kernels.base import FloatArray, Kernel, n_samples

__all__ = ["Constant"]


class Constant(Kernel):
    """The kernel ``k(x, z) = 1``, of samples of any kind.

    Where a model has no intercept of its own, this is one, under the penalty of the other kernels ([K09]).

    Examples
    --------
    >>> from kernelweave.kernels import Constant
    >>> Constant()([[5.0], [7.0]], [[1.0]])
    array([[1.],
           [1.]])
    """

    proven = True
    unit_diagonal = True
    vector_input = None

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Ones, shape (n_x, n_y)."""
        return np.ones((n_samples(X), n_samples(X if Y is None else Y)))

    def features(self, X: Any) -> FloatArray:
        """The one constant feature, shape (n_samples, 1)."""
        return np.ones((n_samples(X), 1))
