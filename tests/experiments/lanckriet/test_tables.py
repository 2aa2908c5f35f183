"""One split of real data against scikit-learn, and the printed values' keys."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from kernelweave.experiments import Settings, load_experiment, run_experiment
from kernelweave.experiments.lanckriet import tables as lanckriet_tables
from kernelweave.experiments.lanckriet.samples import draw, unit_diagonal
from kernelweave.kernels import Linear, Polynomial


@pytest.fixture(scope="module")
def heart(real_data):
    settings = Settings(real_data)
    with pytest.MonkeyPatch.context() as patch:
        # Cross-validation takes most of the time, and has a test of its own.
        patch.setattr(lanckriet_tables, "tuned_gaussian", lambda sample, seed: {"HM": 1.0, "SM1": 2.0, "SM2": 3.0})
        return draw("heart", 0, settings), load_experiment("lanckriet-table1").run("heart", 0, settings)


def test_a_single_kernel_is_an_ordinary_svm(heart):
    sample, values = heart
    K = 3.0 * unit_diagonal(Linear(), sample.X)
    train, y = slice(sample.n_train), sample.y
    svm = SVC(C=1.0, kernel="precomputed", tol=1e-8).fit(K[train, train], y[train])
    alpha = svm.dual_coef_[0]
    kernel = K[np.ix_(svm.support_, svm.support_)]
    omega = 2 * np.abs(alpha).sum() - alpha @ kernel @ alpha
    assert values["heart", "SM1 omega (20)", "K3"] == pytest.approx(omega, rel=1e-4)
    accuracy = 100 * svm.score(K[sample.n_train :, train], y[sample.n_train :])
    assert values["heart", "SM1 TSA %", "K3"] == pytest.approx(accuracy)


def test_more_freedom_gives_no_larger_omega(heart):
    values = {key[1:]: value for key, value in heart[1].items()}
    for row in ("SM1 omega (20)", "SM2 omega (20)", "SM2,C omega (20)"):
        alone = min(values[row, column] for column in ("K1", "K2", "K3"))
        assert values[row, "psd"] * (1 - 2e-4) <= values[row, "nonnegative"] <= alone * (1 + 2e-4)
    assert values["SM2,C omega (20)", "nonnegative"] <= values["SM2 omega (20)", "nonnegative"] * (1 + 2e-4)
    assert values["SM1 omega (20) / 2", "psd"] == values["SM1 omega (20)", "psd"] / 2


def test_weights_keep_the_budget(heart):
    values = {key[1:]: value for key, value in heart[1].items()}
    for criterion in ("HM", "SM1", "SM2"):
        for column in ("psd", "nonnegative"):
            assert sum(values[f"{criterion} weight of K{i}", column] for i in (1, 2, 3)) == pytest.approx(3.0, rel=1e-4)
    assert values["SM2,C weight of K3", "K3"] + 1 / values["SM2,C C", "K3"] == pytest.approx(4.0, rel=1e-6)


def test_splits_differ_and_come_back(real_data):
    settings = Settings(real_data)
    first, again, other = draw("sonar", 0, settings), draw("sonar", 0, settings), draw("sonar", 1, settings)
    assert np.array_equal(first.X, again.X) and not np.array_equal(first.X, other.X)
    assert (len(first.y), first.n_train) == (208, 166)
    assert not np.array_equal(first.X, draw("sonar", 0, Settings(real_data, seed=1)).X)


def test_unit_diagonal():
    X = np.random.default_rng(0).normal(size=(5, 3))
    X[2] = 0.0
    K = unit_diagonal(Linear(), X)
    assert np.diag(K) == pytest.approx([1, 1, 0, 1, 1]) and not K[2].any()
    kernel = Polynomial(degree=2)(X)
    assert unit_diagonal(Polynomial(degree=2), X)[0, 1] == pytest.approx(
        kernel[0, 1] / np.sqrt(kernel[0, 0] * kernel[1, 1])
    )


def test_every_printed_value_is_measured(heart):
    printed = {key for key in load_experiment("lanckriet-table1").printed if key[0] == "heart"}
    assert len(printed) == 82
    assert printed <= set(heart[1])
    assert [heart[1]["heart", f"{c} TSA %", "c/v RBF"] for c in ("HM", "SM1", "SM2", "SM2,C")] == [1, 2, 3, 3]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lanckriet-table1", "lanckriet-table2"])
def test_margins_and_omegas_are_the_printed_ones(name, real_data, tmp_path, monkeypatch):
    monkeypatch.setattr(lanckriet_tables, "tuned_gaussian", lambda sample, seed: {"HM": 1.0, "SM1": 2.0, "SM2": 3.0})
    result = run_experiment(load_experiment(name), Settings(real_data), folder=tmp_path)
    compared = [
        cell
        for cell in result.cells
        if cell.deviation is not None
        and not cell.table.endswith("as printed")
        and (cell.row.endswith("omega (20) / 2") or "HM gamma" in cell.row)
    ]
    far = {cell.key for cell in compared if abs(cell.deviation) > 3}
    # The one wrong digit of these rows.
    slip = ("breast cancer", "SM2 omega (20) / 2", "nonnegative")
    assert len(compared) > 30 and far == ({slip} if name == "lanckriet-table2" else set())
