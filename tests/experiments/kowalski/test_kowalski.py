"""Titanic: the printed errors on realisation 1, and the maps of the figure."""

from __future__ import annotations

import numpy as np
import pytest

from kernelweave import MixedNormClassifier
from kernelweave.experiments import Settings, load_experiment
from kernelweave.experiments.kowalski import figure2 as kowalski_figure2
from kernelweave.experiments.kowalski import samples as kowalski_samples
from kernelweave.experiments.kowalski import titanic as kowalski_titanic
from kernelweave.experiments.kowalski.samples import KERNELS, NORMS, realisation

STRENGTHS = ("lambda by cross-validation", "lambda 0.1 times that", "lambda 0.01 times that")
FEW = np.array([100.0, 316.2, 3162.0, 1e5])


@pytest.fixture
def few(monkeypatch):
    """Fewer strengths and norms."""
    for module in (kowalski_titanic, kowalski_figure2):
        monkeypatch.setattr(module, "GRID", FEW)
        monkeypatch.setattr(module, "NORMS", {norm: NORMS[norm] for norm in ("2", "21;2")})
    kowalski_figure2._chosen_strength.cache_clear()
    yield
    kowalski_figure2._chosen_strength.cache_clear()


def test_printed_errors_of_realisation_1(real_data, few):
    values = load_experiment("kowalski-titanic").run("all", 0, Settings(real_data))
    printed = load_experiment("kowalski-titanic").printed
    for key in printed:
        if key in values:
            assert values[key] == pytest.approx(float(printed[key]), abs=0.005), key
    rows = {row for table, row, _ in values if table == "test error %, realisation 1"}
    assert rows == {*(f"{name} alone, l2" for name in KERNELS), "all three, 2", "all three, 21;2"}
    assert (
        values["test error % at each strength, realisation 1, intercept", "lambda = 3162", "2"]
        == values["test error %, realisation 1", "all three, 2", "intercept"]
    )


def test_the_other_printed_error_belongs_to_a_fixed_strength(real_data):
    data = realisation(0, Settings(real_data))
    model = MixedNormClassifier(list(KERNELS.items()), **NORMS["21;1"]).fit(data.X, data.y)
    assert data.error(model) == pytest.approx(22.92, abs=0.005)


def test_other_realisations_have_only_the_means(real_data, few):
    values = load_experiment("kowalski-titanic").run("all", 3, Settings(real_data))
    assert {table for table, _, _ in values} == {
        "test error %, all realisations", "what is kept, intercept, all realisations",
    }  # fmt: skip


def test_maps_are_scaled_and_described(real_data, few):
    settings = Settings(real_data)
    for part in ("intercept", "constant kernel"):
        values = load_experiment("kowalski-figure2").run(part, 0, settings)
        maps = kowalski_figure2.relevance_maps(part, 0.1, settings)
        for norm, relevance in maps.items():
            assert relevance.shape == (3, 150) and 0.0 < relevance.max() <= 1.0
            for name, row in zip(KERNELS, relevance, strict=True):
                assert values[f"{part}, lambda 0.1 times that: largest relevance", norm, name] == row.max()
        assert values[f"{part}, lambda by cross-validation: samples used %", "2", "by any kernel"] == 100.0
        # What the paper's text says of the ugly kernel and 21;2 holds beside a constant kernel.
        dropped = [values[f"{part}, {at}: largest relevance", "21;2", "ugly"] == 0.0 for at in STRENGTHS]
        assert dropped[0] and (all(dropped) if part == "intercept" else not dropped[1])


def test_splits_are_those_of_the_repository(real_data):
    data = realisation(1, Settings(real_data))
    assert data.X.shape == (150, 3) and data.X_test.shape == (2051, 3)
    assert kowalski_samples.GRID[0] == 1.0 and kowalski_samples.GRID[-1] == pytest.approx(1e5)
