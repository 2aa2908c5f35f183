"""Primal-dual interior point for kernel weights of any sign: the whole cone at once.

Problem (`PSDMarginProblem`), with kernels scaled to the whole budget and weights x summing to one:

    min over x, K(x) >= 0:  max over alpha  sum_k [2 alpha_k'e - alpha_k' R alpha_k - alpha_k' Y_k K(x) Y_k alpha_k].

Method: the HKM direction with Mehrotra's corrector in (alpha, x, Z) jointly, after facial reduction. The
constraint is written in coordinates where the uniform combination is the identity, L^-1 K_i L^-T, so that
directions of little variance weigh as much as others: ill-conditioned kernels are the normal case. A step
costs about 4 m n^3; `solve_psd_subspace` gets by with a few directions.
Source: the SDP is [L04] (26), (31), (36), (41).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg

from kernelweave.problems.base import Candidate, FloatArray
from kernelweave.problems.psd_margin import ConeDual, PSDMarginProblem
from kernelweave.problems.svm import FEASIBILITY_TOLERANCE
from kernelweave.solvers.ray import unbounded_direction
from kernelweave.solvers.semidefinite.face import Face, face_floors, find_face, span_of
from kernelweave.solvers.semidefinite.saddle import Saddle, SaddleIteration

__all__ = ["candidate_of", "reaches_everywhere", "solve_psd_primal_dual", "whole_cone"]

_MAX_STEPS = 150
_PATIENCE = 10  # steps without halving the gap that end the run, once it is small
_SMALL = 1e-6
_WORTH_CHECKING = 1e-5  # gap at which the weights tell whether the face was large enough


def solve_psd_primal_dual(
    problem: PSDMarginProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve for kernel weights of any sign with a positive semidefinite combination.

    Parameters
    ----------
    problem : PSDMarginProblem
        Labels, box, ridge, prices and budget.
    gram : GramStack
        The kernels over all n samples, the labelled ones first.
    start, deadline : optional
        Part of the solver contract; an interior point starts afresh, and the driver keeps the time.

    Yields
    ------
    Candidate
        Weights, dual variables, biases and the multiplier of the cone (``extras["cone_dual"]``);
        at the end of a non-separable hard margin, a ray.
    """
    for floor in face_floors(gram.dtype):
        face = find_face(gram, problem.kernel_part(problem.budget / problem.all_prices), floor)
        if (yield from _solve_on(problem, gram, face)):
            return


def _solve_on(problem: PSDMarginProblem, gram: Any, face: Face) -> Generator[Candidate, None, bool]:
    """Solve with the cone on a face; returns whether that face was large enough."""
    labelled = gram.restrict(np.arange(problem.labels.shape[1], dtype=np.intp))
    scale = problem.budget / problem.all_prices
    units = problem.kernel_part(scale)
    span = span_of(gram.frobenius_products() * np.outer(units, units), with_ridge=problem.learns_ridge)
    saddle = Saddle(problem, labelled, scale, span, whole_cone(problem, gram, face, units, span))
    whitening = scipy.linalg.solve_triangular(face.factor, np.eye(len(face.pivots)), lower=True)
    basis = face.embed(whitening.T, gram.shape[0])
    point, best, idle, checked = saddle.start(), _SMALL, 0, False
    for _ in range(_MAX_STEPS):
        try:
            iteration = saddle.at(point)
            yield candidate_of(iteration, labelled, basis)
            gap = iteration.relative_gap()
            if not checked and gap <= _WORTH_CHECKING:
                checked = True
                if not reaches_everywhere(problem, gram, face, iteration.weights):
                    return False
            idle = idle + 1 if 0.5 * best < gap < _SMALL else 0
            best = min(best, gap)
            if idle >= _PATIENCE:
                break
            point = iteration.advance()
        except np.linalg.LinAlgError:
            break
    return True


def reaches_everywhere(problem: PSDMarginProblem, gram: Any, face: Face, weights: FloatArray) -> bool:
    """Whether weights that are in the cone on a face are in the cone on all samples."""
    return len(face.pivots) == gram.shape[0] or problem.feasible_weights(gram, weights)[1] <= FEASIBILITY_TOLERANCE


def whole_cone(problem: PSDMarginProblem, gram: Any, face: Face, units: FloatArray, span: FloatArray) -> FloatArray:
    """Cone matrices in the coordinates where the uniform combination is the identity.

    Returns
    -------
    ndarray of shape (M', rank, rank), or (M', rank + 1, rank + 1) with the learned ridge first
    """
    rank = len(face.pivots)
    ridge = int(problem.learns_ridge)
    parts = np.zeros((len(span), rank + ridge, rank + ridge))
    for i in range(len(units)):
        weights = np.zeros(len(units))
        weights[i] = units[i]
        block = gram.combine(weights)[np.ix_(face.pivots, face.pivots)]
        half = scipy.linalg.solve_triangular(face.factor, block, lower=True, check_finite=False)
        whitened = scipy.linalg.solve_triangular(face.factor, half.T, lower=True, check_finite=False)
        parts[i, ridge:, ridge:] = 0.5 * (whitened + whitened.T)
    if ridge:
        parts[-1, 0, 0] = 1.0
    return np.tensordot(span.T, parts, axes=1)


def candidate_of(iteration: SaddleIteration, labelled: Any, basis: FloatArray, gap: float | None = None) -> Candidate:
    """A point as weights, dual variables and multiplier, with a ray where the hard margin has no solution."""
    problem, point = iteration.saddle.problem, iteration.point
    ridge = int(problem.learns_ridge)
    candidate = Candidate(
        iteration.weights,
        point.columns.alpha,
        0.5 * point.columns.b,
        gap=iteration.relative_gap() if gap is None else gap,
        extras={"cone_dual": ConeDual(basis, point.Z[ridge:, ridge:])},
    )
    ray = unbounded_direction(problem, labelled, candidate) if problem.is_hard else None
    return candidate if ray is None else replace(candidate, ray=ray)
