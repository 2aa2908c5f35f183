"""What every problem shares: the form of an answer and of the judgement on it.

A problem is frozen data with a method ``certify(gram, candidate)``. The certificate
is computed from the problem and the candidate alone, so it can judge a point from
anywhere: our solvers, another package, a paper, a guess.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Candidate", "Certificate", "FloatArray", "Problem"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Candidate:
    """A point that a solver proposes. Problems read the fields they need.

    Parameters
    ----------
    weights : ndarray of shape (n_kernels,), optional
        Kernel weights (with the ridge as a last entry where it is learned).
    alpha : ndarray, optional
        Dual variables of shape (n_columns, n_samples), nonnegative, for System A and B;
        coefficients of shape (n_samples, n_kernels) for System C.
    bias : ndarray of shape (n_columns,), optional
        Intercepts.
    gap : float
        Relative gap the solver believes in; the driver certifies when it is small enough.
    dual_alpha : ndarray, optional
        The dual point where it is not ``alpha`` itself (System A, B: same shape).
    ray : ndarray, optional
        Direction along which the dual is unbounded: proof that no primal point exists.
    extras : dict
        Whatever else an algorithm wants to hand over.
    """

    weights: FloatArray | None = None
    alpha: FloatArray | None = None
    bias: FloatArray | None = None
    gap: float = float("inf")
    dual_alpha: FloatArray | None = None
    ray: FloatArray | None = None
    extras: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Certificate:
    """Bounds on the optimum of a minimisation problem: ``dual <= optimum <= primal``.

    Parameters
    ----------
    primal : float
        Value of the primal point, an upper bound (inf when there is no feasible one).
    dual : float
        Value of the dual point, a lower bound (-inf when there is no feasible one).
    infeasibility : float
        How far the given point violated the constraints, relative to its own scale.

    Examples
    --------
    >>> Certificate(primal=2.0, dual=1.5).relative_gap
    0.25
    """

    primal: float
    dual: float
    infeasibility: float = 0.0

    @classmethod
    def sound(cls, primal: float, dual: float, infeasibility: float) -> Certificate:
        """The certificate of computed values, of which those that overflowed bound nothing.

        Parameters
        ----------
        primal, dual, infeasibility : float
            As computed, possibly NaN or infinite.
        """
        return cls(
            primal if np.isfinite(primal) else float("inf"),
            dual if np.isfinite(dual) else -float("inf"),
            float("inf") if np.isnan(infeasibility) else infeasibility,
        )

    @property
    def gap(self) -> float:
        """Absolute duality gap, ``primal - dual``."""
        return self.primal - self.dual if np.isfinite(self.primal) and np.isfinite(self.dual) else float("inf")

    @property
    def relative_gap(self) -> float:
        """``gap / max(|primal|, tiny)``."""
        return self.gap / max(abs(self.primal), np.finfo(np.float64).tiny) if np.isfinite(self.gap) else float("inf")

    def best_of(self, other: Certificate) -> Certificate:
        """Join the better primal value of two certificates with the better dual value."""
        return Certificate(
            min(self.primal, other.primal), max(self.dual, other.dual), min(self.infeasibility, other.infeasibility)
        )


class Problem(Protocol):
    """What the driver asks of a problem."""

    def certify(self, gram: Any, candidate: Candidate) -> Certificate:
        """Judge a candidate; missing or infeasible parts give infinite bounds, never an exception."""
        ...
