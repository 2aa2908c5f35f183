"""Learn how much each notion of similarity is worth.

Public names load on first use, so importing the package stays quick.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_WHERE = {
    "KernelAligner": "kernelweave.estimators.aligner",
    "MKLClassifier": "kernelweave.estimators.mkl",
    "MixedNormClassifier": "kernelweave.estimators.mixed_norm",
    "MixedNormRegressor": "kernelweave.estimators.mixed_norm_regression",
    "MonotoneClassifier": "kernelweave.estimators.monotone",
    "alignment": "kernelweave.estimators.alignment",
    "centered_alignment": "kernelweave.estimators.alignment",
    "complete_kernel": "kernelweave.estimators.completion",
    "load_model": "kernelweave.persistence.models",
    "optimal_kernel": "kernelweave.estimators.optimal_kernel",
    "save_model": "kernelweave.persistence.models",
}

__all__ = [
    "KernelAligner",
    "MKLClassifier",
    "MixedNormClassifier",
    "MixedNormRegressor",
    "MonotoneClassifier",
    "__version__",
    "alignment",
    "centered_alignment",
    "complete_kernel",
    "load_model",
    "optimal_kernel",
    "save_model",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'kernelweave' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
