"""Kernels evaluated on demand, and matrices in a temporary file."""

import numpy as np
import pytest

from kernelweave.exceptions import MemoryLimitError
from kernelweave.gram.expansion import build_expansion
from kernelweave.gram.lazy import LazyStack
from kernelweave.gram.preparing import memory
from kernelweave.gram.rectangular import RectangularStack
from kernelweave.kernels import RBF, Linear, Precomputed, Sigmoid, freeze_kernels, resolve_entries
from kernelweave.testing import check_gram_stack

RNG = np.random.default_rng(0)
X, POINTS = RNG.normal(size=(23, 3)), RNG.normal(size=(9, 3))
ENTRIES = [("rbf", RBF(gamma=0.3)), ("wide", RBF(gamma=0.03)), ("tanh", Sigmoid(gamma=0.5), [0, 2])]
NAMED = freeze_kernels(resolve_entries(ENTRIES), X)


def scales(n):
    return [RNG.uniform(0.5, 2.0, n), None, RNG.uniform(0.5, 2.0, n)]


@pytest.mark.parametrize("points", [X, POINTS], ids=["square", "rectangular"])
def test_conformance(points, monkeypatch):
    monkeypatch.setattr("kernelweave.gram.base._BLOCK_BYTES", 3 * 8 * 4 * 9)
    read = ([0, 1, 2], [0, 1, 2], [0, 2])
    raw = np.stack([member.kernel(X[:, c], points[:, c]) for member, c in zip(NAMED, read, strict=True)])
    check_gram_stack(LazyStack(NAMED, X, points), raw)
    rows, columns = scales(len(X)), scales(len(points))
    scaled = raw.copy()
    for K, row, column in zip(scaled, rows, columns, strict=True):
        K *= 1.0 if row is None else row[:, None] * column
    # Scaled on both sides these are not symmetric any more, which a stack of this kind need not be.
    for stack in (LazyStack(NAMED, X, points, rows, columns), RectangularStack(raw, rows, columns)):
        check_gram_stack(stack, scaled)
    single = raw.astype(np.float32)
    exact = single.astype(np.float64) * (scaled / raw)
    check_gram_stack(RectangularStack(single, rows, columns), exact)


@pytest.mark.parametrize("normalize", [None, "cosine", "trace", "frobenius"])
@pytest.mark.parametrize("points", [X, POINTS], ids=["square", "rectangular"])
def test_storages_hold_the_same(normalize, points):
    named = freeze_kernels(resolve_entries([*ENTRIES[:2], ("linear", Linear(), [0, 1])]), X)
    weights = RNG.uniform(1, 2, len(points))
    built = {}
    for storage in ("dense", "memmap", "lazy"):
        stack, prepared = build_expansion(named, X, points, normalize=normalize, storage=storage, point_weights=weights)
        built[storage] = stack.read(np.arange(3), np.arange(23))
        everything = np.arange(len(points))
        for index, block in prepared.new_blocks(X, points, everything, np.arange(3)):
            np.testing.assert_allclose(block * weights, built[storage][index], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(built["memmap"], built["dense"], rtol=1e-13)
    np.testing.assert_allclose(built["lazy"], built["dense"], rtol=1e-12, atol=1e-13)


def test_given_matrices_are_borrowed():
    K = RNG.normal(size=(2, 23, 23)).astype(np.float32)
    named = freeze_kernels(resolve_entries([(f"k{t}", Precomputed(k)) for t, k in enumerate(K)]), np.arange(23))
    for dtype in (np.float32, np.float64):
        same = np.arange(23)
        stack, _ = build_expansion(named, same, same, dtype=dtype, normalize="frobenius")
        assert all(np.shares_memory(held, given) for held, given in zip(stack._matrices, K, strict=True))


def test_what_does_not_fit_is_refused_unless_it_is_stored_elsewhere(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**3)
    with pytest.raises(MemoryLimitError):
        build_expansion(NAMED, X, X)
    for storage in ("memmap", "lazy"):
        build_expansion(NAMED, X, X, storage=storage)
