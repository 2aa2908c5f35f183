"""Truncated ramps, the basis of learned monotone transforms ([H07] (1)).

    phi_j(x) = clip((x - z_j) / (z_{j+1} - z_j), 0, 1),   j = 1..J, knots z_1 < .. < z_{J+1},

applied to every feature. One ramp j of a group of features is one linear kernel,
k_j(x, x') = sum_f phi_j(x_f) phi_j(x'_f). Ramps are never stored: a value x is kept as its
position p = (number of ramps below it) + (fraction of the ramp it is on), and
phi_j(x) = clip(p - j, 0, 1) with j counted from 0.

A feature that is sparse keeps its zeros: with negative values around, ramps are
anchored, phi_j(x) - phi_j(0). That shifts every score by a constant, which the bias takes up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

__all__ = ["RampCells", "Ramps", "canonical_csr", "linear_cells"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
_Columns = tuple[IntArray, IntArray, IntArray, FloatArray]


@dataclass(frozen=True)
class RampCells:
    """Samples as positions on the ramps, row by row.

    A slot is a feature (or one side of zero of an anchored feature) with ramps of its own;
    slot s owns the coefficients ``offsets[s]`` to ``offsets[s + 1]``, one a ramp.

    Parameters
    ----------
    indptr : ndarray of shape (n_samples + 1,), dtype intp
        Entries ``indptr[i]`` to ``indptr[i + 1]`` belong to sample i.
    slots : ndarray of shape (n_entries,) or (0,), dtype int32
        Slot of each entry; empty when every sample has one entry a slot, in order.
    positions : ndarray of shape (n_entries,)
        Position in its slot, from 0 to the number of ramps there.
    offsets : ndarray of shape (n_slots + 1,), dtype intp
        Where the coefficients of each slot begin.
    kernel_of : ndarray of shape (offsets[-1],), dtype intp
        Which ramp kernel each coefficient belongs to.
    feature_of : ndarray of shape (offsets[-1],), dtype intp
        Which feature each coefficient belongs to.
    signs : ndarray of shape (offsets[-1],)
        -1 where the ramp counts downwards from zero (anchored ramps below zero), else 1.
    """

    indptr: IntArray
    slots: npt.NDArray[np.int32]
    positions: FloatArray
    offsets: IntArray
    kernel_of: IntArray
    feature_of: IntArray
    signs: FloatArray

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.indptr) - 1

    @property
    def n_kernels(self) -> int:
        """Number of ramp kernels."""
        return int(self.kernel_of.max(initial=-1)) + 1

    @property
    def n_coefficients(self) -> int:
        """Number of coefficients of a linear function of all ramps of all slots."""
        return len(self.kernel_of)

    def take(self, rows: IntArray) -> RampCells:
        """Positions of some of the samples.

        Parameters
        ----------
        rows : ndarray of intp
            Samples.
        """
        counts = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        entries = np.repeat(self.indptr[rows] - indptr[:-1], counts) + np.arange(indptr[-1])
        slots = self.slots[entries] if len(self.slots) else self.slots
        return replace(self, indptr=indptr, slots=slots, positions=self.positions[entries])


@dataclass(frozen=True)
class Ramps:
    """Knots for every group of features.

    Parameters
    ----------
    knots : tuple of ndarray of shape (n_ramps_g + 1,)
        Strictly increasing knots of each group.
    groups : ndarray of shape (n_features,), dtype intp
        Group of each feature.
    anchored : bool, default=False
        Subtract phi(0), so that zeros of sparse samples stay zeros whatever the knots.

    Raises
    ------
    ValueError
        For anchored ramps whose knots lie on both sides of zero without zero among them.

    Examples
    --------
    >>> ramps = Ramps((np.array([0.0, 1.0, 3.0]),), np.zeros(2, dtype=np.intp))
    >>> ramps.transform(np.array([[0.5, 2.0]]), np.array([0.4, 0.6]))
    array([[0.2, 0.7]])
    """

    knots: tuple[FloatArray, ...]
    groups: IntArray
    anchored: bool = False

    def __post_init__(self) -> None:
        for number, knots in enumerate(self.knots):
            if self.anchored and knots[0] < 0 < knots[-1] and 0 not in knots:
                raise ValueError(
                    f"Sparse samples need 0 among the knots when these lie on both sides of it (group {number}: "
                    f"{knots[0]:g} to {knots[-1]:g}). Add it, or pass a dense array."
                )

    @property
    def offsets(self) -> IntArray:
        """First ramp of each group among all ramps, and their total: shape (n_groups + 1,)."""
        return np.concatenate([[0], np.cumsum([len(knots) - 1 for knots in self.knots])]).astype(np.intp)

    @property
    def n_ramps(self) -> int:
        """Number of ramps over all groups: the number of kernels."""
        return int(self.offsets[-1])

    @property
    def group_of_ramp(self) -> IntArray:
        """Group of each ramp, shape (n_ramps,)."""
        return np.repeat(np.arange(len(self.knots), dtype=np.intp), np.diff(self.offsets))

    @property
    def keeps_zeros(self) -> bool:
        """Whether phi(0) = 0 (after anchoring): a sparse matrix stays sparse."""
        return self.anchored or all(knots[0] >= 0 for knots in self.knots)

    def cells(self, X: Any) -> RampCells:
        """Positions of samples.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Finite values; those beyond the knots count as on the outermost ones. A sparse
            matrix is made dense where the ramps do not keep zeros.

        Returns
        -------
        RampCells
        """
        sparse = scipy.sparse.issparse(X)
        if sparse and not self.keeps_zeros:
            X, sparse = X.toarray(), False
        if self.anchored:
            return self._anchored_cells(canonical_csr(X))
        counts = np.diff(self.offsets)[self.groups]
        columns = _columns(counts, _ranges(self.offsets[self.groups], counts))
        n, d = X.shape
        if not sparse:
            indptr = np.arange(0, n * d + 1, d, dtype=np.intp) if d else np.zeros(n + 1, dtype=np.intp)
            return RampCells(indptr, np.empty(0, np.int32), self._dense_positions(X).ravel(), *columns)
        X = canonical_csr(X)
        positions = self._entries(X.data, X.indices, lambda g, x: np.interp(x, self.knots[g], _counts(self.knots[g])))
        return _sparse_cells(positions, X.indices, X.indptr, (n, d), columns)

    def _dense_positions(self, X: FloatArray) -> FloatArray:
        if len(self.knots) == 1:
            return np.interp(X, self.knots[0], _counts(self.knots[0]))
        positions = np.empty(X.shape)
        for g, knots in enumerate(self.knots):
            columns = np.flatnonzero(self.groups == g)
            positions[:, columns] = np.interp(X[:, columns], knots, _counts(knots))
        return positions

    def _entries(self, values: FloatArray, features: IntArray, rule: Any) -> FloatArray:
        """A rule (group, values) -> numbers, applied to entries of different features."""
        if len(self.knots) == 1:
            return np.asarray(rule(0, values))
        # One sort by group, so that many groups cost no more than a few.
        groups = self.groups[features]
        order = np.argsort(groups, kind="stable")
        bounds = np.searchsorted(groups[order], np.arange(len(self.knots) + 1))
        result = np.empty(len(values))
        for g in np.unique(groups):
            at = order[bounds[g] : bounds[g + 1]]
            result[at] = rule(g, values[at])
        return result

    def _anchored_cells(self, X: Any) -> RampCells:
        # Features have two slots: ramps above zero, and ramps below zero counted downwards.
        # Below zero phi_j(x) - phi_j(0) <= 0; the sign is left to the coefficient.
        n, d = X.shape
        above, below = self._sides()
        counts = np.concatenate([np.diff(self.offsets)[self.groups] - below[self.groups], below[self.groups]])
        first = np.concatenate([(self.offsets[:-1] + below)[self.groups], (self.offsets[:-1] + below - 1)[self.groups]])
        direction = np.repeat([1, -1], [d, d])
        columns = _columns(counts, _ranges(first, counts, direction), d)
        signed = self._entries(
            X.data, X.indices, lambda g, x: np.interp(x, self.knots[g], _counts(self.knots[g])) - above[g]
        )
        slots = np.where(signed < 0, X.indices + d, X.indices)
        return _sparse_cells(np.abs(signed), slots, X.indptr, (n, 2 * d), columns)

    def _sides(self) -> tuple[FloatArray, IntArray]:
        """Position of zero in each group, and the number of ramps below it."""
        zero = np.array([np.interp(0.0, knots, _counts(knots)) for knots in self.knots])
        return zero, zero.astype(np.intp)

    def transform(self, X: Any, weights: FloatArray) -> Any:
        """phi(x) of every entry: ``sum_j weights_j phi_j(x)`` with the weights of its feature's group.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Samples.
        weights : ndarray of shape (n_ramps,)
            Nonnegative ramp weights, group after group.

        Returns
        -------
        ndarray or CSR matrix of the shape of X
            Sparse where X is and the ramps keep zeros.
        """
        heights = [np.concatenate([[0.0], np.cumsum(part)]) for part in np.split(weights, self.offsets[1:-1])]
        if self.anchored:
            heights = [h - np.interp(0.0, knots, h) for h, knots in zip(heights, self.knots, strict=True)]
        if scipy.sparse.issparse(X) and self.keeps_zeros:
            X = canonical_csr(X).copy()
            X.data = self._entries(X.data, X.indices, lambda g, x: np.interp(x, self.knots[g], heights[g]))
            return X
        X = X.toarray() if scipy.sparse.issparse(X) else X
        if len(self.knots) == 1:
            return np.interp(X, self.knots[0], heights[0])
        result = np.empty(X.shape)
        for g, knots in enumerate(self.knots):
            columns = np.flatnonzero(self.groups == g)
            result[:, columns] = np.interp(X[:, columns], knots, heights[g])
        return result


def linear_cells(X: Any) -> RampCells:
    """Features as they are: one unclipped ramp a feature, position = value, all in one kernel.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Finite values.
    """
    n, d = X.shape
    columns = _columns(np.ones(d, dtype=np.intp), np.zeros(d, dtype=np.intp))
    if scipy.sparse.issparse(X):
        X = canonical_csr(X)
        return _sparse_cells(X.data, X.indices, X.indptr, (n, d), columns)
    indptr = np.arange(0, n * d + 1, d, dtype=np.intp)
    values = np.ascontiguousarray(X, dtype=np.float64).ravel()
    return RampCells(indptr, np.empty(0, np.int32), values, *columns)


def canonical_csr(X: Any) -> Any:
    """X as a CSR matrix that names each entry once; X itself where it is one."""
    X = scipy.sparse.csr_matrix(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _counts(knots: FloatArray) -> FloatArray:
    return np.arange(len(knots), dtype=np.float64)


def _ranges(first: IntArray, counts: IntArray, direction: IntArray | int = 1) -> IntArray:
    """Concatenate ``first_i, first_i + direction_i, ..`` of the given lengths."""
    starts = np.cumsum(counts) - counts
    within = np.arange(int(counts.sum())) - np.repeat(starts, counts)
    signs = np.repeat(np.broadcast_to(direction, counts.shape), counts)
    return (np.repeat(first, counts) + signs * within).astype(np.intp)


def _columns(counts: IntArray, kernel_of: IntArray, n_features: int | None = None) -> _Columns:
    """Offsets, kernels, features and signs of the coefficients; slots beyond ``n_features`` are lower sides."""
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    slot_of = np.repeat(np.arange(len(counts), dtype=np.intp), counts)
    if n_features is None:
        return offsets, kernel_of, slot_of, np.ones(len(slot_of))
    return offsets, kernel_of, slot_of % n_features, np.where(slot_of < n_features, 1.0, -1.0)


def _sparse_cells(
    positions: FloatArray, slots: IntArray, indptr: IntArray, shape: tuple[int, int], columns: _Columns
) -> RampCells:
    """Entries sorted by slot within each sample, those on no ramp left out."""
    entries = scipy.sparse.csr_array((positions.copy(), slots.copy(), indptr.copy()), shape=shape)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    return RampCells(entries.indptr.astype(np.intp), entries.indices.astype(np.int32), entries.data, *columns)
