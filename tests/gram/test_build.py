"""From named kernels to prepared stacks, and to prepared values on new samples."""

import numpy as np
import pytest
import scipy.sparse

from kernelweave.exceptions import InvalidKernelError, MemoryLimitError
from kernelweave.gram.build import build_stack
from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.gram.preparing import memory
from kernelweave.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid, freeze_kernels, resolve_entries

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(20, 4)) + 0.5, RNG.normal(size=(6, 4)) + 0.5
PLAIN = {"normalize": None, "center": False}
KINDS = [(normalize, center) for normalize in ("cosine", "trace", None) for center in (False, True)]
MIXED = [("wide", RBF(0.1)), ("square", Polynomial(2)), ("first", Linear(), [0, 1])]
LINEAR = [("first", Linear(), [0, 1]), ("last", Linear(), [3])]


def named(entries, samples=X):
    return freeze_kernels(resolve_entries(entries), samples)


def prepare(K, n, normalize, center):
    if center:
        mean = K[:, :n].mean(axis=1)
        K = K - mean[:, None] - mean + K[:n, :n].mean()
    if normalize == "cosine":
        K = K / np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    if normalize == "trace":
        K = K * n / np.trace(K[:n, :n])
    return K


def raw(entries, samples):
    """Raw joint matrices, through kernels on hand-picked columns."""
    return [entry[1].freeze(samples[:20])(samples if len(entry) == 2 else samples[:, entry[2]]) for entry in entries]


@pytest.mark.parametrize("storage", ["dense", "factor"])
@pytest.mark.parametrize(("normalize", "center"), KINDS)
def test_training_and_new_values(normalize, center, storage):
    entries = LINEAR if storage == "factor" else MIXED
    stack, prepared = build_stack(named(entries), X, normalize=normalize, center=center, storage=storage)
    expected = [prepare(K, 20, normalize, center) for K in raw(entries, np.vstack([X, NEW]))]
    training = stack.read(np.arange(len(entries)), np.arange(20))
    np.testing.assert_allclose(training, [K[:20, :20] for K in expected], atol=1e-10)
    np.testing.assert_allclose(prepared.traces, [np.trace(K[:20, :20]) for K in expected])
    np.testing.assert_allclose(stack.traces(), prepared.traces)
    assert prepared.needs_all_columns == center
    everything, kernels = np.arange(20), np.arange(len(entries))
    blocks = dict(prepared.new_blocks(NEW, X, everything, kernels))
    assert sorted(blocks) == list(kernels)
    for index, block in blocks.items():
        np.testing.assert_allclose(block, expected[index][20:, :20], atol=1e-10)
        assert block.flags.writeable


def test_new_values_of_some_kernels_at_some_columns():
    _, prepared = build_stack(named(MIXED), X, normalize="cosine", center=False)
    expected = [prepare(K, 20, "cosine", False) for K in raw(MIXED, np.vstack([X, NEW]))]
    some = np.array([3, 11])
    ((index, block),) = prepared.new_blocks(NEW, X[some], some, np.array([1]))
    assert index == 1 and prepared.names == ["wide", "square", "first"]
    np.testing.assert_allclose(block, expected[1][20:, some], atol=1e-12)


def test_auto_storage_takes_factors_of_low_rank():
    assert isinstance(build_stack(named(LINEAR), X, **PLAIN)[0], FactorStack)
    assert isinstance(build_stack(named([*LINEAR, ("all", Linear())]), X, **PLAIN)[0], DenseStack)  # rank 7 > 20 / 4
    assert isinstance(build_stack(named(MIXED), X, **PLAIN)[0], DenseStack)
    assert isinstance(build_stack(named(LINEAR), X, **PLAIN, storage="dense")[0], DenseStack)


def test_factor_storage_needs_features():
    with pytest.raises(
        InvalidKernelError, match=r"'wide': storage='factor' needs a kernel with a feature map.* RBF has"
    ):
        build_stack(named(MIXED), X, **PLAIN, storage="factor")


def test_sparse_samples_give_dense_factors():
    sparse = scipy.sparse.csr_matrix(np.where(X > 0.5, X, 0.0))
    stack, _ = build_stack(named([("all", Linear())], sparse), sparse, **PLAIN, storage="factor")
    np.testing.assert_allclose(stack.combine(np.ones(1)), (sparse @ sparse.T).toarray())


@pytest.mark.parametrize("normalize", ["cosine", None])
@pytest.mark.parametrize("center", [False, True])
def test_given_matrices_are_borrowed_and_left_alone(normalize, center):
    matrix = X @ X.T
    matrix.flags.writeable = False
    kept, rows = matrix.copy(), np.arange(20)[:, None]
    entries = [("given", Precomputed(matrix), [0])]
    stack, _ = build_stack(named(entries, rows), rows, normalize=normalize, center=center)
    assert np.shares_memory(stack._matrices[0], matrix)
    np.testing.assert_allclose(stack.combine(np.ones(1)), prepare(matrix, 20, normalize, center), atol=1e-12)
    assert np.array_equal(matrix, kept)


