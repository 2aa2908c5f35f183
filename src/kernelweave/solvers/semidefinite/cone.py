"""The cone X(xi) = sum_j xi_j M_j >= 0 in a primal-dual method: the algebra of the HKM direction.

From X Z = sigma I, linearised with Z made symmetric (Helmberg-Kojima-Monteiro):

    dZ = R - sum_j dxi_j W_j,   W_j = sym(Z M_j X^-1),   R = sigma X^-1 - Z - sym(dX dZ X^-1),

the last term of R being Mehrotra's correction from the predictor.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import eigsh

from kernelweave.problems.base import FloatArray

__all__ = ["Cone", "length_inside"]

_DIRECT = 150  # sizes up to which eigenvalues are computed directly, above by Lanczos
_INF = float("inf")


class Cone:
    """One point (X, Z) of the cone and its dual.

    Parameters
    ----------
    matrices : ndarray of shape (m, p, p)
        M_j, symmetric.
    xi : ndarray of shape (m,)
        Coefficients, with X positive definite.
    Z : ndarray of shape (p, p)
        Multiplier, positive definite.

    Attributes
    ----------
    forms : ndarray of shape (m,)
        ``<Z, M_j>``.
    complementarity : float
        ``<X, Z>``.

    Raises
    ------
    numpy.linalg.LinAlgError
        When X or Z is not positive definite.
    """

    def __init__(self, matrices: FloatArray, xi: FloatArray, Z: FloatArray) -> None:
        self.matrices, self.Z = matrices, Z
        self._flat = matrices.reshape(len(matrices), -1)
        X = (xi @ self._flat).reshape(Z.shape)
        self._X_factor = scipy.linalg.cholesky(X, lower=True, check_finite=False)
        self._Z_factor = scipy.linalg.cholesky(Z, lower=True, check_finite=False)
        inverse, _ = scipy.linalg.lapack.dpotri(self._X_factor, lower=1)
        self.inverse = np.tril(inverse) + np.tril(inverse, -1).T
        self.forms = self._flat @ Z.ravel()
        self.complementarity = float(xi @ self.forms)

    def factorise(self) -> FloatArray:
        """Compute the W_j and their Gram matrix ``<M_i, W_j>``, of shape (m, m)."""
        products = np.matmul(self.Z, self.matrices) @ self.inverse
        self._W = (0.5 * (products + products.transpose(0, 2, 1))).reshape(len(products), -1)
        schur = self._flat @ self._W.T
        return 0.5 * (schur + schur.T)

    def right_side(self, centre: float, correction: tuple[FloatArray, FloatArray] | None = None) -> FloatArray:
        """R for a target complementarity, with (dX, dZ) of the predictor where there is one."""
        R = centre * self.inverse - self.Z
        if correction is not None:
            dX, dZ = correction
            product = self.inverse @ (dX @ dZ)
            R -= 0.5 * (product + product.T)
        return R

    def inner(self, R: FloatArray) -> FloatArray:
        """``<R, M_j>``, shape (m,)."""
        return self._flat @ R.ravel()

    def direction(self, R: FloatArray, dxi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(dX, dZ) for a change of the coefficients."""
        dX = (dxi @ self._flat).reshape(R.shape)
        return dX, R - (dxi @ self._W).reshape(R.shape)

    def length(self, dX: FloatArray, dZ: FloatArray) -> float:
        """How far both X and Z stay semidefinite along the direction (inf when for ever)."""
        return min(length_inside(self._X_factor, dX), length_inside(self._Z_factor, dZ))


def length_inside(factor: FloatArray, change: FloatArray) -> float:
    """Largest a with ``A + a change`` semidefinite.

    Parameters
    ----------
    factor : ndarray of shape (p, p)
        Lower Cholesky factor of A.
    change : ndarray of shape (p, p)
        Symmetric direction.

    Returns
    -------
    float
        inf when there is no limit.
    """
    half = scipy.linalg.solve_triangular(factor, change, lower=True, check_finite=False)
    relative = scipy.linalg.solve_triangular(factor, half.T, lower=True, check_finite=False)
    relative = 0.5 * (relative + relative.T)
    if len(relative) <= _DIRECT:
        smallest = float(np.linalg.eigvalsh(relative)[0])
    else:
        start = np.cos(np.arange(len(relative), dtype=np.float64))
        smallest = 1.02 * float(eigsh(relative, 1, which="SA", tol=1e-2, v0=start, return_eigenvectors=False)[0])
    return -1.0 / smallest if smallest < 0 else _INF
