"""Looking into kernels and fitted models."""

from kernelweave.inspection.health import KernelHealth, KernelReport, kernel_health

__all__ = ["KernelHealth", "KernelReport", "kernel_health"]
