"""Bound of the error of expansions with a mixed norm, for kernels of any kind ([K09], Theorem 2)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kernelweave.bounds.rademacher import Complexity
from kernelweave.exceptions import InvalidKernelError
from kernelweave.gram.base import FloatArray
from kernelweave.gram.rectangular import RectangularStack
from kernelweave.problems.penalties import MixedNorm, penalty_named

__all__ = ["MixedNormBound", "estimate_mixed_norm_complexity", "mixed_norm_bound", "mixed_norm_complexity"]

_MOST_ENUMERATED = 16  # samples; 2^15 sign vectors, as sigma and -sigma count alike


@dataclass(frozen=True)
class MixedNormBound:
    """Upper bound of the error rate on new samples, and its parts.

    Parameters
    ----------
    value : float
        The bound; above one it says nothing.
    empirical : float
        Mean of the squared hinge loss, cut off at one, on the training samples.
    complexity : float
        Price of the set of functions.
    confidence : float
        ``sqrt(log(1/delta) / (2n))``, the price of chance.
    is_estimate : bool
        Whether the complexity was estimated on one sample, so that the value is no proven bound.
    """

    value: float
    empirical: float
    complexity: float
    confidence: float
    is_estimate: bool


def mixed_norm_complexity(
    n_samples: int, n_kernels: int, *, penalty: str, structure: str = "kernels", kappa: float
) -> Complexity:
    """Bound of ``sup_S E || K_S' sigma ||`` in the dual mixed norm, for the penalties where it grows slowly enough.

    Over all samples S of N points, for kernels with ``|k(x, z)| <= kappa``, Massart's lemma on 2NT vectors gives
    ``kappa sqrt(2 N log(2NT))`` for "l1", and sqrt(T) times as much for "group" over samples and for "elitist" over
    kernels.

    Parameters
    ----------
    n_samples : int
        Points N of a sample: twice the n training samples, for `mixed_norm_bound`.
    n_kernels : int
        Number of kernels T.
    penalty : {"l1", "group", "elitist"}
        The penalty, as in `MixedNormClassifier`.
    structure : {"kernels", "samples"}, default="kernels"
        What its groups are.
    kappa : float
        Largest absolute value of any kernel at any two points.

    Returns
    -------
    Complexity
        With ``method="closed_form"``.

    Raises
    ------
    ValueError
        For numbers out of range, and for the other penalties: there a norm runs over all points of the sample, and
        what the lemma gives grows like N, so that the bound never falls.

    Notes
    -----
    Proposition 2 of [K09] is printed for (p, q; r) = (1, 2; 1) and (2, 1; 2); its proof is that of (2, 1; 1) and, by
    the same argument, (1, 2; 2), which are meant here.

    References
    ----------
    .. [K09] Kowalski, Szafranski, Ralaivola, "Multiple indefinite kernel learning with mixed norm
       regularization", ICML 2009.

    Examples
    --------
    >>> from kernelweave.bounds import mixed_norm_complexity
    >>> round(mixed_norm_complexity(200, 3, penalty="l1", kappa=1.0).value, 2)
    53.25
    """
    norm = penalty_named(penalty, structure)
    if n_samples < 1 or n_kernels < 1:
        raise ValueError(f"there must be samples and kernels; got {n_samples} and {n_kernels}.")
    if not (kappa > 0 and math.isfinite(kappa)):
        raise ValueError(f"kappa must be a positive number; got {kappa!r}.")
    single = kappa * math.sqrt(2.0 * n_samples * math.log(2.0 * n_samples * n_kernels))
    if (norm.p, norm.q) == (1, 1):
        return Complexity(single, 0.0, "closed_form", n_samples)
    if (norm.p, norm.q, norm.r) in {(2, 1, 1), (1, 2, 2)}:
        return Complexity(math.sqrt(n_kernels) * single, 0.0, "closed_form", n_samples)
    raise ValueError(
        f"penalty={penalty!r} over {structure} has no closed form that falls with the number of samples; there are "
        "'l1', 'group' over samples and 'elitist' over kernels. estimate_mixed_norm_complexity takes all."
    )


def estimate_mixed_norm_complexity(
    kernels: Sequence[Any],
    *,
    penalty: str,
    structure: str = "kernels",
    method: str = "monte_carlo",
    n_draws: int = 200,
    random_state: Any = None,
) -> Complexity:
    """Estimate of ``sup_S E || K_S' sigma ||`` from one sample S: the value at the sample given, not the supremum.

    sigma are random signs, one a row; ``K_S' sigma`` has a row for each expansion point and a column for each
    kernel, and its norm is the dual of the penalty's: ``|| . ||_{p'q';r}``.

    Parameters
    ----------
    kernels : sequence of array-like of shape (N, n_points)
        Kernel matrices of any kind, rows where the function is evaluated. `mixed_norm_bound` means N = 2n samples
        that are rows and points; with the n training samples alone they stand for twice as many, which makes the
        estimate larger.
    penalty : {"l1", "l2", "group", "elitist"}
        The penalty, as in `MixedNormClassifier`.
    structure : {"kernels", "samples"}, default="kernels"
        What its groups are.
    method : {"monte_carlo", "enumeration"}, default="monte_carlo"
        Random draws, or all sign vectors (exact for this sample, up to 16 rows).
    n_draws : int, default=200
        Draws of "monte_carlo", at least two.
    random_state : int, RandomState or None, default=None
        Of the draws.

    Returns
    -------
    Complexity
        With its standard error, zero for "enumeration".

    Raises
    ------
    ValueError
        For parameters out of range; `InvalidKernelError` for a kernel that is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.bounds import estimate_mixed_norm_complexity
    >>> kernels = [np.eye(4), np.ones((4, 4))]
    >>> estimate_mixed_norm_complexity(kernels, penalty="l1", method="enumeration").value
    1.875
    """
    norm = penalty_named(penalty, structure)
    stack = RectangularStack([np.asarray(K, dtype=np.float64) for K in kernels])
    for i, K in enumerate(kernels):
        if not np.isfinite(np.asarray(K, dtype=np.float64)).all():
            raise InvalidKernelError(f"Kernel {i} holds NaN or infinity.")
    n = stack.shape[0]
    if method == "enumeration":
        if n > _MOST_ENUMERATED:
            raise ValueError(f"method='enumeration' is for up to {_MOST_ENUMERATED} samples, got {n}; draw instead.")
        # sigma and -sigma have the same norm.
        signs = np.array([(1.0, *rest) for rest in itertools.product([1.0, -1.0], repeat=n - 1)])
        return Complexity(float(np.mean(_dual_norms(stack, norm, signs))), 0.0, method, n)
    if method != "monte_carlo":
        raise ValueError(f"method must be 'monte_carlo' or 'enumeration'; got {method!r}.")
    if n_draws < 2:
        raise ValueError(f"n_draws must be at least 2, got {n_draws}.")
    values = _dual_norms(stack, norm, check_random_state(random_state).choice([-1.0, 1.0], size=(n_draws, n)))
    return Complexity(float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(n_draws)), method, n)


def _dual_norms(stack: RectangularStack, norm: MixedNorm, signs: FloatArray) -> FloatArray:
    """``|| K' sigma ||_{p'q';r}`` of each row sigma."""
    parts = (stack.adjoint(sigma) for sigma in signs)
    if norm.q == 1:
        return np.array([norm.dual_norm(z) for z in parts])
    return np.array([math.sqrt(2.0 * norm.conjugate(z)) for z in parts])


