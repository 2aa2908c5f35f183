import itertools
import math

import numpy as np
import pytest

from kernelweave.bounds import estimate_mixed_norm_complexity, mixed_norm_bound, mixed_norm_complexity

RNG = np.random.default_rng(0)
PENALTIES = [(p, s) for p in ("l1", "l2", "group", "elitist") for s in ("kernels", "samples")]
NORMS = {"l1": (1, 1), "l2": (2, 2), "group": (2, 1), "elitist": (1, 2)}
CLOSED = [("l1", "kernels"), ("l1", "samples"), ("group", "samples"), ("elitist", "kernels")]


def dual_norm(z, penalty, structure):
    """By the definition: order p' within the groups, q' across; z has a row a sample and a column a kernel."""
    p, q = (math.inf if order == 1 else 2 for order in NORMS[penalty])
    groups = z if structure == "samples" else z.T
    return np.linalg.norm([np.linalg.norm(group, p) for group in groups], q)


def by_enumeration(kernels, penalty, structure):
    norms = []
    for sigma in itertools.product([1.0, -1.0], repeat=len(kernels[0])):
        z = np.stack([K.T @ np.array(sigma) for K in kernels], axis=1)
        norms.append(dual_norm(z, penalty, structure))
    return np.mean(norms)


@pytest.mark.parametrize("n", [4, 5, 6])
@pytest.mark.parametrize(("penalty", "structure"), PENALTIES)
def test_all_sign_vectors(n, penalty, structure):
    kernels = RNG.normal(size=(3, n, n + 1))
    found = estimate_mixed_norm_complexity(kernels, penalty=penalty, structure=structure, method="enumeration")
    assert found.value == pytest.approx(by_enumeration(kernels, penalty, structure), rel=1e-12)
    assert (found.standard_error, found.n_samples) == (0.0, n)


@pytest.mark.parametrize(("penalty", "structure"), PENALTIES)
def test_draws_estimate_the_mean(penalty, structure):
    kernels = RNG.normal(size=(3, 6, 6))
    exact = by_enumeration(kernels, penalty, structure)
    drawn = estimate_mixed_norm_complexity(kernels, penalty=penalty, structure=structure, n_draws=2000, random_state=0)
    assert abs(drawn.value - exact) < 4 * drawn.standard_error
    assert drawn.standard_error < 0.03 * exact


@pytest.mark.parametrize("n", [4, 6])
@pytest.mark.parametrize(("penalty", "structure"), CLOSED)
def test_closed_forms_bound_every_sample(n, penalty, structure):
    bound = mixed_norm_complexity(n, 3, penalty=penalty, structure=structure, kappa=2.0).value
    # Signs are the worst that |k| <= kappa allows; some matrices are made to be bad.
    samples = [2.0 * RNG.choice([-1.0, 1.0], size=(3, n, n)) for _ in range(20)]
    samples += [np.full((3, n, n), 2.0)]
    exact = [by_enumeration(kernels, penalty, structure) for kernels in samples]
    assert max(exact) <= bound
    assert max(exact) > 0.3 * bound


def test_closed_forms_as_they_are_printed():
    n, T, kappa = 50, 4, 1.5
    term = kappa * math.sqrt(math.log(4 * n * T) / n)
    values = {
        pair: mixed_norm_complexity(2 * n, T, penalty=pair[0], structure=pair[1], kappa=kappa).value / (2 * n)
        for pair in CLOSED
    }
    assert values["l1", "kernels"] == values["l1", "samples"] == pytest.approx(term)
    assert values["group", "samples"] == values["elitist", "kernels"] == pytest.approx(2 * term)


@pytest.mark.parametrize(("penalty", "structure"), [("l2", "kernels"), ("group", "kernels"), ("elitist", "samples")])
def test_other_penalties_have_none(penalty, structure):
    with pytest.raises(ValueError, match="no closed form that falls"):
        mixed_norm_complexity(10, 2, penalty=penalty, structure=structure, kappa=1.0)


def test_the_bound_by_its_formula():
    values, y = np.array([2.0, 0.5, -0.2, 3.0]), np.array([1, 1, 1, -1])
    complexity = mixed_norm_complexity(8, 2, penalty="l1", kappa=1.0)
    bound = mixed_norm_bound(values, y, complexity, radius=0.1, delta=0.1)
    assert bound.empirical == pytest.approx((0.0 + 0.25 + 1.0 + 1.0) / 4)
    assert bound.complexity == pytest.approx(16 * 0.1 * math.sqrt(math.log(4 * 4 * 2) / 4))
    assert bound.confidence == pytest.approx(math.sqrt(math.log(10.0) / 8))
    assert bound.value == pytest.approx(bound.empirical + bound.complexity + bound.confidence)
    assert not bound.is_estimate


def test_an_estimate_is_called_one():
    estimate = estimate_mixed_norm_complexity([np.eye(4)], penalty="group", method="enumeration")
    bound = mixed_norm_bound(np.ones(4), np.ones(4), estimate, radius=1.0)
    assert bound.is_estimate
    assert bound.complexity == pytest.approx(16.0 * 2.0 / 4)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: mixed_norm_complexity(0, 1, penalty="l1", kappa=1.0), "samples and kernels"),
        (lambda: mixed_norm_complexity(1, 1, penalty="l1", kappa=0.0), "kappa must be"),
        (lambda: mixed_norm_complexity(1, 1, penalty="l3", kappa=1.0), "penalty must be one of"),
        (lambda: estimate_mixed_norm_complexity([np.eye(2) * np.nan], penalty="l1"), "Kernel 0 holds NaN"),
        (lambda: estimate_mixed_norm_complexity([np.eye(17)], penalty="l1", method="enumeration"), "up to 16"),
        (lambda: estimate_mixed_norm_complexity([np.eye(2)], penalty="l1", method="guess"), "method must be"),
        (lambda: estimate_mixed_norm_complexity([np.eye(2)], penalty="l1", n_draws=1), "n_draws must be"),
    ],
)
def test_bad_complexities(act, message):
    with pytest.raises(ValueError, match=message):
        act()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [1, 0]}, "y must hold -1 and 1"),
        ({"decision_values": [1.0, np.nan]}, "finite numbers"),
        ({"y": [1]}, "one shape"),
        ({"radius": 0.0}, "radius must be positive"),
        ({"delta": 1.0}, "delta between 0 and 1"),
        ({"complexity": mixed_norm_complexity(2, 1, penalty="l1", kappa=1.0)}, "2 samples, but 2 training .* of 4"),
    ],
)
def test_bad_bounds(change, message):
    good = {
        "decision_values": [1.0, -1.0],
        "y": [1, -1],
        "complexity": mixed_norm_complexity(4, 1, penalty="l1", kappa=1.0),
        "radius": 1.0,
    }
    assert mixed_norm_bound(**good).value > 0
    with pytest.raises(ValueError, match=message):
        mixed_norm_bound(**{**good, **change})
