"""Complexities against enumeration and closed forms, at sizes where everything can be counted."""

import itertools

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelweave.bounds import rademacher_complexity
from kernelweave.exceptions import InvalidKernelError

SETS = ["nonnegative", "psd"]


def random_kernels(n, m, seed, rank=None):
    rng = np.random.default_rng(seed)
    factors = [rng.normal(size=(n, rank or n)) for _ in range(m)]
    return [z @ z.T for z in factors]


def counted(kernels, c):
    """The definition, for nonnegative weights."""
    n = len(kernels[0])
    values = []
    for signs in itertools.product([-1.0, 1.0], repeat=n):
        sigma = np.array(signs)
        values.append(c * max(sigma @ K @ sigma / np.trace(K) for K in kernels))
    return float(np.mean(values))


def two_kernels_by_search(kernels, sigma, c):
    """Largest sigma'K sigma over semidefinite combinations of two kernels: the weights are an interval."""
    first, second = (K / np.trace(K) for K in kernels)

    def smallest(t):
        return np.linalg.eigvalsh(first + t * (second - first))[0]

    ends = []
    for far in (-50.0, 51.0):
        near = 0.0 if far < 0 else 1.0
        ends.append(scipy.optimize.brentq(smallest, far, near) if smallest(far) < 0 else far)
    return c * max(sigma @ (first + t * (second - first)) @ sigma for t in ends)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_enumeration_is_the_definition(n):
    kernels = random_kernels(n, 3, n)
    found = rademacher_complexity(kernels, trace=7.0, method="enumeration")
    assert found.value == pytest.approx(counted(kernels, 7.0), rel=1e-12)
    assert (found.standard_error, found.n_samples) == (0.0, n)


def test_free_signs_against_a_search_over_the_interval_of_weights():
    # Positive definite, so that the cone cuts the line of weights off on both sides of [0, 1].
    kernels = [K + 0.3 * np.eye(4) for K in random_kernels(4, 2, 1)]
    expected = np.mean(
        [two_kernels_by_search(kernels, np.array(s), 4.0) for s in itertools.product([-1.0, 1.0], repeat=4)]
    )
    assert rademacher_complexity(kernels, weights="psd", method="enumeration").value == pytest.approx(expected, 1e-6)


def test_kernels_that_span_all_matrices_reach_the_bound():
    basis = [np.eye(3)] + [np.outer(v, v) for v in [(1, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1)]]
    kernels = [np.asarray(K, dtype=float) for K in basis]
    found = rademacher_complexity(kernels, weights="psd", trace=2.0, method="enumeration")
    assert found.value == pytest.approx(2.0 * 3, rel=1e-6)
    assert rademacher_complexity(kernels, weights="psd", trace=2.0).value == 6.0


@pytest.mark.parametrize("weights", SETS)
def test_monte_carlo_agrees_with_enumeration(weights):
    kernels = random_kernels(4, 3, 5)
    exact = rademacher_complexity(kernels, weights=weights, method="enumeration").value
    drawn = rademacher_complexity(kernels, weights=weights, method="monte_carlo", n_draws=150, random_state=0)
    assert abs(drawn.value - exact) <= 4 * drawn.standard_error
    assert 0 < drawn.standard_error < 0.1 * exact


def test_one_kernel_is_its_trace():
    K = random_kernels(4, 1, 2)
    assert rademacher_complexity(K, trace=3.0, method="enumeration").value == pytest.approx(3.0)
    assert rademacher_complexity(K, trace=3.0).value >= 3.0


@settings(max_examples=25, deadline=None)
@given(n=st.integers(2, 5), m=st.integers(1, 4), rank=st.integers(1, 4), seed=st.integers(0, 1000))
def test_order_of_the_bounds(n, m, rank, seed):
    kernels = random_kernels(n, m, seed, rank)
    exact = rademacher_complexity(kernels, method="enumeration").value
    free = rademacher_complexity(kernels, weights="psd", method="enumeration").value
    assert exact <= free * (1 + 1e-6)
    assert exact <= rademacher_complexity(kernels).value * (1 + 1e-9)
    assert free <= rademacher_complexity(kernels, weights="psd").value * (1 + 1e-6)
    # Scales of single kernels do not matter, the budget does linearly.
    scaled = [10.0**i * K for i, K in enumerate(kernels)]
    assert rademacher_complexity(scaled, trace=2.0 * n, method="enumeration").value == pytest.approx(2.0 * exact)


@pytest.mark.parametrize("seed", range(3))
def test_largest_eigenvalue_decides_where_there_are_many_kernels(seed):
    K = random_kernels(4, 1, seed)[0]
    kernels = [K] * 50
    bound = 4.0 * 4 * np.linalg.eigvalsh(K)[-1] / np.trace(K)
    assert rademacher_complexity(kernels).value == pytest.approx(bound)


@pytest.mark.parametrize(
    ("kernels", "settings", "message"),
    [
        ([], {}, "at least one"),
        ([np.eye(2)], {"weights": "any"}, "weights must be"),
        ([np.eye(2)], {"method": "guess"}, "method must be"),
        ([np.eye(2)], {"trace": -1.0}, "trace must be"),
        ([np.eye(2)], {"method": "monte_carlo", "n_draws": 1}, "at least 2"),
        ([np.eye(17)], {"method": "enumeration"}, "up to 16"),
    ],
)
def test_bad_settings(kernels, settings, message):
    with pytest.raises(ValueError, match=message):
        rademacher_complexity(kernels, **settings)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (np.eye(3), "shape"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "1"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), "symmetric"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "semidefinite|2"),
        (np.zeros((2, 2)), "zero"),
    ],
)
def test_bad_kernels_are_named(kernel, message):
    with pytest.raises(InvalidKernelError, match=message) as caught:
        rademacher_complexity([np.eye(2), kernel])
    assert "1" in str(caught.value)


def test_a_program_that_fails_is_told(monkeypatch):
    monkeypatch.setattr("kernelweave.bounds.rademacher.solve_trace_maximum", lambda *_, **__: iter(()))
    with pytest.raises(RuntimeError, match="missed its gap"):
        rademacher_complexity(random_kernels(4, 2, 0), weights="psd", method="enumeration")
