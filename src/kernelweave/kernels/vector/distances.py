"""Pairwise distances by name.

A kernel states the name of the distance it is a function of; kernels on the same columns
with the same name then share one computation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelweave.kernels.arrays import as_dense, as_pair, is_sparse, read_only
from kernelweave.kernels.base import FloatArray
from kernelweave.kernels.vector import loops

__all__ = ["compare_rows", "pairwise_distances", "refuse_negative", "squared_norms"]


def pairwise_distances(name: str, X: Any, Y: Any = None) -> FloatArray:
    """Distances between the rows of two matrices.

    Parameters
    ----------
    name : {"sqeuclidean", "manhattan", "chi2"}
        ``||x - z||^2``, ``sum |x - z|``, or ``sum (x - z)^2 / (x + z)`` (0/0 = 0).
    X, Y : array-like or sparse matrix of shape (n_x, n_features), (n_y, n_features)
        Samples; ``Y = X`` when None.

    Returns
    -------
    ndarray of shape (n_x, n_y), dtype float64
        A new array, nonnegative; exactly symmetric with a zero diagonal when Y is None.

    Raises
    ------
    ValueError
        For an unknown name, and for negative entries under "chi2".

    Examples
    --------
    >>> pairwise_distances("manhattan", [[0.0, 1.0], [2.0, 0.0]])
    array([[0., 3.],
           [3., 0.]])
    """
    left, right = as_pair(X, Y)
    if name == "sqeuclidean":
        result = _squared_euclidean(left, right)
    elif name == "manhattan":
        result = compare_rows(loops.MANHATTAN, left, right)
    elif name == "chi2":
        refuse_negative(left, right)
        result = compare_rows(loops.CHI_SQUARED, left, right)
    else:
        raise ValueError(f"unknown distance {name!r}; the names are sqeuclidean, manhattan, chi2")
    if right is left:
        np.fill_diagonal(result, 0.0)
    return result


def squared_norms(matrix: Any) -> FloatArray:
    """Squared norms of the rows of a dense or CSR matrix, shape (n_samples,)."""
    if is_sparse(matrix):
        return np.asarray(matrix.multiply(matrix).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", matrix, matrix)


def _squared_euclidean(left: Any, right: Any) -> FloatArray:
    same = right is left
    if is_sparse(left) and is_sparse(right):
        result = _from_products(left, right)
        loops.repair_sparse(result, *_csr_arrays(left), *_csr_arrays(right))
        return result
    first = _rows(left)
    second = first if same else _rows(right)
    # Distances ignore a shift; without one, samples far from the origin cancel more often.
    centre = first.mean(axis=0) if len(first) else 0.0
    shifted = first - centre
    result = _from_products(shifted, shifted if same else second - centre)
    loops.repair(result, first, second)
    return result


def _from_products(left: Any, right: Any) -> FloatArray:
    """Squared distances from norms and products; -1 for near pairs, whose digits they lose."""
    norms = squared_norms(left)
    result: FloatArray = as_dense(left @ right.T)
    loops.squared_from_products(result, norms, norms if right is left else squared_norms(right))
    return result


def compare_rows(kind: int, left: Any, right: Any) -> FloatArray:
    """Run the compiled comparison ``kind`` (see `kernelweave.kernels.vector.loops`) on two matrices.

    Parameters
    ----------
    kind : int
        ``loops.MANHATTAN``, ``loops.CHI_SQUARED``, ``loops.INTERSECTION`` or ``loops.JENSEN_SHANNON``.
    left, right : ndarray or CSR matrix of shape (n_x, n_features), (n_y, n_features)
        From `as_pair`; the same object when the two sets are the same.

    Returns
    -------
    ndarray of shape (n_x, n_y), dtype float64
        A new array.
    """
    same = right is left
    out = np.empty((left.shape[0], right.shape[0]))
    if is_sparse(left) and is_sparse(right):
        loops.compare_sparse(kind, *_csr_arrays(left), *_csr_arrays(right), left.shape[1], same, out)
        return out
    first = _rows(left)
    loops.compare(kind, first, first if same else _rows(right), same, out)
    return out


def _rows(matrix: Any) -> FloatArray:
    return read_only(np.ascontiguousarray(matrix.toarray() if is_sparse(matrix) else matrix))


def _csr_arrays(matrix: Any) -> tuple[FloatArray, Any, Any]:
    # One index type, so that one compiled variant serves all.
    indices, starts = (np.asarray(part, dtype=np.int64) for part in (matrix.indices, matrix.indptr))
    return read_only(matrix.data), read_only(indices), read_only(starts)


def refuse_negative(*matrices: Any) -> None:
    """Refuse samples that are not histograms.

    Raises
    ------
    ValueError
        Naming the first negative entry.
    """
    for matrix in matrices:
        if matrix.shape[0] * matrix.shape[1] and matrix.min() < 0:
            coordinates = matrix.tocoo() if is_sparse(matrix) else None
            if coordinates is None:
                row, column = np.argwhere(matrix < 0)[0]
            else:
                spot = np.flatnonzero(coordinates.data < 0)[0]
                row, column = coordinates.row[spot], coordinates.col[spot]
            raise ValueError(f"histograms must not be negative, but feature {column} of sample {row} is")
