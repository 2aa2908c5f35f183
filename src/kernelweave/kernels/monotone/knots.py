"""Knots of ramps: quantiles of the pooled training values, ties merged."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

__all__ = ["check_knots", "group_knots", "quantile_knots"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


def quantile_knots(
    values: FloatArray, n_knots: int, weights: FloatArray | None = None, n_zeros: float = 0
) -> FloatArray:
    """Knots at the quantiles of values that may be mostly zero.

    Knots are values that occur (the inverse of the empirical distribution), so repeating a
    sample and weighting it are the same thing. When zeros alone would tie two quantiles, most
    knots would be wasted on them: then zero is one knot and the others are quantiles of the rest.

    Parameters
    ----------
    values : ndarray of any shape
        Finite values, explicit zeros among them.
    n_knots : int
        Number of knots before ties are merged, at least 2.
    weights : ndarray of the shape of ``values``, optional
        Positive; a value of weight s counts as s values.
    n_zeros : float, default=0
        Number of further zeros that are not stored.

    Returns
    -------
    ndarray of shape (at most n_knots,)
        Strictly increasing; the lowest and the highest value are among them. Has a single entry
        when all values are equal.

    Examples
    --------
    >>> import numpy as np
    >>> quantile_knots(np.arange(9.0), 5)
    array([0., 2., 4., 6., 8.])
    >>> quantile_knots(np.array([1.0, 2.0, 3.0, 4.0]), 5, n_zeros=96)
    array([0., 1., 2., 3., 4.])
    """
    values = np.ravel(values)
    weights = None if weights is None else np.ravel(weights)
    stored_zero = values == 0
    kept = values[~stored_zero]
    if weights is None:
        n_zeros = n_zeros + float(stored_zero.sum())
    else:
        n_zeros = n_zeros + float(weights[stored_zero].sum())
        weights = weights[~stored_zero]
    rest = float(len(kept)) if weights is None else float(weights.sum())
    if rest == 0:
        return np.zeros(1)
    # Two neighbouring quantiles are 1 / (n_knots - 1) of the mass apart.
    if n_zeros > 0 and n_zeros * (n_knots - 1) > rest + n_zeros:
        levels = np.linspace(0.0, 1.0, n_knots)[1:] if kept.min() > 0 else np.linspace(0.0, 1.0, max(n_knots - 1, 2))
        return np.unique(np.append(_quantiles(kept, levels, weights), 0.0))
    if n_zeros > 0:
        weights = np.ones(len(kept)) if weights is None else weights
        kept, weights = np.append(kept, 0.0), np.append(weights, n_zeros)
    return np.unique(_quantiles(kept, np.linspace(0.0, 1.0, n_knots), weights))


def _quantiles(values: FloatArray, levels: FloatArray, weights: FloatArray | None) -> FloatArray:
    if weights is None:
        # Partial sorting: pooled values can be many millions.
        ranks = np.clip(np.ceil(levels * len(values) * (1 - 1e-12)).astype(np.intp) - 1, 0, len(values) - 1)
        return np.partition(values, np.unique(ranks))[ranks]
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weights[order])
    at = np.searchsorted(mass, levels * mass[-1] * (1 - 1e-12), side="left")
    return values[order][np.minimum(at, len(values) - 1)]


def group_knots(
    X: Any, groups: IntArray, n_knots: int, sample_weight: FloatArray | None = None
) -> tuple[FloatArray, ...]:
    """Quantile knots for every group of features, from the values of all its features together.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Finite training values.
    groups : ndarray of shape (n_features,), dtype intp
        Group of each feature, numbered from 0 without gaps.
    n_knots : int
        Number of knots before ties are merged, at least 2.
    sample_weight : ndarray of shape (n_samples,), optional
        Positive; a sample of weight s counts as s samples.

    Returns
    -------
    tuple of ndarray
        Knots of each group. A group of one single value v gets the knots v and v + 1.

    Raises
    ------
    ValueError
        When no feature varies.
    """
    n_groups = int(groups.max()) + 1
    columns = X.tocsc() if scipy.sparse.issparse(X) else X
    order = np.argsort(groups, kind="stable")
    bounds = np.searchsorted(groups[order], np.arange(n_groups + 1))
    found = []
    for g in range(n_groups):
        members = slice(None) if n_groups == 1 else order[bounds[g] : bounds[g + 1]]
        found.append(_pooled(columns[:, members], n_knots, sample_weight))
    if all(len(knots) == 1 for knots in found):
        raise ValueError("Every feature is constant; there is nothing to transform.")
    return tuple(np.append(knots, knots[0] + 1.0) if len(knots) == 1 else knots for knots in found)


def _pooled(columns: Any, n_knots: int, sample_weight: FloatArray | None) -> FloatArray:
    if scipy.sparse.issparse(columns):
        values, rows, cells = columns.data, columns.indices, columns.shape[0] * columns.shape[1]
        if sample_weight is None:
            return quantile_knots(values, n_knots, None, cells - len(values))
        weights = sample_weight[rows]
        return quantile_knots(values, n_knots, weights, sample_weight.sum() * columns.shape[1] - weights.sum())
    if sample_weight is None:
        return quantile_knots(columns, n_knots)
    return quantile_knots(columns, n_knots, np.broadcast_to(sample_weight[:, None], columns.shape))


def check_knots(knots: Any, name: str) -> FloatArray:
    """Knots given by a user as a float array of their own.

    Parameters
    ----------
    knots : array-like of shape (n_ramps + 1,)
        Knots.
    name : str
        What they are, for the message.

    Returns
    -------
    ndarray of shape (n_ramps + 1,)

    Raises
    ------
    ValueError
        Unless they are finite, strictly increasing and at least two.
    """
    if scipy.sparse.issparse(knots):
        raise ValueError(f"{name} must be an array of numbers; got a sparse matrix.")
    try:
        array = np.array(knots, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers; got {knots!r}.") from None
    if array.ndim != 1 or len(array) < 2:
        raise ValueError(f"{name} must be a list of at least two numbers; got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite; got {array[~np.isfinite(array)][0]} among them.")
    if not (np.diff(array) > 0).all():
        at = int(np.argmin(np.diff(array)))
        raise ValueError(f"{name} must increase strictly; {array[at]:g} is followed by {array[at + 1]:g}.")
    return array
