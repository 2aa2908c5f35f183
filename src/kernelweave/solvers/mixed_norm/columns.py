"""Working columns: the entries (sample, kernel) of alpha that a solver looks at.

An entry is numbered by its position in the row-major (n_points, n_kernels) array of coefficients;
its column is ``K_t[:, j]``. Columns are held as rows of a float64 array while they are a small part
of the stack, and streamed from it otherwise, so there never is a second copy of all kernels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.linalg import blas

from kernelweave.gram.base import FloatArray, IntArray

__all__ = ["HeldColumns", "StreamedColumns", "WorkingColumns", "add_outer", "column_sizes"]

_SUMS = {"reassoc", "contract", "nsz"}
_BLOCK_BYTES = 16 * 2**20
_SAMPLED = 20  # columns of each kernel that are looked at for its size


@njit(cache=True, fastmath=_SUMS)
def _combine_rows(rows: FloatArray, chosen: IntArray, values: FloatArray, out: FloatArray) -> None:
    """``out = sum_k values_k rows[chosen_k]``."""
    out[:] = 0.0
    for k in range(len(chosen)):
        row, value = rows[chosen[k]], values[k]
        for c in range(len(out)):
            out[c] += value * row[c]


@njit(cache=True, fastmath=_SUMS)
def _dot_rows(rows: FloatArray, chosen: IntArray, vector: FloatArray, out: FloatArray) -> None:
    """``out_k = rows[chosen_k] @ vector``."""
    for k in range(len(chosen)):
        row, total = rows[chosen[k]], 0.0
        for c in range(len(vector)):
            total += row[c] * vector[c]
        out[k] = total


@njit(cache=True, fastmath=_SUMS)
def _scatter_rows(rows: FloatArray, labels: IntArray, values: FloatArray, out: FloatArray) -> None:
    """``out[labels_k] += values_k rows_k``; negative labels are left out."""
    for k in range(len(labels)):
        if labels[k] >= 0:
            row, target, value = rows[k], out[labels[k]], values[k]
            for c in range(len(row)):
                target[c] += value * row[c]


class WorkingColumns(ABC):
    """A growing set of columns of a stack.

    Parameters
    ----------
    gram : GramStack
        The kernels.

    Attributes
    ----------
    entries : ndarray of shape (n_entries,), dtype intp
        Which columns, in the order they were added.
    """

    def __init__(self, gram: Any) -> None:
        self._gram = gram
        self._inside = np.zeros(gram.shape[1] * gram.n_kernels, dtype=bool)
        self.entries: IntArray = np.zeros(0, dtype=np.intp)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """Which entries are in the set, shape (n_points, n_kernels)."""
        return self._inside.reshape(self._gram.shape[1], self._gram.n_kernels)

    def extend(self, entries: IntArray) -> None:
        """Add entries that the set lacks."""
        self._inside[entries] = True
        self.entries = np.concatenate([self.entries, entries])

    def spread(self, values: FloatArray) -> FloatArray:
        """Values of the entries as an (n_points, n_kernels) array, zero elsewhere."""
        full = np.zeros(self._inside.size)
        full[self.entries] = values
        return full.reshape(self._gram.shape[1], self._gram.n_kernels)

    @abstractmethod
    def apply(self, values: FloatArray) -> FloatArray:
        """Sum of the columns weighted by ``values`` (n_entries,), shape (n_samples,)."""

    @abstractmethod
    def adjoint(self, vector: FloatArray) -> FloatArray:
        """Inner products of all columns with a vector (n_samples,), shape (n_entries,)."""

    @abstractmethod
    def adjoint_at(self, chosen: IntArray, vector: FloatArray) -> FloatArray:
        """The same for the columns at some positions only."""

    @abstractmethod
    def rows(self, chosen: IntArray) -> FloatArray:
        """Columns at the positions ``chosen`` as the rows of a new float64 array."""

    def blocks(self, chosen: IntArray) -> Iterator[tuple[slice, FloatArray]]:
        """The same in pieces of about 16 MiB, with the part of ``chosen`` each covers."""
        step = max(1, _BLOCK_BYTES // (8 * self._gram.shape[0]))
        for first in range(0, len(chosen), step):
            part = slice(first, min(first + step, len(chosen)))
            yield part, self.rows(chosen[part])

    def sums(self, chosen: IntArray, labels: IntArray, values: FloatArray, n_labels: int) -> FloatArray:
        """Weighted sums of the chosen columns with equal label, shape (n_labels, n_samples)."""
        out = np.zeros((n_labels, self._gram.shape[0]))
        used = np.flatnonzero(labels >= 0)
        for part, rows in self.blocks(chosen[used]):
            _scatter_rows(rows, labels[used[part]], values[used[part]], out)
        return out

    def add_outer(self, chosen: IntArray, weights: FloatArray, out: npt.NDArray[np.floating]) -> None:
        """``out += sum_k weights_k c_k c_k'`` over the chosen columns c_k, on the lower triangle.

        Parameters
        ----------
        chosen : ndarray of intp
            Positions.
        weights : ndarray of shape (len(chosen),)
            Of one sign.
        out : ndarray of shape (n_samples, n_samples), column-contiguous, float64 or float32
            Where to add.
        """
        for part, rows in self.blocks(chosen):
            add_outer(rows, weights[part], out)


def column_sizes(gram: Any) -> FloatArray:
    """Mean squared norm of some columns of each kernel, shape (n_kernels,)."""
    n, n_points = gram.shape
    samples = np.arange(n, dtype=np.intp)
    points = np.unique(np.linspace(0, n_points - 1, min(_SAMPLED, n_points)).astype(np.intp))
    sizes = np.empty(gram.n_kernels)
    for t in range(gram.n_kernels):
        block = gram.read(np.array([t], dtype=np.intp), samples, points)[0]
        sizes[t] = np.einsum("ij,ij->", block, block) / len(points)
    return sizes


def add_outer(rows: FloatArray, weights: FloatArray, out: npt.NDArray[np.floating]) -> None:
    """``out += sum_k weights_k rows_k rows_k'`` on the lower triangle, in the precision of ``out``.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n)
        Not changed.
    weights : ndarray of shape (n_rows,)
        Of one sign.
    out : ndarray of shape (n, n), column-contiguous, float64 or float32
        Where to add.
    """
    if len(rows):
        scaled = np.empty(rows.shape, dtype=out.dtype)
        np.multiply(rows, np.sqrt(np.abs(weights))[:, None], out=scaled, casting="same_kind")
        _add_gram(scaled.T, weights[0] < 0, 0, out)


def _add_gram(factor: npt.NDArray[np.floating], subtract: bool, transposed: int, out: npt.NDArray[np.floating]) -> None:
    """``out +- F F'`` (or F'F when transposed) on the lower triangle."""
    update = blas.ssyrk if out.dtype == np.float32 else blas.dsyrk
    update(-1.0 if subtract else 1.0, factor, beta=1.0, c=out, trans=transposed, lower=1, overwrite_c=1)


class HeldColumns(WorkingColumns):
    """Columns copied into one array, row by row."""

    def __init__(self, gram: Any) -> None:
        super().__init__(gram)
        self._buffer = np.empty((0, gram.shape[0]))

    @property
    def _held(self) -> FloatArray:
        return self._buffer[: len(self.entries)]

    def extend(self, entries: IntArray) -> None:
        first = len(self.entries)
        super().extend(entries)
        if len(self.entries) > len(self._buffer):
            size = max(len(self.entries), len(self._buffer) * 3 // 2)
            # In place: the system moves pages instead of keeping two copies. Nobody holds a view between calls.
            self._buffer.resize((size, self._buffer.shape[1]), refcheck=False)
        _read_columns(self._gram, entries, self._buffer[first : len(self.entries)])

    def apply(self, values: FloatArray) -> FloatArray:
        out = np.empty(self._buffer.shape[1])
        support = np.flatnonzero(values)
        _combine_rows(self._held, support, values[support], out)
        return out

    def adjoint(self, vector: FloatArray) -> FloatArray:
        return self._held @ vector

    def adjoint_at(self, chosen: IntArray, vector: FloatArray) -> FloatArray:
        out = np.empty(len(chosen))
        _dot_rows(self._held, chosen, vector, out)
        return out

    def rows(self, chosen: IntArray) -> FloatArray:
        return self._held[chosen]


class StreamedColumns(WorkingColumns):
    """Columns read from the stack whenever they are needed, kernel by kernel."""

    def __init__(self, gram: Any) -> None:
        super().__init__(gram)
        self._kernels: IntArray = np.zeros(0, dtype=np.intp)

    @classmethod
    def instead_of(cls, columns: WorkingColumns) -> StreamedColumns:
        """The same set, in the same order."""
        streamed = cls(columns._gram)
        streamed._inside, streamed.entries = columns._inside, columns.entries
        streamed._kernels = np.unique(streamed.entries % streamed._gram.n_kernels)
        return streamed

    def extend(self, entries: IntArray) -> None:
        points, kernels = np.divmod(entries, self._gram.n_kernels)
        super().extend(entries[np.lexsort((points, kernels))])
        self._kernels = np.unique(self.entries % self._gram.n_kernels)

    def apply(self, values: FloatArray) -> FloatArray:
        return self._gram.apply(self.spread(values))

    def adjoint(self, vector: FloatArray) -> FloatArray:
        points, kernels = np.divmod(self.entries, self._gram.n_kernels)
        return self._gram.adjoint(vector, self._kernels)[points, np.searchsorted(self._kernels, kernels)]

    def adjoint_at(self, chosen: IntArray, vector: FloatArray) -> FloatArray:
        return self.adjoint(vector)[chosen]

    def rows(self, chosen: IntArray) -> FloatArray:
        out = np.empty((len(chosen), self._gram.shape[0]))
        _read_columns(self._gram, self.entries[chosen], out)
        return out

    def sums(self, chosen: IntArray, labels: IntArray, values: FloatArray, n_labels: int) -> FloatArray:
        if n_labels > len(self._kernels):
            return super().sums(chosen, labels, values, n_labels)
        # As many sums as kernels (whole-kernel groups): products need no copy of the columns.
        out = np.empty((n_labels, self._gram.shape[0]))
        for label in range(n_labels):
            weights = np.zeros(len(self))
            weights[chosen[labels == label]] = values[labels == label]
            out[label] = self.apply(weights)
        return out

    def add_outer(self, chosen: IntArray, weights: FloatArray, out: npt.NDArray[np.floating]) -> None:
        points, kernels = np.divmod(self.entries[chosen], self._gram.n_kernels)
        samples = np.arange(self._gram.shape[0], dtype=np.intp)
        step = max(1, _BLOCK_BYTES // (8 * len(samples)))
        for t in np.unique(kernels):
            here = np.flatnonzero(kernels == t)
            for first in range(0, len(here), step):
                part = here[first : first + step]
                block = self._gram.read(np.array([t], dtype=np.intp), samples, points[part])[0]
                scaled = np.empty(block.shape, dtype=out.dtype)
                np.multiply(block, np.sqrt(np.abs(weights[part])), out=scaled, casting="same_kind")
                _add_gram(scaled.T, weights[part[0]] < 0, 1, out)


def _read_columns(gram: Any, entries: IntArray, out: FloatArray) -> None:
    """Read columns into the rows of ``out``, one kernel at a time."""
    points, kernels = np.divmod(entries, gram.n_kernels)
    samples = np.arange(gram.shape[0], dtype=np.intp)
    for t in np.unique(kernels):
        here = np.flatnonzero(kernels == t)
        out[here] = gram.read(np.array([t], dtype=np.intp), samples, points[here])[0].T
