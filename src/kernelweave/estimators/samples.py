"""Samples in the containers users bring: checked, stacked, and cut by rows."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.utils.validation import check_array, validate_data

from kernelweave.exceptions import import_extra

__all__ = ["check_sample_weight", "check_samples", "stack_samples"]


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars data frame."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "shape")


def check_samples(estimator: Any, X: Any, *, numeric: bool, reset: bool) -> Any:
    """Check the container of the samples and record feature names.

    Finite values are checked by the kernels that read them, which can name the kernel and
    the place; columns nobody reads may hold anything.

    Parameters
    ----------
    estimator : estimator
        Gets ``n_features_in_`` and ``feature_names_in_`` with ``reset``.
    X : array-like, sparse matrix, or frame of shape (n_samples, n_features)
        Samples; without ``numeric`` also a sequence of n_samples objects or indices.
    numeric : bool
        Every kernel reads numbers, so X must be a numeric matrix.
    reset : bool
        Whether this is fit.

    Returns
    -------
    X : ndarray, CSR matrix, or the frame itself
    """
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if X.shape[0] == 0:
            raise ValueError("Found array with 0 sample(s); at least one is needed.")
        return X
    if not numeric and not scipy.sparse.issparse(X) and _holds_objects(X):
        if reset:
            estimator.n_features_in_ = 1
        return X if isinstance(X, np.ndarray) and X.ndim == 1 else list(X)
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype="numeric" if numeric else None,
        ensure_all_finite=False,
    )


def _holds_objects(X: Any) -> bool:
    """Whether the samples are whole objects: texts, indices, series of unequal length or of vectors."""
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1:
        return len(X) > 0
    try:
        return np.ndim(X) > 2 or (np.ndim(X) <= 1 and len(X) > 0)
    except ValueError:
        # Sequences of unequal length are no table.
        return True


def stack_samples(first: Any, second: Any) -> Any:
    """The samples of two containers of the same kind, one after the other."""
    if is_frame(first):
        module = "pandas" if hasattr(first, "iloc") else "polars"
        frames = import_extra(module, "cli", "Stacking data frames")
        return (
            frames.concat([first, second], ignore_index=True) if module == "pandas" else frames.concat([first, second])
        )
    if scipy.sparse.issparse(first):
        return scipy.sparse.vstack([first, second], format="csr")
    if isinstance(first, list):
        return first + list(second)
    return np.concatenate([first, second], axis=0)


def check_sample_weight(sample_weight: Any, n: int) -> npt.NDArray[np.float64]:
    """Sample weights as a float64 array of shape (n,); ones when None.

    Raises
    ------
    ValueError
        For another shape, negative or non-finite weights, or weights that are all zero.
    """
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight, dtype=np.float64)
    weights = check_array(sample_weight, ensure_2d=False, allow_nd=True, dtype=np.float64, input_name="sample_weight")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; expected ({n},).")
    if (weights < 0).any():
        raise ValueError(f"sample_weight has a negative value at sample {int(np.argmin(weights))}.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every sample; at least one must count.")
    return weights
