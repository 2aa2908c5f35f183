"""Alignment functions by their definition."""

import numpy as np
import pytest

from kernelweave import alignment, centered_alignment
from kernelweave.estimators.alignment.alignment import target_columns

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(12, 4)) + 1.0
K = Z @ Z.T
Y = np.where(np.arange(12) % 3 > 0, 1, -1)


def test_by_definition():
    assert alignment(K, Y) == pytest.approx(Y @ K @ Y / (12 * np.linalg.norm(K)))
    P = np.eye(12) - 1 / 12
    T = P @ np.outer(Y, Y) @ P
    C = P @ K @ P
    assert centered_alignment(K, Y) == pytest.approx((C * T).sum() / np.linalg.norm(C) / np.linalg.norm(T))


def test_labels_of_any_type_and_matrices():
    words = np.where(Y > 0, "up", "down")
    assert alignment(K, words) == pytest.approx(alignment(K, np.outer(Y, Y)))
    assert alignment(K, K) == pytest.approx(1.0)
    assert alignment(np.zeros((12, 12)), Y) == 0.0


def test_constants_do_not_matter_when_centred():
    assert centered_alignment(K + 50.0, Y) == pytest.approx(centered_alignment(K, Y))
    assert alignment(K + 50.0, Y) < alignment(K, Y)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_target_within_and_between_classes(n_classes):
    codes = RNG.permutation(np.arange(20) % n_classes)
    columns = target_columns(codes, n_classes)
    expected = np.where(codes[:, None] == codes, 1.0, -1.0 / (n_classes - 1))
    np.testing.assert_allclose(columns @ columns.T, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("matrix", "y", "message"),
    [(K[:3], Y, "square"), (K, Y[:4], "inconsistent"), (K, K[:4, :4], "shapes"), (K, np.ones(12), "one class")],
)
def test_refused_input(matrix, y, message):
    with pytest.raises(ValueError, match=message):
        alignment(matrix, y)
