"""Proximity operators of the mixed norms ([K09] Proposition 1 and its section 3).

    prox(u) = argmin_a  1/2 ||a - u||^2 + (lam/q) ||a||_{pq;r}^q

p, q
1, 1   sign(u) (|u| - lam)_+
2, 2   u / (1 + lam)
2, 1   u_g (1 - lam / ||u_g||)_+
1, 2   sign(u) (|u| - theta_g)_+  with  theta_g = lam sum_m (|u_m| - theta_g)_+  over the group

The last line is the printed one with sorted entries: theta_g is the root of a decreasing convex
piecewise linear function, which Newton's method reaches from the left in finitely many steps
without sorting. Entries come flat with the number of their group, so one loop serves rows,
columns, and any subset of the entries.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kernelweave.gram.base import IntArray
from kernelweave.problems.base import FloatArray
from kernelweave.problems.penalties import MixedNorm

__all__ = ["entry_groups", "group_count", "prox", "prox_entries"]


@njit(cache=True)
def _soft(u: FloatArray, groups: IntArray, lam: FloatArray, out: FloatArray) -> None:
    for k in range(len(u)):
        threshold = lam[groups[k]]
        if u[k] > threshold:
            out[k] = u[k] - threshold
        elif u[k] < -threshold:
            out[k] = u[k] + threshold
        else:
            # Keeps a NaN visible instead of turning it into a zero.
            out[k] = 0.0 * u[k]


@njit(cache=True)
def _block(u: FloatArray, groups: IntArray, lam: FloatArray, norms: FloatArray, out: FloatArray) -> None:
    norms[:] = 0.0
    for k in range(len(u)):
        norms[groups[k]] += u[k] * u[k]
    for g in range(len(norms)):
        norm = np.sqrt(norms[g])
        # norms becomes the factor of the group; a NaN stays one.
        norms[g] = 0.0 if norm <= lam[g] else 1.0 - lam[g] / norm
    for k in range(len(u)):
        out[k] = u[k] * norms[groups[k]]


@njit(cache=True)
def _elitist(u: FloatArray, groups: IntArray, lam: FloatArray, theta: FloatArray, out: FloatArray) -> None:
    m = len(theta)
    count, total = np.zeros(m, np.intp), np.zeros(m)
    for k in range(len(u)):
        count[groups[k]] += 1
        total[groups[k]] += abs(u[k])
    members = count.copy()
    for g in range(m):
        theta[g] = lam[g] * total[g] / (1.0 + lam[g] * count[g])
    unsettled = True
    while unsettled:
        unsettled = False
        count[:] = 0
        total[:] = 0.0
        for k in range(len(u)):
            g = groups[k]
            if abs(u[k]) > theta[g]:
                count[g] += 1
                total[g] += abs(u[k])
        for g in range(m):
            # The members above the threshold only become fewer; without a change the root is found.
            if count[g] < members[g]:
                members[g] = count[g]
                if count[g] > 0:
                    theta[g] = lam[g] * total[g] / (1.0 + lam[g] * count[g])
                    unsettled = True
    for k in range(len(u)):
        excess = abs(u[k]) - theta[groups[k]]
        if excess > 0:
            out[k] = excess if u[k] > 0 else -excess
        else:
            out[k] = 0.0 * u[k]


def prox_entries(
    penalty: MixedNorm,
    u: FloatArray,
    groups: IntArray,
    scratch: FloatArray,
    lam: float | FloatArray,
    out: FloatArray | None = None,
) -> FloatArray:
    """Proximity operator of ``lam Omega`` on some of the entries, the others being held at zero.

    Parameters
    ----------
    penalty : MixedNorm
        p, q and r.
    u : ndarray of shape (n_entries,)
        Point; not changed.
    groups : ndarray of shape (n_entries,), dtype intp
        Group of each entry, from `entry_groups`.
    scratch : ndarray of shape (n_groups,)
        Overwritten.
    lam : float or ndarray of shape (n_groups,)
        Nonnegative strength, with the step length (of each group) multiplied in.
    out : ndarray of shape (n_entries,), optional
        Where to write the result.

    Returns
    -------
    ndarray of shape (n_entries,)
    """
    result = np.empty_like(u) if out is None else out
    strengths = np.full(len(scratch), lam) if np.ndim(lam) == 0 else np.asarray(lam)
    if penalty.separable:
        if penalty.q == 1:
            _soft(u, groups, strengths, result)
        else:
            np.divide(u, 1.0 + strengths[groups], out=result)
    elif penalty.q == 1:
        _block(u, groups, strengths, scratch, result)
    else:
        _elitist(u, groups, strengths, scratch, result)
    return result


def entry_groups(penalty: MixedNorm, entries: IntArray, n_kernels: int) -> IntArray:
    """Groups of entries given by their position in the row-major (n_samples, n_kernels) array.

    Where the penalty has none (p = q) a kernel's entries count as one, for what is said group by group.
    """
    by_sample = penalty.r == 1 and not penalty.separable
    return entries // n_kernels if by_sample else entries % n_kernels


def group_count(penalty: MixedNorm, shape: tuple[int, ...]) -> int:
    """Number of groups that `entry_groups` tells apart, of coefficients of shape (n_points, n_kernels)."""
    return shape[0] if penalty.r == 1 and not penalty.separable else shape[1]


def prox(penalty: MixedNorm, u: FloatArray, lam: float) -> FloatArray:
    """Proximity operator of ``lam Omega``.

    Parameters
    ----------
    penalty : MixedNorm
        p, q and r.
    u : ndarray of shape (n_samples, n_kernels)
        Point; not changed.
    lam : float
        Nonnegative strength, with the step length multiplied in.

    Returns
    -------
    ndarray of shape (n_samples, n_kernels)
        ``argmin_a 1/2 ||a - u||^2 + lam Omega(a)``.

    Examples
    --------
    >>> prox(MixedNorm(2, 1, 2), np.array([[3.0, 0.1], [4.0, 0.1]]), 1.0)
    array([[2.4, 0. ],
           [3.2, 0. ]])
    """
    n, n_kernels = u.shape
    groups = entry_groups(penalty, np.arange(n * n_kernels, dtype=np.intp), n_kernels)
    scratch = np.empty(group_count(penalty, u.shape))
    return prox_entries(penalty, np.ascontiguousarray(u).ravel(), groups, scratch, lam).reshape(n, n_kernels)
