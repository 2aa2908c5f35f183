"""Classification with mixed norms: oracles through the public API, any kernel, sparse prediction."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from kernelweave import MixedNormClassifier
from kernelweave.exceptions import InvalidKernelError
from kernelweave.kernels import RBF, Constant, Kernel, Linear, Precomputed, Sigmoid
from kernelweave.solvers.driver import Status

NAMES = {(1, 1): "l1", (2, 2): "l2", (2, 1): "group", (1, 2): "elitist"}
PENALTIES = [("l1", "kernels"), ("l2", "kernels")]
PENALTIES += [(penalty, structure) for penalty in ("group", "elitist") for structure in ("kernels", "samples")]
each_penalty = pytest.mark.parametrize(("penalty", "structure"), PENALTIES)
KERNELS = [("rbf", RBF(gamma=0.3)), ("tanh", Sigmoid(gamma=0.5), [0, 1]), ("linear", Linear(), [2, 3])]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=60) > 0.4, "ill", "well")
    X.flags.writeable = False
    return X, y


def given(matrices):
    return [(f"k{t}", Precomputed(K)) for t, K in enumerate(matrices)]


def test_all_oracles_through_the_public_interface():
    oracle = json.loads((Path(__file__).parents[2] / "oracles" / "system_c.json").read_text())
    data = {entry["id"]: entry for entry in oracle["datasets"]}
    for entry in oracle["problems"]:
        K, y = np.array(data[entry["dataset"]]["K"]), np.array(data[entry["dataset"]]["y"])
        model = MixedNormClassifier(
            given(K),
            penalty=NAMES[entry["p"], entry["q"]],
            structure={1: "samples", 2: "kernels"}[entry["r"]],
            alpha=entry["lam"],
            fit_intercept=entry["intercept"],
            tol=1e-8,
        ).fit(np.arange(len(y)), y)
        assert model.certificate_.relative_gap <= 1e-8
        assert model.objective_ == pytest.approx(entry["objective"], rel=1e-7)
        assert (len(model.support_) == 0) == entry["omega_zero"]
        if entry["lambda_max"] is None:
            assert model.alpha_max_ == np.inf
        else:
            assert model.alpha_max_ == pytest.approx(entry["lambda_max"], rel=1e-9)
        v = 2 * np.maximum(1 - y * model.decision_function(np.arange(len(y))), 0)
        np.testing.assert_allclose(v, entry["v"], atol=1e-3)


@each_penalty
def test_solvers_agree(data, penalty, structure):
    X, y = data
    settings = {"penalty": penalty, "structure": structure, "alpha": 20.0, "normalize": "frobenius"}
    fast = MixedNormClassifier(KERNELS, **settings, tol=1e-9).fit(X, y)
    for solver, tol in (("accelerated", 1e-4), ("forward_backward", 1e-2)):
        other = MixedNormClassifier(KERNELS, **settings, solver=solver, tol=tol).fit(X, y)
        assert other.certificate_.dual <= fast.objective_ * (1 + 1e-9)
        assert fast.certificate_.dual <= other.objective_ * (1 + 1e-9)


@each_penalty
def test_prediction_is_the_sum_over_what_is_kept(data, penalty, structure):
    X, y = data
    model = MixedNormClassifier(KERNELS, penalty=penalty, structure=structure, alpha=5.0).fit(X[:40], y[:40])
    coef = model.coef_.toarray() if scipy.sparse.issparse(model.coef_) else model.coef_
    assert coef.shape == (40, 3)
    parts = [RBF(0.3)(X, X[:40]), Sigmoid(0.5)(X[:, :2], X[:40, :2]), X[:, 2:] @ X[:40, 2:].T]
    expected = np.stack([K @ column for K, column in zip(parts, coef.T, strict=True)], axis=1)
    np.testing.assert_allclose(model.contributions(X), expected, atol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), expected.sum(axis=1) + model.intercept_, atol=1e-12)
    np.testing.assert_allclose(model.kernel_norms_, np.linalg.norm(coef, axis=0))
    np.testing.assert_array_equal(model.support_, np.flatnonzero(coef.any(axis=1)))


class Counting(Kernel):
    """A kernel that remembers which samples it was given."""

    symmetric = positive_semidefinite = False

    def __init__(self, seen, fail=False):
        self.seen, self.fail = seen, fail

    def __call__(self, X, Y=None):
        Y = X if Y is None else Y
        self.seen.append((X.copy(), Y.copy()))
        return np.tanh(X @ Y.T - 0.3) + 0.1 * X[:, :1]

    def __sklearn_clone__(self):
        return self


def test_prediction_touches_only_kernels_and_samples_that_are_kept(data):
    X, y = data
    seen, idle = [], []
    kernels = [("used", Counting(seen), [0, 1]), ("idle", Counting(idle), [3])]
    model = MixedNormClassifier(kernels, penalty="l1", alpha=20.0).fit(X[:40], y[:40])
    assert model.kernel_norms_[0] > 0 == model.kernel_norms_[1]
    assert 0 < len(model.support_) < 40
    seen.clear(), idle.clear()
    model.predict(X[40:])
    ((rows, points),) = seen
    assert not idle and len(rows) == 20
    np.testing.assert_array_equal(points, X[model.support_, :2])


def test_coefficients_are_sparse_where_most_are_zero(data):
    X, y = data
    assert isinstance(MixedNormClassifier(KERNELS, penalty="l1", alpha=5.0).fit(X, y).coef_, scipy.sparse.csr_array)
    assert isinstance(MixedNormClassifier(KERNELS, penalty="l2").fit(X, y).coef_, np.ndarray)


def test_nothing_is_left_at_alpha_max(data):
    X, y = data
    for penalty, structure in (("l1", "kernels"), ("group", "kernels"), ("group", "samples")):
        settings = {"penalty": penalty, "structure": structure}
        limit = MixedNormClassifier(KERNELS, **settings).fit(X, y).alpha_max_
        above, below = (MixedNormClassifier(KERNELS, alpha=f * limit, **settings).fit(X, y) for f in (1.001, 0.98))
        assert not len(above.support_) and len(below.support_)
        # Nothing but the intercept, the mean of the signs.
        np.testing.assert_allclose(above.decision_function(X), np.mean(np.where(y == "well", 1, -1)), atol=1e-9)


def test_several_classes_are_each_set_against_the_rest(data):
    X, _ = data
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = MixedNormClassifier(KERNELS, alpha=2.0, tol=1e-8).fit(X, y)
    assert len(model.coef_) == 3 and model.intercept_.shape == (3,) and model.kernel_norms_.shape == (3, 3)
    assert model.alpha_max_.shape == (3,) and model.contributions(X).shape == (60, 3, 3)
    total = 0.0
    for label in range(3):
        alone = MixedNormClassifier(KERNELS, alpha=2.0, tol=1e-8).fit(X, y == label)
        np.testing.assert_allclose(model.decision_function(X)[:, label], alone.decision_function(X), atol=1e-3)
        total += alone.objective_
    assert model.objective_ == pytest.approx(total, rel=1e-7)
    assert model.score(X, y) > 0.7


@each_penalty
def test_sample_weights_count_as_copies(data, penalty, structure):
    X, y = data
    copies = np.random.default_rng(1).integers(0, 4, size=len(y))
    settings = {"penalty": penalty, "structure": structure, "alpha": 3.0, "tol": 1e-10}
    weighted = MixedNormClassifier(KERNELS, **settings).fit(X, y, sample_weight=copies)
    repeated = MixedNormClassifier(KERNELS, **settings).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-3)
    assert not np.isin(np.flatnonzero(copies == 0), weighted.support_).any()


def test_class_weight_multiplies_sample_weight(data):
    X, y = data
    by_class = MixedNormClassifier(KERNELS, class_weight={"ill": 3.0, "well": 1.0}).fit(X, y)
    by_sample = MixedNormClassifier(KERNELS).fit(X, y, sample_weight=np.where(y == "ill", 3.0, 1.0))
    np.testing.assert_array_equal(by_class.decision_function(X), by_sample.decision_function(X))


def test_one_linear_kernel_under_the_logistic_loss_is_calibrated_like_logistic_regression(data):
    X, y = data
    model = MixedNormClassifier([RBF(0.3)], penalty="l2", loss="logistic", alpha=0.5, tol=1e-9).fit(X, y)
    K = RBF(0.3)(X)
    other = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000).fit(K, y)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(K), atol=1e-4)
    assert not hasattr(MixedNormClassifier(), "predict_proba")
    three = MixedNormClassifier(KERNELS, loss="logistic").fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    np.testing.assert_allclose(three.predict_proba(X).sum(axis=1), 1.0)


def test_the_constant_kernel_is_a_penalised_intercept(data):
    X, y = data
    model = MixedNormClassifier(KERNELS, fit_intercept="kernel", tol=1e-8).fit(X, y)
    by_hand = MixedNormClassifier([*KERNELS, ("constant", Constant())], fit_intercept=False, tol=1e-8).fit(X, y)
    assert list(model.kernel_names_) == ["rbf", "tanh", "linear", "constant"]
    assert model.intercept_ == [0.0] and model.objective_ == pytest.approx(by_hand.objective_, rel=1e-7)
    free = MixedNormClassifier(KERNELS, tol=1e-8).fit(X, y)
    assert free.objective_ <= model.objective_ * (1 + 1e-7)
    with pytest.raises(ValueError, match="'constant'"):
        MixedNormClassifier([("constant", Linear())], fit_intercept="kernel").fit(X, y)


def test_points_of_their_own_and_rectangular_matrices(data):
    X, y = data
    points = np.random.default_rng(2).normal(size=(7, 4))
    named = [("rbf", RBF(gamma=0.3)), ("tanh", Sigmoid(gamma=0.5))]
    for normalize in (None, "frobenius"):
        settings = {"penalty": "l1", "alpha": 0.5, "normalize": normalize, "tol": 1e-9}
        model = MixedNormClassifier(named, **settings).fit(X[:40], y[:40], points=points)
        assert model.coef_.shape == (7, 2)
        rows = np.arange(40)
        # The kernels at all samples, also the new ones, against the points.
        matrices = given([kernel(X, points) for _, kernel in named])
        same = MixedNormClassifier(matrices, **settings).fit(rows, y[:40], points=np.arange(7))
        np.testing.assert_allclose(model.decision_function(X), same.decision_function(np.arange(60)), atol=1e-5)
    with pytest.raises(InvalidKernelError, match=r"'k0'.*square, got shape \(60, 7\)"):
        MixedNormClassifier(matrices).fit(rows, y[:40])


@pytest.mark.parametrize("normalize", ["cosine", "trace", "frobenius"])
@pytest.mark.parametrize("storage", ["dense", "memmap", "lazy"])
def test_normalisation_applies_to_new_samples(data, normalize, storage):
    X, y = data
    train, new = X[:40], X[40:]
    settings = {"tol": 1e-8, "alpha": 0.1}
    model = MixedNormClassifier([Linear()], normalize=normalize, storage=storage, **settings).fit(train, y[:40])
    raw, raw_new = train @ train.T, new @ train.T
    if normalize == "cosine":
        norms, new_norms = np.linalg.norm(train, axis=1), np.linalg.norm(new, axis=1)
        K, K_new = raw / np.outer(norms, norms), raw_new / np.outer(new_norms, norms)
    else:
        factor = {"trace": 40 / np.trace(raw), "frobenius": 40 / np.linalg.norm(raw)}[normalize]
        K, K_new = raw * factor, raw_new * factor
    expected = MixedNormClassifier(given([K]), **settings).fit(np.arange(40), y[:40])
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-7)
    np.testing.assert_allclose(model.decision_function(new), K_new @ model.coef_[:, 0] + model.intercept_, atol=1e-10)


@pytest.mark.parametrize("settings", [{"dtype": "float32"}, {"storage": "memmap"}, {"storage": "lazy"}])
def test_storages_agree(data, settings):
    X, y = data
    for penalty, structure in PENALTIES:
        choice = {"penalty": penalty, "structure": structure, "alpha": 2.0, "tol": 1e-6}
        reference = MixedNormClassifier(KERNELS, **choice).fit(X, y)
        other = MixedNormClassifier(KERNELS, **choice, **settings).fit(X, y)
        assert other.objective_ == pytest.approx(reference.objective_, rel=1e-5)


def test_given_matrices_are_borrowed_and_not_changed(data, tmp_path):
    X, y = data
    K = np.tanh(X @ X.T - 0.5) + 0.1 * X[:, :1]
    np.save(tmp_path / "k.npy", K)
    mapped = np.load(tmp_path / "k.npy", mmap_mode="r")
    expected = MixedNormClassifier(given([K]), tol=1e-8).fit(np.arange(60), y)
    for normalize in (None, "frobenius"):
        MixedNormClassifier(given([mapped]), normalize=normalize).fit(np.arange(60), y, sample_weight=np.arange(1, 61))
    model = MixedNormClassifier(given([mapped]), tol=1e-8).fit(np.arange(60), y)
    np.testing.assert_array_equal(model.decision_function(np.arange(60)), expected.decision_function(np.arange(60)))
    np.testing.assert_array_equal(np.load(tmp_path / "k.npy"), K)


def test_pickle_keeps_the_decisions(data):
    X, y = data
    model = MixedNormClassifier(KERNELS).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), model.decision_function(X))


def test_stopping_short_warns_with_the_gap_and_keeps_the_best_point(data):
    X, y = data
    model = MixedNormClassifier(KERNELS, max_iter=2, tol=1e-9, penalty="l1")
    with pytest.warns(ConvergenceWarning, match=r"iteration limit .* gap of \d\.\de.*raise max_iter"):
        model.fit(X, y)
    assert model.status_ is Status.ITERATION_LIMIT and np.isfinite(model.dual_gap_)
    seen = []
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        MixedNormClassifier(KERNELS, tol=1e-9, verbose=lambda progress: seen.append(progress) or True).fit(X, y)
    assert len(seen) == 1
    with pytest.warns(ConvergenceWarning, match="time limit"):
        MixedNormClassifier(KERNELS, tol=1e-9, time_limit=0.0).fit(X, np.digitize(X[:, 0], [0, 1]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"penalty": "l3"}, "penalty must be"),
        ({"structure": "rows"}, "structure must be"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"alpha": 0.0}, "alpha must be a positive finite number"),
        ({"alpha": "auto"}, "alpha must be a positive finite number"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"time_limit": -1.0}, "time_limit must be"),
        ({"solver": "smo"}, "solver must be one of"),
        ({"storage": "factor"}, "storage must be one of"),
        ({"normalize": "unit"}, "normalize must be one of"),
        ({"fit_intercept": "yes"}, "fit_intercept must be"),
        ({"kernels": []}, "empty list"),
        ({"kernels": [("neg", -1.0 * Linear())], "normalize": "trace"}, "'neg' has k.*normalize='frobenius'"),
        ({"kernels": [("nil", 0.0 * Linear())], "normalize": "frobenius"}, "'nil' is zero"),
        ({"kernels": [("nil", 0.0 * Linear())], "normalize": "cosine"}, "'nil' is zero"),
        ({"kernels": [("bad", lambda A, B: np.full((len(A), len(B)), np.nan))]}, "'bad'.*nan"),
    ],
)
def test_bad_settings_say_what_is_allowed(data, settings, message):
    with pytest.raises(ValueError, match=message):
        MixedNormClassifier(**settings).fit(*data)


def test_a_failed_fit_leaves_no_model(data):
    X, y = data
    model = MixedNormClassifier(KERNELS).fit(X, y)
    with pytest.raises(ValueError, match="alpha"):
        model.set_params(alpha=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="not fitted"):
        model.predict(X)


def test_kernels_of_very_different_size_are_certified_or_said_to_be(data):
    X, y = data
    rng = np.random.default_rng(3)
    flat = np.where(rng.random(60) < 0.5, 1, -1)
    matrices = [np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2)), 1e4 * X @ X.T]
    for penalty, structure in PENALTIES:
        settings = {"penalty": penalty, "structure": structure, "alpha": 1.0}
        for labels in (y, flat):
            model = MixedNormClassifier(given(matrices), normalize="frobenius", **settings).fit(np.arange(60), labels)
            assert model.status_ is Status.OPTIMAL
    huge = [matrices[0], 1e12 * X @ X.T]
    with pytest.warns(ConvergenceWarning, match=r"differ in size by a factor of \de\+\d\d; normalize='frobenius'"):
        MixedNormClassifier(given(huge), alpha=1e-3, tol=1e-9, max_iter=5).fit(np.arange(60), flat)
