"""[L04], Tables 1 to 3: three kernels on five data sets, alone and combined, under four criteria."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelweave import MKLClassifier
from kernelweave.exceptions import NotSeparableError
from kernelweave.experiments.experiment import Experiment, Key, Measurements, Settings
from kernelweave.experiments.lanckriet_printed import criterion_values, weight_values
from kernelweave.experiments.lanckriet_samples import Sample, draw, unit_diagonal
from kernelweave.kernels import RBF, Linear, Polynomial, Precomputed

__all__ = ["define"]

FloatArray = npt.NDArray[np.float64]

_TOL = 1e-4
_SPLITS = 30
_TABLES = {
    "lanckriet-table1": ("heart", "sonar"),
    "lanckriet-table2": ("breast", "ionosphere"),
    "lanckriet-table3": ("twonorm",),
}
_CRITERIA: Mapping[str, Mapping[str, Any]] = {
    "HM": {"margin": "hard"},
    "SM1": {"margin": "l1", "C": 1.0},
    "SM2": {"margin": "l2", "C": 1.0},
    "SM2,C": {"margin": "l2", "C": "auto"},
}


@dataclass(frozen=True)
class _Reading:
    """One way to read the paper for a data set."""

    table: str
    sigma: float


_READINGS: Mapping[str, tuple[_Reading, ...]] = {
    "heart": (_Reading("heart", 0.5),),
    "sonar": (_Reading("sonar, sigma = 0.1 as printed", 0.1), _Reading("sonar, sigma = 0.5", 0.5)),
    "breast": (_Reading("breast cancer", 0.5),),
    "ionosphere": (_Reading("ionosphere", 0.5),),
    "twonorm": (_Reading("twonorm", 0.1),),
}


def run(part: str, split: int, settings: Settings) -> Measurements:
    """One split of one data set, under every reading.

    Parameters
    ----------
    part : str
        The data set.
    split : int
        Number of the split.
    settings : Settings
        Data folder and seed.

    Returns
    -------
    dict
    """
    sample = draw(part, split, settings)
    polynomial = unit_diagonal(Polynomial(degree=2), sample.X)
    linear = unit_diagonal(Linear(), sample.X)
    values: dict[Key, float] = {}
    # K1 and K3 alone are the same under every reading.
    alone = {name: _judge([K], sample, 3) for name, K in (("K1", polynomial), ("K3", linear))}
    for reading in _READINGS[part]:
        gaussian = unit_diagonal(RBF(gamma=0.5 / reading.sigma), sample.X)
        kernels = [polynomial, gaussian, linear]
        found = {
            "K1": alone["K1"],
            "K2": _judge([gaussian], sample, 3),
            "K3": alone["K3"],
            "psd": _judge(kernels, sample, 3, weights="psd"),
            "nonnegative": _judge(kernels, sample, 3),
        }
        for column, fits in found.items():
            for criterion, fit in fits.items():
                values.update(_rows(reading.table, criterion, column, fit))
    return values


def _judge(kernels: list[FloatArray], sample: Sample, traces: int, **options: Any) -> dict[str, dict[str, Any]]:
    """Objective, accuracy, weights and C under the four criteria, at the budget traces * n (+ n for SM2,C)."""
    n = len(sample.y)
    index, y = np.arange(n), sample.y
    labelled, unlabelled = index[: sample.n_train], index[sample.n_train :]
    named = [(f"K{i}", Precomputed(K)) for i, K in enumerate(kernels, 1)]
    fits: dict[str, dict[str, Any]] = {}
    for criterion, settings in _CRITERIA.items():
        budget = float(n * (traces + (criterion == "SM2,C")))
        model = MKLClassifier(named, **settings, **options, trace=budget, normalize=None, tol=_TOL)
        try:
            model.fit(labelled, y[labelled], X_unlabeled=unlabelled)
        except NotSeparableError:
            fits[criterion] = {}
            continue
        accuracy = 100.0 * float(np.mean(model.transduction_ == y[unlabelled]))
        fits[criterion] = {
            "omega": model.objective_, "accuracy": accuracy, "weights": model.kernel_weights_, "C": model.C_
        }  # fmt: skip
    return fits


def _rows(table: str, criterion: str, column: str, fit: Mapping[str, Any]) -> dict[Key, float]:
    omega = float(fit.get("omega", math.nan))
    values: dict[Key, float] = {}
    if criterion == "HM":
        values[table, "HM gamma", column] = 1.0 / math.sqrt(omega)
    else:
        values[table, f"{criterion} omega (20)", column] = omega
        values[table, f"{criterion} omega (20) / 2", column] = omega / 2
    values[table, f"{criterion} TSA %", column] = float(fit.get("accuracy", math.nan))
    if criterion == "SM2,C":
        values[table, "SM2,C C", column] = float(fit.get("C", math.nan))
    weights = fit.get("weights", ())
    for i, weight in enumerate(weights, 1) if len(weights) > 1 else ():
        values[table, f"{criterion} weight of K{i}", column] = float(weight)
    if len(weights) == 1 and criterion == "SM2,C":
        values[table, f"SM2,C weight of {column}", column] = float(weights[0])
    return values


def define(name: str) -> Experiment:
    """The experiment of this name.

    Parameters
    ----------
    name : str
        "lanckriet-table1" to "lanckriet-table3".

    Returns
    -------
    Experiment
    """
    parts = _TABLES[name]
    printed: dict[Key, float] = {}
    for part in parts:
        for reading in _READINGS[part]:
            printed |= criterion_values(part, reading.table) | weight_values(part, reading.table)
    number = name[-1]
    return Experiment(
        name=name,
        title=f"Lanckriet et al. 2004, Table {number}",
        source=f"Lanckriet, Cristianini, Bartlett, El Ghaoui, Jordan, JMLR 5, 2004, Table {number}",
        protocol=_PROTOCOL,
        run=run,
        n_splits=_SPLITS,
        parts=parts,
        printed=printed,
        printed_splits=_SPLITS,
    )


_PROTOCOL = """
K1 = (1 + x'z)^2, K2 = exp(-0.5 |x - z|^2 / sigma), K3 = x'z, each with unit diagonal over all samples.
"""
