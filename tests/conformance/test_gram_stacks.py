"""Every Gram stack of ours keeps the contract (that the suite can fail is shown in tests/testing)."""

import numpy as np
import pytest

from kernelweave.gram.base import GramStack
from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.testing import check_gram_stack

N = 37


def read_only(array):
    array.flags.writeable = False
    return array


def factors(dtype=np.float64, n=N, ranks=(2, 5, 1, 3)):
    rng = np.random.default_rng(0)
    return [read_only((10.0**i * rng.normal(size=(n, rank))).astype(dtype)) for i, rank in enumerate(ranks)]


def matrices(dtype=np.float64, n=N):
    return [read_only((z.astype(np.float64) @ z.T.astype(np.float64)).astype(dtype)) for z in factors(n=n)]


def dense(stored):
    return np.stack([matrix.astype(np.float64) for matrix in stored])


class Minimal(GramStack):
    """What a representation must write itself, and nothing else; rectangular matrices welcome."""

    def __init__(self, matrices):
        self.matrices = matrices
        self.n_kernels, *shape = matrices.shape
        self.shape, self.dtype = tuple(shape), matrices.dtype

    def read(self, kernels, rows, cols=None):
        cols = np.arange(self.shape[1]) if cols is None else cols
        return self.matrices[np.ix_(kernels, rows, cols)].astype(np.float64)

    def restrict(self, rows, cols=None):
        return Minimal(self.matrices[:, rows][:, :, rows if cols is None else cols])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dense(dtype):
    check_gram_stack(DenseStack(matrices(dtype)), dense(matrices(dtype)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("with_scales", [False, True])
@pytest.mark.parametrize("with_shifts", [False, True])
def test_dense_with_lazy_preparation(dtype, with_scales, with_shifts):
    rng, stored = np.random.default_rng(1), matrices(dtype)
    # Some kernels are prepared and some are not, in every combination.
    scales = [read_only(rng.uniform(0.1, 2, N)) if with_scales and i % 2 else None for i in range(4)]
    shifts = [read_only(0.1 * rng.normal(size=N)) if with_shifts and i >= 1 else None for i in range(4)]
    reference = dense(stored)
    for K, scale, shift in zip(reference, scales, shifts, strict=True):
        K -= 0.0 if shift is None else shift[:, None] + shift
        K *= 1.0 if scale is None else np.outer(scale, scale)
    check_gram_stack(DenseStack(stored, scales, shifts), reference)


def test_dense_centred_and_normalised():
    stored = matrices()
    centre = np.eye(N) - 1.0 / N
    centred = np.stack([centre @ K @ centre for K in stored])
    roots = np.sqrt(np.diagonal(centred, axis1=1, axis2=2))
    shifts = [K.mean(axis=1) - 0.5 * K.mean() for K in stored]
    reference = centred / roots[:, :, None] / roots[:, None, :]
    check_gram_stack(DenseStack(stored, list(1.0 / roots), shifts), reference)


@pytest.mark.parametrize("order", ["F", "strided", "integers"])
def test_dense_from_other_layouts(order):
    stored = matrices()
    if order == "F":
        stored = [np.asfortranarray(K) for K in stored]
    elif order == "strided":
        stored = [np.repeat(np.repeat(K, 2, axis=0), 2, axis=1)[::2, ::2] for K in stored]
    else:
        stored = [z @ z.T for z in (np.round(3 * z).astype(int) for z in factors())]
    check_gram_stack(DenseStack([read_only(K) for K in stored]), dense(stored))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [N, 9], ids=["low rank", "full rank"])
def test_factors(dtype, n):
    stored = factors(dtype, n)
    check_gram_stack(FactorStack(stored), np.stack([z @ z.T for z in map(np.float64, stored)]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_streaming_defaults(dtype):
    stored = read_only(np.stack(matrices(dtype)))
    check_gram_stack(Minimal(stored), dense(stored))


def test_streaming_defaults_in_many_blocks(monkeypatch):
    monkeypatch.setattr("kernelweave.gram.base._BLOCK_BYTES", 3 * 8 * 4 * N)
    stored = read_only(np.stack(matrices()))
    check_gram_stack(Minimal(stored), stored)


@pytest.mark.parametrize("shape", [(11, 6), (6, 11), (8, 8)])
def test_streaming_defaults_on_matrices_without_symmetry(shape):
    stored = read_only(np.random.default_rng(2).normal(size=(3, *shape)))
    check_gram_stack(Minimal(stored), stored)
