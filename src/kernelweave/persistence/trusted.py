"""Which types a model file may hold, and what cannot be written into one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scipy.sparse import csr_array, csr_matrix
from sklearn.base import BaseEstimator
from sklearn.gaussian_process import kernels as gaussian_process

import kernelweave.kernels as kernels
from kernelweave._compat import column_list_types
from kernelweave.estimators.alignment.aligner import KernelAligner
from kernelweave.estimators.expansion import KernelExpansion
from kernelweave.estimators.margin.mkl import MKLClassifier
from kernelweave.estimators.mixed_norm.classifier import MixedNormClassifier
from kernelweave.estimators.mixed_norm.cross_validation import MixedNormClassifierCV
from kernelweave.estimators.mixed_norm.regressor import MixedNormRegressor
from kernelweave.estimators.mixed_norm.sparse_expansion import SparseExpansion
from kernelweave.estimators.monotone.classifier import MonotoneClassifier
from kernelweave.estimators.monotone.ramp_model import RampModel
from kernelweave.estimators.monotone.regressor import MonotoneRegressor
from kernelweave.estimators.monotone.transformer import MonotoneTransformer
from kernelweave.gram.build import PreparedKernels
from kernelweave.gram.preparing.preparation import Preparation
from kernelweave.gram.preparing.repair import Repair
from kernelweave.kernels import Columns, FunctionKernel, Kernel, KernelFamily, NamedKernel, resolve_entries
from kernelweave.kernels.monotone.ramps import Ramps
from kernelweave.persistence.storable import StoredFrame, StoredStatus
from kernelweave.problems.base import Certificate

__all__ = ["ESTIMATORS", "refuse_unstorable", "trusted_names"]

ESTIMATORS: tuple[type, ...] = (
    KernelAligner,
    MixedNormClassifier,
    MixedNormClassifierCV,
    MixedNormRegressor,
    MKLClassifier,
    MonotoneClassifier,
    MonotoneRegressor,
    MonotoneTransformer,
)
# What fitted estimators are made of, beside arrays and kernels.
_PARTS = (
    Certificate,
    Columns,
    KernelExpansion,
    NamedKernel,
    Preparation,
    PreparedKernels,
    RampModel,
    Ramps,
    Repair,
    SparseExpansion,
    StoredFrame,
    StoredStatus,
)
_SPARSE = (csr_array, csr_matrix)


def trusted_names() -> list[str]:
    """Full names of the types that may be built from a model file.

    Returns
    -------
    list of str
        Our estimators, kernels and fit results, sparse matrices, scikit-learn's lists of columns,
        and the kernels of Gaussian processes. They are data with numeric methods: none of them
        runs what a file says. Types that skops itself trusts (scikit-learn's estimators, numpy's
        arrays) come on top.
    """
    types = [*ESTIMATORS, *_PARTS, *_SPARSE, *column_list_types(), *_kernel_types()]
    return sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in types)


def _kernel_types() -> Iterator[type]:
    ours = [getattr(kernels, name) for name in kernels.__all__]
    theirs = [value for name, value in vars(gaussian_process).items() if not name.startswith("_")]
    for kind in ours + theirs:
        # A kernel made from a function would bring the function, which is code.
        if isinstance(kind, type) and kind is not FunctionKernel and issubclass(kind, _KERNELS):
            yield kind


_KERNELS = (Kernel, KernelFamily, gaussian_process.Kernel)


def refuse_unstorable(estimator: Any) -> None:
    """Name what keeps an estimator out of a model file.

    Parameters
    ----------
    estimator : estimator
        One of ours.

    Raises
    ------
    ValueError
        For a kernel that is or contains a function or a class of somebody else's, and for columns
        chosen by a function.
    """
    trusted = set(trusted_names())
    for entry in resolve_entries(estimator.kernels) if hasattr(estimator, "kernels") else ():
        for part in _parts(entry.kernel):
            if isinstance(part, FunctionKernel) or (callable(part) and not isinstance(part, _KERNELS)):
                raise ValueError(
                    f"kernel '{entry.name}' is a function, and a model file holds no code. "
                    "Use a kernel of kernelweave.kernels, or keep this model with pickle."
                )
            kind = type(part)
            if isinstance(part, BaseEstimator) and f"{kind.__module__}.{kind.__qualname__}" not in trusted:
                raise ValueError(
                    f"kernel '{entry.name}' is of the class {kind.__qualname__} of {kind.__module__}, which a model "
                    "file cannot name safely. Use a kernel of kernelweave.kernels, or keep this model with pickle."
                )
        if callable(entry.columns):
            raise ValueError(
                f"the columns of kernel '{entry.name}' are chosen by a function, and a model file holds no code. "
                "Choose them by name or position."
            )


def _parts(kernel: Any) -> list[Any]:
    return [kernel, *kernel.get_params(deep=True).values()]
