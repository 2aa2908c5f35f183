"""The list of experiments, and experiments that fit their listing."""

from __future__ import annotations

import pytest

from kernelweave.experiments import LISTINGS, Experiment, load_experiment


@pytest.mark.parametrize("name", [listing.name for listing in LISTINGS])
def test_every_listed_experiment_loads(name):
    experiment = load_experiment(name)
    assert isinstance(experiment, Experiment) and experiment.name == name
    assert experiment.title and experiment.source and experiment.protocol.strip()
    assert experiment.n_splits >= 1 and len(set(experiment.parts)) == len(experiment.parts) >= 1


def test_names_are_unique():
    assert len({listing.name for listing in LISTINGS}) == len(LISTINGS)


@pytest.mark.parametrize(
    ("name", "hint"), [("lanckriet-tabel1", "Did you mean 'lanckriet-table1'"), ("x", "There are ")]
)
def test_other_names_are_refused(name, hint):
    with pytest.raises(ValueError, match=hint):
        load_experiment(name)
