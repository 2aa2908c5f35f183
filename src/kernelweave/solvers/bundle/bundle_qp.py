"""The small quadratic program of a bundle step, compiled.

    min over x in the simplex:   1/2 (x - x_c)'H(x - x_c) + max_k ( a_k - g_k'x )

by a primal-dual interior point (Mehrotra) on x, the value v of the maximum, the
multipliers of the cuts and of x >= 0. A few dozen variables: a step is one small solve, and
compiling it keeps the interpreter's overhead below the cost of the kernels. Plain loops,
since array expressions and LAPACK calls multiply the time to compile.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kernelweave.gram.base import FloatArray

__all__ = ["solve_bundle_qp"]

_MAX_STEPS = 80
_WORSE = 1e6  # growth of the residuals that ends the run
_ROUNDING = 1e-13  # of the residuals, for planes of size one


@njit(cache=True, error_model="numpy")
def _factorise(A: FloatArray) -> None:
    """Cholesky factor of A in its lower triangle; a pivot that rounding made negative is lifted."""
    n = A.shape[0]
    for j in range(n):
        pivot = A[j, j]
        floor = 1e-14 * abs(pivot) + 1e-300
        for k in range(j):
            pivot -= A[j, k] * A[j, k]
        pivot = np.sqrt(max(pivot, floor))
        A[j, j] = pivot
        for i in range(j + 1, n):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total / pivot


@njit(cache=True, error_model="numpy")
def _solve(L: FloatArray, b: FloatArray) -> None:
    """Overwrite b with the solution of L L' x = b."""
    n = L.shape[0]
    for i in range(n):
        for k in range(i):
            b[i] -= L[i, k] * b[k]
        b[i] /= L[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= L[k, i] * b[k]
        b[i] /= L[i, i]


@njit(cache=True, error_model="numpy")
def _shrink(length: float, values: FloatArray, change: FloatArray) -> float:
    for i in range(len(values)):
        if change[i] < 0:
            length = min(length, -values[i] / change[i])
    return length


@njit(cache=True, error_model="numpy")
def _factorise_step(
    H: FloatArray, G: FloatArray, x: FloatArray, z: FloatArray, lam: FloatArray, s: FloatArray,
    L: FloatArray, coupling: FloatArray, budget: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """Factorise the system in x after eliminating v; returns its weight and the border of the budget."""
    m, k = len(x), len(lam)
    weight = 0.0
    coupling[:] = 0.0
    for c in range(k):
        weight += lam[c] / s[c]
        for i in range(m):
            coupling[i] += G[c, i] * lam[c] / s[c]
    for i in range(m):
        for j in range(i + 1):
            total = H[i, j] - coupling[i] * coupling[j] / weight
            for c in range(k):
                total += G[c, i] * G[c, j] * lam[c] / s[c]
            L[i, j] = total
        L[i, i] += z[i] / x[i]
    _factorise(L)
    budget[:] = 1.0
    _solve(L, budget)
    return weight, budget.sum()


@njit(cache=True, error_model="numpy")
def _newton(
    L: FloatArray, coupling: FloatArray, budget: FloatArray, weight: float, border: float, G: FloatArray,
    x: FloatArray, z: FloatArray, lam: FloatArray, s: FloatArray, r_x: FloatArray, r_v: float, r_s: FloatArray,
    r_sum: float, c_cut: FloatArray, c_x: FloatArray,
    dx: FloatArray, dz: FloatArray, dlam: FloatArray, ds: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """Newton step for complementarity targets, written into dx, dz, dlam, ds; returns (dv, dnu)."""
    m, k = len(x), len(lam)
    # ds = dv + G dx - r_s, dlam = (-c_cut - lam ds) / s and dz = (-c_x - z dx) / x are eliminated.
    rhs_v = -r_v
    for i in range(m):
        dx[i] = -r_x[i] - c_x[i] / x[i]
    for c in range(k):
        base = (-c_cut[c] + lam[c] * r_s[c]) / s[c]
        rhs_v += base
        for i in range(m):
            dx[i] += G[c, i] * base
    for i in range(m):
        dx[i] -= coupling[i] * rhs_v / weight
    _solve(L, dx)
    dnu = (r_sum - dx.sum()) / border
    dv = rhs_v
    for i in range(m):
        dx[i] += dnu * budget[i]
        dv -= coupling[i] * dx[i]
        dz[i] = (-c_x[i] - z[i] * dx[i]) / x[i]
    dv /= weight
    for c in range(k):
        change = dv - r_s[c]
        for i in range(m):
            change += G[c, i] * dx[i]
        ds[c] = change
        dlam[c] = (-c_cut[c] - lam[c] * change) / s[c]
    return dv, dnu


@njit(cache=True, error_model="numpy")
def _first_slacks(a: FloatArray, G: FloatArray, x: FloatArray, s: FloatArray) -> tuple[float, float]:
    """Slacks of the cuts at x, written into s, for a value v above them all; returns v and its distance."""
    top, bottom = -1e300, 1e300
    for c in range(len(a)):
        s[c] = a[c]
        for i in range(len(x)):
            s[c] -= G[c, i] * x[i]
        top, bottom = max(top, s[c]), min(bottom, s[c])
    spread = max(top - bottom, 1e-3 * abs(top), 1e-300)
    v = top + spread
    for c in range(len(a)):
        s[c] = v - s[c]
    return v, spread


@njit(cache=True, error_model="numpy")
def _gradient(
    H: FloatArray, centre: FloatArray, G: FloatArray, x: FloatArray, lam: FloatArray, r_x: FloatArray
) -> None:
    """``H (x - x_c) - G'lam``, written into r_x."""
    m, k = len(x), len(lam)
    for i in range(m):
        r_x[i] = 0.0
        for j in range(m):
            r_x[i] += H[i, j] * (x[j] - centre[j])
        for c in range(k):
            r_x[i] -= G[c, i] * lam[c]


@njit(cache=True, error_model="numpy")
def _residuals(
    a: FloatArray, G: FloatArray, x: FloatArray, z: FloatArray, lam: FloatArray, s: FloatArray, v: float, nu: float,
    r_x: FloatArray, r_s: FloatArray, c_x: FloatArray, c_cut: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """Complete r_x from the gradient, fill the other residuals; returns complementarity gap and largest residual."""
    gap, worst = 0.0, 0.0
    for i in range(len(x)):
        r_x[i] -= z[i] + nu
        worst = max(worst, abs(r_x[i]))
        gap += x[i] * z[i]
        c_x[i] = x[i] * z[i]
    for c in range(len(lam)):
        r_s[c] = s[c] - v + a[c]
        for i in range(len(x)):
            r_s[c] -= G[c, i] * x[i]
        worst = max(worst, abs(r_s[c]))
        gap += lam[c] * s[c]
        c_cut[c] = lam[c] * s[c]
    return gap, worst


@njit(cache=True, error_model="numpy")
def solve_bundle_qp(
    H: FloatArray, centre: FloatArray, a: FloatArray, G: FloatArray, tol: float
) -> tuple[FloatArray, FloatArray, bool]:
    """Minimise a quadratic around ``centre`` plus the largest of some planes over the simplex.

    Parameters
    ----------
    H : ndarray of shape (m, m)
        Positive semidefinite curvature.
    centre : ndarray of shape (m,)
        x_c, a point of the simplex.
    a : ndarray of shape (k,)
        Constants of the planes.
    G : ndarray of shape (k, m)
        Their negative slopes.
    tol : float
        Complementarity gap to reach, in the units of ``a``.

    Returns
    -------
    x : ndarray of shape (m,)
        Minimiser, in the interior of the simplex up to ``tol``.
    lam : ndarray of shape (k,)
        Multipliers of the planes, summing to one.
    ok : bool
        Whether the gap was reached.
    """
    m, k = len(centre), len(a)
    x, lam, nu = np.full(m, 1.0 / m), np.full(k, 1.0 / k), 0.0
    z, s, r_x, r_s = np.empty(m), np.empty(k), np.empty(m), np.empty(k)
    c_x, c_cut = np.empty(m), np.empty(k)
    dx, dz, dlam, ds = np.empty(m), np.empty(m), np.empty(k), np.empty(k)
    L, coupling, budget = np.empty((m, m)), np.empty(m), np.empty(m)
    v, spread = _first_slacks(a, G, x, s)
    _gradient(H, centre, G, x, lam, r_x)
    z[:] = max(np.abs(r_x).max(), spread)
    best, best_x, best_lam = np.inf, x.copy(), lam.copy()
    for _ in range(_MAX_STEPS):
        _gradient(H, centre, G, x, lam, r_x)
        gap, worst = _residuals(a, G, x, z, lam, s, v, nu, r_x, r_s, c_x, c_cut)
        r_v, r_sum = 1.0 - lam.sum(), 1.0 - x.sum()
        merit = max(gap, worst, abs(r_sum))
        if merit < best:
            best, best_x, best_lam = merit, x.copy(), lam.copy()
        # Past the last digit the factorisation only adds noise; the best point is kept.
        if merit > _WORSE * best or (gap < tol and worst < tol + _ROUNDING) or gap <= 1e-8 * tol:
            break
        weight, border = _factorise_step(H, G, x, z, lam, s, L, coupling, budget)
        _newton(
            L, coupling, budget, weight, border, G, x, z, lam, s, r_x, r_v, r_s, r_sum, c_cut, c_x, dx, dz, dlam, ds
        )
        length = _shrink(_shrink(_shrink(_shrink(1.0, x, dx), z, dz), lam, dlam), s, ds)
        ahead = 0.0
        for i in range(m):
            ahead += (x[i] + length * dx[i]) * (z[i] + length * dz[i])
        for c in range(k):
            ahead += (lam[c] + length * dlam[c]) * (s[c] + length * ds[c])
        target = max((ahead / gap) ** 3, 1e-8) * gap / (m + k)
        for i in range(m):
            c_x[i] += dx[i] * dz[i] - target
        for c in range(k):
            c_cut[c] += dlam[c] * ds[c] - target
        dv, dnu = _newton(
            L, coupling, budget, weight, border, G, x, z, lam, s, r_x, r_v, r_s, r_sum, c_cut, c_x, dx, dz, dlam, ds
        )
        length = 0.99 * _shrink(_shrink(_shrink(_shrink(1.0 / 0.99, x, dx), z, dz), lam, dlam), s, ds)
        if not np.isfinite(length + dv + dnu + dx.sum()):
            break
        for i in range(m):
            x[i] += length * dx[i]
            z[i] += length * dz[i]
        for c in range(k):
            lam[c] += length * dlam[c]
            s[c] += length * ds[c]
        v, nu = v + length * dv, nu + length * dnu
    return best_x, best_lam, best < tol + _ROUNDING
