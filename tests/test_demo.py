"""The demo runs, offline, and what it prints is what it computed."""

from __future__ import annotations

import json
import socket

import pytest

from kernelweave.cli import console
from kernelweave.cli.demo import VIEWS
from kernelweave.cli.main import main
from kernelweave.exceptions import MissingExtraError


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    """No network, and none of the optional packages."""

    def missing(name, extra, purpose):
        raise MissingExtraError(f"{name} is not installed")

    monkeypatch.setattr(socket, "socket", None)
    monkeypatch.setattr(console, "import_extra", missing)


def test_the_demo_runs(capsys):
    assert main(["demo"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "The first run compiles the solvers, which takes a while; later runs start at once.\n"
    for part in (
        "Breast cancer",
        "kernelweave  ",
        "best single kernel",
        "uniform average",
        "worst linear",
        "Certificate",
    ):
        assert part in captured.out
    assert "optimal after" in captured.out
    assert "Importance by view: mean " in captured.out


def test_the_numbers_of_the_demo(capsys):
    assert main(["demo", "--json", "--quiet"]) == 0
    captured = capsys.readouterr()
    data = json.loads(captured.out)
    assert captured.err == ""
    assert data["held_out"]["n_test"] == 569
    # Chance alone would give 63 %; published results on these data are around 97 %.
    assert all(0.95 < share < 0.99 for share in data["held_out"]["accuracy"].values())
    assert data["certificate"]["status"] == "optimal" and data["certificate"]["relative_gap"] <= 1e-4
    importances = {kernel["name"]: kernel["importance"] for kernel in data["kernels"]}
    assert len(importances) == 4 * len(VIEWS) and sum(importances.values()) == pytest.approx(1.0)
    worst = sum(share for name, share in importances.items() if name.startswith("worst"))
    assert worst > 0.5
