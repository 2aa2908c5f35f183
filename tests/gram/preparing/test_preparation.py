"""Centring and normalisation, against features where they can be done by hand."""

import warnings

import numpy as np
import pytest

from kernelweave.exceptions import InvalidKernelError
from kernelweave.gram.preparing.preparation import fit_preparation, inverse_roots, preparation_from

RNG = np.random.default_rng(0)
TRAIN, NEW = RNG.normal(size=(9, 4)) + 1.0, RNG.normal(size=(5, 4)) + 1.0
KINDS = [(normalize, center) for normalize in ("cosine", "trace", None) for center in (False, True)]


def prepared_features(train, new, normalize, center):
    """The same preparation, done on explicit features."""
    mean = train.mean(axis=0) if center else 0.0
    train, new = train - mean, new - mean
    if normalize == "cosine":
        return train / np.linalg.norm(train, axis=1)[:, None], new / np.linalg.norm(new, axis=1)[:, None]
    scale = np.sqrt(len(train) / np.sum(train**2)) if normalize == "trace" else 1.0
    return scale * train, scale * new


@pytest.mark.parametrize(("normalize", "center"), KINDS)
def test_training_matrix(normalize, center):
    matrix = TRAIN @ TRAIN.T
    matrix.flags.writeable = False
    preparation = fit_preparation(matrix, "k", normalize=normalize, center=center)
    z, _ = prepared_features(TRAIN, NEW, normalize, center)
    copy = matrix.copy()
    assert preparation.apply_in_place(copy) is copy
    np.testing.assert_allclose(copy, z @ z.T, atol=1e-12)
    np.testing.assert_allclose(preparation.trace, np.sum(z**2))


@pytest.mark.parametrize(("normalize", "center"), KINDS)
def test_new_samples(normalize, center):
    preparation = fit_preparation(TRAIN @ TRAIN.T, "k", normalize=normalize, center=center)
    z, new = prepared_features(TRAIN, NEW, normalize, center)
    everything = np.arange(9)
    block = preparation.apply_to_new(NEW @ TRAIN.T, np.sum(NEW**2, axis=1), everything)
    np.testing.assert_allclose(block, new @ z.T, atol=1e-12)
    if not center:
        some = np.array([7, 2])
        block = preparation.apply_to_new(NEW @ TRAIN[some].T, np.sum(NEW**2, axis=1), some)
        np.testing.assert_allclose(block, new @ z[some].T, atol=1e-12)


@pytest.mark.parametrize(("normalize", "center"), KINDS)
def test_training_samples_come_back_as_new_ones(normalize, center):
    matrix = TRAIN @ TRAIN.T
    preparation = fit_preparation(matrix, "k", normalize=normalize, center=center)
    block = preparation.apply_to_new(matrix.copy(), matrix.diagonal().copy(), np.arange(9))
    np.testing.assert_allclose(block, preparation.apply_in_place(matrix.copy()), atol=1e-12)


@pytest.mark.parametrize(("normalize", "center"), KINDS)
def test_diagonal_and_means_tell_the_same_as_the_matrix(normalize, center):
    matrix = TRAIN @ TRAIN.T
    whole = fit_preparation(matrix, "k", normalize=normalize, center=center)
    means = matrix.mean(axis=1) if center else None
    parts = preparation_from(matrix.diagonal().copy(), means, "k", normalize=normalize)
    np.testing.assert_allclose(whole.apply_in_place(matrix.copy()), parts.apply_in_place(matrix.copy()))
    assert (whole.trace, whole.grand_mean) == pytest.approx((parts.trace, parts.grand_mean))


def test_a_unit_diagonal_needs_no_scale():
    assert fit_preparation(np.eye(3), "k", normalize="cosine", center=False).scale is None
    assert fit_preparation(2 * np.eye(3), "k", normalize=None, center=False).scale is None


def test_single_precision_is_summed_in_double():
    matrix = np.full((3000, 3000), 0.1, dtype=np.float32) + np.eye(3000, dtype=np.float32)
    preparation = fit_preparation(matrix, "k", normalize=None, center=True)
    row = (2999 * np.float64(np.float32(0.1)) + np.float64(matrix[0, 0])) / 3000
    assert preparation.grand_mean == pytest.approx(row, rel=1e-13)


@pytest.mark.parametrize("center", [False, True])
def test_zero_kernels_are_errors(center):
    matrix = np.ones((4, 4)) if center else np.zeros((4, 4))
    where = " after centring" if center else ""
    with pytest.raises(
        InvalidKernelError, match=rf"Kernel 'k' is zero on the training samples{where} \(its trace is 0"
    ):
        fit_preparation(matrix, "k", normalize="cosine", center=center)


def test_rounding_after_centring_is_no_signal():
    # A constant feature of a size at which its squares round.
    x = np.full((50, 1), 1e8 / 3.0)
    with pytest.raises(InvalidKernelError, match="zero on the training samples after centring"):
        fit_preparation(x @ x.T, "k", normalize="cosine", center=True)


def test_a_sample_at_the_mean_is_a_zero_row():
    z = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]]) + 0.1
    with pytest.warns(UserWarning, match=r"Kernel 'k' has k\(x, x\) = 0 at row 2; such rows"):
        preparation = fit_preparation(z @ z.T, "k", normalize="cosine", center=True)
    assert preparation.trace == 2.0
    np.testing.assert_allclose(preparation.apply_in_place(z @ z.T), [[1, -1, 0], [-1, 1, 0], [0, 0, 0]], atol=1e-12)


def test_negative_diagonals_are_errors():
    matrix = np.diag([1.0, -2.0, 1.0])
    with pytest.raises(InvalidKernelError, match=r"'k' has a negative diagonal entry \(-2 at row 1\)"):
        fit_preparation(matrix, "k", normalize=None, center=False)


def test_zero_rows_warn_once_and_stay_zero():
    matrix = np.diag([4.0, 0.0, 9.0, 0.0, 0.0])
    with pytest.warns(UserWarning, match=r"Kernel 'k' has k\(x, x\) = 0 at row 1 and 2 more") as caught:
        preparation = fit_preparation(matrix, "k", normalize="cosine", center=False)
    assert len(caught) == 1
    assert preparation.trace == 2.0
    assert preparation.apply_in_place(matrix).diagonal().tolist() == [1.0, 0.0, 1.0, 0.0, 0.0]
    with pytest.warns(UserWarning, match=r"k\(x, x\) = 0 at new sample 1;"):
        block = preparation.apply_to_new(np.ones((2, 5)), np.array([4.0, 0.0]), np.arange(5))
    np.testing.assert_allclose(block, [[0.25, 0, 1 / 6, 0, 0], [0, 0, 0, 0, 0]])


def test_trace_normalisation_does_not_mind_zero_rows():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        preparation = fit_preparation(np.diag([4.0, 0.0]), "k", normalize="trace", center=False)
    np.testing.assert_allclose(preparation.apply_in_place(np.diag([4.0, 0.0])), np.diag([2.0, 0.0]))


def test_inverse_roots():
    with pytest.warns(UserWarning, match="at sample 0 and 1 more"):
        assert inverse_roots(np.array([-1e-18, 4.0, 0.0]), "k", "sample").tolist() == [0.0, 0.5, 0.0]
