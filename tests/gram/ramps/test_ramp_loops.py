"""The compiled passes agree with plain Python."""

import numpy as np
import pytest
import scipy.sparse

from kernelweave.gram.ramps import ramp_loops
from kernelweave.kernels.monotone.ramps import Ramps

RNG = np.random.default_rng(0)
KNOTS = np.array([0.0, 0.2, 1.0, 1.5])


def _cells(kind):
    ramps = Ramps((KNOTS, np.array([0.0, 3.0])), np.array([0, 1, 0, 0]))
    X = RNG.gamma(1.0, size=(15, 4))
    return ramps.cells(scipy.sparse.csr_matrix(np.where(X < 0.5, 0, X)) if kind == "sparse" else X)


def plain_rows(cells):
    """Every sample as a row of ramp values, from the definition."""
    Z = np.zeros((cells.n_samples, cells.n_coefficients))
    for i in range(cells.n_samples):
        for k, e in enumerate(range(cells.indptr[i], cells.indptr[i + 1])):
            s = cells.slots[e] if len(cells.slots) else k
            for c in range(cells.offsets[s], cells.offsets[s + 1]):
                Z[i, c] = min(max(cells.positions[e] - (c - cells.offsets[s]), 0.0), 1.0)
    return Z


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_passes(kind):
    cells = _cells(kind)
    Z = plain_rows(cells)
    entries = (cells.indptr, cells.slots, cells.positions, cells.offsets)
    c, v, w = RNG.normal(size=Z.shape[1]), RNG.normal(size=15), RNG.random(15)
    v[3] = w[4] = 0.0
    tables = ramp_loops.prefix_tables(c, cells.offsets)
    np.testing.assert_allclose(ramp_loops.gather(*entries, tables), Z @ c, atol=1e-13)
    masses = ramp_loops.scatter(*entries, v)
    np.testing.assert_allclose(ramp_loops.suffix_sums(masses, cells.offsets), Z.T @ v, atol=1e-13)
    np.testing.assert_allclose(ramp_loops.hat_gram(*entries, w), Z.T * w @ Z, atol=1e-13)
    lengths = np.zeros((4, 15))
    ramp_loops.ramp_lengths(*entries, cells.kernel_of, lengths)
    expected = np.stack([(Z[:, cells.kernel_of == k] ** 2).sum(axis=1) for k in range(4)])
    np.testing.assert_allclose(lengths, expected, atol=1e-13)


def test_tables_start_at_zero_and_masses_come_back():
    offsets = np.array([0, 2, 2, 3])
    tables = ramp_loops.prefix_tables(np.array([1.0, 2.0, 5.0]), offsets)
    np.testing.assert_array_equal(tables, [0, 1, 3, 0, 0, 5])
    sums = ramp_loops.suffix_sums(np.array([9.0, 1.0, 3.0, 9.0, 9.0, 5.0]), offsets)
    np.testing.assert_array_equal(sums, [4, 3, 5])


def test_many_dense_samples_are_summed_block_by_block():
    rng = np.random.default_rng(0)
    offsets, n = np.array([0, 3, 4, 6]), 2500
    positions, w = rng.uniform(-0.5, [3.5, 1.5, 2.5], (n, 3)), rng.random(n)
    found = ramp_loops.hat_gram(
        np.arange(0, 3 * n + 1, 3), np.empty(0, np.int32), positions.ravel(), offsets.astype(np.intp), w
    )
    # Positions beyond the ends continue the outermost ramps.
    Z = np.empty((n, 6))
    for s, (first, last) in enumerate([(0, 3), (3, 4), (4, 6)]):
        for c in range(first, last):
            low = -np.inf if c == first else 0.0
            high = np.inf if c == last - 1 else 1.0
            Z[:, c] = np.clip(positions[:, s] - (c - first), low, high)
    np.testing.assert_allclose(found, Z.T * w @ Z, rtol=1e-12)
