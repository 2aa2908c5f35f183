"""[L04], Tables 1 to 3: three kernels on five data sets, alone and combined, under four criteria."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelweave import MKLClassifier
from kernelweave.exceptions import NotSeparableError
from kernelweave.experiments.experiment import Experiment, Key, Measurements, Settings
from kernelweave.experiments.lanckriet.gaussian import tuned_gaussian
from kernelweave.experiments.lanckriet.printed import criterion_values, weight_values
from kernelweave.experiments.lanckriet.samples import (
    CRITERIA,
    FloatArray,
    Sample,
    accuracy,
    draw,
    fit_matrices,
    table_matrices,
)
from kernelweave.experiments.result import Cell

__all__ = ["define", "judge", "rows"]

_TOL = 1e-4
_SPLITS = 30
# Beyond so many standard errors a difference is named.
_FAR = 3.0
_TABLES = {
    "lanckriet-table1": ("heart", "sonar"),
    "lanckriet-table2": ("breast", "ionosphere"),
    "lanckriet-table3": ("twonorm",),
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
    values: dict[Key, float] = {}
    tuned = tuned_gaussian(sample, settings.seed * 1000 + split)
    alone: dict[str, Mapping[str, MKLClassifier | None]] = {}
    for reading in _READINGS[part]:
        matrices = table_matrices(sample, reading.sigma)
        # K1 and K3 alone are the same under every reading.
        alone |= {name: judge({name: K}, sample) for name, K in matrices.items() if name == "K2" or name not in alone}
        found = {
            **alone,
            "psd": judge(matrices, sample, weights="psd"),
            "nonnegative": judge(matrices, sample),
        }
        for column, fits in found.items():
            for criterion, model in fits.items():
                values.update(rows(reading.table, criterion, column, model, sample))
        for criterion in CRITERIA:
            # The paper has one accuracy for both ways to choose the C of the 2-norm soft margin.
            values[reading.table, f"{criterion} TSA %", "c/v RBF"] = tuned[criterion.removesuffix(",C")]
    return values


def judge(matrices: Mapping[str, FloatArray], sample: Sample, **options: Any) -> Mapping[str, MKLClassifier | None]:
    """Fit given matrices under the four criteria; the budget is 3n, and 4n for SM2,C.

    Parameters
    ----------
    matrices : mapping of str to ndarray of shape (n, n)
        Gram matrices by name.
    sample : Sample
        The split.
    **options : dict
        More for `MKLClassifier`.

    Returns
    -------
    dict
        The fitted classifier by criterion, None where there is no hard margin.
    """
    fits: dict[str, MKLClassifier | None] = {}
    for criterion, settings in CRITERIA.items():
        budget = 4.0 if criterion == "SM2,C" else 3.0
        try:
            fits[criterion] = fit_matrices(matrices, sample, budget, tol=_TOL, **settings, **options)
        except NotSeparableError:
            fits[criterion] = None
    return fits


def rows(table: str, criterion: str, column: str, model: MKLClassifier | None, sample: Sample) -> dict[Key, float]:
    """What the tables say about one fit.

    Parameters
    ----------
    table, criterion, column : str
        What the keys are to name.
    model : MKLClassifier or None
        From `judge`.
    sample : Sample
        The split.

    Returns
    -------
    dict
        Values by (table, row, column).
    """
    omega = math.nan if model is None else model.objective_
    values: dict[Key, float] = {}
    if criterion == "HM":
        values[table, "HM gamma", column] = 1.0 / math.sqrt(omega)
    else:
        values[table, f"{criterion} omega (20)", column] = omega
        values[table, f"{criterion} omega (20) / 2", column] = omega / 2
    values[table, f"{criterion} TSA %", column] = math.nan if model is None else accuracy(model, sample)
    if model is None:
        return values
    if criterion == "SM2,C":
        values[table, "SM2,C C", column] = float(model.C_)
    # A kernel alone has a weight to learn only beside C.
    if len(model.kernel_weights_) > 1 or criterion == "SM2,C":
        for name, weight in zip(model.kernel_names_, model.kernel_weights_, strict=True):
            values[table, f"{criterion} weight of {name}", column] = float(weight)
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
    printed: dict[Key, str] = {}
    for part in parts:
        for reading in _READINGS[part]:
            printed |= criterion_values(part, reading.table) | weight_values(part, reading.table)
    number = name[-1]
    generated = "twonorm" in parts
    return Experiment(
        name=name,
        title=f"Lanckriet et al. 2004, Table {number}",
        source=f"Lanckriet, Cristianini, Bartlett, El Ghaoui, Jordan, JMLR 5, 2004, Table {number}",
        protocol=_PROTOCOL,
        run=run,
        n_splits=_SPLITS,
        parts=parts,
        printed=printed,
        # One sample was generated for the paper, and how samples differ outweighs how splits do.
        printed_splits=1 if generated else _SPLITS,
        notes=(*_NOTES, *(_REMARKS[part] for part in parts if part in _REMARKS)),
        conclude=_outliers,
    )


def _outliers(cells: Sequence[Cell]) -> Sequence[str]:
    compared = [
        cell
        for cell in cells
        if cell.deviation is not None and not cell.row.endswith("(20)") and not cell.table.endswith("as printed")
    ]
    far = [cell for cell in compared if abs(cell.deviation or 0.0) > _FAR]
    named = [f"{cell.table}, {cell.row}, {cell.column} ({cell.deviation:+.1f})" for cell in far]
    return [
        f"Leaving out what is there to show a slip (whole omegas, sigma as printed), {len(compared)} cells have a "
        f"printed value, and {len(far)} of them differ from it by more than {_FAR:g} standard errors"
        + (f": {'; '.join(named)}." if far else ".")
    ]


_PROTOCOL = """
K1 = (1 + x'z)^2, K2 = exp(-0.5 |x - z|^2 / sigma), K3 = x'z, each scaled to unit diagonal over all samples. 30 random
splits, 80 % to train on; the other 20 % are in the kernel matrices, their classes are not known. `MKLClassifier` on
the given matrices with the trace budget c = 3n (4n for SM2,C, where it includes n/C); a kernel alone is fitted with the
same budget. Relative duality gap 1e-4.

Rows: HM hard margin, SM1 1-norm and SM2 2-norm soft margin with C = 1, SM2,C with C learned; gamma the margin, omega
the optimal value by equation (20), TSA the accuracy on the test samples. Columns: each kernel alone; psd, weights of
any sign with a positive semidefinite combination; nonnegative weights; c/v RBF, a Gaussian kernel whose width (and C)
is chosen by cross-validation on the training samples (7 widths around the median distance, 5 values of C; 10
partitions, where the paper has 30).

Heart is standardised; sonar, ionosphere and breast cancer are as they come; 16 rows of breast cancer with missing
values are left out.
"""
_NOTES = (
    "The printed SM1, SM2 and SM2,C omegas are half of what equation (20) defines, so both are shown; HM gamma is "
    "1 / sqrt(omega) with (20) as it stands.",
    "A hard margin that does not exist on a split has no value there; the last column of the second list of tables "
    "counts the splits that have one.",
    "A learned C is infinite on splits where no ridge is left; these do not count for its mean.",
)
_REMARKS = {
    "sonar": "Sonar was run with sigma = 0.5, not with the 0.1 of the table: the values of K2 and of the combinations "
    "say so, and the weights of any sign have another pattern of signs at 0.1.",
    "breast": "Breast cancer, SM2, nonnegative weights: the printed 21.811 is below the printed 25.267 of SM2,C, which "
    "cannot be, as SM2 is SM2,C with one more condition (C = 1). With a 5 for the 1 (25.811) it agrees with ours.",
    "ionosphere": "Ionosphere, SM1, K3: the printed accuracy 83.1 is far from ours, while its omega agrees; with a 9 "
    "for the 8 (93.1) it would not be.",
    "twonorm": "The paper generated one sample, of unknown size. Its K2 is the identity, whose omega follows from the "
    "number of training samples and the class shares alone: it fits 330 samples. Here each split has a sample of its "
    "own, and the printed values are compared as values of one sample.",
}
