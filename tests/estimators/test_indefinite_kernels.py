"""Kernels that are really indefinite in the estimators that take them as they are, and in model files."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from kernelweave import MixedNormClassifier, MKLClassifier, load_model, save_model
from kernelweave.kernels import (
    Alignment,
    DynamicTimeWarping,
    EditDistance,
    GaussianKullbackLeibler,
    KullbackLeibler,
    Precomputed,
    ValueDifference,
    gaussian_rows,
)

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
SPREAD = np.where(Y[:, None] == 1, 3.0, 1.0)
COUNTS = RNG.poisson(SPREAD * np.arange(1, 6) + 1) + 1.0
BAGS = gaussian_rows([spread * RNG.normal(size=(9, 2)) for spread in SPREAD])
WORDS = np.array(["".join(RNG.choice(list("aab" if label else "abb"), size=12)) for label in Y], dtype=object)
SERIES = np.sin((1 + Y[:, None]) * np.linspace(0, 6, 20)) + 0.3 * RNG.normal(size=(60, 20))
VOTES = np.where(RNG.random(size=(60, 4)) < 0.2 + 0.5 * Y[:, None], "y", "n").astype(object)


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (KullbackLeibler(), COUNTS),
        (GaussianKullbackLeibler(), BAGS),
        (Alignment(), WORDS),
        (EditDistance(weights=(1, 2, 2)), WORDS),
        (DynamicTimeWarping(), SERIES),
        (DynamicTimeWarping(form="negative", power=0.5), SERIES),
        (ValueDifference(weighted=True), VOTES),
    ],
    ids=lambda value: type(value).__name__,
)
def test_mixed_norms_take_them_as_they_are(kernel, X):
    pytest.importorskip("rapidfuzz")
    model = MixedNormClassifier([kernel], penalty="l2", alpha=0.1, normalize="frobenius", tol=1e-6)
    assert cross_val_score(model, X, Y, cv=3).mean() > 0.6
    K = kernel.learn_from(X, Y) if hasattr(kernel, "learn_from") else kernel
    gram = K.freeze(X)(X)
    given = MixedNormClassifier([Precomputed(gram)], penalty="l2", alpha=0.1, normalize="frobenius", tol=1e-6)
    expected = given.fit(np.arange(60), Y).decision_function(np.arange(60))
    np.testing.assert_allclose(model.fit(X, Y).decision_function(X), expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (ValueDifference(order=1), VOTES),
        (Alignment(matrix=[[2.0, -1.0], [-1.0, 2.0]], alphabet="ab"), WORDS),
        (DynamicTimeWarping(band=3), [row[: 15 + i % 5] for i, row in enumerate(SERIES)]),
        (KullbackLeibler(symmetrize=True), COUNTS),
    ],
    ids=lambda value: type(value).__name__,
)
def test_saved_models_predict_the_same(kernel, X, tmp_path):
    pytest.importorskip("skops")
    model = MKLClassifier([kernel], psd_repair="flip").fit(X, Y)
    save_model(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "model.skops").decision_function(X), model.decision_function(X))
