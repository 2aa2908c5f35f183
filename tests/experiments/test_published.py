"""The pages in ``docs/reproductions`` are what the experiments of today would write, and the README quotes them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kernelweave.experiments import LISTINGS, load_experiment

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "reproductions"
NAMES = [listing.name for listing in LISTINGS if (PAGES / f"{listing.name}.json").is_file()]
# Rows of the README's table: experiment, and table on its page.
QUOTED = {
    "heart": ("lanckriet-table1", "heart"),
    "sonar": ("lanckriet-table1", "sonar, sigma = 0.5"),
    "breast cancer": ("lanckriet-table2", "breast cancer"),
    "ionosphere": ("lanckriet-table2", "ionosphere"),
    "twonorm": ("lanckriet-table3", "twonorm"),
}


def cells(name):
    found = json.loads((PAGES / f"{name}.json").read_text(encoding="utf-8"))
    return found, {(cell["table"], cell["row"], cell["column"]): cell for cell in found["cells"]}


def quoted(text):
    """Ours, standard error and printed value of ``21.36 ± 0.17 (21.446)``, as written."""
    return re.fullmatch(r"([\d.]+) ± ([\d.]+) \(([\d.]+)\)", text.strip()).groups()


def test_there_are_pages():
    assert {"lanckriet-table1", "lanckriet-table2", "lanckriet-table3", "lanckriet-table4"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_page_and_experiment_agree(name):
    found, by_key = cells(name)
    experiment = load_experiment(name)
    assert set(experiment.printed) <= set(by_key)
    assert {key: cell["printed"] for key, cell in by_key.items() if cell["printed"] is not None} == {
        key: pytest.approx(float(value)) for key, value in experiment.printed.items()
    }
    assert all(len(cell["values"]) + cell["missing"] <= found["n_splits"] for cell in by_key.values())
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {experiment.title}\n") and experiment.protocol.strip() in text
    assert f"--splits {found['n_splits']} " in text
    assert all(f"- {note}" in text for note in found["notes"])


def test_the_readme_quotes_the_pages():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([a-z ]+) \| ([\d.]+ ± [^\n]*) \|$", text, re.MULTILINE))
    assert set(rows) == set(QUOTED)
    for name, row in rows.items():
        experiment, table = QUOTED[name]
        _, by_key = cells(experiment)
        columns = [("SM1 omega (20) / 2", "nonnegative"), ("SM1 TSA %", "nonnegative"), ("SM1 TSA %", "c/v RBF")]
        for text, (line, column) in zip(row.split("|"), columns, strict=True):
            cell = by_key[table, line, column]
            ours, error, printed = quoted(text)
            assert float(printed) == cell["printed"]
            for shown, value in ((ours, cell["ours"]), (error, cell["standard_error"])):
                digits = len(shown.partition(".")[2])
                assert f"{value:.{digits}f}" == shown, (name, line, column, value)
