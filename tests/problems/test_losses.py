"""Losses: derivatives, conjugates, exact bias, proximal points."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from kernelweave.problems.losses import LogisticLoss, SquaredHingeLoss, SquaredLoss

RNG = np.random.default_rng(3)
N = 9
LABELS = np.where(RNG.random(N) < 0.4, 1.0, -1.0)
LABELS[:2] = 1.0, -1.0
WEIGHT = RNG.uniform(0.3, 2.0, N)
for array in (LABELS, WEIGHT):
    array.flags.writeable = False
LOSSES = [SquaredHingeLoss(LABELS, WEIGHT), LogisticLoss(LABELS, WEIGHT), SquaredLoss(RNG.normal(size=N), WEIGHT)]
NAMES = [type(loss).__name__ for loss in LOSSES]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=NAMES)


@each_loss
def test_slopes_and_curvatures_are_derivatives(loss):
    scores, step = RNG.normal(size=N), 1e-6
    for i, e in enumerate(np.eye(N) * step):
        slope = -(loss.value(scores + e) - loss.value(scores - e)) / (2 * step)
        assert loss.slopes(scores)[i] == pytest.approx(slope, abs=1e-7)
        curvature = -(loss.slopes(scores + e) - loss.slopes(scores - e))[i] / (2 * step)
        assert loss.curvatures(scores)[i] == pytest.approx(curvature, abs=1e-7)
    assert loss.curvatures(scores).max() <= loss.smoothness


@each_loss
def test_fenchel_young(loss):
    """D(w) - w'f <= loss(f) for every feasible w, with equality at the slopes."""
    for _ in range(50):
        scores, other = RNG.normal(size=(2, N)) * 2
        w = loss.feasible(loss.slopes(other), balanced=False)
        assert loss.dual_value(w) - w @ scores <= loss.value(scores) + 1e-12
        w = loss.slopes(scores)
        assert loss.dual_value(w) - w @ scores == pytest.approx(loss.value(scores), rel=1e-12)


@each_loss
def test_best_bias_minimises_and_balances(loss):
    for seed in range(40):
        scores = np.random.default_rng(seed).normal(size=N) * 10.0 ** (seed % 4 - 2)
        b = loss.best_bias(scores)
        best = minimize_scalar(lambda c, f=scores: loss.value(f + c), bracket=(-1, 1), tol=1e-12).fun
        assert loss.value(scores + b) <= best * (1 + 1e-10)
        assert abs(loss.slopes(scores + b).sum()) <= 1e-12 * np.abs(loss.slopes(scores)).sum()


def test_squared_hinge_bias_on_a_flat_piece_is_its_middle():
    loss = SquaredHingeLoss(np.array([1.0, -1.0]), np.ones(2))
    # Separated by more than the margin: any b in [-2, 2] has loss zero.
    assert loss.best_bias(np.array([3.0, -3.0])) == 0.0
    assert loss.best_bias(np.array([3.0, -5.0])) == 1.0


def test_squared_hinge_bias_with_ties():
    loss = SquaredHingeLoss(np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4))
    assert loss.best_bias(np.zeros(4)) == 0.0
    assert loss.best_bias(np.full(4, 7.0)) == pytest.approx(-7.0)


@each_loss
@pytest.mark.parametrize(("curvature", "limit"), [(0.0, np.inf), (0.7, np.inf), (0.7, 0.1), (0.0, 0.3)])
def test_best_scale_is_the_best(loss, curvature, limit):
    w = loss.feasible(loss.slopes(RNG.normal(size=N)), balanced=True)
    t = loss.best_scale(w, curvature, limit)
    assert 0 <= t <= limit
    # The scaled slopes are feasible, and no other feasible scale is better.
    np.testing.assert_allclose(loss.feasible(t * w, balanced=False), t * w, rtol=1e-12, atol=1e-15)
    value = loss.dual_value(t * w) - t**2 * curvature
    for s in np.linspace(0, min(limit, 3.0), 200):
        if np.allclose(loss.feasible(s * w, balanced=False), s * w):
            assert loss.dual_value(s * w) - s**2 * curvature <= value + 1e-12


@each_loss
def test_scale_of_nothing(loss):
    assert np.isfinite(loss.best_scale(np.zeros(N), 0.0, np.inf))


@each_loss
def test_feasible_slopes_are_balanced_and_left_alone_when_feasible(loss):
    w = loss.slopes(RNG.normal(size=N))
    repaired = loss.feasible(w, balanced=True)
    assert abs(repaired.sum()) <= 1e-14 * np.abs(w).sum()
    assert loss.dual_value(repaired) > -np.inf
    np.testing.assert_allclose(loss.feasible(repaired, balanced=True), repaired, rtol=1e-12, atol=1e-14)


@each_loss
@pytest.mark.parametrize("step", [1e-3, 1.0, 1e5])
def test_proximal_points(loss, step):
    point = RNG.normal(size=N) * 3
    h, derivative = loss.proximal(point, step)
    # Stationarity: h = point + step * slopes(h).
    np.testing.assert_allclose(h - step * loss.slopes(h), point, rtol=1e-9, atol=1e-9 * step)
    shifted, _ = loss.proximal(point + 1e-6, step)
    np.testing.assert_allclose((shifted - h) / 1e-6, derivative, rtol=1e-4, atol=1e-8)


def test_extreme_scores_stay_finite():
    far = np.where(LABELS > 0, -1e4, 1e4)
    loss = LOSSES[1]
    assert np.isfinite(loss.value(far)) and np.isfinite(loss.slopes(far)).all()
    assert np.isfinite(loss.proximal(far, 1e5)[0]).all()
    assert np.isfinite(loss.best_bias(far))


def test_bad_data_are_refused():
    with pytest.raises(ValueError, match="Labels must be -1 or"):
        SquaredHingeLoss(np.array([0.0, 1.0]), np.ones(2))
    with pytest.raises(ValueError, match=r"one shape \(n,\)"):
        SquaredLoss(np.zeros(2), np.ones(3))
    with pytest.raises(ValueError, match="weight must be positive"):
        LogisticLoss(np.array([1.0, -1.0]), np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="target must be finite"):
        SquaredLoss(np.array([np.nan, 1.0]), np.ones(2))
    assert not SquaredHingeLoss(np.ones(2), np.ones(2)).bounded_bias
    assert SquaredLoss(np.ones(2), np.ones(2)).bounded_bias


@pytest.mark.parametrize("step", [0.1, 20.0, 1e3, 1e5])
def test_proximal_points_of_the_logistic_loss_wherever_they_are(step):
    """From some points Newton's method goes to and fro for ever."""
    point = np.linspace(-2.0, 2.0, 4001) * step
    loss = LogisticLoss(np.where(np.arange(4001) % 2, 1.0, -1.0), np.ones(4001))
    h, _ = loss.proximal(point, step)
    residual = h - point - step * loss.slopes(h)
    assert np.abs(residual).max() <= 1e-12 * step
