"""A fitted sum of kernels over training samples, evaluated on new ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave._compat import take_rows
from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.gram.build import PreparedKernels
from kernelweave.kernels.base import n_samples

__all__ = ["KernelExpansion"]


@dataclass(frozen=True)
class KernelExpansion:
    """Scores ``f_k(x) = sum_i weights_ki sum_j coefficients_kj K_i(x, x_j) + intercept_k``.

    Parameters
    ----------
    prepared : PreparedKernels
        Frozen kernels with their preparation.
    X : samples
        The training samples of the preparation, the n_labelled labelled ones first.
    coefficients : ndarray of shape (n_outputs, n_labelled)
        Signed dual variables.
    weights : ndarray of shape (1 or n_outputs, n_kernels)
        Kernel weights, shared when there is one row.
    intercept : ndarray of shape (n_outputs,)
        Biases.
    """

    prepared: PreparedKernels
    X: Any
    coefficients: FloatArray
    weights: FloatArray
    intercept: FloatArray

    def scores(self, X: Any) -> FloatArray:
        """Scores of new samples, shape (n_new, n_outputs)."""
        total = np.tile(self.intercept, (n_samples(X), 1))
        for _, part in self._parts(X):
            total += part
        return total

    def contributions(self, X: Any) -> FloatArray:
        """Part of each kernel in each score, shape (n_new, n_outputs, n_kernels), without the intercept."""
        result = np.zeros((n_samples(X), len(self.intercept), self.weights.shape[1]))
        for i, part in self._parts(X):
            result[:, :, i] = part
        return result

    def combined(self, X: Any) -> FloatArray:
        """Combined kernel against the labelled training samples, shape (n_new, n_labelled).

        Raises
        ------
        ValueError
            When each output has kernel weights of its own.
        """
        if len(self.weights) > 1:
            raise ValueError("With one weight vector per class there is no single combined kernel.")
        n = self.coefficients.shape[1]
        total = np.zeros((n_samples(X), n))
        everything = np.arange(n_samples(self.X) if self.prepared.needs_all_columns else n, dtype=np.intp)
        used = np.flatnonzero(self.weights[0]).astype(np.intp)
        train = take_rows(self.X, everything)
        for i, block in self.prepared.new_blocks(X, train, everything, used):
            total += self.weights[0, i] * block[:, :n]
        return total

    def _parts(self, X: Any) -> Iterator[tuple[int, FloatArray]]:
        support = np.flatnonzero(np.any(self.coefficients != 0, axis=0)).astype(np.intp)
        columns: IntArray = support
        if self.prepared.needs_all_columns:
            columns = np.arange(n_samples(self.X), dtype=np.intp)
        used = np.flatnonzero(np.any(self.weights != 0, axis=0)).astype(np.intp)
        if not len(used):
            # A learned ridge can take the whole budget; bad samples are still to be found by the kernels.
            used = np.arange(self.weights.shape[1], dtype=np.intp)
        coefficients = self.coefficients[:, support].T
        train = take_rows(self.X, columns)
        for i, block in self.prepared.new_blocks(X, train, columns, used):
            values = block if len(columns) == len(support) else block[:, support]
            yield i, (values @ coefficients) * self.weights[:, i]
