"""Kernel weights of any sign by large margin ([L04] (26), (31), (36), (41), (45)).

    minimise over mu with sum_i mu_i p_i = c and K(mu) = sum_i mu_i K_i positive semidefinite
    over all n samples:   sum_k omega_k( K(mu) on the n_tr labelled samples ).

Dual: for any alpha_k feasible for the SVM, any Z >= 0 (n x n, semidefinite) and any lambda with

    p_i lambda = q_i(alpha) + <Z, K_i>  for every i,      q_i = sum_k alpha_k' Y_k K_i Y_k alpha_k,

the optimum is at least  sum_k [ 2 alpha_k'e - alpha_k' R alpha_k ] - c lambda. A learned ridge
("auto-C") has a nonnegative weight of its own and asks for n lambda >= sum_k alpha_k' R alpha_k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.problems.base import Candidate, Certificate, FloatArray
from kernelweave.problems.cone import ConeDual, justified_price, mixed_until_semidefinite
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.svm import FEASIBILITY_TOLERANCE, feasible_dual

__all__ = ["PSDMarginProblem"]


@dataclass(frozen=True)
class PSDMarginProblem(MarginProblem):
    """Kernel weights of any sign whose combination is positive semidefinite.

    Parameters are those of `MarginProblem`: ``labels``, ``box`` and ``ridge`` of the labelled samples,
    which come first; ``prices``, the traces of the kernels over all n samples; ``budget``; and
    ``ridge_price`` = n where the ridge is learned. The stack that `certify` takes holds all n samples.

    A combination counts as positive semidefinite when its smallest eigenvalue is above
    -1e-8 times its largest diagonal entry (float32: -n eps). One that is not is mixed with the
    uniform weights until it is, and the primal value is that of the mixture.

    Examples
    --------
    >>> from kernelweave.gram.dense import DenseStack
    >>> from kernelweave.problems.cone import ConeDual
    >>> y = np.array([[1.0, -1.0]])
    >>> gram = DenseStack([np.eye(2), np.ones((2, 2))])
    >>> problem = PSDMarginProblem(y, np.full(2, np.inf), np.zeros(2), np.full(2, 2.0), 2.0)
    >>> z = ConeDual(np.ones((2, 1)), np.full((1, 1), 0.25))
    >>> weights, alpha = np.array([2.0, -1.0]), np.full((1, 2), 0.5)
    >>> problem.certify(gram, Candidate(weights=weights, alpha=alpha, extras={"cone_dual": z})).gap
    0.0
    """

    def certify(self, gram: Any, candidate: Candidate) -> Certificate:
        """Judge weights, dual variables and the multiplier of the cone.

        Parameters
        ----------
        gram : GramStack
            The kernels over all n samples, the labelled ones first.
        candidate : Candidate
            ``weights`` of shape (m,) or (m + 1,), ``alpha`` (and optionally ``dual_alpha``) of shape
            (n_columns, n_labelled), and ``extras["cone_dual"]``, a `ConeDual` (Z = 0 without).

        Returns
        -------
        Certificate
            The dual value holds whatever is handed in: Z is corrected by combinations of the kernels
            so that the m equations hold, then by a multiple of the identity that keeps it semidefinite.
        """
        chosen = candidate.alpha if candidate.dual_alpha is None else candidate.dual_alpha
        dual, violation = self._judge_pair(gram, chosen, candidate.extras.get("cone_dual"))
        weights, off = self.feasible_weights(gram, candidate.weights)
        primal = float("inf")
        if weights is not None and self._is_dual_point(candidate.alpha):
            n = self.labels.shape[1]
            signed = self.labels * np.clip(candidate.alpha, 0.0, self.box)
            labelled = gram.restrict(np.arange(n, dtype=np.intp))
            scores = labelled.matvec(self.kernel_part(weights), signed.T).T
            primal = self.primal_value(weights, signed, scores)
        return Certificate(primal, dual, max(violation, off))

    def feasible_weights(self, gram: Any, weights: FloatArray | None) -> tuple[FloatArray | None, float]:
        """Weights on the budget and in the cone, near the given ones.

        Parameters
        ----------
        gram : GramStack
            The kernels over all n samples.
        weights : ndarray of shape (m,) or (m + 1,), or None
            Proposed weights.

        Returns
        -------
        weights : ndarray or None
            Feasible weights; None when the given ones are missing or off the budget.
        violation : float
            Distance from the budget plus the share of uniform weights that was mixed in.
        """
        if weights is None or weights.shape != self.all_prices.shape or not np.isfinite(weights).all():
            return None, float("inf")
        if self.learns_ridge:
            weights = np.append(weights[:-1], max(float(weights[-1]), 0.0))
        cost = float(weights @ self.all_prices)
        violation = abs(cost - self.budget) / self.budget
        if violation > FEASIBILITY_TOLERANCE:
            return None, violation
        weights = weights * (self.budget / cost)
        mu, share = mixed_until_semidefinite(gram, self.kernel_part(weights), self.prices)
        if mu is None:
            return None, float("inf")
        return np.concatenate([mu, weights[len(mu) :]]), violation + share

    def _judge_pair(self, gram: Any, alpha: FloatArray | None, cone: ConeDual | None) -> tuple[float, float]:
        """Lower bound and violation of dual variables with a multiplier of the cone."""
        if alpha is None or not self._is_dual_point(alpha):
            return -float("inf"), float("inf")
        repaired = [feasible_dual(a, y, self.box) for a, y in zip(alpha, self.labels, strict=True)]
        clean = np.stack([a for a, _ in repaired])
        violation = max(v for _, v in repaired)
        if violation > FEASIBILITY_TOLERANCE:
            return -float("inf"), violation
        padded = np.zeros((gram.shape[0], len(clean)))
        padded[: clean.shape[1]] = (self.labels * clean).T
        q = gram.quadratic_forms(padded).sum(axis=1)
        return self._bound(clean, justified_price(gram, q, self.prices, cone)), violation

    def _bound(self, alpha: FloatArray, price: float) -> float:
        """Dual value at the best common scale of (alpha, sqrt Z)."""
        forms = self.prices * price
        if self.learns_ridge:
            forms = np.append(forms, float(self.ridge @ (alpha**2).sum(axis=0)))
        return self.dual_value(alpha, forms)
