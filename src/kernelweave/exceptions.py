"""Errors by cause, under one root.

Every error is also the built-in type that scikit-learn users expect
(`ValueError`, `MemoryError`, `ImportError`), so generic handlers keep working.
"""

from __future__ import annotations

import importlib
from types import ModuleType

__all__ = [
    "DatasetDamagedError",
    "DatasetUnavailableError",
    "InvalidKernelError",
    "KernelweaveError",
    "MemoryLimitError",
    "MissingExtraError",
    "ModelFileError",
    "NotSeparableError",
    "import_extra",
]


class KernelweaveError(Exception):
    """Root of the errors raised by kernelweave."""


class InvalidKernelError(KernelweaveError, ValueError):
    """A kernel matrix breaks what is promised for it; the message names the kernel and the place."""


class NotSeparableError(KernelweaveError, ValueError):
    """The hard margin has no solution because no kernel weights separate the labelled samples.

    Parameters
    ----------
    message : str
        What happened and what to do.
    direction : ndarray of shape (n_labelled,), optional
        Certificate: a nonnegative combination of the samples with equal mass in both
        classes whose two class means coincide in the feature space of every kernel.
    """

    def __init__(self, message: str, direction: object = None) -> None:
        super().__init__(message)
        self.direction = direction


class MemoryLimitError(KernelweaveError, MemoryError):
    """The Gram matrices would not fit in memory; raised before they are allocated."""


class ModelFileError(KernelweaveError, ValueError):
    """A model file is damaged or was not written by kernelweave."""


class DatasetUnavailableError(KernelweaveError, OSError):
    """A data set is neither in the data folder nor within reach; the message says where it is to be had."""


class DatasetDamagedError(KernelweaveError, ValueError):
    """A data file or a download is not what it should be; the message says what differs."""


class MissingExtraError(KernelweaveError, ImportError):
    """An optional package is not installed; the message names the extra that brings it."""


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module, or say which extra brings it.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    extra : str
        Extra of kernelweave that installs it.
    purpose : str
        What it is needed for, as the start of a sentence ("Reading Parquet files").

    Returns
    -------
    ModuleType
        The imported module.

    Raises
    ------
    MissingExtraError
        When the module is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or module.split(".")[0] != error.name.split(".")[0]:
            raise
        raise MissingExtraError(
            f"{purpose} needs the package '{error.name}'. Install it with: pip install 'kernelweave[{extra}]'"
        ) from None
