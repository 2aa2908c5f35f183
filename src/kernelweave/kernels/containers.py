"""What samples come in: arrays, sparse matrices, pandas and polars frames, lists.

Frames are known by what they offer, so neither library is imported.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from kernelweave.kernels.arrays import is_sparse

__all__ = ["NUMERIC_KINDS", "as_array", "as_container", "column_names", "take_positions", "width_of"]

NUMERIC_KINDS = frozenset("biuf")

_ARRAY_LIKE = (Real, str, np.generic, list, tuple, np.ndarray)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "to_numpy")


def as_container(X: Any) -> Any:
    """The samples as an array, a sparse matrix or a frame; lists and series become arrays.

    Parameters
    ----------
    X : array, sparse matrix, pandas or polars frame or series, or list
        Samples. A list of anything but numbers, strings and nested lists (graphs, sets), or of
        sequences of unequal length, gives an array of objects, one each.

    Returns
    -------
    ndarray, sparse matrix or frame
        The samples, not copied if they already are one.
    """
    if _is_frame(X) or is_sparse(X) or isinstance(X, np.ndarray):
        return X
    if hasattr(X, "to_numpy"):
        return X.to_numpy()
    if all(isinstance(sample, _ARRAY_LIKE) for sample in X):
        try:
            return np.asarray(X)
        except ValueError:
            pass
    objects = np.empty(len(X), dtype=object)
    for i, sample in enumerate(X):
        objects[i] = sample
    return objects


def as_array(X: Any) -> Any:
    """The container as an array or a sparse matrix."""
    return X.to_numpy() if _is_frame(X) else X


def width_of(X: Any) -> int | None:
    """Number of columns of a container: one if it has one dimension, None if it has more than two."""
    return {1: 1, 2: X.shape[-1]}.get(len(X.shape))


def column_names(X: Any) -> dict[str, int] | None:
    """Positions of a frame's columns by name; None without a frame or without distinct strings as names."""
    if not _is_frame(X):
        return None
    positions = {name: i for i, name in enumerate(X.columns)}
    usable = all(isinstance(name, str) for name in positions) and len(positions) == X.shape[1]
    return positions if usable else None


def take_positions(X: Any, positions: list[int]) -> Any:
    """Columns of a container.

    Parameters
    ----------
    X : ndarray, sparse matrix or frame
        From `as_container`.
    positions : list of int
        Columns, possibly repeated.

    Returns
    -------
    ndarray or CSR matrix of shape (n_samples, n_columns)
        A view where that is possible.
    """
    if len(X.shape) == 1:
        return X[:, None][:, positions]
    if _is_frame(X):
        return _take_from_frame(X, positions)
    matrix = X.tocsr() if is_sparse(X) else X
    first, last = positions[0], positions[-1]
    if positions == list(range(first, last + 1)):
        # A slice is a view of an array; all columns of a sparse matrix are the matrix.
        return matrix if len(positions) == matrix.shape[1] else matrix[:, first : last + 1]
    return matrix[:, positions]


def _take_from_frame(X: Any, positions: list[int]) -> Any:
    if not hasattr(X, "iloc"):
        # polars has no frames with a column twice.
        once, places = np.unique(positions, return_inverse=True)
        block = X[:, once.tolist()].to_numpy()
        return block if np.array_equal(places, np.arange(block.shape[1])) else block[:, places]
    part = X.iloc[:, positions]
    block = part.to_numpy()
    if block.dtype.kind == "O" and all(getattr(dtype, "kind", "O") in NUMERIC_KINDS for dtype in part.dtypes):
        # Nullable and mixed numeric columns come out as objects; missing ones become NaN.
        return part.to_numpy(dtype=np.float64, na_value=np.nan)
    return block
