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
    "MixedNormClassifierCV": "kernelweave.estimators.mixed_norm_cv",
    "MixedNormRegressor": "kernelweave.estimators.mixed_norm_regression",
    "MonotoneClassifier": "kernelweave.estimators.monotone",
    "MonotoneRegressor": "kernelweave.estimators.monotone_regression",
    "MonotoneTransformer": "kernelweave.estimators.monotone_transformer",
    "alignment": "kernelweave.estimators.alignment",
    "centered_alignment": "kernelweave.estimators.alignment",
    "complete_kernel": "kernelweave.estimators.completion",
    "load_model": "kernelweave.persistence.models",
    "mixed_norm_path": "kernelweave.estimators.mixed_norm_path",
    "optimal_kernel": "kernelweave.estimators.optimal_kernel",
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
