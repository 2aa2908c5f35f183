"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Read now: tests of the data folder set this variable for themselves.
GIVEN = os.environ.get("KERNELWEAVE_DATA")
# The matrices here are small: threads cost more than they bring, many times more on a busy machine.
# Before numpy is loaded, which reads them once.
for library in ("OPENBLAS", "MKL", "OMP"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of real data sets: ``KERNELWEAVE_DATA``, else ``../shared/data`` beside the repository."""
    folders = [*([Path(GIVEN)] if GIVEN else []), ROOT.parent / "shared" / "data"]
    for folder in folders:
        if (folder / "uci_sonar.csv.gz").is_file():
            return folder
    pytest.skip("no real data sets: KERNELWEAVE_DATA names no folder that holds them, and neither does ../shared/data")
