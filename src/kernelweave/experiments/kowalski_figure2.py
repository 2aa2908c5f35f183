"""[K09], Figure 2: which kernels and samples each norm uses, as numbers (docs/make_images.py draws them)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelweave import MixedNormClassifier, MixedNormClassifierCV
from kernelweave.experiments.experiment import Experiment, Key, Measurements, Settings
from kernelweave.experiments.kowalski_samples import GRID, KERNELS, NORMS, FloatArray, realisation
from kernelweave.inspection import relevance_map

__all__ = ["define", "relevance_maps"]

_TOL = 1e-6
_LARGER = 2.0


def relevance_maps(settings: Settings, split: int = 0, factor: float = 1.0) -> Mapping[str, FloatArray]:
    """The six maps of the figure.

    Parameters
    ----------
    settings : Settings
        Data folder.
    split : int, default=0
        Realisation, from 0.
    factor : float, default=1.0
        Multiplies the strength chosen by cross-validation.

    Returns
    -------
    dict
        ndarray of shape (3, 150) for each norm, in [0, 1].
    """
    data = realisation(split, settings)
    maps = {}
    for norm, chosen in NORMS.items():
        options: dict[str, Any] = {"tol": _TOL, **chosen}
        model = MixedNormClassifierCV(list(KERNELS.items()), alphas=GRID, **options).fit(data.X, data.y)
        if factor != 1.0:
            options["alpha"] = factor * model.alpha_
            model = MixedNormClassifier(list(KERNELS.items()), **options).fit(data.X, data.y)
        maps[norm] = relevance_map(model)
    return maps


def _run(part: str, split: int, settings: Settings) -> Measurements:
    factor = 1.0 if part == "chosen" else _LARGER
    title = "lambda by cross-validation" if part == "chosen" else f"lambda {_LARGER:g} times as large"
    values: dict[Key, float] = {}
    for norm, relevance in relevance_maps(settings, split, factor).items():
        used = relevance > 0
        for name, row, non_zero in zip(KERNELS, relevance, used, strict=True):
            values[f"{title}: largest relevance", norm, name] = float(row.max())
            values[f"{title}: share of samples used %", norm, name] = 100.0 * float(non_zero.mean())
        kernels = used.sum(axis=0)
        in_use = kernels[kernels > 0]
        values[f"{title}: samples", norm, "used by any kernel %"] = 100.0 * float((kernels > 0).mean())
        values[f"{title}: samples", norm, "kernels for each of these"] = float(in_use.mean()) if len(in_use) else 0.0
    return values


def define(name: str) -> Experiment:
    """The experiment of this name.

    Parameters
    ----------
    name : str
        "kowalski-figure2".

    Returns
    -------
    Experiment
    """
    return Experiment(
        name=name,
        title="Kowalski et al. 2009, Figure 2: relevance of kernels and samples",
        source="Kowalski, Szafranski, Ralaivola, ICML 2009, Figure 2",
        protocol=_PROTOCOL,
        run=_run,
        n_splits=1,
        parts=("chosen", "larger"),
        notes=_NOTES,
    )


_PROTOCOL = f"""
Titanic, realisation 1 of the IDA repository; kernels, norms, folds and grid as on the page of
[kowalski-titanic](kowalski-titanic.md), with an intercept. The relevance of a kernel at a sample is |alpha|, scaled
to [0, 1] over the whole map of a norm; a row of the figure is a kernel, a column a sample.

![Relevance maps of the six norms](../images/titanic-relevance.png)

*Rows: good, bad, ugly. Columns: the 150 training samples, sorted by class and then by features. lambda by
cross-validation.*

The figure in the paper has no numbers. What its text says: 2 is dense and does not tell good from bad, with ugly near
zero; 1 is sparse and largest on good, with many small values on ugly; 21;2 has good near one and keeps ugly small;
12;2 is like 1 with a few larger values on bad; 21;1 has few samples, across kernels; 12;1 has usually one kernel for a
sample. A slightly larger lambda drops ugly for 21;2 and shrinks it for 1 (here: {_LARGER:g} times as large).
"""
_NOTES = (
    "Many samples have equal features (14 distinct rows of 150): where a norm does not spread a coefficient over equal "
    "samples (1, 21;1, 12;2), which of them carry it is arbitrary.",
    "The ugly kernel is nearly constant, so the intercept without penalty takes its place; with the paper's "
    "constant kernel it would compete with that instead.",
)
