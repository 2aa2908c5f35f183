"""Looking into kernels and fitted models."""

from kernelweave.inspection.path import PathDisplay
from kernelweave.inspection.relevance import RelevanceDisplay, relevance_map

__all__ = ["PathDisplay", "RelevanceDisplay", "relevance_map"]
