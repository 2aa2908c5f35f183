"""Conformance suites that third parties can run on their own parts."""

from kernelweave.testing.gram import check_gram_stack
from kernelweave.testing.kernels import check_kernel
from kernelweave.testing.solvers import check_solver

__all__ = ["check_gram_stack", "check_kernel", "check_solver"]
