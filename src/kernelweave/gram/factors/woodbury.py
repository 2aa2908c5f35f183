"""Solves with a low-rank matrix plus a diagonal, also where the diagonal nearly vanishes.

For F of shape (n, r) and a positive diagonal D, the Woodbury identity gives

    (FF' + D)^{-1} = D^{-1} - D^{-1} F W^{-1} F' D^{-1},   W = I + F' D^{-1} F  (r x r),

at a cost linear in n, but it subtracts numbers of size 1/D_jj. At the end of an interior point a few
D_jj (those of the free samples) fall to 1e-15 and the others rise to 1e15. So the up to r samples
with the smallest D_jj, set A, are eliminated last and directly, by the Schur complement
D_A + F_A W_B^{-1} F_A' with W_B from the other samples alone: no division by a small D_jj is left.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from kernelweave.gram.base import FloatArray

__all__ = ["low_rank_solve"]

# Below this share of the average diagonal of FF' a shift is small.
_SMALL = 1e-3


def low_rank_solve(features: FloatArray, diagonal: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Factorise ``features features' + diag(diagonal)``.

    Parameters
    ----------
    features : ndarray of shape (n, r)
        F, of any rank; meant for r < n.
    diagonal : ndarray of shape (n,)
        Positive.

    Returns
    -------
    callable
        Maps right-hand sides (n,) or (n, k) to solutions, each refined once against its residual.

    Raises
    ------
    numpy.linalg.LinAlgError
        When the sum is not numerically positive definite.
    """
    n, rank = features.shape
    if rank == 0:
        return lambda rhs: (rhs.T / diagonal).T
    smallest = np.argpartition(diagonal, rank - 1)[:rank]
    near = smallest[diagonal[smallest] < _SMALL * np.vdot(features, features) / n]
    far = np.setdiff1d(np.arange(n), near)
    f_near, f_far = features[near], features[far]
    scaled = f_far / diagonal[far, None]
    inner = f_far.T @ scaled
    inner[np.diag_indices_from(inner)] += 1.0
    lower = scipy.linalg.cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
    half = scipy.linalg.solve_triangular(lower, f_near.T, lower=True, check_finite=False)
    schur = half.T @ half
    schur[np.diag_indices_from(schur)] += diagonal[near]
    outer = scipy.linalg.cholesky(schur, lower=True, overwrite_a=True, check_finite=False) if len(near) else schur

    def once(rhs: FloatArray) -> FloatArray:
        solution = np.empty_like(rhs)
        moved = scaled.T @ rhs[far]
        if len(near):
            known = half.T @ scipy.linalg.solve_triangular(lower, moved, lower=True, check_finite=False)
            solution[near] = scipy.linalg.cho_solve((outer, True), rhs[near] - known, check_finite=False)
            moved += f_near.T @ solution[near]
        weighted = scipy.linalg.cho_solve((lower, True), moved, check_finite=False)
        solution[far] = (rhs[far].T / diagonal[far]).T - scaled @ weighted
        return solution

    def solve(rhs: FloatArray) -> FloatArray:
        solution = once(rhs)
        residual = rhs - (features @ (features.T @ solution) + (solution.T * diagonal).T)
        return solution + once(residual)

    return solve
