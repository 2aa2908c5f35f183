"""Blocks of splits and samples of twonorm: what is measured is what is printed."""

from __future__ import annotations

import pytest

from kernelweave.experiments import Settings, load_experiment
from kernelweave.experiments.lanckriet import blocks as lanckriet_blocks


@pytest.mark.parametrize("part", ["sonar", "heart", "ionosphere"])
def test_a_block(part, real_data, monkeypatch):
    monkeypatch.setattr(lanckriet_blocks, "_SPLITS", 1)
    experiment = load_experiment("lanckriet-blocks")
    first, second = (experiment.run(part, block, Settings(real_data)) for block in (0, 1))
    assert {key for key in experiment.printed if key[0] == part} == set(first)
    assert first != second


def test_twonorm(monkeypatch):
    monkeypatch.setattr(lanckriet_blocks, "_TWONORM_SPLITS", 1)
    experiment = load_experiment("lanckriet-twonorm")
    values = experiment.run("twonorm", 0, Settings())
    assert set(experiment.printed) <= set(values)
    # K2 is the identity: 264 training samples in two nearly equal classes at three times the identity.
    assert values["twonorm", "SM1 omega (20) / 2", "K2"] == pytest.approx(264 / 6, rel=0.02)
