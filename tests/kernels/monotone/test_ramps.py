"""Ramps: positions say the same as the formula, sparse samples keep their zeros, phi is monotone."""

import itertools

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelweave.kernels.monotone.ramps import RampCells, Ramps, canonical_csr, linear_cells

RNG = np.random.default_rng(0)
KNOTS = np.array([-1.0, -0.2, 0.0, 0.7, 3.0])
X = RNG.normal(size=(20, 3)) * 1.5
X[0, 0], X[1, 1], X[2, 2] = 0.7, -1.0, 3.0
X.flags.writeable = False
SPARSE = scipy.sparse.random(25, 6, 0.4, format="csr", random_state=2, data_rvs=lambda k: RNG.normal(size=k))


def formula(X, knots):
    """phi_j(x) of every entry: (n_ramps, *X.shape)."""
    return np.stack([np.clip((X - a) / (b - a), 0, 1) for a, b in itertools.pairwise(knots)])


def heights(cells: RampCells, n: int):
    """Value of every ramp of every slot from the positions: (n, n_coefficients)."""
    out = np.zeros((n, cells.n_coefficients))
    for i in range(n):
        for k, e in enumerate(range(cells.indptr[i], cells.indptr[i + 1])):
            s = cells.slots[e] if len(cells.slots) else k
            for c in range(cells.offsets[s], cells.offsets[s + 1]):
                out[i, c] = np.clip(cells.positions[e] - (c - cells.offsets[s]), 0, 1)
    return out


def test_positions_reproduce_the_formula():
    ramps = Ramps((KNOTS,), np.zeros(3, dtype=np.intp))
    cells = ramps.cells(X)
    expected = formula(X, KNOTS)  # (J, n, d)
    np.testing.assert_allclose(heights(cells, 20), expected.transpose(1, 2, 0).reshape(20, -1), atol=1e-15)
    np.testing.assert_array_equal(cells.kernel_of, np.tile(np.arange(4), 3))
    assert (cells.n_samples, cells.n_kernels, cells.n_coefficients) == (20, 4, 12)


def test_groups_have_knots_of_their_own():
    knots = (KNOTS, np.array([0.0, 1.0]))
    ramps = Ramps(knots, np.array([1, 0, 1]))
    cells = ramps.cells(X)
    np.testing.assert_array_equal(np.diff(cells.offsets), [1, 4, 1])
    np.testing.assert_array_equal(cells.kernel_of, [4, 0, 1, 2, 3, 4])
    got = heights(cells, 20)
    for f, (g, columns) in enumerate([(1, [0]), (0, [1, 2, 3, 4]), (1, [5])]):
        np.testing.assert_allclose(got[:, columns], formula(X[:, f], knots[g]).T, atol=1e-15)
    np.testing.assert_array_equal(ramps.group_of_ramp, [0, 0, 0, 0, 1])


def test_sparse_samples_keep_their_zeros_and_say_the_same():
    nonnegative = abs(SPARSE)
    ramps = Ramps((np.array([0.0, 0.5, 2.0]),), np.zeros(6, dtype=np.intp))
    cells = ramps.cells(nonnegative)
    assert len(cells.positions) == nonnegative.nnz
    np.testing.assert_allclose(heights(cells, 25), heights(ramps.cells(nonnegative.toarray()), 25), atol=1e-15)


def test_anchored_ramps_differ_from_plain_ones_by_their_value_at_zero():
    anchored, plain = (Ramps((KNOTS,), np.zeros(6, dtype=np.intp), flag) for flag in (True, False))
    weights = np.array([0.1, 0.4, 0.2, 0.3])
    moved = anchored.transform(SPARSE, weights)
    assert scipy.sparse.issparse(moved) and moved.nnz == SPARSE.nnz
    np.testing.assert_allclose(moved.toarray(), plain.transform(SPARSE.toarray(), weights) - 0.5, atol=1e-15)
    np.testing.assert_allclose(anchored.transform(SPARSE.toarray(), weights), moved.toarray(), atol=1e-15)
    cells = anchored.cells(SPARSE)
    assert len(cells.positions) == SPARSE.nnz
    # The squared distance of two samples under each kernel does not see the shift.
    gram = heights(cells, 25)
    other = heights(plain.cells(SPARSE.toarray()), 25)
    for j in range(4):
        a, b = gram[:, cells.kernel_of == j], other[:, np.tile(np.arange(4), 6) == j]
        for i, k in [(0, 1), (3, 17), (8, 22)]:
            assert np.sum((a[i] - a[k]) ** 2) == pytest.approx(np.sum((b[i] - b[k]) ** 2), abs=1e-14)


def test_ramps_that_do_not_keep_zeros_make_sparse_samples_dense():
    ramps = Ramps((KNOTS,), np.zeros(6, dtype=np.intp))
    assert not ramps.keeps_zeros
    np.testing.assert_array_equal(ramps.cells(SPARSE).positions, ramps.cells(SPARSE.toarray()).positions)
    assert isinstance(ramps.transform(SPARSE, np.full(4, 0.25)), np.ndarray)


def test_anchoring_needs_a_knot_at_zero():
    with pytest.raises(ValueError, match="Sparse samples need 0 among the knots"):
        Ramps((np.array([-1.0, 1.0]),), np.zeros(2, dtype=np.intp), anchored=True)
    Ramps((np.array([1.0, 2.0]), np.array([-2.0, -1.0])), np.arange(2), anchored=True)


def test_take_chooses_rows():
    rows = np.array([3, 3, 0, 19])
    for cells, samples in [
        (Ramps((KNOTS,), np.zeros(3, dtype=np.intp)).cells(X), X),
        (Ramps((KNOTS,), np.zeros(6, dtype=np.intp), True).cells(SPARSE), SPARSE),
    ]:
        np.testing.assert_array_equal(heights(cells.take(rows), 4), heights(cells, samples.shape[0])[rows], strict=True)


def test_linear_cells_are_the_features():
    cells = linear_cells(SPARSE)
    assert cells.n_kernels == 1 and cells.n_coefficients == 6 and len(cells.positions) == SPARSE.nnz
    np.testing.assert_array_equal(linear_cells(X).positions, X.ravel())


def test_duplicate_entries_count_once():
    twice = scipy.sparse.csr_matrix((np.array([0.2, 0.3]), np.array([1, 1]), np.array([0, 2])), shape=(1, 6))
    ramps = Ramps((np.array([0.0, 1.0]),), np.zeros(6, dtype=np.intp))
    np.testing.assert_allclose(ramps.cells(twice).positions, [0.5])
    np.testing.assert_allclose(ramps.transform(twice, np.ones(1)).toarray()[0, 1], 0.5)
    assert twice.nnz == 2 and canonical_csr(twice).nnz == 1


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(-5, 5), min_size=2, max_size=6, unique=True),
    st.lists(st.floats(0, 1), min_size=6, max_size=6),
    st.booleans(),
)
def test_phi_never_decreases(knots, weights, anchored):
    knots = np.unique(np.append(knots, 0.0)) if anchored else np.sort(knots)
    if np.diff(knots).min() < 1e-6:
        return
    ramps = Ramps((knots,), np.zeros(1, dtype=np.intp), anchored)
    grid = np.linspace(-6, 6, 101)[:, None]
    phi = ramps.transform(grid, np.array(weights)[: len(knots) - 1])
    assert (np.diff(phi[:, 0]) >= -1e-12).all()
    assert not anchored or abs(phi[50, 0]) < 1e-12
