"""Small tables, and the command line as a function."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kernelweave.cli.main import main


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The JSON object on standard output; constants that JSON does not know are refused."""
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


@pytest.fixture
def run(capsys):
    """``run("fit", ...)`` gives an `Outcome`."""

    def call(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call


@pytest.fixture
def refused(run):
    """``refused("fit", ...)`` gives the one line that a bad input is answered with."""

    def call(*arguments):
        outcome = run(*arguments)
        assert outcome.status == 2, outcome
        assert outcome.out == ""
        lines = [line for line in outcome.err.splitlines() if not line.startswith("Ignored")]
        assert len(lines) == 1, outcome.err
        assert lines[0].startswith("kernelweave: error: ")
        return lines[0]

    return call


@pytest.fixture(scope="session")
def frame():
    """60 rows of two classes that overlap a little; one column is text."""
    rng = np.random.default_rng(0)
    y = np.repeat(["ill", "well"], 30)
    shift = np.where(y == "ill", 1.0, -1.0)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, 60),
            "dose": rng.normal(size=60) + shift,
            "name": [f"patient {i}" for i in range(60)],
            "level": 100 + 50 * (rng.normal(size=60) + shift),
            "state": y,
        }
    ).sample(frac=1.0, random_state=0, ignore_index=True)


@pytest.fixture
def table(frame, tmp_path):
    """The same as a CSV file."""
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def fitted(frame, tmp_path_factory):
    """A model file that the command line wrote."""
    folder = tmp_path_factory.mktemp("fitted")
    frame.to_csv(folder / "data.csv", index=False)
    arguments = ["fit", folder / "data.csv", "--target", "state", "--model", folder / "m.skops", "--quiet"]
    assert main([str(argument) for argument in arguments]) == 0
    return folder / "m.skops"
