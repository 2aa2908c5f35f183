"""Indefinite kernels: what is run, and what is concluded."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from kernelweave.experiments import Settings, load_experiment
from kernelweave.experiments.kowalski import indefinite as kowalski_indefinite
from kernelweave.experiments.result import Cell
from kernelweave.kernels import Alignment

RNG = np.random.default_rng(0)


@pytest.fixture
def few_settings(monkeypatch):
    monkeypatch.setattr(kowalski_indefinite, "_ALPHAS", (1.0,))
    monkeypatch.setattr(kowalski_indefinite, "_CS", (1.0,))


def test_a_split_of_given_judgements(real_data, few_settings):
    experiment = load_experiment("kowalski-indefinite")
    values = experiment.run("AuralSonar", 0, Settings(real_data))
    assert values["AuralSonar: kernels", "judgement", "negative share of the spectrum %"] == pytest.approx(
        20.7, abs=0.05
    )
    assert values["AuralSonar: kernels", "judgement", "asymmetry %"] == 0
    errors = {row: value for (table, row, column), value in values.items() if column == "test error %"}
    # Six norms; one kernel has an average, as it is and repaired, and no weights to learn.
    assert len(errors) == 6 + 4
    assert all(0 <= error <= 40 for error in errors.values())
    assert 0 < values["AuralSonar", "group over samples (21;1)", "samples used %"] <= 100
    assert values == experiment.run("AuralSonar", 0, Settings(real_data))
    other = experiment.run("AuralSonar", 1, Settings(real_data))
    assert values != other and values.keys() == other.keys()


def test_labels_of_test_samples_are_not_used(real_data):
    _, X, y = kowalski_indefinite._fixed("votes", real_data)
    train, flipped = np.arange(0, len(y), 2), y.copy()
    flipped[1::2] = 1 - y[1::2]
    matrices, others = (kowalski_indefinite._learned(X, labels, train) for labels in (y, flipped))
    for name, K in matrices.items():
        np.testing.assert_array_equal(K, others[name])
    asymmetric = [np.abs(K - K.T).max() > 1e-3 for K in matrices.values()]
    assert asymmetric == [True, True, False]


def test_several_kernels_are_learned_too(few_settings):
    words = np.array(["".join(RNG.choice(list("ab"), size=6)) for _ in range(30)], dtype=object)
    matrices = kowalski_indefinite._evaluated({"local": Alignment(), "global": Alignment("global")}, words)
    for K in matrices.values():
        np.testing.assert_allclose(np.diagonal(K), 1.0)
    methods = kowalski_indefinite._methods(matrices)
    assert len(methods) == 6 + 4 + 3
    y = np.array([word.count("a") > 3 for word in words])
    for model, grid in methods.values():
        assert model.set_params(**{name: values[0] for name, values in grid.items()}).fit(np.arange(30), y) is model


def test_the_svm_on_row_numbers():
    X = RNG.normal(size=(20, 2))
    y, K, rows = X[:, 0] > 0, X @ X.T, np.array([3, 5, 9, 12, 15, 18, 0, 1])
    y[3], y[5] = True, False
    ours = kowalski_indefinite._RowSVC(K, C=2.0).fit(rows, y[rows])
    theirs = SVC(kernel="linear", C=2.0).fit(X[rows], y[rows])
    np.testing.assert_array_equal(ours.predict(np.arange(20)), theirs.predict(X))


def test_conclusions_compare_the_same_splits():
    def cell(row, *values):
        return Cell("votes", row, "test error %", values)

    (note,) = kowalski_indefinite._conclude(
        [cell("l1", 4.0, 6.0), cell("l2", 9.0, 9.0), cell("average, clip, SVC", 5.0, 8.0)]
    )
    assert note == (
        "votes: best norm l1 (5.00 %), best of the rest average, clip, SVC (6.50 %); "
        "difference on the same splits -1.50 ± 0.50."
    )
