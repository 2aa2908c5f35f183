"""[L04], Table 4: five Gaussian kernels, nonnegative weights, the C of the 2-norm soft margin learned."""

from __future__ import annotations

from kernelweave.experiments.experiment import Experiment, Key, Measurements, Settings
from kernelweave.experiments.lanckriet.printed import WIDTHS, width_values
from kernelweave.experiments.lanckriet.samples import CRITERIA, PART_NAMES, accuracy, draw, fit_matrices, unit_diagonal
from kernelweave.kernels import RBF

__all__ = ["define"]

_SPLITS = 30
# Weights and 1 / C are compared, on which the objective depends but weakly.
_TOL = 1e-6
# Column, and the budget as a multiple of n.
_READINGS = {"c = 6n as printed": 6, "c = 5n": 5}


def _run(part: str, split: int, settings: Settings) -> Measurements:
    sample = draw(part, split, settings)
    matrices = {f"{width:g}": unit_diagonal(RBF(gamma=0.5 / width), sample.X) for width in WIDTHS}
    values: dict[Key, float] = {}
    for column, budget in _READINGS.items():
        model = fit_matrices(matrices, sample, budget, **CRITERIA["SM2,C"], tol=_TOL)
        for width, weight in zip(WIDTHS, model.kernel_weights_, strict=True):
            values[part, f"weight of sigma = {width:g}", column] = float(weight)
        values[part, "C", column] = float(model.C_)
        values[part, "weights + 1 / C", column] = float(model.kernel_weights_.sum() + 1.0 / model.C_)
        values[part, "TSA %", column] = accuracy(model, sample)
    return values


def _sum_of_printed(part: str) -> float:
    printed = {row: float(value) for (_, row, _), value in width_values(part, part, "").items()}
    return sum(printed[f"weight of sigma = {width:g}"] for width in WIDTHS) + 1.0 / printed["C"]


def define(name: str) -> Experiment:
    """The experiment of this name.

    Parameters
    ----------
    name : str
        "lanckriet-table4".

    Returns
    -------
    Experiment
    """
    printed: dict[Key, float | str] = {}
    for part in PART_NAMES:
        for column in _READINGS:
            printed |= width_values(part, part, column)
            printed[part, "weights + 1 / C", column] = round(_sum_of_printed(part), 4)
    return Experiment(
        name=name,
        title="Lanckriet et al. 2004, Table 4",
        source="Lanckriet, Cristianini, Bartlett, El Ghaoui, Jordan, JMLR 5, 2004, Table 4",
        protocol=_PROTOCOL,
        run=_run,
        n_splits=_SPLITS,
        parts=PART_NAMES,
        printed=printed,
        printed_splits=_SPLITS,
        notes=_NOTES,
    )


_PROTOCOL = """
Data and splits as in Tables 1 to 3 (80 % to train on, all samples in the kernel matrices). Five kernels
exp(-0.5 |x - z|^2 / sigma), sigma = 0.01, 0.1, 1, 10, 100; nonnegative weights; 2-norm soft margin with C learned:
weights and 1/C share the trace budget c, `MKLClassifier(margin="l2", C="auto", trace=c)`. The caption gives c as the
sum of the traces plus n, that is 6n; the printed weights and 1/C add up to 5.
"""
_NOTES = (
    "The printed weights and 1/C add up to 5 in all five data sets, not to the 6 of the caption; with c = 5n they are "
    "reproduced, with c = 6n all are too large by a fifth. Accuracies do not depend on the budget: it only scales "
    "weights and 1/C.",
    "Where C goes to infinity its mean over splits says nothing (a split without any ridge left has no C and is not "
    "counted); compare the weights.",
    "A kernel of sigma = 0.01 or 0.1 is nearly the identity on some of the sets, and so is the ridge: then weight can "
    "move between these without changing the objective, and only their sum is determined (twonorm: 0.49 each).",
    "twonorm is generated, here anew for each split; the printed means are over splits of one unknown sample, so the "
    "differences of that table are larger than their standard errors say; see the controlled experiments.",
    "The column of the best Gaussian kernel is the same as in Tables 1 to 3.",
)
