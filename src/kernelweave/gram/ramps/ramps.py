"""Ramp kernels held as positions: one number an entry, however many ramps there are.

Kernel j is Z_j Z_j' with Z_j the columns of ramp j, one a slot. Multiplying with all of them costs
one pass over the entries, since a sum of ramps is piecewise linear in the position.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.gram.factors.features import FeatureStack
from kernelweave.gram.ramps.ramp_loops import (
    gather,
    hat_gram,
    interpolate,
    prefix_tables,
    ramp_lengths,
    scatter,
    suffix_sums,
)
from kernelweave.kernels.monotone.ramps import RampCells

__all__ = ["RampStack"]


class RampStack(FeatureStack):
    """The linear kernels of ramps, one a ramp.

    Parameters
    ----------
    cells : RampCells
        Samples as positions on the ramps; borrowed, never written.
    n_kernels : int, optional
        Number of ramp kernels; as many as the cells name when None.

    Attributes
    ----------
    n_kernels : int
        Number of ramp kernels m.
    shape : tuple of int
        (n, n).
    dtype : dtype
        float64.
    cells : RampCells
        The samples.
    kernel_of : ndarray of shape (rank,), dtype intp
        Kernel of each column.

    Examples
    --------
    >>> from kernelweave.kernels.monotone.ramps import Ramps
    >>> ramps = Ramps((np.array([0.0, 1.0, 2.0]),), np.zeros(1, dtype=np.intp))
    >>> stack = RampStack(ramps.cells(np.array([[0.5], [2.0]])))
    >>> stack.combine(np.array([1.0, 10.0]))
    array([[ 0.25,  0.5 ],
           [ 0.5 , 11.  ]])
    """

    dtype = np.dtype(np.float64)

    def __init__(self, cells: RampCells, n_kernels: int | None = None) -> None:
        self.cells = cells
        self.n_kernels = cells.n_kernels if n_kernels is None else n_kernels
        self.kernel_of = cells.kernel_of
        self.shape = (cells.n_samples, cells.n_samples)
        self._entries = (cells.indptr, cells.slots, cells.positions, cells.offsets)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.cells.feature_of.max()) + 1

    @property
    def feature_directions(self) -> FloatArray:
        """Sign to which scores are restricted in each feature; zeros here, see `DirectedRampStack`."""
        return np.zeros(self.n_features)

    @property
    def directions(self) -> FloatArray:
        """Sign to which each coefficient is restricted, or an empty array where none is."""
        return np.empty(0)

    def backward(self, vector: FloatArray) -> FloatArray:
        return self.unrestricted(vector)

    def unrestricted(self, vector: FloatArray) -> FloatArray:
        """``Z'v`` whatever the directions: (n,) -> (rank,)."""
        return suffix_sums(scatter(*self._entries, np.ascontiguousarray(vector)), self.cells.offsets)

    def forward(self, coefficients: FloatArray) -> FloatArray:
        return gather(*self._entries, prefix_tables(coefficients, self.cells.offsets))

    def by_feature(self, coefficients: FloatArray) -> FloatArray:
        """Sum coefficients within each feature, as a function of phi counts them: (rank,) -> (n_features,)."""
        cells = self.cells
        sums = np.bincount(cells.feature_of, weights=cells.signs * coefficients)
        return sums.astype(np.float64, copy=False)

    def to_columns(self, by_feature: FloatArray) -> FloatArray:
        """A weight for each feature on all its columns, the adjoint of `by_feature`: (n_features,) -> (rank,)."""
        return by_feature[self.cells.feature_of] * self.cells.signs

    def transformed(self, weights: FloatArray) -> RampStack:
        """One linear kernel on the transformed features ``phi(x_f) = sum_j weights_j phi_j(x_f)``.

        Parameters
        ----------
        weights : ndarray of shape (m,)
            Ramp weights.
        """
        cells = self.cells
        tables = prefix_tables(weights[self.kernel_of] * cells.signs, cells.offsets)
        phi = interpolate(*self._entries, tables)
        owner = cells.feature_of[np.minimum(cells.offsets[:-1], len(cells.feature_of) - 1)]
        slots = owner[cells.slots].astype(np.int32) if len(cells.slots) else cells.slots
        d = self.n_features
        columns = np.arange(d + 1), np.zeros(d, dtype=np.intp), np.arange(d), np.ones(d)
        return RampStack(RampCells(cells.indptr, slots, phi, *columns), 1)

    def matrix(self, rows: IntArray | None = None) -> scipy.sparse.csr_array:
        """The sparse matrix Z of all ramps, shape (n_rows, rank): for few samples, or few ramps."""
        cells = self.cells if rows is None else self.cells.take(rows)
        n, n_slots = cells.n_samples, len(cells.offsets) - 1
        slots = cells.slots.astype(np.intp) if len(cells.slots) else np.tile(np.arange(n_slots), n)
        last = np.diff(cells.offsets)[slots] - 1
        cell = np.clip(cells.positions.astype(np.intp), 0, last)
        # An entry is one on the ramps below it, and somewhere on its own.
        ends = np.cumsum(cell + 1)
        indices = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
            cells.offsets[slots] - (ends - cell - 1), cell + 1
        )
        values = np.ones(len(indices))
        values[ends - 1] = cells.positions - cell
        starts = np.concatenate([[0], ends])[cells.indptr]
        result = scipy.sparse.csr_array((values, indices, starts), shape=(n, self.rank))
        result.eliminate_zeros()
        return result

    def read(self, kernels: IntArray, rows: IntArray, cols: IntArray | None = None) -> FloatArray:
        left, right = self.matrix(rows), self.matrix(cols)
        result = np.empty((len(kernels), len(rows), right.shape[0]))
        for at, k in enumerate(kernels):
            own = (self.kernel_of == k).astype(np.float64)
            result[at] = ((left * own) @ right.T).toarray()
        return result

    def restrict(self, rows: IntArray, cols: IntArray | None = None) -> RampStack:
        """Stack of the symmetric blocks; ``cols`` must equal ``rows``."""
        if cols is not None and not np.array_equal(rows, cols):
            raise ValueError("A ramp stack is symmetric: restrict it to equal rows and columns, or use read().")
        return RampStack(self.cells.take(rows), self.n_kernels)

    def combine(self, weights: FloatArray, out: FloatArray | None = None) -> FloatArray:
        Z = self.matrix()
        combined = ((Z * weights[self.kernel_of]) @ Z.T).toarray()
        if out is None:
            return np.asarray(combined)
        out[:] = combined
        return out

    def diagonals(self) -> FloatArray:
        lengths = np.zeros((self.n_kernels, self.shape[0]))
        ramp_lengths(*self._entries, self.cells.kernel_of, lengths)
        return lengths

    def feature_gram(self, weights: FloatArray) -> FloatArray:
        return hat_gram(*self._entries, np.ascontiguousarray(weights))
