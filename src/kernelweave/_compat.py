"""The only place for names that scikit-learn does not promise to keep."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["column_list_types", "take_rows"]


def take_rows(X: Any, rows: npt.NDArray[np.intp]) -> Any:
    """Rows of an array, sparse matrix, pandas or polars frame, or list."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, rows)


def column_list_types() -> list[type]:
    """Types of list in which a fitted ``ColumnTransformer`` may hold column names, beside ``list``."""
    from sklearn.compose import _column_transformer

    # There in 1.6, gone in 1.9.
    kind = getattr(_column_transformer, "_RemainderColsList", None)
    return [] if kind is None else [kind]
