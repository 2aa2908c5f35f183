import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernelweave.exceptions import InvalidKernelError
from kernelweave.gram.build import build_stack
from kernelweave.gram.preparing.repair import REPAIRS, fit_repair
from kernelweave.kernels import (
    RBF,
    DynamicTimeWarping,
    KullbackLeibler,
    Precomputed,
    Sigmoid,
    freeze_kernels,
    resolve_entries,
)

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(25, 3)), RNG.normal(size=(6, 3))
KERNEL = Sigmoid(gamma=0.7, coef0=-0.5)
K = KERNEL(X)
VALUES, VECTORS = np.linalg.eigh(K)


def repaired_by_hand(kind, values):
    return {
        "clip": np.maximum(values, 0),
        "flip": np.abs(values),
        "shift": values + max(-values.min(), 0.0),
    }[kind]


@pytest.mark.parametrize("kind", REPAIRS)
def test_training_matrices_by_their_definition(kind):
    assert VALUES[0] < -0.1
    repaired = fit_repair(K, kind).of_training(K)
    expected = VECTORS * repaired_by_hand(kind, VALUES) @ VECTORS.T
    np.testing.assert_allclose(repaired, expected, atol=1e-12)
    np.testing.assert_array_equal(repaired, repaired.T)
    assert np.linalg.eigvalsh(repaired)[0] > -1e-12


@pytest.mark.parametrize(("kind", "factors"), [("clip", VALUES > 0), ("flip", np.sign(VALUES))])
def test_new_rows_follow_the_training_eigenvectors(kind, factors):
    block = KERNEL(NEW, X)
    repaired, diagonal = fit_repair(K, kind).apply_to_new(block.copy(), KERNEL.diag(NEW))
    np.testing.assert_allclose(repaired, block @ (VECTORS * factors) @ VECTORS.T, atol=1e-12)
    # The diagonal is that of the repaired kernel as a function of two points, where eigenvectors extend as far as 1.
    negative = VALUES < 0
    change = (repaired_by_hand(kind, VALUES) - VALUES)[negative]
    extended = block @ VECTORS[:, negative] / VALUES[negative]
    assert (np.abs(extended) < 1).any() and (np.abs(extended) > 1).any()
    expected = KERNEL.diag(NEW) + (np.clip(extended, -1, 1) ** 2 * change).sum(axis=1)
    np.testing.assert_allclose(diagonal, expected, atol=1e-12)


def test_noise_in_the_spectrum_does_not_blow_up_new_samples():
    rng = np.random.default_rng(0)
    samples, new = rng.uniform(size=(40, 1)), rng.uniform(-0.1, 1.1, size=(20, 1))
    kernel = RBF(gamma=300.0)
    repair, block = fit_repair(np.round(kernel(samples), 2), "clip"), kernel(new, samples)
    assert np.abs(repair.values).max() < 0.01
    repaired, diagonal = repair.apply_to_new(block.copy(), np.ones(20))
    assert np.abs(repaired - block).max() < 0.15
    # Extended without a limit, the eigenvectors would add 1.2.
    assert ((block @ repair.vectors) ** 2 / -repair.values).sum(axis=1).max() > 1.0
    assert np.abs(diagonal - 1.0).max() <= np.abs(repair.values).sum() < 0.04


@pytest.mark.parametrize("kind", ["clip", "flip"])
def test_training_samples_that_come_again_are_what_they_were(kind):
    repair = fit_repair(K, kind)
    again, diagonal = repair.apply_to_new(K.copy(), np.diagonal(K))
    np.testing.assert_allclose(again, repair.of_training(K), atol=1e-11)
    np.testing.assert_allclose(diagonal, np.diagonal(repair.of_training(K)), atol=1e-11)


def test_a_shift_concerns_the_diagonal_alone():
    block = KERNEL(NEW, X)
    repaired, diagonal = fit_repair(K, "shift").apply_to_new(block, KERNEL.diag(NEW))
    assert repaired is block
    np.testing.assert_allclose(diagonal, KERNEL.diag(NEW) - VALUES[0])


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 7).flatmap(lambda n: arrays(np.float64, (n, n), elements=st.integers(-4, 4).map(float))),
    st.sampled_from(REPAIRS),
    st.sampled_from([np.float64, np.float32]),
)
def test_any_symmetric_matrix_is_made_definite(entries, kind, dtype):
    matrix = (entries + entries.T).astype(dtype)
    repair = fit_repair(matrix, kind)
    repaired = matrix if repair is None else repair.of_training(matrix)
    size = float(np.abs(matrix).max())
    smallest = np.linalg.eigvalsh(repaired.astype(np.float64))[0]
    assert smallest >= -20 * len(matrix) * np.finfo(dtype).eps * size
    if kind != "shift" and repair is not None:
        again = fit_repair(repaired, kind)
        assert again is None or abs(again.values).max() <= 1e-12 * size


