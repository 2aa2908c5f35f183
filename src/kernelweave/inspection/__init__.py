"""Looking into kernels and fitted models."""

from kernelweave.inspection.health import KernelHealth, KernelReport, kernel_health
from kernelweave.inspection.transforms import TransformCurve, TransformDisplay

__all__ = ["KernelHealth", "KernelReport", "TransformCurve", "TransformDisplay", "kernel_health"]
