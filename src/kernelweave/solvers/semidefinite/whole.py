"""The whole cone at once: a primal-dual method in coordinates where the uniform combination is the identity.

There, ``L^-1 K_i L^-T`` with K_0 = LL', directions of little variance weigh as much as others, which is what
makes ill-conditioned kernels the normal case. A step costs about 4 m n^3.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import scipy.linalg

from kernelweave.gram.base import FloatArray
from kernelweave.problems.base import Candidate
from kernelweave.solvers.semidefinite.setting import Setting

__all__ = ["solve_whole", "whitened_kernels"]

_MAX_STEPS = 150
_PATIENCE = 10  # steps without halving the gap that end the run, once it is small
_SMALL = 1e-6
_WORTH_CHECKING = 1e-5  # gap at which the weights tell whether the face was large enough


def solve_whole(setting: Setting) -> Generator[Candidate, None, bool]:
    """Solve with the cone on a face; returns whether that face was large enough.

    Parameters
    ----------
    setting : Setting
        Problem, kernels and face.

    Yields
    ------
    Candidate
        One a step.
    """
    small = setting.small_problem(whitened_kernels(setting))
    basis = scipy.linalg.solve_triangular(setting.face.factor, np.eye(len(setting.face.pivots)), lower=True).T
    point, best, idle, checked = small.start(), _SMALL, 0, False
    for _ in range(_MAX_STEPS):
        try:
            iteration = small.at(point)
            gap = iteration.relative_gap()
            yield setting.report(iteration, basis, gap)
            if not checked and gap <= _WORTH_CHECKING:
                checked = True
                if not setting.reaches_everywhere(point.xi):
                    return False
            idle = idle + 1 if 0.5 * best < gap < _SMALL else 0
            best = min(best, gap)
            if idle >= _PATIENCE:
                break
            point = iteration.advance()
        except np.linalg.LinAlgError:
            break
    return True


def whitened_kernels(setting: Setting) -> FloatArray:
    """Scaled kernels in the coordinates where their mean is the identity, shape (m, rank, rank)."""
    face, m = setting.face, len(setting.units)
    blocks = np.empty((m, len(face.pivots), len(face.pivots)))
    for i in range(m):
        weights = np.zeros(m)
        weights[i] = setting.units[i]
        K = setting.gram.combine(weights)[np.ix_(face.pivots, face.pivots)]
        half = scipy.linalg.solve_triangular(face.factor, K, lower=True, check_finite=False)
        whitened = scipy.linalg.solve_triangular(face.factor, half.T, lower=True, check_finite=False)
        blocks[i] = 0.5 * (whitened + whitened.T)
    return blocks
