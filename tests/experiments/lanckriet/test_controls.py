"""Controlled experiments: what is measured is what is printed, and the budgets and readings hold together."""

from __future__ import annotations

import pytest

from kernelweave.experiments import Settings, load_experiment


@pytest.mark.parametrize("part", ["heart", "breast", "preparation"])
def test_one_split(part, real_data):
    experiment = load_experiment("lanckriet-controls")
    values = experiment.run(part, 0, Settings(real_data))
    tables = {key[0] for key in values}
    assert {key for key in experiment.printed if key[0] in tables} <= set(values)
    if part == "breast":
        (table,) = tables
        soft, learned = values[table, "SM2", "omega (20) / 2"], values[table, "SM2,C", "omega (20) / 2"]
        # SM2 is SM2,C with C = 1, so its omega cannot be smaller.
        assert learned <= soft * (1 + 1e-5)
        assert soft == pytest.approx(25.8, rel=0.03)
    elif part == "preparation":
        column, scaled = (
            (next(iter(tables)), "heart, K3, SM1 omega (20) / 2", c) for c in ("as it comes", "standardised")
        )
        assert values[column] > 1.05 * values[scaled]
    else:
        # Without a ridge that is given, omega is inversely proportional to the budget.
        budget = "Heart, SM2,C: does the budget include the ridge?"
        for name in ("K1", "K3", "nonnegative"):
            row = f"{name}, omega (20) / 2"
            assert values[budget, row, "c = 3n"] == pytest.approx(values[budget, row, "c = 4n"] * 4 / 3, rel=1e-5)
        assert all(values[key] >= 0 for key in values if key[1] == "omega above the optimum, %")
