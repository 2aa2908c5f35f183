"""A kernel given as a matrix; samples are row indices or labels."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelweave.kernels.arrays import read_only
from kernelweave.kernels.base import FloatArray, Kernel
from kernelweave.kernels.vector import loops

__all__ = ["Precomputed"]

IntArray = npt.NDArray[np.intp]


class Precomputed(Kernel):
    """A given kernel matrix, addressed by the rows' indices or labels.

    The samples are numbers 0..N-1 (or labels), so cross-validation, pipelines and every
    scikit-learn tool work unchanged. The matrix is neither copied nor written into; clones
    share it. On all rows in order the result *is* the matrix, as a read-only view; any
    other choice of rows is a copy of those entries.

    Parameters
    ----------
    K : array-like of shape (N, N), or (N, P)
        The matrix, over all samples that will ever be asked for (training and new).
        float32 and float64 are used as they are. A pandas frame whose index is not
        0..N-1 brings its own labels. A matrix that is not square compares N samples with
        P points: its columns have numbers of their own, and there are no labels.
    labels : array-like of shape (N,), optional
        Labels of the rows, by which the samples then name them.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import Precomputed
    >>> kernel = Precomputed(np.array([[2.0, 1.0], [1.0, 3.0]]), labels=["a", "b"])
    >>> kernel(["b"], ["a", "b"])
    array([[1., 3.]])
    """

    vector_input = False

    def __init__(self, K: Any, labels: Any = None) -> None:
        self.K = K
        self.labels = labels

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Rows X and columns Y of the matrix.

        Parameters
        ----------
        X, Y : array-like of shape (n,) or (n, 1)
            Indices (whole numbers, also as floats) or labels.

        Returns
        -------
        ndarray of shape (n_x, n_y), dtype float64 or float32
            A read-only view of the matrix when all rows and columns are asked for in
            order, else a new array.

        Raises
        ------
        ValueError
            For an index or label that the matrix does not have, or without Y for a matrix that is not square.
        """
        matrix = self._matrix()
        if Y is None or Y is X:
            _check_square(matrix)
        lookup = self._lookup(len(matrix))
        rows = _positions(X, len(matrix), lookup)
        cols = rows if Y is None or Y is X else _positions(Y, matrix.shape[1], lookup, "column")
        if _is_identity(rows, len(matrix)) and _is_identity(cols, matrix.shape[1]):
            return read_only(matrix)
        entries = np.empty((len(rows), len(cols)), dtype=matrix.dtype)
        loops.gather(read_only(matrix), read_only(rows), read_only(cols), entries)
        return entries

    def diag(self, X: Any) -> FloatArray:
        """Diagonal entries of the rows X, shape (n_x,), dtype float64."""
        matrix = self._matrix()
        _check_square(matrix)
        rows = _positions(X, len(matrix), self._lookup(len(matrix)))
        return np.diagonal(matrix)[rows].astype(np.float64)

    def lends(self, X: Any) -> np.dtype[Any] | None:
        """Type of the given matrix when all its rows are asked for in order, else None."""
        matrix = self._matrix()
        whole = matrix is self.K and _is_identity(_positions(X, len(matrix), self._lookup(len(matrix))), len(matrix))
        return matrix.dtype if whole else None

    def freeze(self, X: Any) -> Kernel:
        """A kernel that holds an array, so that a list or a frame is converted only once."""
        matrix = self._matrix()
        if matrix is self.K:
            return self
        return Precomputed(matrix, self.labels if self.labels is not None else _frame_labels(self.K))

    def __sklearn_clone__(self) -> Precomputed:
        return type(self)(self.K, self.labels)

    def _matrix(self) -> FloatArray:
        matrix = np.asarray(self.K)
        if matrix.ndim != 2:
            raise ValueError(f"the precomputed matrix must have two dimensions, got shape {matrix.shape}")
        if self.labels is not None or hasattr(getattr(self.K, "index", None), "tolist"):
            _check_square(matrix)
        if matrix.dtype in (np.float64, np.float32):
            return matrix
        if matrix.dtype.kind not in "biufO":
            raise ValueError(f"the precomputed matrix must hold real numbers, got {matrix.dtype}")
        return matrix.astype(np.float64)

    def _lookup(self, n: int) -> dict[Hashable, int] | None:
        labels = _frame_labels(self.K) if self.labels is None else list(np.asarray(self.labels).tolist())
        if labels is None:
            return None
        if len(labels) != n:
            raise ValueError(f"the precomputed matrix has {n} rows but {len(labels)} labels")
        lookup = {label: i for i, label in enumerate(labels)}
        if len(lookup) < n:
            repeated = next(label for i, label in enumerate(labels) if lookup[label] != i)
            raise ValueError(f"label {repeated!r} names more than one row of the precomputed matrix")
        return lookup


