"""Threads of the linear algebra library, where they do more harm than good.

Factorisations of a few hundred rows finish before threads have met; on a busy machine
waiting for one another can cost a hundred times the work.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["blas_threads"]

_ONE_THREAD = 2000  # rows up to which one thread is the better choice


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    # Finding the loaded libraries takes milliseconds: once a process.
    return ThreadpoolController()


def blas_threads(n_rows: int) -> Any:
    """Context in which linear algebra on matrices of so many rows uses a sensible number of threads.

    Parameters
    ----------
    n_rows : int
        Rows of the matrices that will be factorised.

    Returns
    -------
    context manager
    """
    return _controller().limit(limits=1 if n_rows <= _ONE_THREAD else None, user_api="blas")
