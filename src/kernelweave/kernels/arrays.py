"""Arrays as kernels take them and hand them back."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from kernelweave.kernels.base import FloatArray

__all__ = ["as_dense", "as_gram", "as_matrix", "as_pair", "is_sparse", "read_only"]


def is_sparse(X: Any) -> bool:
    """Whether it is a scipy sparse matrix or array."""
    return bool(scipy.sparse.issparse(X))


def as_matrix(X: Any) -> Any:
    """Rows of numbers, without copying what already is.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    ndarray or CSR matrix of shape (n_samples, n_features), dtype float64
        The samples; a CSR matrix is sorted and without duplicates.

    Raises
    ------
    ValueError
        When X does not have two dimensions, or holds complex numbers.
    """
    matrix = X if is_sparse(X) else np.asarray(X)
    if matrix.dtype.kind == "c":
        raise ValueError("samples must be real numbers, got complex ones")
    if is_sparse(X):
        rows = X.tocsr().astype(np.float64, copy=False)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        return rows
    matrix = matrix.astype(np.float64, copy=False)
    if matrix.ndim != 2:
        raise ValueError(
            f"samples must be the rows of a matrix of shape (n_samples, n_features), got shape {matrix.shape}; "
            "reshape one feature with X.reshape(-1, 1), one sample with X.reshape(1, -1)"
        )
    return matrix


def as_pair(X: Any, Y: Any) -> tuple[Any, Any]:
    """Both sets of samples (``Y = X``, the same object, when None).

    Raises
    ------
    ValueError
        When the numbers of features differ.
    """
    left = as_matrix(X)
    right = left if Y is None or Y is X else as_matrix(Y)
    if left.shape[1] != right.shape[1]:
        raise ValueError(f"X has {left.shape[1]} features and Y has {right.shape[1]}; a kernel needs the same ones")
    return left, right


def read_only(array: Any) -> Any:
    """A view of an array that cannot be written into."""
    view = array.view()
    view.flags.writeable = False
    return view


def as_dense(X: Any) -> Any:
    """The matrix as a dense array."""
    return X.toarray() if is_sparse(X) else X


def as_gram(result: Any, shape: tuple[int, int]) -> FloatArray:
    """What somebody's kernel returned, as a matrix of real numbers.

    Parameters
    ----------
    result : array-like or sparse matrix
        The result.
    shape : tuple of int
        Numbers of samples (n_x, n_y).

    Returns
    -------
    ndarray of shape (n_x, n_y), dtype float64 or float32
        The result itself when it already is one.

    Raises
    ------
    ValueError
        When it has another shape or does not hold real numbers.
    """
    matrix = np.asarray(as_dense(result))
    if matrix.shape != shape:
        raise ValueError(f"returned shape {matrix.shape} for {shape[0]} and {shape[1]} samples, expected {shape}")
    if matrix.dtype in (np.float64, np.float32):
        return matrix
    if matrix.dtype.kind not in "biufO":
        raise ValueError(f"returned {matrix.dtype} entries, expected real numbers")
    return matrix.astype(np.float64)
