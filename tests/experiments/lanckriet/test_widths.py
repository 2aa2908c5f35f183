"""Table 4: budgets that scale, and the printed sums."""

from __future__ import annotations

import pytest

from kernelweave.experiments import Settings, load_experiment


def test_the_budget_scales_weights_and_ridge_only(real_data):
    values = load_experiment("lanckriet-table4").run("sonar", 0, Settings(real_data))
    for width in ("0.01", "0.1", "1", "10", "100"):
        five, six = (values["sonar", f"weight of sigma = {width}", c] for c in ("c = 5n", "c = 6n as printed"))
        assert six == pytest.approx(1.2 * five, abs=1e-3)
    assert values["sonar", "weights + 1 / C", "c = 5n"] == pytest.approx(5)
    assert values["sonar", "TSA %", "c = 5n"] == values["sonar", "TSA %", "c = 6n as printed"]


@pytest.mark.parametrize("part", ["heart", "sonar", "breast", "ionosphere", "twonorm"])
def test_printed_weights_and_ridge_add_up_to_five(part):
    printed = load_experiment("lanckriet-table4").printed
    assert printed[part, "weights + 1 / C", "c = 5n"] == pytest.approx(5, abs=0.025)
    assert sum(key[0] == part for key in printed) == 2 * 8
