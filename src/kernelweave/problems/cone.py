"""Combinations of kernels with weights of any sign: their span, and the cone of semidefinite ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.gram.checks import is_positive_semidefinite
from kernelweave.problems.base import FloatArray

__all__ = ["ConeDual", "inverse_root", "mixed_until_semidefinite"]

# Shares of the uniform weights that are tried to make a slightly indefinite combination feasible.
_MIXTURES = (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
# Squared relative size below which a combination of kernels counts as zero: inner products
# of matrices are exact to about 1e-16, so smaller combinations are rounding.
_DEPENDENT = 1e-13


@dataclass(frozen=True)
class ConeDual:
    """A positive semidefinite matrix ``Z = basis core basis'``.

    Parameters
    ----------
    basis : ndarray of shape (n, p)
        Any vectors.
    core : ndarray of shape (p, p)
        Symmetric; negative eigenvalues are clipped where it is judged.
    """

    basis: FloatArray
    core: FloatArray


def mixed_until_semidefinite(gram: Any, mu: FloatArray, prices: FloatArray) -> tuple[FloatArray | None, float]:
    """Weights whose combination is positive semidefinite, near the given ones and at the same price.

    Parameters
    ----------
    gram : GramStack
        The kernels over all samples.
    mu : ndarray of shape (m,)
        Weights of any sign.
    prices : ndarray of shape (m,)
        Positive prices, in which the uniform weights spend alike.

    Returns
    -------
    mu : ndarray of shape (m,) or None
        The weights, mixed with the uniform ones where needed; None when even those are indefinite.
    share : float
        Share of the uniform weights in it.
    """
    uniform = (mu @ prices) / (len(prices) * prices)
    for share in _MIXTURES:
        mixture = (1.0 - share) * mu + share * uniform
        if is_positive_semidefinite(gram.combine(mixture), gram.dtype):
            return mixture, share
    return None, float("inf")


def inverse_root(inner: FloatArray) -> FloatArray:
    """Orthonormal combinations of m matrices, blind to combinations that are rounding.

    Parameters
    ----------
    inner : ndarray of shape (m, m)
        Inner products ``<K_i, K_j>``.

    Returns
    -------
    ndarray of shape (m, r)
        T with ``T' inner T = I``, r the numerical dimension of the span; ``T T'`` is a generalised inverse.
    """
    sizes = np.sqrt(np.maximum(np.diagonal(inner), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(inner / np.outer(sizes, sizes))
    kept = values > _DEPENDENT * len(inner) * values[-1]
    return vectors[:, kept] / (sizes[:, None] * np.sqrt(values[kept]))
