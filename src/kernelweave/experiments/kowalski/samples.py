"""What the experiments of [K09] share: the Titanic data, the three kernels, the six norms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelweave.datasets import load_titanic
from kernelweave.experiments.experiment import Settings
from kernelweave.kernels import RBF, Linear

__all__ = ["BIASES", "GRID", "KERNELS", "NORMS", "FloatArray", "Realisation", "realisation"]

FloatArray = npt.NDArray[np.float64]

# exp(-d^2 / (2 s^2)) with s = 0.1 and 100.
KERNELS: Mapping[str, Any] = {"good": Linear(), "bad": RBF(gamma=50.0), "ugly": RBF(gamma=5e-5)}
NORMS: Mapping[str, dict[str, str]] = {
    "1": {"penalty": "l1"},
    "2": {"penalty": "l2"},
    "21;1": {"penalty": "group", "structure": "samples"},
    "21;2": {"penalty": "group", "structure": "kernels"},
    "12;1": {"penalty": "elitist", "structure": "samples"},
    "12;2": {"penalty": "elitist", "structure": "kernels"},
}
BIASES: Mapping[str, Any] = {"intercept": True, "constant kernel": "kernel"}
GRID = np.geomspace(1.0, 1e5, 11)


@dataclass(frozen=True)
class Realisation:
    """One split of the data.

    Parameters
    ----------
    X, X_test : ndarray of shape (150, 3), (2051, 3)
        Standardised features.
    y, y_test : ndarray of shape (150,), (2051,)
        0 or 1.
    """

    X: Any
    y: Any
    X_test: Any
    y_test: Any

    def error(self, model: Any) -> float:
        """Test error of a fitted model, in percent."""
        return 100.0 * float(np.mean(model.predict(self.X_test) != self.y_test))


@lru_cache(maxsize=1)
def _titanic(data_home: Path | None) -> Any:
    return load_titanic(data_home=data_home)


def realisation(number: int, settings: Settings) -> Realisation:
    """A split of the IDA repository.

    Parameters
    ----------
    number : int
        From 0; the paper's is the first.
    settings : Settings
        Data folder.

    Returns
    -------
    Realisation
    """
    data = _titanic(settings.data_home)
    train, test = data.train[number], data.test[number]
    return Realisation(data.data[train], data.target[train], data.data[test], data.target[test])
