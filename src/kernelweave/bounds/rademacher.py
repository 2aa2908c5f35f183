"""Complexity of a set of combined kernels: ``C(K) = E max_K sigma'K sigma`` over random signs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kernelweave.exceptions import InvalidKernelError
from kernelweave.gram.base import FloatArray, GramStack
from kernelweave.gram.dense import DenseStack
from kernelweave.gram.preparing.checks import check_kernel_matrix, check_positive_semidefinite
from kernelweave.problems.trace_maximum import TraceMaximumProblem
from kernelweave.solvers.driver import run
from kernelweave.solvers.semidefinite.trace_maximum import solve_trace_maximum

__all__ = ["Complexity", "rademacher_complexity"]

_MOST_ENUMERATED = 16  # samples; 2^15 sign vectors, as sigma and -sigma count alike
_TOL = 1e-8


@dataclass(frozen=True)
class Complexity:
    """A value of C(K), or a bound of it.

    Parameters
    ----------
    value : float
        C(K), its estimate, or a bound from above.
    standard_error : float
        Of a Monte-Carlo estimate; zero else.
    method : {"closed_form", "monte_carlo", "enumeration"}
        How it was found; "closed_form" bounds C(K) from above.
    n_samples : int
        Samples, labelled and not.
    """

    value: float
    standard_error: float
    method: str
    n_samples: int


def rademacher_complexity(
    kernels: Sequence[Any],
    *,
    weights: str = "nonnegative",
    trace: float | None = None,
    method: str = "closed_form",
    n_draws: int = 200,
    random_state: Any = None,
) -> Complexity:
    """Complexity of the combinations of kernels whose trace is at most a budget.

    ``C(K) = E max_K sigma'K sigma`` with independent random signs sigma, the maximum over the combinations
    ``sum_i mu_i K_i`` that the weights allow. It is what `transduction_bound` asks for.

    Parameters
    ----------
    kernels : sequence of array-like of shape (N, N)
        Positive semidefinite kernel matrices over all N samples, labelled and not (N = 2n in [L04]).
    weights : {"nonnegative", "psd"}, default="nonnegative"
        Nonnegative weights, or weights of any sign with a positive semidefinite combination.
    trace : float or None, default=None
        Budget c of the trace; None for N, that of one kernel with unit diagonal.
    method : {"closed_form", "monte_carlo", "enumeration"}, default="closed_form"
        "closed_form" is a bound from above: ``c min(m, N max_i lambda_max(K_i) / trace(K_i))`` for nonnegative
        weights and ``c N`` for weights of any sign. "monte_carlo" averages the maximum over random draws: cheap
        for nonnegative weights, a small semidefinite program each for "psd". "enumeration" is exact, over all
        sign vectors, for up to 16 samples.
    n_draws : int, default=200
        Draws of "monte_carlo", at least two.
    random_state : int, RandomState or None, default=None
        Of the draws.

    Returns
    -------
    Complexity

    Raises
    ------
    ValueError
        For parameters out of range; `InvalidKernelError` names the kernel that is not finite, symmetric,
        positive semidefinite, of the common shape, or is zero.
    RuntimeError
        When a semidefinite program misses its gap.

    Notes
    -----
    The second term of the minimum is printed with n in [L04]; over 2n samples ``sigma'K sigma <= 2n lambda_max``,
    and the bound ``c n`` for weights of any sign has the same slip.

    References
    ----------
    .. [L04] Lanckriet et al., "Learning the kernel matrix with semidefinite programming", JMLR 5, 2004,
       Theorem 24.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.bounds import rademacher_complexity
    >>> kernels = [np.eye(4), np.ones((4, 4))]
    >>> rademacher_complexity(kernels).value
    8.0
    >>> rademacher_complexity(kernels, method="enumeration").value
    5.5
    """
    gram, c = _checked(kernels, weights, trace)
    n = gram.shape[0]
    if method == "closed_form":
        return Complexity(_closed_form(gram, weights, c), 0.0, method, n)
    if method == "enumeration":
        if n > _MOST_ENUMERATED:
            raise ValueError(f"method='enumeration' is for up to {_MOST_ENUMERATED} samples, got {n}; draw instead.")
        values = list(_maxima(gram, weights, c, _all_signs(n)))
        return Complexity(float(np.mean(values)), 0.0, method, n)
    if method != "monte_carlo":
        raise ValueError(f"method must be 'closed_form', 'monte_carlo' or 'enumeration'; got {method!r}.")
    if n_draws < 2:
        raise ValueError(f"n_draws must be at least 2, got {n_draws}.")
    signs = check_random_state(random_state).choice([-1.0, 1.0], size=(n_draws, n))
    values = list(_maxima(gram, weights, c, signs))
    return Complexity(float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(n_draws)), method, n)


def _checked(kernels: Sequence[Any], weights: str, trace: float | None) -> tuple[DenseStack, float]:
    if weights not in ("nonnegative", "psd"):
        raise ValueError(f"weights must be 'nonnegative' or 'psd'; got {weights!r}.")
    matrices = [np.asarray(K, dtype=np.float64) for K in kernels]
    if not matrices:
        raise ValueError("there must be at least one kernel.")
    for i, K in enumerate(matrices):
        if K.ndim != 2 or K.shape != (len(matrices[0]),) * 2:
            raise InvalidKernelError(f"Kernel {i} has shape {K.shape}; all must be square and of the same size.")
        check_kernel_matrix(K, str(i))
        check_positive_semidefinite(K, str(i))
        if not np.trace(K) > 0:
            raise InvalidKernelError(f"Kernel {i} is zero (its trace is 0); leave it out.")
    c = float(len(matrices[0])) if trace is None else float(trace)
    if not (c > 0 and np.isfinite(c)):
        raise ValueError(f"trace must be a positive number; got {trace!r}.")
    return DenseStack(matrices), c


def _closed_form(gram: GramStack, weights: str, c: float) -> float:
    n, m = gram.shape[0], gram.n_kernels
    if weights == "psd":
        return c * n
    largest = [np.linalg.eigvalsh(gram.combine(np.eye(m)[i]))[-1] for i in range(m)]
    return c * min(float(m), n * float(np.max(np.asarray(largest) / gram.traces())))


def _all_signs(n: int) -> FloatArray:
    """Every sign vector that begins with 1: sigma and -sigma have the same value."""
    rest = np.array(list(itertools.product([1.0, -1.0], repeat=n - 1))).reshape(-1, n - 1)
    return np.hstack([np.ones((len(rest), 1)), rest])


def _maxima(gram: DenseStack, weights: str, c: float, signs: Iterable[FloatArray]) -> Iterator[float]:
    """``max_K sigma'K sigma`` for each sigma, from above where it takes a program."""
    traces = gram.traces()
    for sigma in signs:
        forms = gram.quadratic_forms(sigma)
        if weights == "nonnegative":
            yield c * float((forms / traces).max())
            continue
        result = run(solve_trace_maximum, TraceMaximumProblem(forms, traces, c), gram, tol=_TOL)
        if result.certificate.relative_gap > 1e3 * _TOL:
            raise RuntimeError(f"A semidefinite program of the complexity missed its gap: {result.message}")
        yield -result.certificate.dual
