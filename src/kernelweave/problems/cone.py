"""Combinations of kernels with weights of any sign: their span, and the cone of semidefinite ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.gram.preparing.checks import is_positive_semidefinite
from kernelweave.problems.base import FloatArray

__all__ = ["ConeDual", "inverse_root", "justified_price", "mixed_until_semidefinite"]

# Shares of the uniform weights that are tried to make a slightly indefinite combination feasible.
_MIXTURES = (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
# Squared relative size below which a combination of kernels counts as zero: inner products
# of matrices are exact to about 1e-16, so smaller combinations are rounding.
_DEPENDENT = 1e-13
_REPAIRS = 4  # rounds of meeting the equations and entering the cone


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


def justified_price(gram: Any, q: FloatArray, prices: FloatArray, cone: ConeDual | None) -> float:
    """A lambda for which some semidefinite Z satisfies ``p_i lambda = q_i + <Z, K_i>`` for every kernel.

    It bounds ``q'mu`` by ``lambda p'mu`` for every mu with a semidefinite combination.

    Parameters
    ----------
    gram : GramStack
        The kernels over all samples; its traces are the prices.
    q : ndarray of shape (m,)
        Values of the kernels.
    prices : ndarray of shape (m,)
        Traces p.
    cone : ConeDual or None
        A guess at Z. It is corrected by combinations of the kernels so that the equations hold, then by a
        multiple of the identity that keeps it semidefinite.

    Returns
    -------
    float
    """
    # In units of the prices, along orthonormal combinations T of the kernels:
    # T'(q + <Z, K>) should equal lambda T'e. Combinations that are rounding ask nothing.
    span = inverse_root(gram.frobenius_products() / np.outer(prices, prices))
    needed, given = span.sum(axis=0), span.T @ (q / prices)
    if cone is None or not np.isfinite(cone.basis).all() or not np.isfinite(cone.core).all():
        return _mended(needed, given)
    blocks = np.einsum("np,inq->ipq", cone.basis, gram.block_products(cone.basis), optimize=True)
    flat = (span / prices[:, None]).T @ (0.5 * (blocks + blocks.transpose(0, 2, 1))).reshape(len(blocks), -1)
    root = inverse_root(flat @ flat.T)
    core, best = 0.5 * (cone.core + cone.core.T), float("inf")
    for _ in range(_REPAIRS):
        # Alternately into the cone and onto the equations, as far as the span of the basis allows.
        values, vectors = np.linalg.eigh(core)
        core = (vectors * np.maximum(values, 0.0)) @ vectors.T
        held = given + flat @ core.ravel()
        best = min(best, _mended(needed, held))
        correction = root @ (root.T @ _spread(needed, held, root))
        core = core + (correction @ flat).reshape(core.shape)
    return best


def _spread(needed: FloatArray, given: FloatArray, root: FloatArray) -> FloatArray:
    """What is missing from ``given`` to be a multiple of ``needed``, at the level that is cheapest to reach."""
    a, g = root.T @ needed, root.T @ given
    return float(a @ g) / max(float(a @ a), np.finfo(float).tiny) * needed - given


def _mended(needed: FloatArray, given: FloatArray) -> float:
    """Lambda after mending equations by sum_j rho_j K_j and by the multiple of the identity that covers it.

    In orthonormal combinations of the kernels the Frobenius norm of the former, which bounds its spectral
    norm, is the norm of what is missing; the identity costs the same in every equation.
    """
    level = float(needed @ given) / float(needed @ needed)
    return level + float(np.linalg.norm(level * needed - given))
