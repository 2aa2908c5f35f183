"""What an interior point asks of the vectors K_1 v .. K_m v, without asking for the vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["DenseImage", "Image"]

FloatArray = npt.NDArray[np.float64]


class Image(ABC):
    """The matrix ``D = [K_1 v, .., K_m v]`` of shape (n, m) for one vector v.

    Attributes
    ----------
    forms : ndarray of shape (m,)
        ``v' K_i v``.
    """

    forms: FloatArray

    @abstractmethod
    def combine(self, weights: FloatArray) -> FloatArray:
        """``D x``: (m,) -> (n,)."""

    @abstractmethod
    def adjoint(self, vector: FloatArray) -> FloatArray:
        """``D'u``: (n,) -> (m,)."""

    @abstractmethod
    def schur(self, solve: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """``D' A^{-1} D`` of shape (m, m), for a solver of A that the same stack has made."""


class DenseImage(Image):
    """D as an array.

    Parameters
    ----------
    products : ndarray of shape (m, n)
        ``D'``.
    vector : ndarray of shape (n,)
        v.
    """

    def __init__(self, products: FloatArray, vector: FloatArray) -> None:
        self._products = products
        self.forms = products @ vector

    def combine(self, weights: FloatArray) -> FloatArray:
        return weights @ self._products

    def adjoint(self, vector: FloatArray) -> FloatArray:
        return self._products @ vector

    def schur(self, solve: Callable[[FloatArray], FloatArray]) -> FloatArray:
        return self._products @ solve(self._products.T)
