"""The smallest description of the constraint: which samples and which combinations of kernels count.

K(mu) is semidefinite on all samples exactly when it is on a set of samples that spans the joint range
of the kernels: pivots of a pivoted Cholesky factorisation of the uniform combination K_0, scaled to unit
diagonal. Duplicated samples, centred kernels and low ranks lose their null directions this way, without
which the barrier has no interior; and no basis is ever formed. Likewise the kernels are described by
a basis of their span, so that duplicates cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.problems.cone import inverse_root

__all__ = ["Face", "face_floors", "find_face", "span_of"]

# What is left of a sample (relative to its diagonal) once the pivots are known, below which it is rounding:
# first guess, and what to try when weights that are fine on the pivots are indefinite elsewhere. Finer
# floors follow the kernels into their rounding errors, which the multipliers then inherit.
_FLOORS = {"float64": (1e-9, 1e-10, 1e-11), "float32": (1e-5, 1e-6)}


@dataclass(frozen=True)
class Face:
    """Joint range of the kernels.

    Parameters
    ----------
    pivots : ndarray of shape (rank,), dtype intp
        Samples that span it, sorted.
    uniform : ndarray of shape (rank, rank)
        Uniform combination K_0 on the pivots, trace c over all samples.
    factor : ndarray of shape (rank, rank)
        Its lower Cholesky factor.
    """

    pivots: IntArray
    uniform: FloatArray
    factor: FloatArray

    def embed(self, block: FloatArray, n: int) -> FloatArray:
        """Rows of the pivots as rows of all n samples: (rank, k) -> (n, k)."""
        result = np.zeros((n, block.shape[1]))
        result[self.pivots] = block
        return result


def face_floors(dtype: npt.DTypeLike) -> tuple[float, ...]:
    """Floors to try in turn for a storage type."""
    return _FLOORS[np.dtype(dtype).name]


def find_face(gram: Any, units: FloatArray, floor: float) -> Face:
    """Pivots of the uniform combination.

    Parameters
    ----------
    gram : GramStack
        Kernels over all samples.
    units : ndarray of shape (m,)
        Scale of each kernel.
    floor : float
        Share of a sample's diagonal below which it adds nothing to the pivots.

    Returns
    -------
    Face
    """
    uniform = gram.combine(units / len(units))
    diagonal = np.diagonal(uniform)
    live = diagonal > 0
    scale = np.where(live, 1.0 / np.sqrt(np.where(live, diagonal, 1.0)), 0.0)
    scaled = scale[:, None] * uniform * scale
    _, order, rank, _ = scipy.linalg.lapack.dpstrf(scaled, tol=floor, lower=1, overwrite_a=1)
    pivots = np.sort(order[:rank] - 1).astype(np.intp)
    if rank < len(uniform):
        uniform = uniform[np.ix_(pivots, pivots)]
    return Face(pivots, uniform, scipy.linalg.cholesky(uniform, lower=True, check_finite=False))


def span_of(inner: FloatArray, *, with_ridge: bool) -> FloatArray:
    """Basis of the span of the kernels, orthonormal for the Frobenius inner product.

    Parameters
    ----------
    inner : ndarray of shape (m, m)
        Inner products of the scaled kernels.
    with_ridge : bool
        Add a column for the learned ridge, a "kernel" of its own.

    Returns
    -------
    ndarray of shape (M, M')
        T: weights ``x = T xi`` of the coordinates xi; M counts the ridge, M' is the dimension of the span.
    """
    half = inverse_root(inner)
    return scipy.linalg.block_diag(half, np.eye(1)) if with_ridge else half
