"""Kernel weights of any sign, with the cone held on a few directions that grow until it holds everywhere.

Same problem as `kernelweave.solvers.psd_primal_dual`. At the optimum only a few eigenvectors of K(mu)
are at zero, so it is enough to demand ``V'K(mu)V >= 0`` on p directions, p in the tens, for which a
primal-dual step costs little more than one factorisation of the SVM's system. Each round brings that small
problem to a tolerance that suits what is known, looks for directions in which K(mu) is negative (shift and
invert), and adds them. The multiplier on the directions bounds the whole problem from below; weights mixed
with the uniform ones by the share that makes K(mu) semidefinite bound it from above. 4-6 rounds are usual.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelweave.problems.base import Candidate, FloatArray
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.solvers.psd_primal_dual import candidate_of, reaches_everywhere, solve_psd_primal_dual
from kernelweave.solvers.semidefinite.directions import Directions, most_negative
from kernelweave.solvers.semidefinite.face import Face, face_floors, find_face, span_of
from kernelweave.solvers.semidefinite.saddle import Saddle, SaddleIteration, SaddlePoint

__all__ = ["solve_psd_subspace"]

_SMALL_RANK = 120  # below, the whole cone costs no more
_FREE, _PER_KERNEL = 10, 4
_ADDED = 8
_ROUNDS, _STEPS = 25, 40
_FIRST_TARGET, _SHARPER = 0.1, 0.02
_FINEST = 1e-10
_WORTH_CHECKING = 1e-3  # gap at which the weights tell whether the face was large enough


def solve_psd_subspace(
    problem: PSDMarginProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve for kernel weights of any sign on a growing set of directions.

    Parameters
    ----------
    problem : PSDMarginProblem
        Labels, box, ridge, prices and budget.
    gram : GramStack
        The kernels over all n samples, the labelled ones first.
    start, deadline : optional
        Part of the solver contract; the method starts afresh, and the driver keeps the time.

    Yields
    ------
    Candidate
        One an interior-point step. Those at the end of a round have weights that are feasible for the
        whole problem; the others repeat the gap known before.
    """
    for floor in face_floors(gram.dtype):
        face = find_face(gram, problem.kernel_part(problem.budget / problem.all_prices), floor)
        if len(face.pivots) <= _SMALL_RANK:
            yield from solve_psd_primal_dual(problem, gram)
            return
        if (yield from _solve_on(_Growing(problem, gram, face))):
            return


def _solve_on(growing: _Growing) -> Generator[Candidate, None, bool]:
    """Solve with the cone on a face; returns whether that face was large enough."""
    saddle = growing.saddle()
    point, target, known, negative = saddle.start(), _FIRST_TARGET, float("inf"), 1.0
    for _ in range(_ROUNDS):
        iteration = None
        for _ in range(_STEPS):
            try:
                iteration = saddle.at(point)
                yield growing.candidate(iteration, known)
                if iteration.relative_gap() <= target:
                    break
                point = iteration.advance()
            except np.linalg.LinAlgError:
                # The combination is too indefinite for the SVM's system: more directions will mend it.
                break
        found = None if iteration is None else growing.examine(iteration, 0.3 * negative)
        if iteration is None or found is None:
            break
        if found.gap <= _WORTH_CHECKING and not growing.reaches_everywhere(iteration.weights_at(found.xi)):
            return False
        known = min(known, found.gap)
        yield growing.candidate(iteration, found.gap, found.xi)
        negative = found.negative
        finer = max(_SHARPER * min(found.gap, target, 1.0), _FINEST)
        if growing.directions.add(found.vectors):
            saddle = growing.saddle()
            point = growing.restart(saddle, iteration, found)
        elif finer == target:
            break
        target = finer
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


class _Growing:
    """The scaled problem and its directions."""

    def __init__(self, problem: PSDMarginProblem, gram: Any, face: Face) -> None:
        self.problem, self.gram, self.face = problem, gram, face
        self.labelled = gram.restrict(np.arange(problem.labels.shape[1], dtype=np.intp))
        self.scale = problem.budget / problem.all_prices
        self.units = problem.kernel_part(self.scale)
        inner = gram.frobenius_products() * np.outer(self.units, self.units)
        self.span = span_of(inner, with_ridge=problem.learns_ridge)
        self.directions = Directions(gram, self.face, self.units)
        self.directions.start(_PER_KERNEL, _FREE)

    def saddle(self) -> Saddle:
        """The problem on the present directions; the learned ridge comes first in the cone."""
        ridge = int(self.problem.learns_ridge)
        p = self.directions.basis.shape[1]
        parts = np.zeros((len(self.span), p + ridge, p + ridge))
        parts[: len(self.units), ridge:, ridge:] = self.directions.blocks
        if ridge:
            parts[-1, 0, 0] = 1.0
        return Saddle(self.problem, self.labelled, self.scale, self.span, np.tensordot(self.span.T, parts, axes=1))

    def candidate(self, iteration: SaddleIteration, gap: float, xi: FloatArray | None = None) -> Candidate:
        """The iterate with the gap known for the whole problem, and with weights of other coordinates."""
        basis = self.face.embed(self.directions.basis, self.gram.shape[0])
        candidate = candidate_of(iteration, self.labelled, basis, gap)
        return candidate if xi is None else replace(candidate, weights=iteration.weights_at(xi))

    def reaches_everywhere(self, weights: FloatArray) -> bool:
        """Whether weights in the cone on the face are in the cone on all samples."""
        return reaches_everywhere(self.problem, self.gram, self.face, weights)

    def examine(self, iteration: SaddleIteration, guess: float) -> _Found | None:
        """Look at the combination on the whole face."""
        xi = iteration.point.xi
        K = self.gram.combine(self.problem.kernel_part(self.scale * (self.span @ xi)))
        if len(self.face.pivots) < len(K):
            K = K[np.ix_(self.face.pivots, self.face.pivots)]
        found = most_negative(K, self.face.uniform, max(guess, 1e-9), _ADDED)
        if found is None:
            return None
        negative, values, vectors = found
        mixed = self.mixed(xi, negative)
        return _Found(negative, mixed, iteration.relative_gap(mixed), vectors[:, values <= max(values[1], 0.0)])

    def mixed(self, xi: FloatArray, negative: float) -> FloatArray:
        """Coordinates mixed with the uniform ones so that the combination gains ``negative`` everywhere."""
        m = len(self.units)
        x = self.span @ xi
        total = float(x[:m].sum())
        share = negative / (negative + total)
        uniform = np.append(np.full(m, total / m), x[m:])
        # The span holds the uniform weights up to combinations that are rounding.
        return (1.0 - share) * xi + share * np.linalg.lstsq(self.span, uniform, rcond=None)[0]

    def restart(self, saddle: Saddle, iteration: SaddleIteration, found: _Found) -> SaddlePoint:
        """A point inside the cone on more directions, near where the last round ended."""
        point = iteration.point
        xi = self.mixed(point.xi, 2.0 * found.negative + 1e-3)
        X = np.tensordot(xi, saddle.matrices, axes=1)
        p, old = len(X), len(point.Z)
        Z = np.zeros((p, p))
        Z[:old, :old] = point.Z
        level = max(float(np.vdot(X[:old, :old], point.Z)) / old, iteration.centrality)
        inverse = np.linalg.inv(X[old:, old:])
        Z[old:, old:] = level * 0.5 * (inverse + inverse.T)
        return SaddlePoint(point.columns, xi, Z, point.t)
