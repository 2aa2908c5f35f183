"""Two microarray sets: learned transforms against raw intensities and their logarithms."""

from __future__ import annotations

from functools import partial

import numpy as np

from kernelweave.datasets import load_colon, load_leukemia
from kernelweave.experiments.experiment import Experiment, Key, Measurements, Settings
from kernelweave.experiments.howard.methods import Holdout, Method, baselines, learned, linear_machines, tuned_error

__all__ = ["define"]

_LOADERS = {"colon": load_colon, "leukemia": load_leukemia}
_PENALTIES = (0.1, 1.0, 10.0, 100.0)
# Intensities below are noise of the scanner: the usual floor before a logarithm.
_FLOOR = 20.0


def _log(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.log(np.maximum(values, _FLOOR)))


_METHODS: dict[str, Method] = {
    "Linear": baselines(gaussian=False)["Linear"],
    "Logarithm": partial(linear_machines, transform=_log),
    "LMono": learned("alternating"),
    "CMono": learned("convex"),
    "CMono, transform": learned("convex", predict_with="transform"),
}


def _run(part: str, split: int, settings: Settings) -> Measurements:
    data = _LOADERS[part](data_home=settings.data_home)
    random = np.random.RandomState([settings.seed, len(part), split])
    y = np.where(data.target == 1, 1.0, -1.0)
    # Stratified: 60 % to train on, 20 % to choose by, 20 % to test on.
    chosen: list[list[int]] = [[], [], []]
    for sign in (-1.0, 1.0):
        order = random.permutation(np.flatnonzero(y == sign))
        parts = np.split(order, [int(0.6 * len(order)), int(0.8 * len(order))])
        for rows, some in zip(chosen, parts, strict=True):
            rows.extend(some.tolist())
    X, labels = (tuple(values[rows] for rows in chosen) for values in (data.data, y))
    holdout = Holdout(X, labels, _PENALTIES)  # type: ignore[arg-type]
    values: dict[Key, float] = {}
    for name, method in _METHODS.items():
        values["error rate", part, name] = tuned_error(method, holdout)
    return values


def define(name: str) -> Experiment:
    """The experiment of this name.

    Parameters
    ----------
    name : str
        "howard-microarray".

    Returns
    -------
    Experiment
    """
    return Experiment(
        name=name,
        title="Microarrays: learned transforms against a logarithm",
        source="Not in the paper: raw intensities, where a logarithm is the custom",
        protocol=_PROTOCOL,
        run=_run,
        n_splits=30,
        parts=tuple(_LOADERS),
    )


_PROTOCOL = f"""
Raw intensities of colon tissue (62 samples, 2000 genes) and of acute leukemia (72 samples, 7129 probes). Stratified
random splits: 60 % to train on, 20 % to choose C (four powers of ten), 20 % to test on. The logarithm is that of the
intensity, at least {_FLOOR:g}. One transform with ten knots is learned for all genes together.
"""
