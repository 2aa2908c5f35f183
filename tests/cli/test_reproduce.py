"""``kernelweave reproduce``: the list, a run on a tiny experiment, bad input."""

from __future__ import annotations

import json

import pytest

from kernelweave.cli import reproduce
from kernelweave.experiments import LISTINGS, Experiment


@pytest.fixture
def tiny(monkeypatch):
    """Make every name load an experiment that counts its runs."""
    asked = []

    def run(part, split, settings):
        asked.append((split, settings.seed, settings.data_home))
        return {("table", "row", "column"): float(split)}

    experiment = Experiment("tiny", "Tiny", "nobody", "Count.", run, 2, printed={("table", "row", "column"): 0.25})
    monkeypatch.setattr(reproduce, "load_experiment", lambda name: experiment)
    return asked


def test_list(run):
    outcome = run("reproduce")
    assert outcome.status == 0 and outcome.err == ""
    assert all(listing.name in outcome.out and listing.reproduces in outcome.out for listing in LISTINGS)
    assert [entry["name"] for entry in run("reproduce", "--json").data["experiments"]] == [
        listing.name for listing in LISTINGS
    ]


def test_run_writes_page_and_json_and_goes_on(run, tiny, tmp_path):
    outcome = run("reproduce", "tiny", "--out", tmp_path, "--seed", 3, "--data", tmp_path)
    assert outcome.status == 0 and tiny == [(0, 3, tmp_path), (1, 3, tmp_path)]
    assert outcome.out.startswith("Tiny\nnobody; 2 splits, seed 3\n")
    assert outcome.err.startswith(f"Written: {tmp_path / 'tiny.json'}, {tmp_path / 'tiny.md'};")
    assert (tmp_path / "tiny.md").read_text().startswith("# Tiny\n")
    saved = json.loads((tmp_path / "tiny.json").read_text())
    again = run("reproduce", "tiny", "--out", tmp_path, "--seed", 3, "--splits", 3, "--quiet", "--json")
    assert again.err == "" and len(tiny) == 3
    assert again.data["command"] == "reproduce" and again.data["cells"][0]["values"] == [0, 1, 2]
    assert saved["cells"][0]["values"] == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["unheard-of"], "There is no experiment called 'unheard-of'"),
        (["lanckriet-table1", "--splits", "0"], "a whole number of at least 1, got '0'"),
        (["lanckriet-table1", "--jobs", "two"], "a whole number of at least 1, got 'two'"),
    ],
)
def test_bad_input(refused, arguments, words):
    assert words in refused("reproduce", *arguments)


def test_an_output_folder_that_is_a_file_is_refused_before_the_work(refused, tiny, tmp_path):
    (tmp_path / "file").touch()
    assert "file" in refused("reproduce", "tiny", "--out", tmp_path / "file")
    assert tiny == []
