"""Conformance suites that third parties can run on their own parts."""

from kernelweave.testing.kernels import check_kernel

__all__ = ["check_kernel"]
