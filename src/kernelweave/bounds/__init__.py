"""Error bounds, and the complexities they rest on."""

from kernelweave.bounds.rademacher import Complexity, rademacher_complexity
from kernelweave.bounds.transduction import TransductionBound, transduction_bound

__all__ = ["Complexity", "TransductionBound", "rademacher_complexity", "transduction_bound"]
