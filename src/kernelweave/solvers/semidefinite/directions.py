"""A growing set of directions on which the combination must be semidefinite.

Directions are orthonormal for the uniform combination K_0 on the face's samples, so that the
uniform weights give the identity there and "how negative" is measured against the kernels themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from kernelweave.gram.base import FloatArray
from kernelweave.solvers.semidefinite.face import Face

__all__ = ["Directions", "most_negative"]

_INDEPENDENT = 1e-8  # squared length a new direction must keep beside the old ones
_GROWTH = 6.0
_SMALLEST_SHIFT, _LARGEST_SHIFT = 1e-10, 1e8
_KRYLOV_STEPS = 4


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
    K: FloatArray, uniform: FloatArray, guess: float, count: int
) -> tuple[float, FloatArray, FloatArray] | None:
    """Directions in which K is most negative, relative to the uniform combination.

    Shift-and-invert on ``K v = lambda K_0 v`` about ``-shift``, the shift being raised until ``K + shift K_0``
    has a Cholesky factor: the eigenvalues sought are then the extreme ones, and a block Krylov space of a
    few steps holds their vectors.

    Parameters
    ----------
    K, uniform : ndarray of shape (rank, rank)
        Combination to examine and uniform combination.
    guess : float
        How negative it may be.
    count : int
        Number of directions.

    Returns
    -------
    negative : float
        Bound: ``K + negative K_0`` is positive definite.
    values : ndarray of shape (count,)
        Approximate eigenvalues, ascending.
    vectors : ndarray of shape (rank, count)
        Their directions. None instead of all three when no shift is large enough.
    """
    shift, factor = guess, _factor(K, uniform, guess)
    while factor is None:
        shift *= _GROWTH
        if shift > _LARGEST_SHIFT:
            return None
        factor = _factor(K, uniform, shift)
    values, vectors = _krylov(factor, uniform, shift, count)
    # Ritz values lie inside the spectrum: only a factorisation proves that nothing is more negative.
    negative = max(-1.05 * float(values[0]), _SMALLEST_SHIFT)
    while negative < shift and _factor(K, uniform, negative) is None:
        negative *= 2.0
    return min(negative, shift), values, vectors


def _factor(K: FloatArray, uniform: FloatArray, shift: float) -> FloatArray | None:
    factor, info = scipy.linalg.lapack.dpotrf((K + shift * uniform).T, lower=1, overwrite_a=1, clean=0)
    return factor if info == 0 else None


def _krylov(factor: FloatArray, uniform: FloatArray, shift: float, count: int) -> tuple[FloatArray, FloatArray]:
    """Ritz pairs of K in the block Krylov space of ``(K + shift K_0)^-1 K_0``."""
    block = np.random.default_rng(1).standard_normal((len(uniform), count))
    image = uniform @ block
    basis, images, K_images = [], [], []
    for _ in range(_KRYLOV_STEPS):
        solved, _ = scipy.linalg.lapack.dpotrs(factor, image, lower=1)
        block, R = np.linalg.qr(solved)
        # (K + shift K_0) solved = K_0 block_before, so products with K come for nothing.
        K_image = scipy.linalg.solve_triangular(R, image.T, trans=1, check_finite=False).T
        image = uniform @ block
        basis.append(block)
        images.append(image)
        K_images.append(K_image - shift * image)
    W, UW, KW = np.hstack(basis), np.hstack(images), np.hstack(K_images)
    inner, form = W.T @ UW, W.T @ KW
    values, rotation = np.linalg.eigh(0.5 * (inner + inner.T))
    kept = values > 1e-12 * values[-1]
    rotation = rotation[:, kept] / np.sqrt(values[kept])
    values, vectors = np.linalg.eigh(rotation.T @ (0.5 * (form + form.T)) @ rotation)
    return values[:count], W @ (rotation @ vectors[:, :count])
