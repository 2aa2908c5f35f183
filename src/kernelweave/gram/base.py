"""How Gram matrices are held: the interface, and streaming defaults.

A representation says its sizes and reads blocks; everything else has a default that
reads in blocks of rows, which a representation overrides where it can do better.
All results are float64, whatever the storage.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import scipy.linalg

from kernelweave.gram.image import DenseImage, Image

__all__ = ["FloatArray", "GramStack", "IntArray", "row_blocks"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

_BLOCK_BYTES = 16 * 2**20


def row_blocks(n_rows: int, row_bytes: int) -> Iterator[IntArray]:
    """Cut ``range(n_rows)`` into blocks of about 16 MiB.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    row_bytes : int
        Bytes one row takes over all kernels read together.

    Yields
    ------
    ndarray of shape (block,), dtype intp
        Consecutive row indices.
    """
    step = max(1, _BLOCK_BYTES // max(1, row_bytes))
    for first in range(0, n_rows, step):
        yield np.arange(first, min(first + step, n_rows), dtype=np.intp)


class GramStack(ABC):
    """A stack of kernel matrices on the same samples.

    Attributes
    ----------
    n_kernels : int
        Number of kernels m.
    shape : tuple of int
        Rows and columns of each matrix (equal for the stack of a training set).
    dtype : dtype
        Storage type, float64 or float32.
    """

    n_kernels: int
    shape: tuple[int, int]
    dtype: np.dtype[np.floating]

    @abstractmethod
    def read(self, kernels: IntArray, rows: IntArray, cols: IntArray | None = None) -> FloatArray:
        """Read entries.

        Parameters
        ----------
        kernels, rows, cols : ndarray of intp
            Indices; all columns when ``cols`` is None.

        Returns
        -------
        ndarray of shape (len(kernels), len(rows), len(cols)), dtype float64
            A new array.
        """

    @abstractmethod
    def restrict(self, rows: IntArray, cols: IntArray | None = None) -> GramStack:
        """Stack of the blocks ``K_i[rows, cols]`` (``cols`` = ``rows`` when None)."""

    def combine(self, weights: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Weighted sum ``sum_i weights_i K_i``, dense float64 of shape ``shape``."""
        result = np.zeros(self.shape) if out is None else out
        used = np.flatnonzero(weights).astype(np.intp)
        for rows in self._blocks():
            result[rows] = np.tensordot(weights[used], self.read(used, rows), axes=1)
        return result

    def products(self, vector: FloatArray) -> FloatArray:
        """All ``K_i v``: (n_cols,) -> (m, n_rows)."""
        return np.concatenate([self.read(self._all, rows) @ vector for rows in self._blocks()], axis=1)

    def support_products(self, vector: FloatArray, kernels: IntArray | None = None) -> FloatArray:
        """``K_i v`` at the support of v, zero elsewhere, for symmetric stacks.

        Parameters
        ----------
        vector : ndarray of shape (n,)
            v, often sparse.
        kernels : ndarray of intp, optional
            Which kernels; all when None.

        Returns
        -------
        ndarray of shape (len(kernels), n)
        """
        kernels = self._all if kernels is None else kernels
        parts = [self.read(kernels, rows) @ vector for rows in self._blocks()]
        return np.concatenate(parts, axis=1) * (vector != 0)

    def matvec(self, weights: FloatArray, block: FloatArray) -> FloatArray:
        """``(sum_i weights_i K_i) V``: (n_cols,) or (n_cols, k) -> (n_rows,) or (n_rows, k)."""
        used = np.flatnonzero(weights).astype(np.intp)
        parts = [np.tensordot(weights[used], self.read(used, rows), axes=1) @ block for rows in self._blocks()]
        return np.concatenate(parts, axis=0)

    def apply(self, coefficients: FloatArray) -> FloatArray:
        """``sum_t K_t a_t`` for coefficients (n_cols, m) -> (n_rows,)."""
        used = np.flatnonzero(np.any(coefficients != 0, axis=0)).astype(np.intp)
        columns = coefficients[:, used]
        return np.concatenate([np.einsum("krc,ck->r", self.read(used, rows), columns) for rows in self._blocks()])

    def adjoint(self, vector: FloatArray, kernels: IntArray | None = None) -> FloatArray:
        """``(K_t' v)_t``: (n_rows,) -> (n_cols, m), or (n_cols, len(kernels)) for some of the kernels."""
        chosen = self._all if kernels is None else kernels
        result = np.zeros((self.shape[1], len(chosen)))
        for rows in self._blocks():
            result += np.einsum("krc,r->ck", self.read(chosen, rows), vector[rows])
        return result

    def quadratic_forms(self, block: FloatArray) -> FloatArray:
        """``v' K_i v`` of the columns v of (n,) or (n, k) -> (m,) or (m, k)."""
        columns = block[:, None] if block.ndim == 1 else block
        forms = np.stack([self.products(v) @ v for v in columns.T], axis=1)
        return forms[:, 0] if block.ndim == 1 else forms

    def block_products(self, block: FloatArray) -> FloatArray:
        """All ``K_i V``: (n_cols, k) -> (m, n_rows, k)."""
        return np.concatenate([self.read(self._all, rows) @ block for rows in self._blocks()], axis=1)

    def frobenius_products(self) -> FloatArray:
        """Inner products ``<K_i, K_j>`` of the matrices, shape (m, m)."""
        result = np.zeros((self.n_kernels, self.n_kernels))
        for rows in self._blocks():
            entries = self.read(self._all, rows).reshape(self.n_kernels, -1)
            result += entries @ entries.T
        return result

    def inner_products(self, matrix: FloatArray) -> FloatArray:
        """Inner products ``<K_i, A>`` with one matrix of shape ``shape``, shape (m,)."""
        return np.sum([np.einsum("krc,rc->k", self.read(self._all, rows), matrix[rows]) for rows in self._blocks()], 0)

    def traces(self) -> FloatArray:
        """Traces of the matrices, shape (m,)."""
        return self.diagonals().sum(axis=1)

    def diagonals(self) -> FloatArray:
        """Diagonals of the matrices, shape (m, n)."""
        result = np.empty((self.n_kernels, self.shape[0]))
        for rows in self._blocks():
            result[:, rows] = np.diagonal(self.read(self._all, rows, rows), axis1=1, axis2=2)
        return result

    def image(self, vector: FloatArray) -> Image:
        """The vectors ``K_i v`` as one object, for solvers that need them only in sums."""
        return DenseImage(self.products(vector), vector)

    def shifted_solve(self, weights: FloatArray, diagonal: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Factorise ``sum_i weights_i K_i + diag(diagonal)``.

        Parameters
        ----------
        weights : ndarray of shape (m,)
            Kernel weights.
        diagonal : ndarray of shape (n,)
            Positive shift.

        Returns
        -------
        callable
            Maps right-hand sides (n,) or (n, k) to solutions.

        Raises
        ------
        numpy.linalg.LinAlgError
            When the sum is not numerically positive definite.
        """
        matrix = self.combine(weights)
        matrix[np.diag_indices_from(matrix)] += diagonal
        factor = scipy.linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        return lambda rhs: scipy.linalg.cho_solve(factor, rhs, check_finite=False)

    @property
    def _all(self) -> IntArray:
        return np.arange(self.n_kernels, dtype=np.intp)

    def _blocks(self) -> Iterator[IntArray]:
        return row_blocks(self.shape[0], 8 * self.n_kernels * self.shape[1])
