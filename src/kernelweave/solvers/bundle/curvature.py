"""Second-order information of omega in the kernel weights.

On the free samples F (0 < alpha < box) the solution of the SVM moves linearly with the
weights, which gives the Hessian 2 D'P D with D_i = (K_i beta)_F and P the inverse of K_FF + ridge
projected on sum beta = 0 (math of A6), and a prediction of beta at new weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.kernels.vector.loops import gather

__all__ = ["Curvature", "free_curvature"]

# Relative shift of the free block: rank-deficient kernels are the normal case. The second one is
# for blocks that rounding made indefinite; it makes the metric weaker, never wrong.
_SHIFTS = (1e-11, 1e-6)


@dataclass(frozen=True)
class Curvature:
    """Hessian of one column, and how its solution responds.

    Parameters
    ----------
    hessian : ndarray of shape (m, m)
        Second derivatives of omega in the weights.
    free : ndarray of intp
        Free samples.
    factor : ndarray or None
        Cholesky factor of the free block; None where the free samples were subsampled.
    sensitivity : ndarray of shape (len(free), m)
        Projected, half-solved products.
    correction : ndarray of shape (len(free),)
        The same for the residual gradient: one Newton step at fixed weights.
    """

    hessian: FloatArray
    free: IntArray
    factor: FloatArray | None
    sensitivity: FloatArray
    correction: FloatArray

    def predict(self, change: FloatArray) -> FloatArray:
        """Change of beta on the free samples for a change of the weights (zeros when subsampled)."""
        if self.factor is None:
            return np.zeros(len(self.free))
        rhs = self.correction - self.sensitivity @ change
        return scipy.linalg.solve_triangular(self.factor, rhs, lower=True, trans=1, check_finite=False)


def free_curvature(
    K: FloatArray,
    ridge: FloatArray,
    products: FloatArray,
    residual: FloatArray,
    free: IntArray,
    at_most: int | None = None,
) -> Curvature:
    """Curvature from the free samples.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Combined kernel matrix.
    ridge : ndarray of shape (n,)
        Ridge on its diagonal.
    products : ndarray of shape (m, n)
        ``K_i beta`` at least at the free samples.
    residual : ndarray of shape (n,)
        Gradient minus bias, zero on the free samples at the optimum.
    free : ndarray of intp
        Free samples.
    at_most : int, optional
        Use only this many of them, evenly spaced, and scale the Hessian up: enough for early steps.
    """
    m, scale = len(products), 1.0
    if at_most is not None and len(free) > at_most:
        chosen = free[np.linspace(0, len(free) - 1, at_most).astype(np.intp)]
        scale, free = len(free) / len(chosen), chosen
    if len(free) < 2:
        return Curvature(np.zeros((m, m)), free[:0], None, np.zeros((0, m)), np.zeros(0))
    factor = _factorise(K, ridge, free)
    if factor is None:
        return Curvature(np.zeros((m, m)), free[:0], None, np.zeros((0, m)), np.zeros(0))
    columns = np.empty((len(free), m + 2), order="F")
    columns[:, :m] = products[:, free].T
    columns[:, m] = 1.0
    columns[:, m + 1] = residual[free]
    half = scipy.linalg.solve_triangular(factor, columns, lower=True, overwrite_b=True, check_finite=False)
    ones = half[:, m] / np.linalg.norm(half[:, m])
    half -= np.outer(ones, ones @ half)
    sensitivity = half[:, :m]
    return Curvature(
        2.0 * scale * (sensitivity.T @ sensitivity), free, factor if scale == 1.0 else None, sensitivity, half[:, m + 1]
    )


def _factorise(K: FloatArray, ridge: FloatArray, free: IntArray) -> FloatArray | None:
    for shift in _SHIFTS:
        block = np.empty((len(free), len(free)))
        gather(K, free, free, block)
        block[np.diag_indices_from(block)] += ridge[free] + shift * float(np.mean(np.diagonal(block) + ridge[free]))
        # The transpose of a symmetric matrix in C order is itself in the order LAPACK wants: no copy.
        factor, info = scipy.linalg.lapack.dpotrf(block.T, lower=1, overwrite_a=1, clean=0)
        if info == 0:
            return factor
    return None
