"""Learn how much each notion of similarity is worth.

Public names load on first use, so importing the package stays quick.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_WHERE = {
    "KernelAligner": "kernelweave.estimators.alignment.aligner",
    "MKLClassifier": "kernelweave.estimators.margin.mkl",
    "MixedNormClassifier": "kernelweave.estimators.mixed_norm.classifier",
    "MixedNormClassifierCV": "kernelweave.estimators.mixed_norm.cross_validation",
    "MixedNormRegressor": "kernelweave.estimators.mixed_norm.regressor",
    "MonotoneClassifier": "kernelweave.estimators.monotone.classifier",
    "MonotoneRegressor": "kernelweave.estimators.monotone.regressor",
    "MonotoneTransformer": "kernelweave.estimators.monotone.transformer",
    "alignment": "kernelweave.estimators.alignment.alignment",
    "centered_alignment": "kernelweave.estimators.alignment.alignment",
    "complete_kernel": "kernelweave.estimators.alignment.completion",
    "load_model": "kernelweave.persistence.models",
    "mixed_norm_path": "kernelweave.estimators.mixed_norm.path",
    "optimal_kernel": "kernelweave.estimators.margin.optimal_kernel",
    "save_model": "kernelweave.persistence.models",
}

__all__ = [
    "KernelAligner",
    "MKLClassifier",
    "MixedNormClassifier",
    "MixedNormClassifierCV",
    "MixedNormRegressor",
    "MonotoneClassifier",
    "MonotoneRegressor",
    "MonotoneTransformer",
    "__version__",
    "alignment",
    "centered_alignment",
    "complete_kernel",
    "load_model",
    "mixed_norm_path",
    "optimal_kernel",
    "save_model",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'kernelweave' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
