from __future__ import annotations

import pickle

import numpy as np
import pytest

from kernelweave.datasets import make_monotone, make_twonorm, make_weighted_views

MAKERS = [make_twonorm, make_weighted_views, make_monotone]
makers = pytest.mark.parametrize("make", MAKERS)


def direction_rule(view, target):
    """Guesses of the best linear rule with known unit covariance: the side along the mean difference."""
    difference = view[target == 1].mean(axis=0) - view[target == 0].mean(axis=0)
    scores = view @ difference
    return scores > (scores[target == 1].mean() + scores[target == 0].mean()) / 2


@makers
def test_seeds(make):
    first, second, other = make(50, random_state=3), make(50, random_state=3), make(50, random_state=4)
    np.testing.assert_array_equal(first.data, second.data)
    np.testing.assert_array_equal(first.target, second.target)
    assert not np.array_equal(first.data, other.data)
    shared = np.random.RandomState(3)
    np.testing.assert_array_equal(make(50, random_state=shared).data, first.data)
    assert not np.array_equal(make(50, random_state=shared).data, first.data)


@makers
def test_types(make):
    made = make(51, random_state=0)
    assert made.data.dtype == np.float64
    assert made.target.dtype == np.int64
    assert len(made.data) == len(made.target) == 51
    assert set(made.target.tolist()) == {0, 1}
    pickle.loads(pickle.dumps(made))


@makers
@pytest.mark.parametrize("n_samples", [0, -1])
def test_no_samples(make, n_samples):
    with pytest.raises(ValueError, match="n_samples must be at least 1"):
        make(n_samples)


def test_twonorm_means_covariance_and_error():
    made = make_twonorm(40_000, random_state=0)
    signs = 2.0 * made.target - 1
    centred = made.data - np.outer(signs, np.full(20, 2 / np.sqrt(20)))
    assert np.abs(centred.mean(axis=0)).max() < 0.03
    assert np.abs(np.cov(centred.T) - np.eye(20)).max() < 0.04
    assert abs(made.target.mean() - 0.5) < 0.01
    assert made.bayes_error == pytest.approx(0.02275, abs=1e-5)
    error = np.mean((made.data.sum(axis=1) > 0) != made.target)
    assert error == pytest.approx(made.bayes_error, abs=0.003)


def test_weighted_views_have_the_errors_they_state():
    strengths = (3.0, 1.5, 0.0, 0.5)
    made = make_weighted_views(40_000, strengths=strengths, n_features=4, random_state=0)
    assert made.informative.tolist() == [True, True, False, True]
    assert made.target.sum() == 20_000
    assert made.view_errors == pytest.approx([0.06681, 0.22663, 0.5, 0.40129], abs=1e-5)
    for view, stated in zip(made.views, made.view_errors, strict=True):
        assert np.mean(direction_rule(view, made.target) != made.target) == pytest.approx(stated, abs=0.01)
    assert made.bayes_error < made.view_errors.min()
    assert np.mean(direction_rule(made.data, made.target) != made.target) == pytest.approx(made.bayes_error, abs=0.01)


def test_weighted_views_noise_and_scale():
    made = make_weighted_views(40_000, strengths=[0.0, 2.0], n_features=3, random_state=1)
    for view, strength in zip(made.views, made.strengths, strict=True):
        means = [view[made.target == code].mean(axis=0) for code in (0, 1)]
        assert np.linalg.norm(means[1] - means[0]) == pytest.approx(strength, abs=0.04)
        assert np.abs(np.cov(view[made.target == 1].T) - np.eye(3)).max() < 0.04


def test_weighted_views_layout():
    strengths = [1.0, 0.0, 2.0]
    made = make_weighted_views(30, strengths=strengths, n_features=2, random_state=0)
    assert made.view_names == ["view1", "view2", "view3"]
    assert made.data.shape == (30, 6)
    np.testing.assert_array_equal(made.data[:, made.columns["view3"]], made.views[2])
    assert strengths == [1.0, 0.0, 2.0]


@pytest.mark.parametrize("strengths", [(), (-1.0,), (np.nan,), (np.inf, 1.0), ((1.0, 2.0),)])
def test_wrong_strengths(strengths):
    with pytest.raises(ValueError, match="one finite number >= 0 for each view"):
        make_weighted_views(strengths=strengths)


def test_wrong_number_of_features():
    with pytest.raises(ValueError, match="n_features"):
        make_weighted_views(n_features=0)
    with pytest.raises(ValueError, match="n_features"):
        make_monotone(n_features=0)


@pytest.mark.parametrize(
    ("transform", "forward"),
    [("identity", lambda u: u), ("log", lambda u: np.log(1 + 3 * u) / np.log(4)), ("square", lambda u: u * u)],
)
@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_monotone_is_separable_once_straightened(transform, forward, n_features):
    made = make_monotone(300, transform=transform, n_features=n_features, random_state=0)
    # The plain logarithm loses the last digits of 1 + 3 u, hence the absolute part.
    np.testing.assert_allclose(made.data, forward(made.latent), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(made.inverse(made.data), made.latent, rtol=1e-12)
    assert made.data.min() >= 0
    assert made.data.max() <= 1
    distance = (made.latent - 0.5).sum(axis=1) / np.sqrt(n_features)
    np.testing.assert_array_equal(made.target, distance > 0)
    assert np.abs(distance).min() >= 0.025
    assert np.abs(distance).max() <= 0.5
    ends = np.array([0.0, 1.0])
    np.testing.assert_allclose(made.inverse(ends), ends, atol=1e-15)


def test_monotone_transforms_bend_the_same_points():
    plain, bent = (make_monotone(random_state=0, transform=name) for name in ("identity", "square"))
    np.testing.assert_array_equal(plain.latent, bent.latent)
    assert not np.shares_memory(plain.data, plain.latent)


def test_monotone_bends_hurt_a_linear_rule():
    """[H07]: hardly any error on straight features, several per cent on bent ones."""
    from sklearn.svm import SVC

    errors = {}
    for transform in ("identity", "log", "square"):
        made = make_monotone(600, transform=transform, random_state=0)
        model = SVC(kernel="linear", C=100.0).fit(made.data[:300], made.target[:300])
        errors[transform] = np.mean(model.predict(made.data[300:]) != made.target[300:])
    assert errors["identity"] < 0.01
    assert errors["log"] > 0.02
    assert errors["square"] > 0.03


@pytest.mark.parametrize(
    "options",
    [
        {"margin": 0.5, "width": 0.5},
        {"margin": -0.1},
        {"margin": np.nan},
        {"width": np.nan},
        {"margin": 0.8, "width": 2.0},
    ],
)
def test_monotone_wrong_band(options):
    with pytest.raises(ValueError, match=r"Needs 0 <= margin < width.*0\.707"):
        make_monotone(**options)


def test_monotone_unknown_transform():
    with pytest.raises(ValueError, match="no transform 'sqrt'; choose one of identity, log, square"):
        make_monotone(transform="sqrt")
