"""Fitted estimators in terms that skops can store: frames and enum members become plain data.

The estimator itself is never changed: what differs is copied, what does not is shared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator

from kernelweave.estimators.expansion import KernelExpansion
from kernelweave.estimators.mixed_norm.sparse_expansion import SparseExpansion
from kernelweave.exceptions import import_extra
from kernelweave.solvers.driver import Status

__all__ = ["StoredFrame", "StoredStatus", "restored", "storable"]


@dataclass(frozen=True)
class StoredStatus:
    """A member of `Status` by name.

    Parameters
    ----------
    name : str
        Name of the member.
    """

    name: str


@dataclass(frozen=True)
class StoredFrame:
    """A data frame as arrays.

    Parameters
    ----------
    library : {"pandas", "polars"}
        What built it.
    names : list
        Names of the columns.
    columns : ndarray of shape (n_rows, n_columns) or list of ndarray of shape (n_rows,)
        One matrix where the columns have one numeric type, in the layout the frame holds it in,
        so that the same sums are taken in the same order.
    index : list or None
        Row labels of a pandas frame that has some.
    """

    library: str
    names: list[Any]
    columns: Any
    index: list[Any] | None


def storable(estimator: Any) -> Any:
    """Copy of a fitted estimator that skops can store, with `restored` as its inverse.

    Parameters
    ----------
    estimator : estimator
        Ours, or a scikit-learn pipeline around one. A function given as ``verbose`` is left out.

    Returns
    -------
    estimator
        A copy that shares its arrays with the original.
    """

    def change(value: Any) -> Any:
        if isinstance(value, Status):
            return StoredStatus(value.name)
        if isinstance(value, KernelExpansion | SparseExpansion):
            return replace(value, X=_used_columns(value))
        return _stored_frame(value) if _is_frame(value) else value

    return _mapped(estimator, change, {})


def restored(stored: Any) -> Any:
    """Undo `storable`.

    Parameters
    ----------
    stored : estimator
        What came out of the file.

    Returns
    -------
    estimator
    """

    def change(value: Any) -> Any:
        if isinstance(value, StoredStatus):
            return Status[value.name]
        if scipy.sparse.issparse(value):
            # Compiled code follows these indices without looking.
            value.check_format(full_check=True)
        return _frame(value) if isinstance(value, StoredFrame) else value

    return _mapped(stored, change, {})


def _mapped(value: Any, change: Callable[[Any], Any], memo: dict[int, tuple[Any, Any]]) -> Any:
    """Rebuild containers, estimators and our own objects with ``change`` applied to what they hold."""
    if id(value) in memo:
        return memo[id(value)][1]
    changed = change(value)
    result = changed
    if type(changed) in (list, tuple):
        result = type(changed)(_mapped(item, change, memo) for item in changed)
    elif type(changed) is dict:
        result = {key: _mapped(item, change, memo) for key, item in changed.items()}
    elif hasattr(changed, "__dict__") and (isinstance(changed, BaseEstimator) or _is_ours(changed)):
        result = object.__new__(type(changed))
        attributes = {key: _mapped(item, change, memo) for key, item in vars(changed).items()}
        if isinstance(changed, BaseEstimator) and callable(attributes.get("verbose")):
            attributes["verbose"] = 0
        vars(result).update(attributes)
    # The original is kept beside its image, so that its id stays its own.
    memo[id(value)] = (value, result)
    return result


def _is_ours(value: Any) -> bool:
    # Classes and enum members are what they are: a copy would be something else.
    return not isinstance(value, type | Enum) and type(value).__module__.split(".")[0] == "kernelweave"


def _is_frame(value: Any) -> bool:
    return type(value).__name__ == "DataFrame" and hasattr(value, "columns") and hasattr(value, "to_numpy")


def _used_columns(expansion: KernelExpansion | SparseExpansion) -> Any:
    """The training samples without the columns that no kernel reads: they are nobody's business."""
    chosen = [member.columns.names for member in expansion.prepared.named]
    if not _is_frame(expansion.X) or any(names is None for names in chosen):
        return expansion.X
    used = {name for names in chosen for name in names or ()}
    return expansion.X[[name for name in expansion.X.columns if name in used]]


def _stored_frame(frame: Any) -> StoredFrame:
    pandas = hasattr(frame, "iloc")
    names = list(frame.columns)
    index = list(frame.index) if pandas and type(frame.index).__name__ != "RangeIndex" else None
    parts = [frame.iloc[:, i] if pandas else frame[:, i] for i in range(len(names))]
    kinds = {part.dtype for part in parts}
    if pandas and len(kinds) == 1 and isinstance(dtype := next(iter(kinds)), np.dtype) and dtype.kind in "biuf":
        return StoredFrame("pandas", names, frame.to_numpy(), index)
    return StoredFrame("pandas" if pandas else "polars", names, [_array(part) for part in parts], index)


def _array(column: Any) -> Any:
    dtype = column.dtype
    if getattr(dtype, "kind", "O") in "biuf" and not isinstance(dtype, np.dtype) and hasattr(column, "iloc"):
        # Nullable numbers: kernels read them as floats with NaN as well.
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    values = column.to_numpy()
    return values if values.dtype.kind in "biuf" else values.astype(object)


def _frame(stored: StoredFrame) -> Any:
    library = import_extra(stored.library, "cli", "This model was fitted on a data frame and")
    if stored.library == "polars":
        return library.DataFrame(dict(zip(stored.names, stored.columns, strict=True)))
    if isinstance(stored.columns, np.ndarray):
        return library.DataFrame(stored.columns, columns=stored.names, index=stored.index)
    frame = library.DataFrame(dict(enumerate(stored.columns)), index=stored.index)
    frame.columns = stored.names
    return frame
