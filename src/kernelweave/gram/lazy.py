"""Storage that stores nothing: kernels are evaluated block by block whenever they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelweave._compat import take_rows
from kernelweave.gram.base import FloatArray, GramStack, IntArray
from kernelweave.gram.rectangular import scale_block
from kernelweave.kernels.base import n_samples
from kernelweave.kernels.evaluate import NamedKernel, iter_grams

__all__ = ["LazyStack"]


class LazyStack(GramStack):
    """Kernels of any kind, evaluated on demand: little memory, one evaluation of every kernel a pass.

    Parameters
    ----------
    named : sequence of NamedKernel
        Frozen kernels.
    X : samples
        The rows: where the kernels are evaluated.
    points : samples
        The columns: expansion points.
    row_scales, column_scales : sequence of ndarray of shape (n_rows,), (n_cols,) or None, optional
        Factors of the rows and columns of each kernel.

    Attributes
    ----------
    n_kernels : int
        Number of kernels m.
    shape : tuple of int
        (n_rows, n_cols).
    dtype : dtype
        float64.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import Linear, freeze_kernels, resolve_entries
    >>> X = np.array([[1.0], [2.0]])
    >>> stack = LazyStack(freeze_kernels(resolve_entries([Linear()]), X), X, X)
    >>> stack.adjoint(np.array([1.0, 1.0])).ravel()
    array([3., 6.])
    """

    def __init__(
        self,
        named: Sequence[NamedKernel],
        X: Any,
        points: Any,
        row_scales: Sequence[FloatArray | None] | None = None,
        column_scales: Sequence[FloatArray | None] | None = None,
    ) -> None:
        self._named, self._rows, self._points = list(named), X, points
        self.n_kernels = len(self._named)
        self.shape = (n_samples(X), n_samples(points))
        self.dtype = np.dtype(np.float64)
        self._row_scales = [None] * self.n_kernels if row_scales is None else list(row_scales)
        self._column_scales = [None] * self.n_kernels if column_scales is None else list(column_scales)

    def read(self, kernels: IntArray, rows: IntArray, cols: IntArray | None = None) -> FloatArray:
        n_cols = self.shape[1] if cols is None else len(cols)
        result = np.zeros((len(kernels), len(rows), n_cols))
        if result.size:
            X = take_rows(self._rows, rows)
            points = self._points if cols is None else take_rows(self._points, cols)
            for position, block, _ in iter_grams([self._named[i] for i in kernels], X, points):
                result[position] = block
        for block, i in zip(result, kernels, strict=True):
            scale_block(block, self._row_scales[i], self._column_scales[i], rows, cols)
        return result

    def restrict(self, rows: IntArray, cols: IntArray | None = None) -> LazyStack:
        """Stack of the blocks ``K_i[rows, cols]`` (``cols`` = ``rows`` when None), evaluated on demand too."""
        cols = rows if cols is None else cols
        return LazyStack(
            self._named,
            take_rows(self._rows, rows),
            take_rows(self._points, cols),
            [None if scale is None else scale[rows] for scale in self._row_scales],
            [None if scale is None else scale[cols] for scale in self._column_scales],
        )
