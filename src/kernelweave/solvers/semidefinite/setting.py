"""What the whole-cone and the growing-cone methods ask of a problem, whatever its objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from kernelweave.gram.base import FloatArray
from kernelweave.problems.base import Candidate
from kernelweave.problems.cone import ConeDual
from kernelweave.solvers.semidefinite.face import Face

__all__ = ["Setting", "SmallIteration", "SmallProblem"]


class SmallIteration(Protocol):
    """One iterate of an interior-point method.

    Attributes
    ----------
    point : dataclass with fields ``xi`` and ``Z``
        Coordinates of the weights and multiplier of the cone.
    centrality : float
        Average complementary product.
    """

    point: Any
    centrality: float

    def relative_gap(self, xi: FloatArray | None = None) -> float:
        """Gap that the multipliers show for the weights of this point, or of other coordinates."""
        ...

    def advance(self) -> Any:
        """The next point; `numpy.linalg.LinAlgError` when there is none."""
        ...


class SmallProblem(Protocol):
    """The problem with the cone as given by matrices ``M_j`` of shape (M', p, p).

    Attributes
    ----------
    matrices : ndarray of shape (M', p, p)
        ``sum_j xi_j M_j`` must be semidefinite.
    """

    @property
    def matrices(self) -> FloatArray:
        """M."""
        ...

    def start(self) -> Any:
        """A point in the interior."""
        ...

    def at(self, point: Any) -> SmallIteration:
        """The iterate at a point."""
        ...


@dataclass(frozen=True)
class Setting:
    """A problem over ``sum_i x_i u_i K_i >= 0``, with weights x = T xi in the units u.

    Parameters
    ----------
    gram : GramStack
        Kernels over all samples.
    face : Face
        Their joint range.
    units : ndarray of shape (m,)
        u.
    span : ndarray of shape (M, M')
        T; M = m + 1 where a learned ridge has a nonnegative weight of its own, which comes last in x.
    small : callable
        Makes a `SmallProblem` of cone matrices.
    candidate : callable
        ``candidate(iteration, cone_dual, gap, xi)`` with the weights of the coordinates xi.
    feasible : callable
        Whether the combination of coordinates xi is semidefinite on all samples.
    """

    gram: Any
    face: Face
    units: FloatArray
    span: FloatArray
    small: Callable[[FloatArray], SmallProblem]
    candidate: Callable[[Any, ConeDual, float, FloatArray], Candidate]
    feasible: Callable[[FloatArray], bool]

    @property
    def ridge(self) -> int:
        """1 with a learned ridge, else 0: its place in the cone is the first."""
        return len(self.span) - len(self.units)

    def small_problem(self, blocks: FloatArray) -> SmallProblem:
        """The problem with the cone on some directions.

        Parameters
        ----------
        blocks : ndarray of shape (m, p, p)
            The scaled kernels on these directions.
        """
        first, p = self.ridge, blocks.shape[1]
        parts = np.zeros((len(self.span), p + first, p + first))
        parts[: len(blocks), first:, first:] = blocks
        if first:
            parts[-1, 0, 0] = 1.0
        return self.small(np.tensordot(self.span.T, parts, axes=1))

    def report(
        self, iteration: SmallIteration, basis: FloatArray, gap: float, xi: FloatArray | None = None
    ) -> Candidate:
        """The iterate (with the weights of other coordinates) as a candidate, with the basis of its multiplier."""
        whole = self.face.embed(basis, self.gram.shape[0])
        cone = ConeDual(whole, iteration.point.Z[self.ridge :, self.ridge :])
        return self.candidate(iteration, cone, gap, iteration.point.xi if xi is None else xi)

    def reaches_everywhere(self, xi: FloatArray) -> bool:
        """Whether coordinates that are in the cone on the face are in the cone on all samples."""
        return len(self.face.pivots) == self.gram.shape[0] or self.feasible(xi)

    def combination(self, xi: FloatArray) -> FloatArray:
        """The combined kernel on the face's pivots, shape (rank, rank)."""
        K = self.gram.combine(self.units * (self.span @ xi)[: len(self.units)])
        return K if len(self.face.pivots) == len(K) else K[np.ix_(self.face.pivots, self.face.pivots)]

    def mixed(self, xi: FloatArray, negative: float) -> FloatArray:
        """Coordinates mixed with uniform weights so that a combination this negative becomes semidefinite."""
        m, x = len(self.units), self.span @ xi
        # The trace, which is positive unless the combination is far from semidefinite.
        total = max(float(x[:m].sum()), 1e-3 * float(np.abs(x[:m]).sum()))
        share = negative / (negative + total)
        uniform = np.append(np.full(m, total / m), x[m:])
        # The span holds the uniform weights up to combinations that are rounding.
        nearest: FloatArray = np.asarray(np.linalg.lstsq(self.span, uniform, rcond=None)[0], dtype=np.float64)
        return (1.0 - share) * xi + share * nearest
