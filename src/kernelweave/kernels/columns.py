"""Columns of any container, as a kernel wants them.

What the user wrote is resolved on the training samples to positions, and to names where
the container has them, so that a frame with reordered columns is read by name later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from kernelweave.kernels.arrays import as_dense, is_sparse
from kernelweave.kernels.containers import (
    NUMERIC_KINDS,
    as_array,
    as_container,
    column_names,
    take_positions,
    width_of,
)

__all__ = ["Columns", "resolve_columns", "select_columns"]


@dataclass(frozen=True)
class Columns:
    """Chosen columns.

    Parameters
    ----------
    positions : tuple of int or None
        Positions in the training samples; None for samples that have no columns (a list
        of objects, an array of more than two dimensions).
    names : tuple of str or None
        Their names, where the training samples were a frame with distinct names.
    width : int
        Number of columns of the training samples.
    """

    positions: tuple[int, ...] | None
    names: tuple[str, ...] | None
    width: int

    def label(self, column: int) -> str:
        """How a message calls the selected column number ``column``."""
        if self.names is not None:
            return f"column '{self.names[column]}'"
        return f"column {column if self.positions is None else self.positions[column]}"


def resolve_columns(columns: Any, X: Any) -> Columns:
    """Find out which columns are meant.

    Parameters
    ----------
    columns : None, str, int, list of str or int, slice, mask, or callable
        As in scikit-learn's ``ColumnTransformer``: None means all; strings name the columns
        of a frame (a slice of names includes its end); integers are positions; a mask has
        one truth value a column; a callable (``make_column_selector``) gets X and returns
        one of these.
    X : array, sparse matrix, pandas or polars frame, or list
        Training samples.

    Returns
    -------
    Columns
        Positions and names.

    Raises
    ------
    ValueError
        When a column does not exist, none is selected, or names are used without a frame.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import resolve_columns, select_columns
    >>> X = np.array([[1, 2, 3], [4, 5, 6]])
    >>> select_columns(X, resolve_columns(slice(1, 3), X))
    array([[2., 3.],
           [5., 6.]])
    """
    if callable(columns):
        columns = columns(X)
    X = as_container(X)
    names, width = column_names(X), width_of(X)
    if width is None:
        if columns is not None:
            raise ValueError("columns were chosen, but the samples have none")
        return Columns(None, None, 1)
    positions = tuple(range(width)) if columns is None else _positions(columns, names, width)
    if not positions:
        raise ValueError(f"the choice of columns {columns!r} selects none of {width}")
    listed = None if names is None else list(names)
    return Columns(positions, None if listed is None else tuple(listed[i] for i in positions), width)


def select_columns(X: Any, columns: Columns, numeric: bool | None = True) -> Any:
    """The chosen columns of training or new samples.

    Parameters
    ----------
    X : array, sparse matrix, pandas or polars frame, or list
        Samples.
    columns : Columns
        What `resolve_columns` found on the training samples.
    numeric : bool or None, default=True
        True: a finite float64 matrix. False: the objects themselves, of shape (n_samples,)
        when one column is chosen. None: the first where the columns hold numbers, else the second.

    Returns
    -------
    ndarray of shape (n_samples, n_columns) or (n_samples,), or CSR matrix
        The samples; a view where that is possible.

    Raises
    ------
    ValueError
        When columns or entries are missing, or are not finite numbers where they must be.
    """
    block = _take(X, columns)
    if numeric is None:
        numeric = block.ndim == 2 and _holds_numbers(block)
    if not numeric:
        block = _present(as_dense(block), columns)
        return block[:, 0] if block.ndim == 2 and block.shape[1] == 1 else block
    if block.ndim != 2:
        raise ValueError(f"the kernel takes numeric columns, but the samples have shape {block.shape}")
    return _finite(_numbers(block, columns), columns)


def _positions(columns: Any, names: dict[str, int] | None, width: int) -> tuple[int, ...]:
    if isinstance(columns, str | int | np.integer) and not isinstance(columns, bool):
        return (_position(columns, names, width),)
    if isinstance(columns, slice):
        return tuple(range(width)[_positional(columns, names, width)])
    chosen = list(columns) if isinstance(columns, Sequence) else np.asarray(columns).tolist()
    if not isinstance(chosen, list):
        chosen = [columns]
    if chosen and all(isinstance(item, bool | np.bool_) for item in chosen):
        if len(chosen) != width:
            raise ValueError(f"the mask of columns has {len(chosen)} entries for {width} columns")
        return tuple(int(i) for i in np.flatnonzero(chosen))
    return tuple(_position(item, names, width) for item in chosen)


def _position(column: Any, names: dict[str, int] | None, width: int) -> int:
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"column {column!r} is chosen by name, but the samples are not a frame with distinct names; "
                "use positions"
            )
        if column not in names:
            raise ValueError(f"there is no column {column!r}; the columns are {_listed(names)}")
        return names[column]
    if isinstance(column, int | np.integer) and not isinstance(column, bool):
        if not -width <= column < width:
            raise ValueError(f"there is no column {column}; the samples have {width} columns")
        return int(column) % width
    raise ValueError(f"cannot choose columns by {column!r}; use names, positions, a slice, a mask or a callable")


def _positional(columns: slice, names: dict[str, int] | None, width: int) -> slice:
    start, stop = columns.start, columns.stop
    if isinstance(start, str):
        start = _position(start, names, width)
    if isinstance(stop, str):
        stop = _position(stop, names, width) + 1
    return slice(start, stop, columns.step)


def _listed(names: dict[str, int]) -> str:
    shown = ", ".join(repr(name) for name in list(names)[:10])
    return shown if len(names) <= 10 else f"{shown}, ... ({len(names)})"


def _take(X: Any, columns: Columns) -> Any:
    X = as_container(X)
    if columns.positions is None:
        return as_array(X)
    positions = list(columns.positions)
    names = column_names(X) if columns.names is not None else None
    if names is not None and columns.names is not None:
        positions = [_position(name, names, len(names)) for name in columns.names]
    elif width_of(X) != columns.width:
        raise ValueError(f"the samples have {width_of(X)} columns, but the kernels were fitted on {columns.width}")
    return take_positions(X, positions)


def _holds_numbers(block: Any) -> bool:
    return block.dtype.kind in NUMERIC_KINDS or (
        block.dtype.kind == "O" and all(isinstance(value, Real) for value in block.ravel())
    )


def _present(block: Any, columns: Columns) -> Any:
    if block.dtype.kind == "f":
        places = np.argwhere(np.isnan(block))
    elif block.dtype.kind == "O":
        places = np.argwhere(np.reshape([_is_missing(value) for value in block.ravel()], block.shape))
    else:
        return block
    if len(places):
        column = int(places[0][1]) if block.ndim == 2 else 0
        raise ValueError(f"{columns.label(column)} is missing in row {places[0][0]}; drop the sample or fill it in")
    return block


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, float | np.floating) and bool(np.isnan(value)))
        or type(value).__name__ in ("NAType", "NaTType")
    )


def _numbers(block: Any, columns: Columns) -> Any:
    kind = block.dtype.kind
    if kind in NUMERIC_KINDS:
        return block.astype(np.float64, copy=False)
    if kind in "OUS":
        try:
            return block.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(_not_a_number(block, columns)) from None
    raise ValueError(f"{columns.label(0)} holds {block.dtype}, not numbers")


def _not_a_number(block: Any, columns: Columns) -> str:
    for column in range(block.shape[1]):
        for row, value in enumerate(block[:, column]):
            try:
                float(value)
            except (TypeError, ValueError):
                return f"{columns.label(column)} holds {value!r} in row {row}, not a number"
    return "the columns do not hold numbers"


def _finite(matrix: Any, columns: Columns) -> Any:
    values = matrix.data if is_sparse(matrix) else matrix
    # One pass without a temporary: a sum is finite unless an entry is not (or it overflows).
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return matrix
    where = np.flatnonzero(~np.isfinite(values))
    if not where.size:
        return matrix
    if is_sparse(matrix):
        coordinates = matrix.tocoo()
        row, column = int(coordinates.row[where[0]]), int(coordinates.col[where[0]])
    else:
        row, column = divmod(int(where[0]), matrix.shape[1])
    value = "NaN" if np.isnan(values.reshape(-1)[where[0]]) else "infinity"
    raise ValueError(
        f"{columns.label(column)} holds {value} in row {row}; drop the sample or fill it in, "
        "for example with sklearn.impute.SimpleImputer"
    )
