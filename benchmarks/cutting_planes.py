"""The baseline for nonnegative weights: cutting planes over scikit-learn's SVC and HiGHS.

What one can write in an afternoon with public packages (the semi-infinite linear program of
multiple kernel learning); no installable package solves this problem.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from sklearn.svm import SVC

__all__ = ["cutting_planes"]


def cutting_planes(cube: np.ndarray, y: np.ndarray, C: float, gap: float, max_iter: int = 400) -> tuple[float, int]:
    """Relative gap reached and iterations; weights sum to one."""
    m = len(cube)
    mu, planes, bounds, best = np.full(m, 1.0 / m), [], [], np.inf
    reached = np.inf
    for step in range(1, max_iter + 1):
        K = np.tensordot(mu, cube, axes=1)
        svc = SVC(kernel="precomputed", C=C, tol=1e-4).fit(K, y)
        beta = np.zeros(len(y))
        beta[svc.support_] = svc.dual_coef_[0]
        q = (cube.reshape(-1, len(y)) @ beta).reshape(m, -1) @ beta
        total = 2 * np.abs(beta).sum()
        scores = K @ beta + svc.intercept_[0]
        best = min(best, mu @ q + 2 * C * np.maximum(1 - y * scores, 0).sum())
        planes.append(np.append(-q, -1.0))
        bounds.append(-total)
        lp = linprog(
            np.append(np.zeros(m), 1.0),
            A_ub=np.array(planes),
            b_ub=np.array(bounds),
            A_eq=[np.append(np.ones(m), 0.0)],
            b_eq=[1.0],
            bounds=[(0, None)] * m + [(None, None)],
            method="highs",
        )
        mu = np.maximum(lp.x[:m], 0)
        mu /= mu.sum()
        reached = (best - lp.fun) / abs(best)
        if reached < gap:
            return reached, step
    return reached, max_iter
