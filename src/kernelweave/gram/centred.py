"""A stack whose matrices are centred on the way: K - (row means) - (column means) + (grand mean)."""

from __future__ import annotations

import copy

import numpy as np

from kernelweave.gram.base import FloatArray, GramStack, IntArray

__all__ = ["CentredStack"]


class CentredStack(GramStack):
    """Symmetric kernels centred in feature space over all their samples, without a copy of them.

    Parameters
    ----------
    stack : GramStack
        The kernels, n x n.

    Attributes
    ----------
    n_kernels : int
        Number of kernels m.
    shape : tuple of int
        (n, n).
    dtype : dtype
        Storage type of the stack.

    Examples
    --------
    >>> from kernelweave.gram.dense import DenseStack
    >>> CentredStack(DenseStack([np.eye(2)])).combine(np.ones(1))
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """

    def __init__(self, stack: GramStack) -> None:
        self._stack = stack
        self.n_kernels, self.shape, self.dtype = stack.n_kernels, stack.shape, stack.dtype
        n = self.shape[0]
        means = stack.products(np.full(n, 1.0 / n))
        # K - u 1' - 1 u' with u the row means less half the grand mean.
        self._shift = means - 0.5 * means.mean(axis=1, keepdims=True)

    def read(self, kernels: IntArray, rows: IntArray, cols: IntArray | None = None) -> FloatArray:
        shift = self._shift[kernels]
        result = self._stack.read(kernels, rows, cols)
        result -= shift[:, rows, None]
        result -= (shift if cols is None else shift[:, cols])[:, None]
        return result

    def restrict(self, rows: IntArray, cols: IntArray | None = None) -> CentredStack:
        """Stack of the blocks of the centred matrices; ``cols`` must equal ``rows``."""
        if cols is not None and not np.array_equal(rows, cols):
            raise ValueError("A centred stack is symmetric: restrict it to equal rows and columns, or use read().")
        part = copy.copy(self)
        part._stack, part._shift, part.shape = self._stack.restrict(rows), self._shift[:, rows], (len(rows), len(rows))
        return part

    def combine(self, weights: FloatArray, out: FloatArray | None = None) -> FloatArray:
        result = self._stack.combine(weights, out)
        shift = weights @ self._shift
        result -= shift[:, None]
        result -= shift
        return result

    def block_products(self, block: FloatArray) -> FloatArray:
        products = self._stack.block_products(block)
        products -= self._shift[:, :, None] * block.sum(axis=0)
        products -= (self._shift @ block)[:, None]
        return products

    def products(self, vector: FloatArray) -> FloatArray:
        return self.block_products(vector[:, None])[:, :, 0]
