"""Bound of the error on unlabelled samples that were known at fit ([L04], Theorem 24)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.bounds.rademacher import Complexity

__all__ = ["TransductionBound", "transduction_bound"]


@dataclass(frozen=True)
class TransductionBound:
    """Upper bound of the error rate on the unlabelled half, and its parts.

    Parameters
    ----------
    value : float
        The bound; above one it says nothing.
    empirical : float
        Mean loss on the labelled half.
    confidence : float
        ``(4 + sqrt(2 log(1/delta))) / sqrt(n)``, the price of chance.
    complexity : float
        Price of the set of kernels.
    """

    value: float
    empirical: float
    confidence: float
    complexity: float


def transduction_bound(
    decision_values: Any,
    y: Any,
    complexity: Complexity | float,
    *,
    gamma: float,
    delta: float = 0.05,
    loss: str = "hinge",
) -> TransductionBound:
    """Bound the error rate on n unlabelled samples by what is seen on n labelled ones.

    With probability ``1 - delta`` over which half of the 2n samples is labelled, for every function of margin
    gamma in every kernel of the set at once, so also for weights learned from the labels:

        error <= mean loss + (4 + sqrt(2 log(1/delta)) + k sqrt(C(K) / (n gamma^2))) / sqrt(n),

    k = 1 for the hinge and 2 for the squared hinge. It holds for functions without intercept of norm at most
    ``1/gamma``, with gamma fixed before looking at the labels. A union over a grid of J margins costs
    ``delta / J`` in place of ``delta``.

    Parameters
    ----------
    decision_values : array-like of shape (n,)
        Values f(x) on the labelled samples, without intercept.
    y : array-like of shape (n,)
        Labels -1 and 1.
    complexity : Complexity or float
        C(K) over all 2n samples, from `rademacher_complexity` with the budget of the fit.
    gamma : float
        Margin, a positive number.
    delta : float, default=0.05
        Probability with which the bound may fail, between 0 and 1.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss on the labelled samples.

    Returns
    -------
    TransductionBound

    Raises
    ------
    ValueError
        For parameters out of range, labels other than -1 and 1, shapes that differ, or a complexity that was
        taken over other than 2n samples.

    Notes
    -----
    Step 2 of the printed proof gives ``2 sqrt(log(1/delta))``; the constant here is that of the theorem as stated,
    which bounded differences over n draws justify. A Monte-Carlo complexity makes the bound an estimate.

    References
    ----------
    .. [L04] Lanckriet et al., "Learning the kernel matrix with semidefinite programming", JMLR 5, 2004,
       Theorem 24.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.bounds import transduction_bound
    >>> bound = transduction_bound(np.full(10_000, 1.0), np.ones(10_000), 20_000.0, gamma=0.5, delta=0.05)
    >>> round(bound.value, 3)
    0.093
    """
    values = np.asarray(decision_values, dtype=np.float64)
    labels = np.asarray(y)
    n = len(values) if values.ndim == 1 else 0
    if not n or labels.shape != values.shape:
        raise ValueError(f"decision_values and y must be of one shape (n,); got {values.shape} and {labels.shape}.")
    if not np.isin(labels, (-1, 1)).all() or not np.isfinite(values).all():
        raise ValueError("y must hold -1 and 1, and decision_values finite numbers.")
    if not (gamma > 0 and math.isfinite(gamma)) or not 0 < delta < 1:
        raise ValueError(f"gamma must be positive and delta between 0 and 1; got {gamma!r} and {delta!r}.")
    if loss not in ("hinge", "squared_hinge"):
        raise ValueError(f"loss must be 'hinge' or 'squared_hinge'; got {loss!r}.")
    if isinstance(complexity, Complexity) and complexity.n_samples != 2 * n:
        raise ValueError(
            f"the complexity was taken over {complexity.n_samples} samples, but {n} labelled samples need {2 * n}: "
            "as many unlabelled as labelled ones."
        )
    size = complexity.value if isinstance(complexity, Complexity) else float(complexity)
    slack = np.maximum(1.0 - labels * values, 0.0)
    power, factor = (1, 1.0) if loss == "hinge" else (2, 2.0)
    empirical = float(np.mean(slack**power))
    confidence = (4.0 + math.sqrt(2.0 * math.log(1.0 / delta))) / math.sqrt(n)
    price = factor * math.sqrt(size / n) / (gamma * math.sqrt(n))
    return TransductionBound(empirical + confidence + price, empirical, confidence, price)
