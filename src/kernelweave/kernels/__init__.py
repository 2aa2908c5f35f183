"""What a kernel is: functions of two samples, given matrices, their algebra and their columns."""

from kernelweave.kernels.adapters import FunctionKernel, GaussianProcessKernel, MetricKernel, as_kernel
from kernelweave.kernels.base import Kernel, Product, Scaled, Sum
from kernelweave.kernels.columns import Columns, resolve_columns, select_columns
from kernelweave.kernels.constant import Constant
from kernelweave.kernels.entries import Entry, resolve_entries
from kernelweave.kernels.evaluate import NamedKernel, freeze_kernels, iter_diagonals, iter_grams
from kernelweave.kernels.exponential import RBF, ExponentialKernel, Laplacian
from kernelweave.kernels.families import KernelFamily, WidthFamily, auto_kernels
from kernelweave.kernels.histograms import ChiSquared, HistogramIntersection
from kernelweave.kernels.precomputed import Precomputed
from kernelweave.kernels.vectors import Cosine, Linear, Polynomial, Sigmoid

__all__ = [
    "RBF",
    "ChiSquared",
    "Columns",
    "Constant",
    "Cosine",
    "Entry",
    "ExponentialKernel",
    "FunctionKernel",
    "GaussianProcessKernel",
    "HistogramIntersection",
    "Kernel",
    "KernelFamily",
    "Laplacian",
    "Linear",
    "MetricKernel",
    "NamedKernel",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Sum",
    "WidthFamily",
    "as_kernel",
    "auto_kernels",
    "freeze_kernels",
    "iter_diagonals",
    "iter_grams",
    "resolve_columns",
    "resolve_entries",
    "select_columns",
]