def mixed_norm_bound(
    decision_values: Any, y: Any, complexity: Complexity, *, radius: float, delta: float = 0.05
) -> MixedNormBound:
    """Bound the error rate on new samples by what is seen on n training samples.

    With probability ``1 - delta`` over the training samples, for every expansion whose coefficients have
    ``||alpha||_{pq;r} <= tau`` at once:

        P(Y f(X) <= 0) <= mean min([1 - y f(x)]_+^2, 1) + 16 tau C / N + sqrt(log(1/delta) / (2n)),

    C the complexity over samples of N = 2n points. The radius tau has to be fixed before looking at the data (a
    union over a grid of J radii costs ``delta / J`` in place of ``delta``), and the expansion has no intercept but what
    a constant kernel gives it.

    Parameters
    ----------
    decision_values : array-like of shape (n,)
        Values f(x) on the training samples.
    y : array-like of shape (n,)
        Labels -1 and 1.
    complexity : Complexity
        From `mixed_norm_complexity` with 2n samples, or an estimate from `estimate_mixed_norm_complexity`, which
        makes the bound an estimate.
    radius : float
        tau, positive.
    delta : float, default=0.05
        Probability with which the bound may fail, between 0 and 1.

    Returns
    -------
    MixedNormBound

    Raises
    ------
    ValueError
        For parameters out of range, labels other than -1 and 1, shapes that differ, or a closed form over other
        than 2n samples.

    References
    ----------
    .. [K09] Kowalski, Szafranski, Ralaivola, "Multiple indefinite kernel learning with mixed norm
       regularization", ICML 2009, Theorem 2.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.bounds import mixed_norm_bound, mixed_norm_complexity
    >>> n = 100_000
    >>> complexity = mixed_norm_complexity(2 * n, 3, penalty="l1", kappa=1.0)
    >>> round(mixed_norm_bound(np.full(n, 1.0), np.ones(n), complexity, radius=1.5).value, 3)
    0.288
    """
    values, labels = np.asarray(decision_values, dtype=np.float64), np.asarray(y)
    n = len(values) if values.ndim == 1 else 0
    if not n or labels.shape != values.shape:
        raise ValueError(f"decision_values and y must be of one shape (n,); got {values.shape} and {labels.shape}.")
    if not np.isin(labels, (-1, 1)).all() or not np.isfinite(values).all():
        raise ValueError("y must hold -1 and 1, and decision_values finite numbers.")
    if not (radius > 0 and math.isfinite(radius)) or not 0 < delta < 1:
        raise ValueError(f"radius must be positive and delta between 0 and 1; got {radius!r} and {delta!r}.")
    is_estimate = complexity.method != "closed_form"
    if not is_estimate and complexity.n_samples != 2 * n:
        raise ValueError(
            f"the complexity is that of {complexity.n_samples} samples, but {n} training samples need that of {2 * n}."
        )
    empirical = float(np.mean(np.minimum(np.maximum(1.0 - labels * values, 0.0) ** 2, 1.0)))
    price = 16.0 * radius * complexity.value / complexity.n_samples
    confidence = math.sqrt(math.log(1.0 / delta) / (2 * n))
    return MixedNormBound(empirical + price + confidence, empirical, price, confidence, is_estimate)
