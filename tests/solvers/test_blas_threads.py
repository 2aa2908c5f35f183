"""Threads of the linear algebra library."""

import pytest
from threadpoolctl import threadpool_info

from kernelweave.solvers.blas_threads import blas_threads


@pytest.mark.parametrize(("n_rows", "limited"), [(100, True), (100_000, False)])
def test_few_rows_are_worked_on_by_one_thread(n_rows, limited):
    with blas_threads(n_rows):
        inside = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    outside = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    assert inside == ({1} if limited else outside)
