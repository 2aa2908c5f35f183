import numpy as np
import pytest
import scipy.sparse

from kernelweave.kernels.vector.widths import (
    MEDIAN_SAMPLES,
    checked_gamma,
    median_positive,
    median_subsample,
    resolve_gamma,
    scale_gamma,
)

RNG = np.random.default_rng(3)


def test_scale_of_constant_or_no_samples_is_one():
    assert scale_gamma(np.full((4, 2), 7.0)) == 1.0
    assert scale_gamma(np.zeros((0, 2))) == 1.0
    assert scale_gamma(scipy.sparse.csr_matrix((4, 2))) == 1.0


def test_scale_is_the_same_on_sparse_samples():
    X = RNG.poisson(1.0, size=(20, 5)) * 1.0
    assert scale_gamma(scipy.sparse.csr_matrix(X)) == pytest.approx(scale_gamma(X))


def test_median_is_over_distinct_pairs():
    x = np.array([0.0, 1.0, 4.0])
    assert median_positive(np.abs(x[:, None] - x)) == 3.0


def test_median_of_mostly_equal_samples_is_over_the_others():
    x = np.array([0.0] * 9 + [2.0])
    assert median_positive(np.abs(x[:, None] - x)) == 2.0
    assert median_positive(np.zeros((3, 3))) is None
    assert median_positive(np.zeros((1, 1))) is None


def test_subsample_is_the_same_every_time_and_follows_no_period():
    X = np.arange(2.0 * MEDIAN_SAMPLES)[:, None]
    first, second = median_subsample(X), median_subsample(X)
    np.testing.assert_array_equal(first, second)
    assert len(np.unique(first)) == MEDIAN_SAMPLES
    assert 0.4 < np.mean(first % 2) < 0.6
    assert median_subsample(X[:, 0].tolist()) == first[:, 0].tolist()
    few = X[:MEDIAN_SAMPLES]
    assert median_subsample(few) is few


def test_rules_are_listed_in_the_message():
    with pytest.raises(ValueError, match='a positive number or "scale" or "median", got \'mean\''):
        checked_gamma("mean", ("scale", "median"))
    assert checked_gamma(np.float32(0.5), ()) == 0.5


def test_rule_refuses_two_sets_of_samples():
    X = np.ones((2, 2))
    assert resolve_gamma("scale", X, X) == 1.0
    assert resolve_gamma(0.5, X, X + 1) == 0.5
    with pytest.raises(ValueError, match="freeze"):
        resolve_gamma("scale", X, X.copy())
