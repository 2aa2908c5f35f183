"""What a kernel is: functions of two samples, given matrices, their algebra and their columns."""

from kernelweave.kernels.adapters import FunctionKernel, GaussianProcessKernel, MetricKernel, as_kernel
from kernelweave.kernels.base import Kernel, Product, Scaled, Sum
from kernelweave.kernels.columns import Columns, resolve_columns, select_columns
from kernelweave.kernels.constant import Constant
from kernelweave.kernels.eigen import EigenComponent, EigenFamily
from kernelweave.kernels.entries import Entry, resolve_entries
from kernelweave.kernels.evaluate import NamedKernel, freeze_kernels, iter_diagonals, iter_grams
from kernelweave.kernels.families import KernelFamily, WidthFamily, auto_kernels
from kernelweave.kernels.precomputed import Precomputed
from kernelweave.kernels.structured.categories import ValueDifference
from kernelweave.kernels.structured.sequences import Alignment, EditDistance
from kernelweave.kernels.structured.series import DynamicTimeWarping
from kernelweave.kernels.structured.substitution import DistanceSubstitution
from kernelweave.kernels.vector.divergences import JensenShannon, KullbackLeibler
from kernelweave.kernels.vector.exponential import RBF, ExponentialKernel, Laplacian
from kernelweave.kernels.vector.gaussians import GaussianJensenShannon, GaussianKullbackLeibler, gaussian_rows
from kernelweave.kernels.vector.histograms import ChiSquared, HistogramIntersection
from kernelweave.kernels.vector.vectors import Cosine, Linear, Polynomial, Sigmoid

__all__ = [
    "RBF",
    "Alignment",
    "ChiSquared",
    "Columns",
    "Constant",
    "Cosine",
    "DistanceSubstitution",
    "DynamicTimeWarping",
    "EditDistance",
    "EigenComponent",
    "EigenFamily",
    "Entry",
    "ExponentialKernel",
    "FunctionKernel",
    "GaussianJensenShannon",
    "GaussianKullbackLeibler",
    "GaussianProcessKernel",
    "HistogramIntersection",
    "JensenShannon",
    "Kernel",
    "KernelFamily",
    "KullbackLeibler",
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
    "ValueDifference",
    "WidthFamily",
    "as_kernel",
    "auto_kernels",
    "freeze_kernels",
    "gaussian_rows",
    "iter_diagonals",
    "iter_grams",
    "resolve_columns",
    "resolve_entries",
    "select_columns",
]
