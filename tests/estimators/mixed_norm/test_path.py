"""Paths of strengths: the same as single fits, continued, and scored in folds."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_score

from kernelweave import MixedNormClassifier, MixedNormClassifierCV, MixedNormRegressor, mixed_norm_path
from kernelweave.estimators.mixed_norm import cross_validation as cv
from kernelweave.estimators.mixed_norm import path as module
from kernelweave.kernels import RBF, Linear, Precomputed, Sigmoid

PENALTIES = [("l1", "kernels"), ("l2", "kernels")]
PENALTIES += [(penalty, structure) for penalty in ("group", "elitist") for structure in ("kernels", "samples")]
KERNELS = [("rbf", RBF(gamma=0.3)), ("tanh", Sigmoid(gamma=0.5), [0, 1]), ("linear", Linear(), [2, 3])]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=60) > 0.4, "ill", "well")
    X.flags.writeable = False
    return X, y


@pytest.mark.parametrize(("penalty", "structure"), PENALTIES)
def test_a_path_is_a_row_of_fits(data, penalty, structure):
    X, y = data
    weight = np.random.default_rng(1).integers(0, 3, size=60)
    template = MixedNormClassifier(KERNELS, penalty=penalty, structure=structure, tol=1e-7, alpha=123.0)
    path = mixed_norm_path(template, X, y, n_alphas=6, sample_weight=weight)
    assert template.alpha == 123.0 and not hasattr(template, "coef_")
    assert (np.diff(path.alphas) < 0).all() and path.alphas[-1] == pytest.approx(1e-3 * path.alphas[0])
    assert path.kernel_norms.shape == (6, 3) and (path.dual_gaps <= 1e-7).all()
    for alpha, model in zip(path.alphas, path.models, strict=True):
        assert model.alpha == alpha
        alone = MixedNormClassifier(KERNELS, penalty=penalty, structure=structure, tol=1e-7, alpha=alpha)
        alone.fit(X, y, sample_weight=weight)
        assert model.objective_ == pytest.approx(alone.objective_, rel=1e-6)
        assert model.alpha_max_ == alone.alpha_max_
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-2)
    if penalty in ("l1", "group"):
        assert path.alphas[0] == pytest.approx(path.models[0].alpha_max_)
        assert path.support_sizes[0] == 0 < path.support_sizes[-1]
    else:
        # The first strength hardly moves the loss from that of the intercept alone.
        above = mixed_norm_path(template, X, y, alphas=[1e9 * path.alphas[0]], sample_weight=weight)
        assert 0.98 < path.models[0].objective_ / above.models[0].objective_ < 1.0


def test_a_path_goes_on_from_an_earlier_one(data, monkeypatch):
    X, y = data
    template = MixedNormClassifier(KERNELS, penalty="l1", tol=1e-6)
    first = mixed_norm_path(template, X, y, alphas=[20.0, 5.0])
    starts = []
    original = module.fit_mixed_norm

    def spy(losses, alpha, *args, start, **rest):
        starts.append((alpha, None if start is None else np.count_nonzero(start[0].alpha)))
        return original(losses, alpha, *args, start=start, **rest)

    monkeypatch.setattr(module, "fit_mixed_norm", spy)
    longer = mixed_norm_path(template, X, y, alphas=[1.0, 5.0, 20.0, 2.0], start=first)
    np.testing.assert_array_equal(longer.alphas, [20.0, 5.0, 2.0, 1.0])
    assert longer.models[:2] == first.models
    assert [alpha for alpha, _ in starts] == [2.0, 1.0] and starts[0][1] == first.models[1].coef_.nnz
    finer = mixed_norm_path(MixedNormClassifier(KERNELS, penalty="l1", tol=1e-9), X, y, alphas=[5.0], start=first)
    assert finer.models[0].certificate_.relative_gap <= 1e-9 and len(starts) == 3
    with pytest.raises(ValueError, match="start is a path of 60 samples and 3 kernels"):
        mixed_norm_path(template, X[:50], y[:50], start=first)
    with pytest.raises(ValueError, match="under MixedNorm"):
        mixed_norm_path(MixedNormClassifier(KERNELS), X, y, start=first)


def test_paths_of_regressions_and_of_several_classes(data):
    X, _ = data
    path = mixed_norm_path(MixedNormRegressor(KERNELS, penalty="l2"), X, X[:, 0] ** 2, n_alphas=3)
    assert path.models[2].score(X, X[:, 0] ** 2) > path.models[0].score(X, X[:, 0] ** 2)
    several = mixed_norm_path(MixedNormClassifier(KERNELS), X, np.digitize(X[:, 0], [-0.5, 0.5]), n_alphas=3)
    assert several.kernel_norms.shape == (3, 3, 3) and not several.kernel_norms[0].any()
    assert list(several.kernel_names) == ["rbf", "tanh", "linear"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alphas": [1.0, -1.0]}, "alphas must be positive"),
        ({"alphas": []}, "alphas must be positive"),
        ({"n_alphas": 0}, "n_alphas must be"),
        ({"alpha_min_ratio": 1.0}, "alpha_min_ratio must lie"),
    ],
)
def test_bad_grids_are_refused(data, settings, message):
    with pytest.raises(ValueError, match=message):
        mixed_norm_path(MixedNormClassifier(KERNELS), *data, **settings)
    with pytest.raises(ValueError, match=message):
        MixedNormClassifierCV(KERNELS, **settings).fit(*data)


def test_only_mixed_norms_have_such_paths(data):
    with pytest.raises(ValueError, match="must be a MixedNormClassifier or MixedNormRegressor"):
        mixed_norm_path(MixedNormClassifierCV(KERNELS), *data)
    zero = [("nil", 0.0 * Linear())]
    with pytest.raises(ValueError, match="no path"):
        mixed_norm_path(MixedNormClassifier(zero), *data)


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy", "neg_log_loss"])
def test_scores_of_folds_are_those_of_cross_validation(data, scoring):
    X, y = data
    loss = "logistic" if scoring == "neg_log_loss" else "squared_hinge"
    settings = {"penalty": "l1", "loss": loss, "tol": 1e-8}
    model = MixedNormClassifierCV(KERNELS, n_alphas=3, cv=3, scoring=scoring, **settings).fit(X, y)
    assert model.cv_scores_.shape == (3, 3)
    for alpha, row in zip(model.alphas_, model.cv_scores_, strict=True):
        one = MixedNormClassifier(KERNELS, alpha=alpha, **settings)
        np.testing.assert_allclose(row, cross_val_score(one, X, y, cv=3, scoring=scoring), atol=2e-2)
    assert model.alpha_ == model.alphas_[model.cv_scores_.mean(axis=1).argmax()]
    final = MixedNormClassifier(KERNELS, alpha=model.alpha_, **settings).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), final.decision_function(X))


def test_one_standard_error_takes_the_strongest_penalty_that_is_as_good(data, monkeypatch):
    X, y = data
    # Strengths fall along the first axis: the third is best, the second within its error of 0.1, the first not.
    scores = np.array([[0.5, 0.6, 0.7], [0.6, 0.7, 0.8], [0.6, 0.75, 0.9], [0.6, 0.7, 0.9]])
    folds = iter(2 * list(scores.T))
    monkeypatch.setattr(cv._Fold, "scores", lambda *rest: next(folds))
    settings = {"alphas": [8.0, 4.0, 2.0, 1.0], "cv": 3}
    assert MixedNormClassifierCV(KERNELS, **settings).fit(X, y).alpha_ == 2.0
    assert MixedNormClassifierCV(KERNELS, **settings, selection="one_standard_error").fit(X, y).alpha_ == 4.0
    with pytest.raises(ValueError, match="selection must be one of"):
        MixedNormClassifierCV(KERNELS, selection="median").fit(X, y)


def test_folds_run_in_parallel_on_any_container(data):
    X, y = data
    K = np.tanh(X @ X.T - 0.3)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    settings = {"n_alphas": 3, "cv": folds, "penalty": "elitist"}
    one = MixedNormClassifierCV([Precomputed(K)], **settings).fit(np.arange(60), y)
    with parallel_config(backend="threading"):
        two = MixedNormClassifierCV([Precomputed(K)], n_jobs=2, **settings).fit(list(range(60)), y)
    np.testing.assert_array_equal(one.cv_scores_, two.cv_scores_)
    # Weights count in the fits and in the scores.
    weight = np.where(y == "ill", 2.0, 1.0)
    weighted = MixedNormClassifierCV([Precomputed(K)], **settings).fit(np.arange(60), y, sample_weight=weight)
    train, test = next(folds.split(K, y))
    alpha = weighted.alphas_[1]
    inner = MixedNormClassifier([Precomputed(K)], penalty="elitist", alpha=alpha).fit(train, y[train], weight[train])
    expected = inner.score(test, y[test], weight[test])
    assert weighted.cv_scores_[1, 0] == pytest.approx(expected, abs=0.05)
    assert balanced_accuracy_score(y, weighted.predict(np.arange(60))) > 0.5
