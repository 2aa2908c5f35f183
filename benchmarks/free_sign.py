"""Weights of any sign: seconds to a certified gap of 1e-6, and a conic solver where it can follow."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.harness import Row, cpu_seconds
from benchmarks.problems import samples
from kernelweave.gram.dense import DenseStack
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.solvers.driver import Result, run
from kernelweave.solvers.semidefinite.psd_subspace import solve_psd_subspace

__all__ = ["rows"]

_QUOTED = {
    100: "5.2 s (CVXOPT), 114 s (Clarabel), 1.3 s (cutting planes), quoted",
    300: "6.6 s (cutting planes), 600 s in 2004, quoted",
}
_TOL = 1e-6


def rows(*, large: bool = False) -> list[Row]:
    """All figures; ``large`` adds n = 2000, 5000 and a conic solver run here."""
    result = [
        _seconds(100, "well conditioned", "l1", 0.1),
        *(_seconds(300, "well conditioned", margin, 0.2) for margin in ("l1", "l2", "hard", "auto")),
        # No figure was set for these: the goal is that of well-conditioned kernels.
        _seconds(300, "wide RBF", "l1", 0.2),
        _seconds(300, "low rank", "l1", 0.2),
        _seconds(1000, "well conditioned", "l1", 1.5),
        _seconds(1000, "wide RBF", "l1", 1.5),
    ]
    if large:
        result += [_seconds(2000, "well conditioned", "l1", 8.0), _seconds(5000, "well conditioned", "l1", 180.0)]
        result.append(_against_conic(100))
    return result


def _kernels(X: np.ndarray, kind: str) -> np.ndarray:
    """Five cosine-normalised kernels."""
    inner = X @ X.T
    squares = np.diagonal(inner)
    distances = np.maximum(squares[:, None] + squares - 2.0 * inner, 0.0)
    if kind == "well conditioned":
        parts = [(1 + inner) ** 2, np.exp(-distances), inner, np.exp(-0.05 * distances), (1 + inner) ** 3]
    elif kind == "wide RBF":
        parts = [np.exp(-g * distances) for g in (1e-4, 1e-3, 1e-1)] + [inner, (1 + inner) ** 2]
    else:
        parts = [X[:, a:b] @ X[:, a:b].T for a, b in ((0, 2), (2, 4), (0, 1), (0, 5), (4, 20))]
    scaled = []
    for K in parts:
        scale = 1.0 / np.sqrt(np.diagonal(K))
        scaled.append(K * scale[:, None] * scale)
    return np.array(scaled)


def _problem(y: np.ndarray, traces: np.ndarray, margin: str) -> PSDMarginProblem:
    n, learned = len(y), margin == "auto"
    box = np.full(n, 1.0 if margin == "l1" else np.inf)
    ridge = np.full(n, 1.0 if margin in ("l2", "auto") else 0.0)
    budget = float(traces.sum()) + (n if learned else 0.0)
    return PSDMarginProblem(y[None], box, ridge, traces, budget, float(n) if learned else None)


def _seconds(n: int, kind: str, margin: str, goal: float) -> Row:
    X, y = samples(n)
    gram = DenseStack(_kernels(X, kind))
    problem = _problem(y, gram.traces(), margin)
    ours, result = cpu_seconds(lambda: run(solve_psd_subspace, problem, gram, tol=_TOL), repeats=5 if n <= 300 else 2)
    quoted = _QUOTED.get(n, "") if (kind, margin) == ("well conditioned", "l1") else ""
    return Row(f"n={n} m=5 {kind} {margin}", ours, goal, "s", quoted, _told(result))


def _told(result: Result) -> str:
    return f"{result.n_iter} steps, certified {result.certificate.relative_gap:.0e}"


def _against_conic(n: int) -> Row:
    """Ratio to cvxpy with SCS, at the accuracy that reaches."""
    import cvxpy as cp

    X, y = samples(n)
    kernels = _kernels(X, "well conditioned")
    gram = DenseStack(kernels)
    problem = _problem(y, gram.traces(), "l1")
    ours, _ = cpu_seconds(lambda: run(solve_psd_subspace, problem, gram, tol=_TOL), repeats=5)
    # The dual: beta = y alpha, W >= beta beta'.
    beta, t = cp.Variable((n, 1)), cp.Variable()
    block = cp.Variable((n + 1, n + 1), PSD=True)
    alpha = cp.multiply(y[:, None], beta)
    constraints = [block[:n, n:] == beta, block[n, n] == 1, alpha >= 0, alpha <= 1, cp.sum(beta) == 0]
    constraints += [cp.trace(K @ block[:n, :n]) == np.trace(K) * t for K in kernels]
    program = cp.Problem(cp.Maximize(2 * cp.sum(alpha) - problem.budget * t), constraints)
    began = time.process_time()
    program.solve(solver="SCS", eps=1e-4)
    theirs = time.process_time() - began
    return Row(f"n={n} m=5 l1 over cvxpy with SCS at 1e-4", ours / theirs, 1.0, "x", f"{theirs:.1f} s (cvxpy, SCS)")
