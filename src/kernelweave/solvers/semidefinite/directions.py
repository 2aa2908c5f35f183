"""A growing set of directions on which the combination must be semidefinite.

Directions are orthonormal for the uniform combination K_0 on the face's samples, so that the
uniform weights give the identity there and "how negative" is measured against the kernels themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from kernelweave.gram.base import FloatArray
from kernelweave.solvers.semidefinite.face import Face

__all__ = ["Directions", "most_negative"]

_INDEPENDENT = 1e-8  # squared length a new direction must keep beside the old ones
_GROWTH = 6.0
_LARGEST_SHIFT = 1e8


class Directions:
    """Directions with the products of every kernel with them.

    Parameters
    ----------
    gram : GramStack
        Kernels over all samples.
    face : Face
        Its pivots carry the directions.
    units : ndarray of shape (m,)
        Scales of the kernels.

    Attributes
    ----------
    basis : ndarray of shape (rank, p)
        The directions.
    blocks : ndarray of shape (m, p, p)
        Scaled kernels on them; their mean is the identity.
    """

    def __init__(self, gram: Any, face: Face, units: FloatArray) -> None:
        self._gram, self._face, self._units = gram, face, units
        self.basis = np.zeros((len(face.pivots), 0))
        self._products = np.zeros((len(units), len(face.pivots), 0))
        self.blocks = np.zeros((len(units), 0, 0))

    def start(self, per_kernel: int, free: int) -> None:
        """Random directions, and for each kernel some that it favours: one power step from random ones."""
        rng = np.random.default_rng(0)
        m, rank = len(self._units), len(self._face.pivots)
        raw = rng.standard_normal((rank, free + m * per_kernel))
        favoured = self._times(raw[:, free:])
        parts = [raw[:, :free]]
        for i in range(m):
            part = favoured[i][:, i * per_kernel : (i + 1) * per_kernel]
            parts.append(part / np.maximum(np.linalg.norm(part, axis=0), np.finfo(float).tiny))
        self.add(np.concatenate(parts, axis=1))

    def add(self, vectors: FloatArray) -> int:
        """Add directions, those that say something new; returns how many.

        Parameters
        ----------
        vectors : ndarray of shape (rank, q)
            Any vectors.
        """
        products = self._times(vectors)
        vectors, products = _scaled(vectors, products)
        for _ in range(2):
            overlap = self.basis.T @ products.mean(axis=0)
            vectors = vectors - self.basis @ overlap
            products = products - self._products @ overlap
        inner = vectors.T @ products.mean(axis=0)
        values, rotation = np.linalg.eigh(0.5 * (inner + inner.T))
        kept = values > _INDEPENDENT
        rotation = rotation[:, kept] / np.sqrt(values[kept])
        vectors, products = vectors @ rotation, products @ rotation
        cross = np.matmul(self.basis.T, products)
        corner = np.matmul(vectors.T, products)
        corner = 0.5 * (corner + corner.transpose(0, 2, 1))
        upper = np.concatenate([self.blocks, cross], axis=2)
        lower = np.concatenate([cross.transpose(0, 2, 1), corner], axis=2)
        self.blocks = np.concatenate([upper, lower], axis=1)
        self.basis = np.concatenate([self.basis, vectors], axis=1)
        self._products = np.concatenate([self._products, products], axis=2)
        return int(kept.sum())

    def _times(self, vectors: FloatArray) -> FloatArray:
        """Scaled kernels times vectors, (m, rank, q)."""
        padded = self._face.embed(vectors, self._gram.shape[0])
        products = self._gram.block_products(padded)
        if len(vectors) < self._gram.shape[0]:
            products = products[:, self._face.pivots]
        return products * self._units[:, None, None]


def _scaled(vectors: FloatArray, products: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same with unit length for K_0."""
    lengths = np.sqrt(np.maximum(np.einsum("np,np->p", vectors, products.mean(axis=0)), np.finfo(float).tiny))
    return vectors / lengths, products / lengths


def most_negative(
    K: FloatArray, uniform: FloatArray, shift: float, count: int
) -> tuple[FloatArray, FloatArray] | None:
    """Directions in which K is most negative, relative to the uniform combination.

    Shift-and-invert Lanczos on ``K v = lambda K_0 v`` about ``-shift``, the shift being raised until
    ``K + shift K_0`` has a Cholesky factor: the eigenvalues sought are then the extreme ones.

    Parameters
    ----------
    K, uniform : ndarray of shape (rank, rank)
        Combination to examine and uniform combination.
    shift : float
        First guess of how negative it is.
    count : int
        Number of directions.

    Returns
    -------
    values : ndarray of shape (count,)
        Ascending.
    vectors : ndarray of shape (rank, count)
        Orthonormal for the uniform combination. None instead of both when no shift is large enough.
    """
    while shift < _LARGEST_SHIFT:
        factor, info = scipy.linalg.lapack.dpotrf(K + shift * uniform, lower=1, overwrite_a=1, clean=0)
        if info == 0:
            break
        shift *= _GROWTH
    else:
        return None
    rank = len(K)
    inverse = LinearOperator(
        (rank, rank), matvec=lambda v: scipy.linalg.lapack.dpotrs(factor, v, lower=1)[0], dtype=np.float64
    )
    start = np.cos(np.arange(rank, dtype=np.float64))
    values, vectors = eigsh(K, count, M=uniform, sigma=-shift, OPinv=inverse, which="LM", v0=start, tol=1e-2)
    order = np.argsort(values)
    return values[order], vectors[:, order]
