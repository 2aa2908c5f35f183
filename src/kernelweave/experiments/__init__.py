"""The papers' tables and figures, ours beside the printed numbers.

Each experiment is a module of its own that uses the public API only; ``kernelweave reproduce NAME``
runs it.
"""

from __future__ import annotations

from kernelweave.experiments.experiment import Experiment, Settings
from kernelweave.experiments.registry import LISTINGS, Listing, load_experiment
from kernelweave.experiments.result import Cell, Result
from kernelweave.experiments.runner import run_experiment

__all__ = ["LISTINGS", "Cell", "Experiment", "Listing", "Result", "Settings", "load_experiment", "run_experiment"]
