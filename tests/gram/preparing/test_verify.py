"""Definiteness of the combined kernel after the fit."""

import numpy as np
import pytest

from kernelweave.exceptions import InvalidKernelError
from kernelweave.gram import build
from kernelweave.gram.build import PreparedKernels, build_stack
from kernelweave.gram.dense import DenseStack
from kernelweave.gram.preparing.verify import verify_combined_kernel
from kernelweave.kernels import RBF, Precomputed
from kernelweave.kernels.columns import resolve_columns
from kernelweave.kernels.evaluate import NamedKernel


@pytest.fixture
def matrices():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(12, 12))
    bad = np.eye(12)
    bad[0, 1] = bad[1, 0] = bad[0, 2] = bad[2, 0] = 0.9
    return {"good": Z @ Z.T / 12, "bad": bad}


def named(matrices):
    samples = np.arange(12)[:, None]
    return [NamedKernel(name, Precomputed(K), resolve_columns(None, samples)) for name, K in matrices.items()]


def test_indefinite_combination_names_the_kernel(matrices):
    stack = DenseStack(list(matrices.values()))
    prepared = PreparedKernels(named(matrices), [], unverified=(0, 1))
    with pytest.raises(InvalidKernelError, match=r"'bad' is not positive semidefinite: .* -0\.27"):
        verify_combined_kernel(stack, prepared, np.array([0.0, 1.0]))


def test_weightless_or_definite_kernels_pass(matrices):
    stack = DenseStack(list(matrices.values()))
    prepared = PreparedKernels(named(matrices), [], unverified=(0, 1))
    verify_combined_kernel(stack, prepared, np.array([1.0, 0.0]))
    verify_combined_kernel(stack, prepared, np.array([1.0, 0.1]))


def test_proven_kernels_are_not_doubted_and_claims_are(matrices, monkeypatch):
    monkeypatch.setattr(build, "_CHEAP_CHECK", 0.0)
    X = np.arange(12.0)[:, None]
    members = [NamedKernel("rbf", RBF(1.0), resolve_columns(None, X)), *named(matrices)]
    _, prepared = build_stack(members, X, normalize=None, center=False, storage="dense")
    assert prepared.unverified == (1, 2)


def test_cheap_claims_are_checked_before_the_fit(matrices):
    X = np.arange(12.0)[:, None]
    with pytest.raises(InvalidKernelError, match="'bad'"):
        build_stack(named(matrices), X, normalize=None, center=False)
