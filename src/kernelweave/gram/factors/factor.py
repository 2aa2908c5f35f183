"""Factor storage: K_i = Z_i Z_i', never formed.

Linear, rank-one, Nystroem and random-feature kernels need no n x n matrix: products cost
n times the rank, and shifted systems are solved by the Woodbury identity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.gram.factors.features import FeatureStack
from kernelweave.gram.factors.woodbury import low_rank_solve

__all__ = ["FactorStack"]


class FactorStack(FeatureStack):
    """Kernels given by their factors.

    Parameters
    ----------
    factors : sequence of ndarray of shape (n, rank_i)
        Borrowed, never written.

    Attributes
    ----------
    n_kernels : int
        Number of kernels m.
    shape : tuple of int
        (n, n).
    dtype : dtype
        Storage type of the factors.
    kernel_of : ndarray of shape (rank,), dtype intp
        Kernel of each column of the factors side by side.

    Raises
    ------
    ValueError
        When there is no factor, or sample counts differ.

    Examples
    --------
    >>> import numpy as np
    >>> stack = FactorStack([np.array([[1.0], [2.0]])])
    >>> stack.combine(np.array([1.0]))
    array([[1., 2.],
           [2., 4.]])
    """

    def __init__(self, factors: Sequence[npt.NDArray[Any]]) -> None:
        self._factors = [_as_columns(z) for z in factors]
        if not self._factors:
            raise ValueError("A Gram stack needs at least one kernel factor.")
        n = self._factors[0].shape[0]
        for index, factor in enumerate(self._factors):
            if factor.shape[0] != n:
                raise ValueError(f"Kernel factor {index} has {factor.shape[0]} rows; expected {n}.")
        self.n_kernels = len(self._factors)
        self.shape = (n, n)
        self.dtype = np.dtype(np.result_type(*{factor.dtype for factor in self._factors}))
        widths = [factor.shape[1] for factor in self._factors]
        self.kernel_of = np.repeat(np.arange(self.n_kernels, dtype=np.intp), widths)
        self._bounds = np.concatenate([[0], np.cumsum(widths)])

    def read(self, kernels: IntArray, rows: IntArray, cols: IntArray | None = None) -> FloatArray:
        blocks = np.empty((len(kernels), len(rows), self.shape[1] if cols is None else len(cols)))
        for k, i in enumerate(kernels):
            left = self._factors[i][rows].astype(np.float64, copy=False)
            right = self._factors[i] if cols is None else self._factors[i][cols]
            np.matmul(left, right.T.astype(np.float64, copy=False), out=blocks[k])
        return blocks

    def restrict(self, rows: IntArray, cols: IntArray | None = None) -> FactorStack:
        """Stack of the symmetric blocks; ``cols`` must equal ``rows``."""
        if cols is not None and not np.array_equal(rows, cols):
            raise ValueError("A factor stack is symmetric: restrict it to equal rows and columns, or use read().")
        return FactorStack([factor[rows] for factor in self._factors])

    def features(self, weights: FloatArray) -> FloatArray:
        """Columns ``sqrt(weights_i) Z_i`` of the kernels in use, shape (n, rank in use).

        Parameters
        ----------
        weights : ndarray of shape (m,)
            Nonnegative kernel weights.
        """
        used = np.flatnonzero(weights)
        if not len(used):
            return np.zeros((self.shape[0], 0))
        # Widened before they are scaled: float32 factors must not round the result.
        features = np.concatenate([self._factors[i] for i in used], axis=1, dtype=np.float64)
        features *= np.repeat(np.sqrt(weights[used]), [self._factors[i].shape[1] for i in used])
        return features

    def combine(self, weights: FloatArray, out: FloatArray | None = None) -> FloatArray:
        features = self.features(np.abs(weights))
        widths = [self._factors[i].shape[1] for i in np.flatnonzero(weights)]
        signs = np.repeat(np.sign(weights[weights != 0]), widths)
        return np.matmul(features * signs, features.T, out=out)

    def forward(self, coefficients: FloatArray) -> FloatArray:
        parts = np.split(coefficients, self._bounds[1:-1])
        total = np.zeros(self.shape[0])
        for factor, part in zip(self._factors, parts, strict=True):
            total += factor @ part
        return total

    def forward_part(self, kernel: int, coefficients: FloatArray) -> FloatArray:
        own = coefficients[self._bounds[kernel] : self._bounds[kernel + 1]]
        return (self._factors[kernel] @ own).astype(np.float64, copy=False)

    def backward(self, vector: FloatArray) -> FloatArray:
        return np.concatenate([factor.T @ vector for factor in self._factors], dtype=np.float64)

    def block_products(self, block: FloatArray) -> FloatArray:
        return np.stack([factor @ (factor.T @ block) for factor in self._factors]).astype(np.float64, copy=False)

    def frobenius_products(self) -> FloatArray:
        result = np.empty((self.n_kernels, self.n_kernels))
        for i, left in enumerate(self._factors):
            for j, right in enumerate(self._factors[: i + 1]):
                result[i, j] = result[j, i] = np.sum((left.T.astype(np.float64, copy=False) @ right) ** 2)
        return result

    def feature_gram(self, weights: FloatArray) -> FloatArray:
        features = self.features(np.ones(self.n_kernels))
        features *= np.sqrt(weights)[:, None]
        return features.T @ features

    def diagonals(self) -> FloatArray:
        return np.stack([np.einsum("nr,nr->n", factor, factor, dtype=np.float64) for factor in self._factors])

    def shifted_solve(self, weights: FloatArray, diagonal: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Solve with ``sum_i weights_i K_i + diag(diagonal)``: Woodbury where the rank is below n.

        Negative weights are combined densely.
        """
        if (weights < 0).any():
            return super().shifted_solve(weights, diagonal)
        features = self.features(weights)
        if features.shape[1] >= self.shape[0]:
            return super().shifted_solve(weights, diagonal)
        return low_rank_solve(features, diagonal)


def _as_columns(factor: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array = np.asarray(factor)
    if array.dtype not in (np.float64, np.float32):
        array = array.astype(np.float64)
    return array[:, None] if array.ndim == 1 else array
