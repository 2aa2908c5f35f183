"""The largest value of a linear function over semidefinite combinations of kernels at a fixed trace.

    maximise q'mu   s.t.  sum_i mu_i r_i = c,   K(mu) = sum_i mu_i K_i positive semidefinite,   r_i = trace(K_i).

With ``q_i = sigma'K_i sigma`` for a vector of random signs its mean value is the complexity C(K) of [L04],
Theorem 24, for weights of any sign. As the other problems minimise, certificates bound ``-q'mu``.
Dual: c lambda over Z >= 0 with ``r_i lambda = q_i + <Z, K_i>`` for every i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.problems.base import Candidate, Certificate, FloatArray
from kernelweave.problems.cone import justified_price, mixed_until_semidefinite

__all__ = ["TraceMaximumProblem"]


@dataclass(frozen=True)
class TraceMaximumProblem:
    """Weights of any sign that maximise ``q'mu`` at a fixed trace.

    Parameters
    ----------
    q : ndarray of shape (m,)
        Value of each kernel.
    prices : ndarray of shape (m,)
        Traces of the kernels, positive.
    budget : float
        c, positive.

    Raises
    ------
    ValueError
        When shapes disagree or numbers are not finite or not positive.

    Examples
    --------
    >>> from kernelweave.gram.dense import DenseStack
    >>> gram = DenseStack([np.eye(2), np.ones((2, 2))])
    >>> problem = TraceMaximumProblem(np.array([2.0, 4.0]), gram.traces(), 2.0)
    >>> problem.certify(gram, Candidate(weights=np.array([0.0, 1.0]))).primal
    -4.0
    """

    q: FloatArray
    prices: FloatArray
    budget: float

    def __post_init__(self) -> None:
        if self.q.ndim != 1 or self.q.shape != self.prices.shape or not len(self.q):
            raise ValueError(f"q and prices must have shape (m,); got {self.q.shape} and {self.prices.shape}.")
        if not np.isfinite(self.q).all() or not (np.isfinite(self.prices).all() and (self.prices > 0).all()):
            raise ValueError("q must be finite, and prices positive numbers.")
        if not (self.budget > 0 and np.isfinite(self.budget)):
            raise ValueError(f"budget must be a positive number; got {self.budget!r}.")

    def certify(self, gram: Any, candidate: Candidate) -> Certificate:
        """Judge weights and the multiplier of the cone.

        Parameters
        ----------
        gram : GramStack
            The kernels; its traces are the prices.
        candidate : Candidate
            ``weights`` of shape (m,), brought to the budget, and ``extras["cone_dual"]`` (Z = 0 without).

        Returns
        -------
        Certificate
            Of ``-q'mu``; the bound holds whatever multiplier is handed in.
        """
        primal, violation = float("inf"), float("inf")
        weights = candidate.weights
        if weights is not None and weights.shape == self.q.shape and np.isfinite(weights).all():
            cost = float(weights @ self.prices)
            if cost > 0:
                mixed, violation = mixed_until_semidefinite(gram, weights * (self.budget / cost), self.prices)
                primal = float("inf") if mixed is None else -float(self.q @ mixed)
        price = justified_price(gram, self.q, self.prices, candidate.extras.get("cone_dual"))
        return Certificate.sound(primal, -self.budget * price, violation)
