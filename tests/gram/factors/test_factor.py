"""Factor stacks: features, ranks, Woodbury, and what they refuse."""

import numpy as np
import pytest

from kernelweave.gram.factors.factor import FactorStack

RNG = np.random.default_rng(0)
FACTORS = [RNG.normal(size=(30, rank)) for rank in (2, 1, 4)]


def test_features_of_the_kernels_in_use():
    weights = np.array([4.0, 0.0, 0.25])
    features = FactorStack(FACTORS).features(weights)
    assert features.shape == (30, 6)
    np.testing.assert_allclose(features, np.hstack([2.0 * FACTORS[0], 0.5 * FACTORS[2]]))


def test_features_without_weights_are_empty():
    assert FactorStack(FACTORS).features(np.zeros(3)).shape == (30, 0)


def test_features_of_single_precision_are_not_rounded_again():
    single = FACTORS[0].astype(np.float32)
    features = FactorStack([single]).features(np.array([0.1]))
    assert features.dtype == np.float64
    np.testing.assert_allclose(features, np.sqrt(0.1) * single.astype(np.float64), rtol=1e-15)


def test_a_vector_is_a_factor_of_rank_one():
    v = RNG.normal(size=5)
    stack = FactorStack([v, np.eye(5)])
    assert stack.rank == 6
    np.testing.assert_allclose(stack.combine(np.array([1.0, 0.0])), np.outer(v, v))


def test_factors_are_borrowed():
    stored = FACTORS[0].copy()
    stack = FactorStack([stored])
    assert np.shares_memory(stack._factors[0], stored)


def test_restrict_takes_rows():
    part = FactorStack(FACTORS).restrict(np.array([3, 1]))
    assert part.shape == (2, 2) and part.rank == 7
    with pytest.raises(ValueError, match=r"symmetric.*use read\(\)"):
        FactorStack(FACTORS).restrict(np.arange(3), np.arange(2))


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ([], "at least one kernel factor"),
        ([np.ones((3, 2)), np.ones((4, 2))], "Kernel factor 1 has 4 rows; expected 3"),
    ],
)
def test_factors_that_do_not_fit(factors, message):
    with pytest.raises(ValueError, match=message):
        FactorStack(factors)


def test_full_rank_falls_back_to_cholesky():
    stack, diagonal = FactorStack([RNG.normal(size=(6, 9))]), np.ones(6)
    rhs = RNG.normal(size=6)
    np.testing.assert_allclose(
        stack.shifted_solve(np.ones(1), diagonal)(rhs), np.linalg.solve(stack.combine(np.ones(1)) + np.eye(6), rhs)
    )
