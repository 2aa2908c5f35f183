"""The only place for names that scikit-learn does not promise to keep."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["take_rows"]


def take_rows(X: Any, rows: npt.NDArray[np.intp]) -> Any:
    """Rows of an array, sparse matrix, pandas or polars frame, or list."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, rows)
