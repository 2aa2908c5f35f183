"""The baseline for mixed norms of one kind: skglm's coordinate descent, where it knows the loss and the penalty."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.gram.rectangular import RectangularStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.losses import LogisticLoss
from kernelweave.problems.mixed_norm import MixedNormProblem

__all__ = ["Baseline", "coordinate_descent"]

_TIGHTEST = 1e-9


@dataclass(frozen=True)
class Baseline:
    """What skglm did.

    Parameters
    ----------
    seconds : float
        Processor time of the first call that reached the gap (of the last, if none did).
    gap : float
        Relative gap of its answer, certified by our problem.
    compiling : float
        Additional time of the first call in this process.
    reached : bool
        Whether the gap asked for was reached.
    """

    seconds: float
    gap: float
    compiling: float
    reached: bool

    @property
    def told(self) -> str:
        """In words."""
        return f"skglm gap {self.gap:.0e} in {self.seconds:.2f} s, after compiling {self.compiling:.0f} s"


def coordinate_descent(problem: MixedNormProblem, K: np.ndarray, gap: float) -> Baseline | None:
    """Solve with skglm, its own tolerance tightened until our certificate says that the gap is reached.

    Parameters
    ----------
    problem : MixedNormProblem
        Squared or logistic loss with unit weights; l1, or groups of either kind.
    K : ndarray of shape (n_kernels, n, n)
        The kernels.
    gap : float
        Relative gap to reach.

    Returns
    -------
    Baseline or None
        None where skglm is not installed.
    """
    try:
        import skglm  # noqa: F401
    except ImportError:
        return None
    stack, n = RectangularStack(K), K.shape[1]
    design = np.asfortranarray(np.concatenate(list(K), axis=1))
    compiling, tol = None, 1e-3
    while True:
        solve = _solver(problem, len(K), n, tol)
        began = time.process_time()
        w, b = solve(design, problem.loss.y)
        seconds = time.process_time() - began
        if compiling is None:
            # The classes it compiles are compiled again in every process.
            compiling = seconds
            began = time.process_time()
            solve(design, problem.loss.y)
            seconds = time.process_time() - began
            compiling -= seconds
        judged = problem.certify(stack, Candidate(alpha=w.reshape(len(K), n).T, bias=np.array([b])))
        if judged.relative_gap <= gap or tol < _TIGHTEST:
            return Baseline(seconds, judged.relative_gap, compiling, judged.relative_gap <= gap)
        tol *= 0.1


def _solver(problem: MixedNormProblem, n_kernels: int, n: int, tol: float) -> Any:
    from skglm.datafits import Logistic, LogisticGroup, Quadratic, QuadraticGroup
    from skglm.penalties import L1, WeightedGroupL2
    from skglm.solvers import AndersonCD, GroupBCD, GroupProxNewton, ProxNewton
    from skglm.utils.jit_compilation import compiled_clone

    logistic, penalty = isinstance(problem.loss, LogisticLoss), problem.penalty
    # Its losses are means: of log(1 + exp(-yf)), and of half the squares.
    alpha = problem.strength / n if logistic else problem.strength / (2 * n)
    settings = {"tol": tol, "fit_intercept": True, "max_iter": 500}
    if penalty.separable:
        parts = (Logistic() if logistic else Quadratic(), L1(alpha))
        solver = ProxNewton(**settings) if logistic else AndersonCD(**settings)
    else:
        entries = np.arange(n_kernels * n, dtype=np.int32).reshape(n_kernels, n)
        groups = entries if penalty.r == 2 else entries.T
        pointer = np.arange(0, entries.size + 1, groups.shape[1], dtype=np.int32)
        indices = np.ascontiguousarray(groups).ravel()
        fit = LogisticGroup if logistic else QuadraticGroup
        parts = (fit(pointer, indices), WeightedGroupL2(alpha, np.ones(len(groups)), pointer, indices))
        solver = GroupProxNewton(**settings) if logistic else GroupBCD(**settings)
    datafit, compiled = (compiled_clone(part) for part in parts)

    def solve(design: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            w = solver.solve(design, y, datafit, compiled)[0]
        return w[:-1], float(w[-1])

    return solve
