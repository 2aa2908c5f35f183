"""The bound of Theorem 24: its terms, what it refuses, and that it holds."""

import math

import numpy as np
import pytest

from kernelweave.bounds import Complexity, rademacher_complexity, transduction_bound


def test_terms_of_the_formula():
    values, y = np.array([2.0, 0.5, -1.0, 0.25]), np.array([1, 1, -1, -1])
    slack = np.array([0.0, 0.5, 0.0, 1.25])
    found = transduction_bound(values, y, 9.0, gamma=0.5, delta=0.1)
    assert found.empirical == pytest.approx(slack.mean())
    assert found.confidence == pytest.approx((4 + math.sqrt(2 * math.log(10))) / 2)
    assert found.complexity == pytest.approx(math.sqrt(9.0 / (4 * 0.25)) / 2)
    assert found.value == pytest.approx(found.empirical + found.confidence + found.complexity)
    squared = transduction_bound(values, y, 9.0, gamma=0.5, delta=0.1, loss="squared_hinge")
    assert squared.empirical == pytest.approx((slack**2).mean())
    assert squared.complexity == pytest.approx(2 * found.complexity)


def test_it_holds_on_random_halves():
    rng = np.random.default_rng(0)
    n, gamma = 600, 0.3
    X = rng.normal(size=(2 * n, 2))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X[:, 0] > 0, 1, -1)
    complexity = rademacher_complexity([X @ X.T, np.eye(2 * n)], trace=2.0 * n)
    f = X[:, 0] / gamma
    for _ in range(20):
        half = rng.permutation(2 * n)
        bound = transduction_bound(f[half[:n]], y[half[:n]], complexity, gamma=gamma)
        assert np.mean(y[half[n:]] * f[half[n:]] <= 0) <= bound.value
    assert bound.value < 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": np.zeros((2, 2))}, "shape"),
        ({"values": np.zeros(0), "y": np.zeros(0)}, "shape"),
        ({"y": np.ones(3)}, "shape"),
        ({"y": np.array([0, 1])}, "-1 and 1"),
        ({"values": np.array([np.nan, 1.0])}, "finite"),
        ({"gamma": 0.0}, "gamma"),
        ({"delta": 1.0}, "delta"),
        ({"loss": "logistic"}, "loss"),
        ({"complexity": Complexity(4.0, 0.0, "closed_form", 5)}, "5 samples"),
    ],
)
def test_bad_input(change, message):
    given = {"values": np.ones(2), "y": np.array([1, -1]), "complexity": 4.0, "gamma": 1.0} | change
    with pytest.raises(ValueError, match=message):
        transduction_bound(given.pop("values"), given.pop("y"), given.pop("complexity"), **given)