def test_rounding_is_not_repaired():
    for samples in (RNG.normal(size=(80, 2)), np.repeat(RNG.normal(size=(30, 2)), 2, axis=0)):
        gram = RBF(gamma=0.05)(samples)
        assert np.linalg.eigvalsh(gram)[0] < 1e-15
        assert all(fit_repair(gram, kind) is None for kind in REPAIRS)
        assert all(fit_repair(gram.astype(np.float32), kind) is None for kind in REPAIRS)


def stack_of(kernel, samples=X, **settings):
    settings = {"normalize": "cosine", "center": False, **settings}
    return build_stack(freeze_kernels(resolve_entries([kernel]), samples), samples, **settings)


@pytest.mark.parametrize("kind", REPAIRS)
@pytest.mark.parametrize("normalize", ["cosine", "trace", None])
@pytest.mark.parametrize("center", [False, True])
def test_repair_comes_before_centring_and_normalisation(kind, normalize, center):
    stack, prepared = stack_of(KERNEL, normalize=normalize, center=center, psd_repair=kind)
    by_hand, _ = stack_of(
        Precomputed(VECTORS * repaired_by_hand(kind, VALUES) @ VECTORS.T),
        np.arange(25),
        normalize=normalize,
        center=center,
    )
    np.testing.assert_allclose(stack.combine(np.ones(1)), by_hand.combine(np.ones(1)), atol=1e-11)
    assert prepared.needs_all_columns == (center or kind != "shift")
    everything = np.arange(25)
    ((_, block),) = prepared.new_blocks(X, X, everything, np.zeros(1, dtype=np.intp))
    if kind != "shift":
        np.testing.assert_allclose(block, stack.combine(np.ones(1)), atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_given_matrices_are_left_alone_and_borrowed_where_they_can_be(dtype):
    given, definite = K.astype(dtype), (X @ X.T).astype(dtype)
    kept = given.copy()
    given.flags.writeable = definite.flags.writeable = False
    stack, _ = stack_of(Precomputed(given), np.arange(25), dtype=dtype, psd_repair="clip")
    np.testing.assert_array_equal(given, kept)
    assert np.linalg.eigvalsh(stack.combine(np.ones(1)))[0] > -1e-5
    borrowed, _ = stack_of(Precomputed(definite), np.arange(25), dtype=dtype, psd_repair="clip")
    assert np.shares_memory(borrowed._matrices[0], definite)


def test_proven_kernels_are_not_looked_at(monkeypatch):
    monkeypatch.setattr("kernelweave.gram.build.fit_repair", None)
    stack_of(RBF(gamma=0.3), psd_repair="flip")


def test_negative_and_zero_diagonals_can_be_repaired():
    series = RNG.normal(size=(15, 6))
    stack, _ = stack_of(DynamicTimeWarping(form="negative"), series, psd_repair="flip")
    matrix = stack.combine(np.ones(1))
    np.testing.assert_allclose(np.diagonal(matrix), 1.0)
    assert np.linalg.eigvalsh(matrix)[0] > -1e-12


def test_what_cannot_be_repaired():
    with pytest.raises(InvalidKernelError, match=r"'kullbackleibler' is not symmetric by its nature.*symmetrize=True"):
        stack_of(KullbackLeibler(), np.abs(X), psd_repair="clip")
    crooked = K.copy()
    crooked[3, 5] += 0.1
    with pytest.raises(InvalidKernelError, match=r"is not symmetric: .* at \(5, 3\).*\(K \+ K.T\) / 2"):
        stack_of(Precomputed(crooked), np.arange(25), psd_repair="clip")
    crooked[3, 5] = np.nan
    with pytest.raises(InvalidKernelError, match="every entry must be finite"):
        stack_of(Precomputed(crooked), np.arange(25), psd_repair="clip")
    with pytest.raises(InvalidKernelError, match="psd_repair='clip', 'flip' or 'shift'"):
        stack_of(KERNEL)
    with pytest.raises(ValueError, match="psd_repair must be one of"):
        stack_of(KERNEL, psd_repair="bend")
    with pytest.raises(ValueError, match="psd_repair must be one of"):
        fit_repair(K, "bend")
    with pytest.raises(InvalidKernelError, match="is zero on the training samples"):
        stack_of(Precomputed(-np.eye(5)), np.arange(5), psd_repair="clip")
