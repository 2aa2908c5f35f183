"""Looking into kernels and fitted models."""

from kernelweave.inspection.health import KernelHealth, KernelReport, kernel_health
from kernelweave.inspection.path import PathDisplay
from kernelweave.inspection.relevance import RelevanceDisplay, relevance_map
from kernelweave.inspection.transforms import TransformCurve, TransformDisplay

__all__ = [
    "KernelHealth",
    "KernelReport",
    "PathDisplay",
    "RelevanceDisplay",
    "TransformCurve",
    "TransformDisplay",
    "kernel_health",
    "relevance_map",
]