@pytest.mark.parametrize("given", [np.float64, np.float32])
@pytest.mark.parametrize("asked", [np.float64, np.float32])
def test_storage_type(given, asked):
    matrix, rows = (X @ X.T).astype(given), np.arange(20)[:, None]
    stack, _ = build_stack(named([("given", Precomputed(matrix), [0])], rows), rows, **PLAIN, dtype=asked)
    # What is given in single precision gains nothing by widening; a wide one is cut when asked.
    assert stack.dtype == (np.float32 if np.float32 in (given, asked) else np.float64)
    assert np.shares_memory(stack._matrices[0], matrix) == (given == np.float32 or asked == np.float64)
    computed, _ = build_stack(named(MIXED), X, **PLAIN, dtype=asked)
    assert computed.dtype == asked
    assert build_stack(named(LINEAR), X, **PLAIN, dtype=asked)[0].dtype == asked


def test_faults_name_the_kernel():
    rows = np.arange(20)[:, None]
    good, bad = X @ X.T, X @ X.T
    bad[4, 2] = np.nan
    with pytest.raises(InvalidKernelError, match="Kernel 'second' has the value nan at row 4, column 2"):
        build_stack(named([("first", Precomputed(good), [0]), ("second", Precomputed(bad), [0])], rows), rows, **PLAIN)
    with pytest.raises(InvalidKernelError, match="Kernel 'none' is zero"):
        build_stack(named([("none", Precomputed(np.zeros((20, 20))), [0])], rows), rows, **PLAIN)
    with pytest.raises(InvalidKernelError, match="Kernel 'zero' is zero"):
        build_stack(named([("zero", Linear())], np.zeros((20, 2))), np.zeros((20, 2)), **PLAIN, storage="factor")


def indefinite(n):
    distances = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return np.cos(distances / 3.0) * np.exp(-distances / n) - 0.2 * (distances == 1)


def test_small_kernels_are_looked_at_before_the_fit(monkeypatch):
    rows, entries = np.arange(20)[:, None], [("similarity", Precomputed(indefinite(20)), [0])]
    message = r"Kernel 'similarity' is not positive semidefinite: its smallest eigenvalue is -"
    with pytest.raises(InvalidKernelError, match=message):
        build_stack(named(entries, rows), rows, **PLAIN)
    monkeypatch.setattr("kernelweave.gram.build._CHEAP_CHECK", 0)
    build_stack(named(entries, rows), rows, **PLAIN)
    with pytest.raises(InvalidKernelError, match=message):
        build_stack(named(entries, rows), rows, **PLAIN, check_psd=True)


def test_kernels_that_promise_nothing_are_always_looked_at(monkeypatch):
    monkeypatch.setattr("kernelweave.gram.build._CHEAP_CHECK", 0)
    with pytest.raises(InvalidKernelError, match="Kernel 'tanh' is not positive semidefinite"):
        build_stack(named([("tanh", Sigmoid(gamma=2.0, coef0=-1.0))]), X, **PLAIN)


def test_memory_is_refused_before_anything_is_computed(monkeypatch):
    def compute(*args):
        raise AssertionError("a kernel was computed")

    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    monkeypatch.setattr(RBF, "distances", compute)
    with pytest.raises(MemoryLimitError, match="3 kernel matrices of 20 samples"):
        build_stack(named(MIXED), X, **PLAIN)
    build_stack(named(LINEAR), X, **PLAIN)  # factors need none of it


@pytest.mark.parametrize(
    ("given", "dtype", "rows", "borrowed"),
    [
        (np.float64, np.float64, np.arange(20), True),
        (np.float32, np.float32, np.arange(20), True),
        (np.float32, np.float64, np.arange(20), True),
        (np.float64, np.float32, np.arange(20), False),
        (np.float64, np.float64, np.arange(20)[::-1], False),
        (np.float64, np.float64, np.arange(19), False),
    ],
)
def test_borrowed_matrices_need_no_memory(monkeypatch, given, dtype, rows, borrowed):
    entries, rows = [("given", Precomputed((X @ X.T).astype(given)), [0])], rows[:, None]
    monkeypatch.setattr(memory, "available_memory", lambda: memory.dense_bytes(len(rows), 0, dtype))
    if borrowed:
        build_stack(named(entries, rows), rows, **PLAIN, dtype=dtype)
    else:
        with pytest.raises(MemoryLimitError, match="1 kernel matrices"):
            build_stack(named(entries, rows), rows, **PLAIN, dtype=dtype)
