"""Rules that find the factor ``gamma`` of a kernel from the training samples."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from kernelweave.kernels.arrays import is_sparse
from kernelweave.kernels.base import FloatArray, n_samples

__all__ = ["MEDIAN_SAMPLES", "checked_gamma", "median_positive", "median_subsample", "resolve_gamma", "scale_gamma"]

MEDIAN_SAMPLES = 1000


def checked_gamma(gamma: Any, rules: tuple[str, ...]) -> float:
    """A positive finite number.

    Raises
    ------
    ValueError
        When it is anything else; the message lists what is allowed.
    """
    if isinstance(gamma, Real) and not isinstance(gamma, bool) and 0 < float(gamma) < np.inf:
        return float(gamma)
    allowed = " or ".join(["a positive number", *(f'"{rule}"' for rule in rules)])
    raise ValueError(f"gamma must be {allowed}, got {gamma!r}")


def resolve_gamma(gamma: Any, X: Any, Y: Any = None) -> float:
    """The number behind a factor that is a number or "scale".

    Parameters
    ----------
    gamma : float or "scale"
        The setting.
    X, Y : ndarray or CSR matrix of shape (n_samples, n_features)
        The samples; the rule wants them to be the same ones.

    Returns
    -------
    float
        The factor.

    Raises
    ------
    ValueError
        For any other setting, or when the rule would have to choose between two sets of samples.
    """
    if not (isinstance(gamma, str) and gamma == "scale"):
        return checked_gamma(gamma, ("scale",))
    refuse_two_sets(gamma, X, Y)
    return scale_gamma(X)


def refuse_two_sets(gamma: str, X: Any, Y: Any) -> None:
    """Refuse a rule that would depend on which of two sets of samples it is read from."""
    if Y is not None and Y is not X:
        raise ValueError(
            f'gamma="{gamma}" depends on the training samples; call kernel.freeze(X_train) first, '
            "then the frozen kernel on (X, Y)"
        )


def scale_gamma(X: Any) -> float:
    """``1 / (n_features * X.var())`` as in scikit-learn; 1 when the variance is zero."""
    if is_sparse(X):
        variance = float(X.multiply(X).mean() - X.mean() ** 2)
    else:
        variance = float(X.var()) if X.size else 0.0
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def median_subsample(X: Any) -> Any:
    """At most `MEDIAN_SAMPLES` rows, drawn once and for all by the number of rows."""
    n = n_samples(X)
    if n <= MEDIAN_SAMPLES:
        return X
    # A draw, not every k-th row: data may be sorted in a period.
    rows = np.sort(np.random.default_rng(0).choice(n, MEDIAN_SAMPLES, replace=False))
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]


def median_positive(distances: FloatArray) -> float | None:
    """Median of the distances of distinct pairs; of the positive ones if that is zero; None if all are.

    Parameters
    ----------
    distances : ndarray of shape (n, n), dtype float64
        Pairwise distances of one set of samples.
    """
    pairs = distances[np.tri(len(distances), k=-1, dtype=bool)]
    if pairs.size and (middle := float(np.median(pairs))) > 0:
        return middle
    positive = pairs[pairs > 0]
    return float(np.median(positive)) if positive.size else None
