"""Dense storage: a list of borrowed symmetric matrices with lazy scales and shifts.

Kernel i stands for ``S_i (K_i - u_i 1' - 1 u_i') S_i`` with ``S_i`` the diagonal of its scale and
``u_i`` its shift, so cosine normalisation and centring copy nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelweave.gram import loops
from kernelweave.gram.base import FloatArray, GramStack, IntArray
from kernelweave.gram.image import DenseImage, Image
from kernelweave.kernels.vector.loops import gather

__all__ = ["DenseStack"]

_ROWS_AT_ONCE = 16


class DenseStack(GramStack):
    """Symmetric kernel matrices held in memory.

    Parameters
    ----------
    matrices : sequence of ndarray of shape (n, n), or ndarray of shape (m, n, n)
        float64 or float32; borrowed, never written. A matrix that is not row-contiguous is copied.
    scales : sequence of ndarray of shape (n,) or None, optional
        Diagonal scaling of each matrix, applied on both sides.
    shifts : sequence of ndarray of shape (n,) or None, optional
        Subtracted from rows and columns before scaling.

    Attributes
    ----------
    n_kernels : int
        Number of kernels m.
    shape : tuple of int
        (n, n).
    dtype : dtype
        Widest storage type among the matrices.

    Raises
    ------
    ValueError
        When there is no matrix, or shapes differ.

    Examples
    --------
    >>> import numpy as np
    >>> stack = DenseStack([np.eye(2), np.ones((2, 2))])
    >>> stack.combine(np.array([2.0, 1.0]))
    array([[3., 1.],
           [1., 3.]])
    """

    def __init__(
        self,
        matrices: Sequence[npt.NDArray[Any]] | npt.NDArray[Any],
        scales: Sequence[FloatArray | None] | None = None,
        shifts: Sequence[FloatArray | None] | None = None,
    ) -> None:
        self._matrices = [_row_contiguous(matrix) for matrix in matrices]
        if not self._matrices:
            raise ValueError("A Gram stack needs at least one kernel matrix.")
        n = self._matrices[0].shape[0]
        for index, matrix in enumerate(self._matrices):
            if matrix.shape != (n, n):
                raise ValueError(f"Kernel matrix {index} has shape {matrix.shape}; expected ({n}, {n}).")
        self.n_kernels = len(self._matrices)
        self.shape = (n, n)
        self.dtype = np.dtype(np.result_type(*{matrix.dtype for matrix in self._matrices}))
        self._scales = list(scales) if scales is not None else [None] * self.n_kernels
        self._shifts = list(shifts) if shifts is not None else [None] * self.n_kernels

    def read(self, kernels: IntArray, rows: IntArray, cols: IntArray | None = None) -> FloatArray:
        n = self.shape[1]
        result = np.empty((len(kernels), len(rows), n if cols is None else len(cols)))
        # A slice is a view: consecutive rows are copied once, not twice.
        consecutive = len(rows) > 0 and bool((np.diff(rows) == 1).all())
        taken = slice(int(rows[0]), int(rows[-1]) + 1) if consecutive else rows
        for k, i in enumerate(kernels):
            whole = self._matrices[i][taken]
            result[k] = whole[:, :n] if cols is None else whole[:, cols]
            shift, scale = self._shifts[i], self._scales[i]
            if shift is not None:
                result[k] -= shift[rows][:, None] + (shift if cols is None else shift[cols])
            if scale is not None:
                result[k] *= scale[rows][:, None]
                result[k] *= scale if cols is None else scale[cols]
        return result

    def restrict(self, rows: IntArray, cols: IntArray | None = None) -> DenseStack:
        """Stack of the symmetric blocks ``K_i[rows, rows]``: a leading block shares the memory, others are copied.

        Raises
        ------
        ValueError
            When ``cols`` differs from ``rows``; use `read` for rectangular blocks.
        """
        if cols is not None and not np.array_equal(rows, cols):
            raise ValueError("A dense stack is symmetric: restrict it to equal rows and columns, or use read().")
        n = len(rows)
        stack = copy.copy(self)
        stack.shape = (n, n)
        # The compiled passes take their sizes from the vectors, so a leading block needs no copy.
        if not np.array_equal(rows, np.arange(n)):
            stack._matrices = [_row_contiguous(_gathered(matrix, rows)) for matrix in self._matrices]
        stack._scales = [None if scale is None else scale[rows] for scale in self._scales]
        stack._shifts = [None if shift is None else shift[rows] for shift in self._shifts]
        return stack

    def combine(self, weights: FloatArray, out: FloatArray | None = None) -> FloatArray:
        n = self.shape[0]
        if out is None:
            out = np.zeros((n, n))
        else:
            out[...] = 0.0
        used = np.flatnonzero(weights)
        for first in range(0, n, _ROWS_AT_ONCE):
            last = min(first + _ROWS_AT_ONCE, n)
            for i in used:
                matrix, scale = self._matrices[i], self._scales[i]
                if scale is None:
                    loops.add_lower(matrix, float(weights[i]), first, last, out)
                else:
                    loops.add_lower_scaled(matrix, float(weights[i]), scale, first, last, out)
        loops.mirror_lower(out)
        self._subtract_shifts(weights, used, out)
        return out

    def _subtract_shifts(self, weights: FloatArray, used: IntArray, out: FloatArray) -> None:
        shifted = [i for i in used if self._shifts[i] is not None]
        if not shifted:
            return
        ones = np.ones(self.shape[0])
        scales = [ones if (scale := self._scales[i]) is None else scale for i in shifted]
        right = np.stack(scales, axis=1)
        left = np.stack([weights[i] * s * self._shift(i) for i, s in zip(shifted, scales, strict=True)], axis=1)
        correction = left @ right.T
        out -= correction
        out -= correction.T

    def products(self, vector: FloatArray) -> FloatArray:
        result = np.zeros((self.n_kernels, self.shape[0]))
        support = loops.support_of(vector)
        for i in range(self.n_kernels):
            self._add_product(i, vector, support, result[i], loops.supported_rows)
        return result

    def support_products(self, vector: FloatArray, kernels: IntArray | None = None) -> FloatArray:
        kernels = self._all if kernels is None else kernels
        result = np.empty((len(kernels), self.shape[0]))
        support = loops.support_of(vector)
        for k, i in enumerate(kernels):
            # Only the lower triangle is read: half the traffic of `products`.
            self._add_product(int(i), vector, support, result[k], loops.support_products)
        result[:, vector == 0] = 0.0
        return result

    def _add_product(
        self,
        i: int,
        vector: FloatArray,
        support: IntArray,
        out: FloatArray,
        product: Callable[[FloatArray, IntArray, FloatArray, FloatArray], None],
    ) -> None:
        scale, shift = self._scales[i], self._shifts[i]
        inner = vector if scale is None else scale * vector
        product(self._matrices[i], support, inner, out)
        if shift is not None:
            out -= shift * inner.sum() + shift @ inner
        if scale is not None:
            out *= scale

    def image(self, vector: FloatArray) -> Image:
        # With full support, symmetry halves the reading.
        return DenseImage(self.support_products(vector) if vector.all() else self.products(vector), vector)

    def matvec(self, weights: FloatArray, block: FloatArray) -> FloatArray:
        columns = block[:, None] if block.ndim == 1 else block
        result = np.zeros((columns.shape[1], self.shape[0]))
        part = np.empty(self.shape[0])
        for k, column in enumerate(np.ascontiguousarray(columns.T)):
            support = loops.support_of(column)
            for i in np.flatnonzero(weights):
                part[:] = 0.0
                self._add_product(int(i), column, support, part, loops.supported_rows)
                result[k] += weights[i] * part
        return result[0] if block.ndim == 1 else result.T

    def block_products(self, block: FloatArray) -> FloatArray:
        result = np.empty((self.n_kernels, *block.shape))
        for i, matrix in enumerate(self._matrices):
            scale, shift = self._scales[i], self._shifts[i]
            inner = block if scale is None else scale[:, None] * block
            for rows in self._blocks():
                # A float32 matrix is cast block by block; slices copy nothing of a float64 one.
                part = matrix[rows[0] : rows[-1] + 1, : self.shape[1]]
                result[i, rows] = part.astype(np.float64, copy=False) @ inner
            if shift is not None:
                result[i] -= np.outer(shift, inner.sum(axis=0)) + shift @ inner
            if scale is not None:
                result[i] *= scale[:, None]
        return result

    def quadratic_forms(self, block: FloatArray) -> FloatArray:
        columns = block[:, None] if block.ndim == 1 else block
        forms = [self.support_products(np.ascontiguousarray(v)) @ v for v in columns.T]
        return forms[0] if block.ndim == 1 else np.stack(forms, axis=1)

    def diagonals(self) -> FloatArray:
        result = np.array([np.diagonal(matrix)[: self.shape[0]] for matrix in self._matrices], dtype=np.float64)
        for i in range(self.n_kernels):
            if self._shifts[i] is not None:
                result[i] -= 2.0 * self._shift(i)
            if (scale := self._scales[i]) is not None:
                result[i] *= scale**2
        return result

    def _shift(self, i: int) -> FloatArray:
        shift = self._shifts[i]
        return np.zeros(self.shape[0]) if shift is None else shift


def _gathered(matrix: npt.NDArray[Any], rows: IntArray) -> npt.NDArray[Any]:
    block = np.empty((len(rows), len(rows)), dtype=matrix.dtype)
    gather(matrix, rows, rows, block)
    return block


def _row_contiguous(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array = np.asarray(matrix)
    if array.dtype not in (np.float64, np.float32):
        array = array.astype(np.float64)
    if array.ndim == 2 and array.strides[1] != array.itemsize:
        # By symmetry a column-contiguous matrix is its own transpose.
        array = array.T if array.strides[0] == array.itemsize else np.ascontiguousarray(array)
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    # Always a read-only view: nothing is written by mistake, and one compiled variant serves all.
    view = array.view()
    view.flags.writeable = False
    return view
