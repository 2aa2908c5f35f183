"""From what a user says about transforms (sharing, knots, directions) to ramps."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse

from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.kernels.monotone.knots import check_knots, group_knots
from kernelweave.kernels.monotone.ramps import Ramps

__all__ = ["feature_position", "resolve_directions", "resolve_groups", "resolve_ramps"]


def resolve_groups(share: Any, n_features: int) -> IntArray:
    """Group of each feature.

    Parameters
    ----------
    share : "all", "feature" or array-like of shape (n_features,)
        One transform for all features, one each, or a label for each feature: equal labels share.
    n_features : int
        Number of features.

    Returns
    -------
    ndarray of shape (n_features,), dtype intp
        Numbered from 0 in the order of the sorted labels.

    Raises
    ------
    ValueError
        For anything else.
    """
    if isinstance(share, str):
        if share not in ("all", "feature"):
            raise ValueError(f"share must be 'all', 'feature' or a label for each feature; got {share!r}.")
        return np.zeros(n_features, dtype=np.intp) if share == "all" else np.arange(n_features, dtype=np.intp)
    labels = np.asarray(share)
    if labels.shape != (n_features,):
        raise ValueError(
            f"share must be 'all', 'feature' or a label for each of the {n_features} features; "
            f"got an array of shape {labels.shape}."
        )
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def resolve_ramps(X: Any, groups: IntArray, n_knots: int, knots: Any, sample_weight: FloatArray | None) -> Ramps:
    """Knots for every group, from quantiles or as given.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Training samples.
    groups : ndarray of shape (n_features,), dtype intp
        Group of each feature.
    n_knots : int
        Number of quantiles, at least 2; of no meaning where knots are given.
    knots : array-like, list of array-like, or None
        Knots of all groups, or of each.
    sample_weight : ndarray of shape (n_samples,) or None
        Positive; a sample of weight s counts as s samples in the quantiles.

    Returns
    -------
    Ramps
        Anchored at zero where X is sparse and the ramps would not keep its zeros.

    Raises
    ------
    ValueError
        For bad knots or a bad number of them.
    """
    sparse = scipy.sparse.issparse(X)
    if knots is not None:
        found = _given_knots(knots, int(groups.max()) + 1)
    else:
        found = group_knots(X, groups, _checked_number(n_knots), sample_weight)
        if sparse:
            found = tuple(_with_zero(part) for part in found)
    ramps = Ramps(found, groups)
    return ramps if ramps.keeps_zeros or not sparse else Ramps(found, groups, anchored=True)


def _with_zero(knots: FloatArray) -> FloatArray:
    """Zero as one more knot where knots lie on both sides of it: ramps are anchored there."""
    return np.union1d(knots, 0.0) if knots[0] < 0 < knots[-1] else knots


def _checked_number(n_knots: int) -> int:
    if not (isinstance(n_knots, Integral) and n_knots >= 2):
        raise ValueError(f"n_knots must be a whole number of at least 2; got {n_knots!r}.")
    return int(n_knots)


def _given_knots(knots: Any, n_groups: int) -> tuple[FloatArray, ...]:
    each = not scipy.sparse.issparse(knots) and len(knots) > 0 and np.ndim(knots[0]) > 0
    if not each:
        return (check_knots(knots, "knots"),) * n_groups
    if len(knots) != n_groups:
        raise ValueError(f"knots must be one array, or one for each of the {n_groups} transforms; got {len(knots)}.")
    return tuple(check_knots(part, f"knots[{g}]") for g, part in enumerate(knots))


def resolve_directions(directions: Any, n_features: int, names: Any) -> FloatArray | None:
    """Sign that scores must follow in each feature.

    Parameters
    ----------
    directions : array-like of shape (n_features,), dict of name to direction, or None
        1 for increasing, -1 for decreasing, 0 for either.
    n_features : int
        Number of features.
    names : ndarray of str or None
        Names of the features.

    Returns
    -------
    ndarray of shape (n_features,) or None
        None when no feature has a direction.

    Raises
    ------
    ValueError
        For other values, shapes or names.
    """
    if directions is None:
        return None
    if isinstance(directions, Mapping):
        signs = np.zeros(n_features)
        for name, sign in directions.items():
            signs[feature_position(name, n_features, names)] = _sign(sign)
    else:
        given = list(directions)
        if len(given) != n_features:
            raise ValueError(f"directions must name one of 1, -1, 0 for each of {n_features} features; got {given!r}.")
        signs = np.array([_sign(sign) for sign in given], dtype=np.float64)
    return signs if signs.any() else None


def _sign(value: Any) -> float:
    if isinstance(value, Integral | np.floating | float) and value in (-1, 0, 1):
        return float(value)
    raise ValueError(f"directions must be 1 (increasing), -1 (decreasing) or 0 (either); got {value!r}.")


def feature_position(feature: Any, n_features: int, names: Any) -> int:
    """Position of a feature given by position or name.

    Parameters
    ----------
    feature : int or str
        Which one.
    n_features : int
        Number of features.
    names : ndarray of str or None
        Names of the features.

    Raises
    ------
    ValueError
        When there is no such feature.
    """
    if isinstance(feature, str):
        if names is None:
            raise ValueError(f"There is no feature called {feature!r}; the features have no names.")
        found = np.flatnonzero(np.asarray(names) == feature)
        if len(found) == 0:
            raise ValueError(f"There is no feature called {feature!r}; there are {', '.join(names[:10])}.")
        return int(found[0])
    if isinstance(feature, Integral) and int(feature) in range(n_features):
        return int(feature)
    raise ValueError(f"There is no feature {feature!r}; features are numbered 0 to {n_features - 1}.")
