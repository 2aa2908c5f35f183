"""Error bounds, and the complexities they rest on."""

from kernelweave.bounds.mixed_norm import (
    MixedNormBound,
    estimate_mixed_norm_complexity,
    mixed_norm_bound,
    mixed_norm_complexity,
)
from kernelweave.bounds.rademacher import Complexity, rademacher_complexity
from kernelweave.bounds.transduction import TransductionBound, transduction_bound

__all__ = [
    "Complexity",
    "MixedNormBound",
    "TransductionBound",
    "estimate_mixed_norm_complexity",
    "mixed_norm_bound",
    "mixed_norm_complexity",
    "rademacher_complexity",
    "transduction_bound",
]