def _check_square(matrix: npt.NDArray[Any]) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"the precomputed matrix must be square, got shape {matrix.shape}")


def _frame_labels(K: Any) -> list[Hashable] | None:
    index = getattr(K, "index", None)
    if index is None or not hasattr(index, "tolist"):
        return None
    labels: list[Hashable] = index.tolist()
    plain = list(range(len(labels)))
    if K.columns.tolist() not in (labels, plain):
        raise ValueError(
            "the frame of the precomputed matrix must have the same labels, in the same order, on rows "
            "and columns; for example K.loc[K.columns]"
        )
    return None if labels == plain else labels


def _positions(X: Any, n: int, lookup: dict[Hashable, int] | None, side: str = "row") -> IntArray:
    samples = np.asarray(X)
    if samples.ndim == 2 and samples.shape[1] == 1:
        samples = samples[:, 0]
    if samples.ndim != 1:
        raise ValueError(
            f"a precomputed kernel takes one column of row indices or labels, got shape {samples.shape}; "
            "name its column in the list of kernels"
        )
    if lookup is not None:
        return _labelled(samples, lookup)
    rows = _whole_numbers(samples)
    outside = np.flatnonzero((rows < 0) | (rows >= n))
    if outside.size:
        raise ValueError(
            f"{side} index {rows[outside[0]]} of sample {outside[0]} is outside the precomputed matrix with {n} {side}s"
        )
    return rows


def _labelled(samples: npt.NDArray[Any], lookup: dict[Hashable, int]) -> IntArray:
    try:
        return np.array([lookup[label] for label in samples.tolist()], dtype=np.intp)
    except (KeyError, TypeError):
        unknown = [i for i, label in enumerate(samples.tolist()) if not _known(label, lookup)]
    raise ValueError(
        f"label {samples.tolist()[unknown[0]]!r} of sample {unknown[0]} is not among the labels of the precomputed "
        f"matrix ({len(unknown)} of {len(samples)} samples are not)"
    )


def _known(label: Any, lookup: dict[Hashable, int]) -> bool:
    return isinstance(label, Hashable) and label in lookup


def _whole_numbers(samples: npt.NDArray[Any]) -> IntArray:
    if samples.dtype.kind in "iu":
        return samples.astype(np.intp, copy=False)
    # scikit-learn mixes columns into floats or objects: whole numbers stay valid indices.
    try:
        numbers = samples.astype(np.float64) if samples.dtype.kind in "fO" else None
    except (TypeError, ValueError):
        numbers = None
    if numbers is None:
        raise ValueError(
            f"a precomputed kernel without labels takes row indices, got {samples.dtype} such as "
            f"{samples.tolist()[0]!r}; give Precomputed(K, labels=...) to use labels"
        )
    # Beyond 2^53 floats are no longer exact; NaN fails every comparison.
    broken = np.flatnonzero(~((np.abs(numbers) < 2.0**53) & (numbers == np.round(numbers))))
    if broken.size:
        raise ValueError(f"row index {numbers[broken[0]]} of sample {broken[0]} is not a whole number")
    return numbers.astype(np.intp)


def _is_identity(rows: IntArray, n: int) -> bool:
    return len(rows) == n and bool(np.array_equal(rows, np.arange(n)))
