"""Storage for kernels that are any real functions of two points: not symmetric, not square.

Rows are the samples where a kernel is evaluated, columns the expansion points. Matrices are
borrowed, in float64 or float32, and may be memory-mapped: every pass reads each row once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from kernelweave.gram.base import FloatArray, GramStack, IntArray

__all__ = ["RectangularStack", "scale_block"]

_SUMS = {"reassoc", "contract", "nsz"}


@njit(cache=True, fastmath=_SUMS)
def _add_apply(matrix: FloatArray, coefficients: FloatArray, out: FloatArray) -> None:
    """``out += matrix @ coefficients`` with sums in float64."""
    for i in range(matrix.shape[0]):
        row, total = matrix[i], 0.0
        for j in range(matrix.shape[1]):
            total += row[j] * coefficients[j]
        out[i] += total


@njit(cache=True, fastmath=_SUMS)
def _add_adjoint(matrix: FloatArray, vector: FloatArray, out: FloatArray) -> None:
    """``out += matrix.T @ vector`` with sums in float64; rows of weight zero are not read."""
    for i in range(matrix.shape[0]):
        v = vector[i]
        if v != 0.0:
            row = matrix[i]
            for j in range(matrix.shape[1]):
                out[j] += v * row[j]


class RectangularStack(GramStack):
    """Kernel matrices of any kind held in memory or on disk.

    Parameters
    ----------
    matrices : sequence of ndarray of shape (n_rows, n_cols), or ndarray of shape (m, n_rows, n_cols)
        float64 or float32 (other types are converted); borrowed, never written. Memory maps stay on disk.
        A matrix that is not row-contiguous is copied.
    row_scales, column_scales : sequence of ndarray of shape (n_rows,), (n_cols,) or None, optional
        Factors of the rows and columns of each matrix, applied on the way: nothing is copied.

    Attributes
    ----------
    n_kernels : int
        Number of kernels m.
    shape : tuple of int
        (n_rows, n_cols).
    dtype : dtype
        Widest storage type among the matrices.

    Raises
    ------
    ValueError
        When there is no matrix, or shapes differ.

    Examples
    --------
    >>> import numpy as np
    >>> stack = RectangularStack([np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])])
    >>> stack.adjoint(np.array([1.0, 10.0])).ravel()
    array([ 1., 12., 10.])
    """

    def __init__(
        self,
        matrices: Sequence[npt.NDArray[Any]] | npt.NDArray[Any],
        row_scales: Sequence[FloatArray | None] | None = None,
        column_scales: Sequence[FloatArray | None] | None = None,
    ) -> None:
        self._matrices = [_readable(matrix) for matrix in matrices]
        if not self._matrices:
            raise ValueError("A Gram stack needs at least one kernel matrix.")
        shape = self._matrices[0].shape
        for index, matrix in enumerate(self._matrices):
            if matrix.ndim != 2 or matrix.shape != shape:
                raise ValueError(f"Kernel matrix {index} has shape {matrix.shape}; expected {shape} as for the first.")
        self.n_kernels = len(self._matrices)
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = np.dtype(np.result_type(*{matrix.dtype for matrix in self._matrices}))
        self._row_scales = [None] * self.n_kernels if row_scales is None else list(row_scales)
        self._column_scales = [None] * self.n_kernels if column_scales is None else list(column_scales)

    def read(self, kernels: IntArray, rows: IntArray, cols: IntArray | None = None) -> FloatArray:
        n_cols = self.shape[1] if cols is None else len(cols)
        result = np.empty((len(kernels), len(rows), n_cols))
        row_part, col_part = _as_slice(rows), slice(None) if cols is None else _as_slice(cols)
        index: Any = (row_part, col_part)
        if not isinstance(row_part, slice) and not isinstance(col_part, slice):
            index = np.ix_(row_part, col_part)
        for block, i in zip(result, kernels, strict=True):
            block[:] = self._matrices[i][index]
            scale_block(block, self._row_scales[i], self._column_scales[i], rows, cols)
        return result

    def restrict(self, rows: IntArray, cols: IntArray | None = None) -> RectangularStack:
        """Stack of the blocks ``K_i[rows, cols]`` (``cols`` = ``rows`` when None), copied."""
        cols = rows if cols is None else cols
        index = np.ix_(rows, cols)
        return RectangularStack(
            [matrix[index] for matrix in self._matrices],
            [None if scale is None else scale[rows] for scale in self._row_scales],
            [None if scale is None else scale[cols] for scale in self._column_scales],
        )

    def select(self, kernels: IntArray) -> RectangularStack:
        """Stack of some of the kernels, sharing their matrices."""
        return RectangularStack(
            [self._matrices[i] for i in kernels],
            [self._row_scales[i] for i in kernels],
            [self._column_scales[i] for i in kernels],
        )

    def apply(self, coefficients: FloatArray) -> FloatArray:
        result = np.zeros(self.shape[0])
        for t in np.flatnonzero(np.any(coefficients != 0, axis=0)):
            column = np.ascontiguousarray(_times(coefficients[:, t], self._column_scales[t]))
            matrix, row_scale = self._matrices[t], self._row_scales[t]
            part = result if row_scale is None else np.zeros_like(result)
            if matrix.dtype == np.float64:
                part += matrix @ column
            else:
                _add_apply(matrix, column, part)
            if row_scale is not None:
                result += row_scale * part
        return result

    def adjoint(self, vector: FloatArray, kernels: IntArray | None = None) -> FloatArray:
        chosen = self._all if kernels is None else kernels
        result = np.empty((len(chosen), self.shape[1]))
        for part, t in zip(result, chosen, strict=True):
            matrix, weights = self._matrices[t], _times(vector, self._row_scales[t])
            if matrix.dtype == np.float64:
                np.dot(weights, matrix, out=part)
            else:
                part[:] = 0.0
                _add_adjoint(matrix, weights, part)
            if (scale := self._column_scales[t]) is not None:
                part *= scale
        return result.T

    def diagonals(self) -> FloatArray:
        diagonals = np.array([np.diagonal(matrix) for matrix in self._matrices], dtype=np.float64)
        for t, diagonal in enumerate(diagonals):
            for scale in (self._row_scales[t], self._column_scales[t]):
                if scale is not None:
                    diagonal *= scale[: len(diagonal)]
        return diagonals


def scale_block(
    block: FloatArray,
    row_scale: FloatArray | None,
    column_scale: FloatArray | None,
    rows: IntArray,
    cols: IntArray | None,
) -> None:
    """Multiply the entries (rows, cols) of a kernel by its scales, in place."""
    if row_scale is not None:
        block *= row_scale[rows][:, None]
    if column_scale is not None:
        block *= column_scale if cols is None else column_scale[cols]


def _times(vector: FloatArray, scale: FloatArray | None) -> FloatArray:
    return vector if scale is None else vector * scale


def _as_slice(indices: IntArray) -> IntArray | slice:
    """The same as a slice where the indices are consecutive: reading one is several times quicker."""
    first, count = (int(indices[0]), len(indices)) if len(indices) else (0, 0)
    return slice(first, first + count) if np.array_equal(indices, np.arange(first, first + count)) else indices


def _readable(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array = np.asarray(matrix)
    if array.dtype not in (np.float64, np.float32):
        array = array.astype(np.float64)
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    # Always a read-only view: nothing is written by mistake, and one compiled variant serves all.
    view = array.view()
    view.flags.writeable = False
    return view
