"""A fitted expansion over few kernels and few samples, evaluated on new ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelweave._compat import take_rows
from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.gram.build import PreparedKernels
from kernelweave.kernels.base import n_samples

__all__ = ["SparseExpansion"]


@dataclass(frozen=True)
class SparseExpansion:
    """Scores ``f_k(x) = sum_t sum_j coefficients_kjt K_t(x, x_j) + intercept_k`` over what is kept.

    Parameters
    ----------
    prepared : PreparedKernels
        The kernels kept, with the preparation of the points kept.
    X : samples
        The points kept.
    kernels : ndarray of shape (n_kept,), dtype intp
        Which of all kernels these are.
    n_kernels : int
        Number of all kernels.
    coefficients : ndarray of shape (n_outputs, n_points_kept, n_kept)
        Coefficients of the prepared kernels.
    intercept : ndarray of shape (n_outputs,)
        Biases.
    """

    prepared: PreparedKernels
    X: Any
    kernels: IntArray
    n_kernels: int
    coefficients: FloatArray
    intercept: FloatArray

    @classmethod
    def of(
        cls, prepared: PreparedKernels, points: Any, coefficients: Sequence[FloatArray], intercept: FloatArray
    ) -> SparseExpansion:
        """Keep the kernels and points with a non-zero coefficient in any output.

        Parameters
        ----------
        prepared : PreparedKernels
            All kernels, prepared over all points.
        points : samples
            All expansion points.
        coefficients : sequence of ndarray of shape (n_points, n_kernels)
            One array an output.
        intercept : ndarray of shape (n_outputs,)
            Biases.
        """
        used = np.any([array != 0 for array in coefficients], axis=0)
        kernels, kept = (np.flatnonzero(used.any(axis=axis)).astype(np.intp) for axis in (0, 1))
        preparations = [prepared.preparations[t] for t in kernels]
        few = [replace(p, scale=None if p.scale is None else p.scale[kept]) for p in preparations]
        return cls(
            PreparedKernels([prepared.named[t] for t in kernels], few),
            take_rows(points, kept),
            kernels,
            len(prepared.named),
            np.stack([array[np.ix_(kept, kernels)] for array in coefficients]),
            intercept,
        )

    @property
    def reads_samples(self) -> bool:
        """Whether any kernel is left that looks at new samples."""
        return len(self.kernels) > 0

    def scores(self, X: Any) -> FloatArray:
        """Scores of new samples, shape (n_new, n_outputs)."""
        total = np.tile(self.intercept, (n_samples(X), 1))
        for _, part in self._parts(X):
            total += part
        return total

    def contributions(self, X: Any) -> FloatArray:
        """Part of each kernel in each score, shape (n_new, n_outputs, n_kernels), without the intercept."""
        result = np.zeros((n_samples(X), len(self.intercept), self.n_kernels))
        for position, part in self._parts(X):
            result[:, :, self.kernels[position]] = part
        return result

    def _parts(self, X: Any) -> Iterator[tuple[int, FloatArray]]:
        everything = np.arange(n_samples(self.X), dtype=np.intp)
        chosen = np.arange(len(self.kernels), dtype=np.intp)
        for position, block in self.prepared.new_blocks(X, self.X, everything, chosen):
            yield position, block @ self.coefficients[:, :, position].T
