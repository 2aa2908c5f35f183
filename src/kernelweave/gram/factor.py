"""Factor storage: K_i = Z_i Z_i', never formed.

Linear, rank-one, Nystroem and random-feature kernels need no n x n matrix: products cost
n times the rank, and shifted systems are solved by the Woodbury identity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from kernelweave.gram.base import FloatArray, GramStack, IntArray

__all__ = ["FactorStack"]


class FactorStack(GramStack):
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
    rank : int
        Total number of columns.

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
        self._factors = [np.asarray(z) if np.asarray(z).ndim == 2 else np.asarray(z)[:, None] for z in factors]
        if not self._factors:
            raise ValueError("A Gram stack needs at least one kernel factor.")
        n = self._factors[0].shape[0]
        for index, factor in enumerate(self._factors):
            if factor.shape[0] != n:
                raise ValueError(f"Kernel factor {index} has {factor.shape[0]} rows; expected {n}.")
        self.n_kernels = len(self._factors)
        self.shape = (n, n)
        self.dtype = np.dtype(np.result_type(*{factor.dtype for factor in self._factors}))
        self.rank = sum(factor.shape[1] for factor in self._factors)

    def read(self, kernels: IntArray, rows: IntArray, cols: IntArray | None = None) -> FloatArray:
        blocks = []
        for i in kernels:
            left = self._factors[i][rows].astype(np.float64, copy=False)
            right = self._factors[i] if cols is None else self._factors[i][cols]
            blocks.append(left @ right.T.astype(np.float64, copy=False))
        return np.stack(blocks)

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
        used = [np.sqrt(weights[i]) * self._factors[i] for i in np.flatnonzero(weights)]
        return np.concatenate(used, axis=1, dtype=np.float64) if used else np.zeros((self.shape[0], 0))

    def combine(self, weights: FloatArray, out: FloatArray | None = None) -> FloatArray:
        features = self.features(np.abs(weights))
        widths = [self._factors[i].shape[1] for i in np.flatnonzero(weights)]
        signs = np.repeat(np.sign(weights[weights != 0]), widths)
        return np.matmul(features * signs, features.T, out=out)

    def products(self, vector: FloatArray) -> FloatArray:
        return np.stack([factor @ (factor.T @ vector) for factor in self._factors]).astype(np.float64, copy=False)

    def support_products(self, vector: FloatArray, kernels: IntArray | None = None) -> FloatArray:
        chosen = self._factors if kernels is None else [self._factors[i] for i in kernels]
        products = np.stack([factor @ (factor.T @ vector) for factor in chosen]).astype(np.float64, copy=False)
        return products * (vector != 0)

    def matvec(self, weights: FloatArray, block: FloatArray) -> FloatArray:
        result = np.zeros(block.shape)
        for i in np.flatnonzero(weights):
            result += weights[i] * (self._factors[i] @ (self._factors[i].T @ block))
        return result

    def block_products(self, block: FloatArray) -> FloatArray:
        return np.stack([factor @ (factor.T @ block) for factor in self._factors]).astype(np.float64, copy=False)

    def frobenius_products(self) -> FloatArray:
        result = np.empty((self.n_kernels, self.n_kernels))
        for i, left in enumerate(self._factors):
            for j, right in enumerate(self._factors[: i + 1]):
                result[i, j] = result[j, i] = np.sum((left.T.astype(np.float64, copy=False) @ right) ** 2)
        return result

    def quadratic_forms(self, block: FloatArray) -> FloatArray:
        return np.stack([np.sum((factor.T @ block) ** 2, axis=0) for factor in self._factors])

    def diagonals(self) -> FloatArray:
        return np.stack([np.einsum("nr,nr->n", factor, factor) for factor in self._factors]).astype(np.float64)

    def shifted_solve(self, weights: FloatArray, diagonal: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Solve with ``sum_i weights_i K_i + diag(diagonal)``: Woodbury where the rank is below n.

        Negative weights are combined densely. Woodbury subtracts nearly equal numbers where the shift
        is small, so each solution is refined once against the residual of the system itself.
        """
        if (weights < 0).any() or sum(self._factors[i].shape[1] for i in np.flatnonzero(weights)) >= self.shape[0]:
            return super().shifted_solve(weights, diagonal)
        features = self.features(weights)
        scaled = features / diagonal[:, None]
        inner = features.T @ scaled
        inner[np.diag_indices_from(inner)] += 1.0
        factor = scipy.linalg.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

        def once(rhs: FloatArray) -> FloatArray:
            part = (rhs.T / diagonal).T
            projected = scipy.linalg.cho_solve(factor, features.T @ part, check_finite=False)
            return part - scaled @ projected

        def solve(rhs: FloatArray) -> FloatArray:
            solution = once(rhs)
            residual = rhs - (features @ (features.T @ solution) + (solution.T * diagonal).T)
            return solution + once(residual)

        return solve
