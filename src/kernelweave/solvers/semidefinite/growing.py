"""The cone on a few directions that grow until it holds everywhere.

At the optimum only a few eigenvectors of K(mu) are at zero, so it is enough to demand ``V'K(mu)V >= 0`` on p
directions, p in the tens. Each round brings that small problem to a tolerance that suits what is known,
looks for directions in which K(mu) is negative (shift and invert), and adds them. The multiplier on the
directions bounds the whole problem on one side; weights mixed with the uniform ones by the share that
makes K(mu) semidefinite bound it on the other. 4-6 rounds are usual.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelweave.gram.base import FloatArray
from kernelweave.problems.base import Candidate
from kernelweave.solvers.semidefinite.directions import Directions, most_negative
from kernelweave.solvers.semidefinite.setting import Setting, SmallIteration, SmallProblem

__all__ = ["solve_growing"]

_FREE, _PER_KERNEL = 10, 4  # directions to start with: random ones, and some that each kernel favours
_ADDED = 8
_ROUNDS, _STEPS = 25, 40
_FIRST_TARGET, _SHARPER = 0.1, 0.02
_FINEST = 1e-10
_WORTH_CHECKING = 1e-3  # gap at which the weights tell whether the face was large enough
_MARGIN = 1e-3  # how far inside the cone a round starts


def solve_growing(setting: Setting) -> Generator[Candidate, None, bool]:
    """Solve with the cone on directions that grow; returns whether the face they live on was large enough.

    Parameters
    ----------
    setting : Setting
        Problem, kernels and face.

    Yields
    ------
    Candidate
        One a step. Those at the end of a round have weights that are feasible for the whole problem;
        the others repeat the gap known before.
    """
    directions = Directions(setting.gram, setting.face, setting.units)
    directions.start(_PER_KERNEL, _FREE)
    small = setting.small_problem(directions.blocks)
    point, target, known, negative = small.start(), _FIRST_TARGET, float("inf"), 1.0
    for _ in range(_ROUNDS):
        iteration = None
        for _ in range(_STEPS):
            try:
                iteration = small.at(point)
                yield setting.report(iteration, directions.basis, known)
                if iteration.relative_gap() <= target:
                    break
                point = iteration.advance()
            except np.linalg.LinAlgError:
                # The combination is too indefinite for the SVM's system: more directions will mend it.
                break
        found = None if iteration is None else _examine(setting, iteration, 0.3 * negative)
        if iteration is None or found is None:
            break
        if found.gap <= _WORTH_CHECKING and not setting.reaches_everywhere(found.xi):
            return False
        known = min(known, found.gap)
        yield setting.report(iteration, directions.basis, found.gap, found.xi)
        negative = found.negative
        if directions.add(found.vectors):
            small = setting.small_problem(directions.blocks)
            point = _restart(setting, small, iteration, found)
            target = max(_SHARPER * min(found.gap, 1.0), _FINEST)
        elif target > _FINEST:
            target = max(_SHARPER * target, _FINEST)
        else:
            break
    return True


@dataclass(frozen=True)
class _Found:
    """What a look at the whole cone shows.

    Parameters
    ----------
    negative : float
        The combination plus this multiple of the uniform one is positive definite.
    xi : ndarray of shape (M',)
        Coordinates mixed with the uniform ones until semidefinite.
    gap : float
        Relative gap of the mixture.
    vectors : ndarray of shape (rank, q)
        Directions to add.
    """

    negative: float
    xi: FloatArray
    gap: float
    vectors: FloatArray


def _examine(setting: Setting, iteration: SmallIteration, guess: float) -> _Found | None:
    """Look at the combination on the whole face."""
    xi = iteration.point.xi
    found = most_negative(setting.combination(xi), setting.face.uniform, max(guess, 1e-9), _ADDED)
    if found is None:
        return None
    negative, values, vectors = found
    mixed = setting.mixed(xi, negative)
    return _Found(negative, mixed, iteration.relative_gap(mixed), vectors[:, values <= max(values[1], 0.0)])


def _restart(setting: Setting, small: SmallProblem, iteration: SmallIteration, found: _Found) -> Any:
    """A point inside the cone on more directions, near where the last round ended."""
    point = iteration.point
    xi = setting.mixed(point.xi, 2.0 * found.negative + _MARGIN)
    X = np.tensordot(xi, small.matrices, axes=1)
    p, old = len(X), len(point.Z)
    Z = np.zeros((p, p))
    Z[:old, :old] = point.Z
    level = max(float(np.vdot(X[:old, :old], point.Z)) / old, iteration.centrality)
    inverse = np.linalg.inv(X[old:, old:])
    Z[old:, old:] = level * 0.5 * (inverse + inverse.T)
    return replace(point, xi=xi, Z=Z)
