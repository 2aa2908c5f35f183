"""Proof that a hard margin has no solution.

The dual of the hard margin is unbounded exactly when some alpha >= 0, alpha'y = 0, alpha != 0
has G_i alpha = 0 for every kernel: the two class hulls meet in every feature space.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelweave.problems.base import Candidate, FloatArray
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.svm import feasible_dual

__all__ = ["unbounded_direction"]

# Squared distance between the class hulls over the squared radius of the data, below which rounding
# alone decides: quadratic forms of unit-mass vectors are exact to about 1e-16 of the radius.
_TOUCHING = 1e-13


def unbounded_direction(problem: MarginProblem, gram: Any, candidate: Candidate) -> FloatArray | None:
    """Normalised dual variables when they show that no weights separate the samples.

    Parameters
    ----------
    problem : MarginProblem
        A hard margin.
    gram : GramStack
        Labelled blocks of the kernels.
    candidate : Candidate
        Dual variables to examine.

    Returns
    -------
    ndarray of shape (n_columns, n) or None
        Unit mass in each class, or None when the hulls are still apart.
    """
    if candidate.alpha is None:
        return None
    for k, (a, y) in enumerate(zip(candidate.alpha, problem.labels, strict=True)):
        alpha, _ = feasible_dual(a, y, problem.box)
        mass = float(alpha.sum()) / 2.0
        # Cheap look first: an unbounded dual grows without limit.
        if mass <= 0 or not _large(problem, gram, mass):
            continue
        alpha /= mass
        beta = y * alpha
        distances = gram.quadratic_forms(beta)
        radii = gram.diagonals() @ alpha
        if (distances <= _TOUCHING * radii).all():
            direction = np.zeros_like(candidate.alpha)
            direction[k] = alpha
            return direction
    return None


def _large(problem: MarginProblem, gram: Any, mass: float) -> bool:
    # omega times the squared radius, in the scale where the kernels share the budget.
    radius = problem.budget * float(np.max(gram.traces() / problem.prices)) / gram.shape[0]
    return mass * radius > 1e6
