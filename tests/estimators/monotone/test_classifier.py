"""The monotone classifier: its optimum, its predictors, containers, classes, directions and honesty."""

import pickle
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernelweave import MonotoneClassifier
from kernelweave.estimators.monotone import ramp_fit
from kernelweave.solvers.driver import Status
from kernelweave.solvers.monotone.descent import solve_descent

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 1, (80, 3)) ** 2
SCORE = np.sqrt(X[:, 0]) - np.sqrt(X[:, 1]) + 0.15 * RNG.normal(size=80)
Y = np.where(SCORE > 0, "yes", "no")
THREE = np.argmax(np.sqrt(X) + 0.1 * RNG.normal(size=X.shape), axis=1)
X.flags.writeable = False
KNOTS = np.array([0.0, 0.1, 0.4, 1.0])


def kernels(values, knots=KNOTS):
    """Ramp kernels by definition."""
    phi = [np.clip((values - a) / (b - a), 0, 1) for a, b in pairwise(knots)]
    return [p @ p.T for p in phi], phi


@pytest.mark.parametrize("C", [0.5, 20.0])
def test_convex_predictor_is_an_svm_on_the_weighted_ramp_kernels(C):
    model = MonotoneClassifier(C=C, knots=KNOTS, tol=1e-10).fit(X, Y)
    combined = sum(m * K for m, K in zip(model.ramp_weights_, kernels(X)[0], strict=True))
    svc = SVC(kernel="precomputed", C=C, tol=1e-10).fit(combined, Y)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(combined), atol=1e-3)
    alpha = np.abs(svc.dual_coef_[0])
    signed = svc.dual_coef_[0]
    forms = [signed @ K[np.ix_(svc.support_, svc.support_)] @ signed for K in kernels(X)[0]]
    # The relaxation's optimum by its dual: 2 alpha'e minus the largest quadratic form.
    assert model.objective_ == pytest.approx(2 * alpha.sum() - max(forms), rel=1e-6)
    assert model.ramp_weights_.sum() == pytest.approx(1.0) and (model.ramp_weights_ >= 0).all()
    assert model.relaxation_gap_ is None and not hasattr(model, "coef_")


@pytest.mark.parametrize("settings", [{"predict_with": "transform"}, {"method": "alternating"}])
def test_transform_predictor_is_a_linear_svm_on_the_transform(settings):
    model = MonotoneClassifier(C=5.0, knots=KNOTS, tol=1e-8, **settings).fit(X, Y)
    phi = sum(m * p for m, p in zip(model.ramp_weights_, kernels(X)[1], strict=True))
    svc = SVC(kernel="linear", C=5.0, tol=1e-10).fit(phi, Y)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(phi), atol=1e-3)
    np.testing.assert_allclose(model.coef_, svc.coef_, rtol=1e-3)
    np.testing.assert_allclose(phi @ model.coef_[0] + model.intercept_, model.decision_function(X), atol=1e-10)
    value = (
        svc.coef_[0] @ svc.coef_[0]
        + 2 * 5.0 * np.maximum(1 - np.where(Y == "yes", 1, -1) * svc.decision_function(phi), 0).sum()
    )
    bound = model.certificate_.dual
    assert model.relaxation_gap_ == pytest.approx(1 - bound / value, abs=1e-5) and model.relaxation_gap_ > 0
    if model.method == "alternating":
        assert model.objective_ == pytest.approx(value, rel=1e-5)
        assert model.status_ is Status.LOCAL_MINIMUM
    else:
        assert model.objective_ < value and model.status_ is Status.OPTIMAL


def test_the_better_start_is_kept():
    settings = {"method": "alternating", "C": 5.0, "n_knots": 4}
    fits = {start: MonotoneClassifier(**settings, start=start).fit(X, Y) for start in ("linear", "convex", "best")}
    ends = {name: model.objective_ for name, model in fits.items()}
    assert ends["best"] == min(ends["linear"], ends["convex"])
    again = MonotoneClassifier(**settings, start=fits["best"].ramp_weights_).fit(X, Y)
    assert again.objective_ <= ends["best"] * (1 + 1e-9)
    bound = MonotoneClassifier(C=5.0, n_knots=4, tol=1e-8).fit(X, Y).objective_
    assert all(bound <= end for end in ends.values())


@pytest.mark.parametrize("share", ["all", "feature", ["a", "b", "a"]])
@pytest.mark.parametrize("method", ["convex", "alternating"])
@pytest.mark.parametrize("margin", ["l1", "l2"])
def test_sharing(share, method, margin):
    model = MonotoneClassifier(method, share=share, margin=margin, n_knots=5, start="linear").fit(X, Y)
    parts = [model.ramp_weights_] if share == "all" else model.ramp_weights_
    assert len(parts) == {"all": 1, "feature": 3}.get(share if isinstance(share, str) else "", 2)
    for f in range(3):
        knots, values = model.transform_curve(f)
        own = parts[model.groups_[f]]
        np.testing.assert_allclose(values, np.append(0, np.cumsum(own)), atol=1e-12)
        np.testing.assert_array_equal(knots, model.knots_ if share == "all" else model.knots_[model.groups_[f]])
    assert model.score(X, Y) > 0.8
    curves = [np.interp(X[:, f], *model.score_curve(f)) for f in range(3)]
    np.testing.assert_allclose(np.sum(curves, axis=0) + model.intercept_, model.decision_function(X), atol=1e-10)


@pytest.mark.parametrize("method", ["convex", "alternating"])
def test_several_classes_share_transforms(method):
    model = MonotoneClassifier(method, C=5.0, n_knots=5, start="convex").fit(X, THREE)
    scores = model.decision_function(X)
    assert scores.shape == (80, 3) and model.intercept_.shape == (3,) and model.ramp_weights_.shape == (4,)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))
    assert model.score(X, THREE) > 0.7 and model.score_curve(1)[1].shape == (3, 5)
    if method == "alternating":
        assert model.coef_.shape == (3, 3)


@pytest.mark.parametrize("shift", [0.0, 0.4])
@pytest.mark.parametrize("settings", [{}, {"method": "alternating", "start": "linear"}, {"solver": "descent"}])
def test_sparse_and_dense_samples_give_one_model(shift, settings):
    some = np.where(X > 0.3, X - shift, 0.0)
    model = MonotoneClassifier(n_knots=5, tol=1e-4, **settings)
    dense = model.fit(some, Y).decision_function(some)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows = model.fit(scipy.sparse.csr_array(some), Y)
    np.testing.assert_allclose(rows.decision_function(scipy.sparse.coo_matrix(some)), dense, atol=0.05)
    np.testing.assert_array_equal(rows.decision_function(some), rows.decision_function(scipy.sparse.csc_matrix(some)))


def test_sparse_samples_are_never_made_dense(monkeypatch):
    wide = scipy.sparse.random(60, 400, 0.02, random_state=0, format="csr")
    wide.data[::3] *= -1
    y = np.asarray(wide[:, :200].sum(axis=1)).ravel() > 0

    def refuse(*args, **kwargs):
        raise AssertionError("made dense")

    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csr_array, scipy.sparse.csc_matrix):
        monkeypatch.setattr(kind, "toarray", refuse)
        monkeypatch.setattr(kind, "todense", refuse, raising=False)
    # Few samples of many features are solved through their Gram matrix; descent is what large ones get.
    model = MonotoneClassifier(solver="descent", n_knots=4, tol=1e-2).fit(wide, y)
    assert model.decision_function(wide).shape == (60,)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_and_names(frame):
    named = frame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    model = MonotoneClassifier(share="feature", directions={"a": 1}, n_knots=4).fit(named, Y)
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c"])
    np.testing.assert_array_equal(model.transform_curve("b"), model.transform_curve(1))
    np.testing.assert_array_equal(model.predict(named), model.predict(named))
    with pytest.raises(ValueError, match="no feature called 'd'; there are a, b, c"):
        model.transform_curve("d")


@pytest.mark.parametrize("solver", ["auto", "descent"])
@pytest.mark.parametrize("settings", [{}, {"method": "alternating", "start": "linear"}, {"predict_with": "transform"}])
def test_directions_hold(solver, settings):
    free = MonotoneClassifier(share="feature", n_knots=5, tol=1e-2, **settings).fit(X, Y)
    # Against the data: what cannot go up must stay flat.
    model = MonotoneClassifier(share="feature", n_knots=5, tol=1e-2, solver=solver, directions=[-1, 0, 1], **settings)
    model.fit(X, Y)
    assert (np.diff(free.score_curve(0)[1]) > 0).any()
    assert (np.diff(model.score_curve(0)[1]) <= 0).all() and (np.diff(model.score_curve(2)[1]) >= 0).all()
    assert model.objective_ > free.objective_ and model.score(X, Y) > 0.6


def test_sample_and_class_weights():
    weight = RNG.integers(0, 3, 80)
    times = np.repeat(np.arange(80), weight)
    settings = {"C": 2.0, "n_knots": 4, "tol": 1e-10}
    weighted = MonotoneClassifier(**settings).fit(X, Y, weight)
    repeated = MonotoneClassifier(**settings).fit(X[times], Y[times])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    np.testing.assert_array_equal(weighted.knots_, repeated.knots_)
    by_class = MonotoneClassifier(class_weight={"yes": 3.0, "no": 1.0}, **settings).fit(X, Y)
    plain = MonotoneClassifier(**settings).fit(X, Y, np.where(Y == "yes", 3.0, 1.0))
    assert by_class.knots_.shape == plain.knots_.shape
    assert (by_class.predict(X) == "yes").sum() > (MonotoneClassifier(**settings).fit(X, Y).predict(X) == "yes").sum()


@pytest.mark.parametrize("limit", [{"max_iter": 2}, {"time_limit": 0.0}])
@pytest.mark.parametrize("method", ["convex", "alternating"])
def test_a_short_run_says_so(limit, method):
    with pytest.warns(ConvergenceWarning, match=r"limit after .* gap of"):
        model = MonotoneClassifier(method, C=10.0, tol=1e-8, **limit).fit(X, Y)
    assert model.status_ not in (Status.OPTIMAL, Status.LOCAL_MINIMUM)
    assert model.certificate_.relative_gap > 1e-8 and model.predict(X).shape == (80,)


def test_callbacks_see_and_stop_every_run():
    seen = []
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        MonotoneClassifier("alternating", verbose=lambda step: seen.append(step) or len(seen) > 2).fit(X, Y)
    assert len(seen) >= 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "sdp"}, "method must be one of"),
        ({"margin": "hard"}, "margin must be one of"),
        ({"C": 0}, "C must be a positive finite number"),
        ({"C": "auto"}, "C must be a positive finite number"),
        ({"share": "none"}, "share must be"),
        ({"n_knots": 1}, "n_knots must be"),
        ({"knots": [1, 0]}, "knots must increase"),
        ({"predict_with": "both"}, "predict_with must be one of"),
        ({"start": "random"}, "start must be one of"),
        ({"start": [1.0, 2.0], "method": "alternating"}, "start must be nonnegative ramp weights, 9 in all"),
        ({"start": np.zeros(9), "method": "alternating"}, "start must give some ramp"),
        ({"solver": "sdp"}, "solver must be one of"),
        ({"directions": [1, 0, 0]}, "directions need share='feature'"),
        ({"tol": -1}, "tol must be"),
        ({"verbose": "yes"}, "verbose must be"),
    ],
)
def test_bad_parameters(settings, message):
    with pytest.raises(ValueError, match=message):
        MonotoneClassifier(**settings).fit(X, Y)


def test_bad_samples():
    with pytest.raises(ValueError, match="Every feature is constant"):
        MonotoneClassifier().fit(np.ones((4, 2)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="directions need two classes"):
        MonotoneClassifier(share="feature", directions=[1, 0, 0]).fit(X, THREE)
    with pytest.raises(ValueError, match="NaN"):
        MonotoneClassifier().fit(np.where(X > 0.5, np.nan, X), Y)
    model = MonotoneClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X, np.zeros(80))
    assert not hasattr(model, "_model")


def test_pickled_models_predict_the_same():
    model = MonotoneClassifier("alternating", start="linear").fit(X, Y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), model.decision_function(X))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(6, 25),
    d=st.integers(1, 4),
    C=st.sampled_from([1e-2, 1.0, 1e3]),
    kind=st.sampled_from(["ties", "sparse", "wild"]),
    share=st.sampled_from(["all", "feature"]),
    method=st.sampled_from(["convex", "alternating"]),
    margin=st.sampled_from(["l1", "l2"]),
)
def test_transforms_are_monotone_whatever_the_data(seed, n, d, C, kind, share, method, margin):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, d))
    values = {
        "ties": lambda: np.round(values),
        "sparse": lambda: scipy.sparse.csr_matrix(np.where(rng.random((n, d)) < 0.7, 0.0, values)),
        "wild": lambda: values * 10.0 ** rng.uniform(-6, 6, d),
    }[kind]()
    y = np.arange(n) % 2
    model = MonotoneClassifier(method, C=C, share=share, margin=margin, n_knots=4, start="linear")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(values, y)
        except ValueError as error:
            assert "constant" in str(error)
            return
    assert model.certificate_.gap >= -1e-7 * abs(model.objective_)
    for f in range(d):
        knots, _ = model.transform_curve(f)
        grid = np.sort(np.concatenate([knots, rng.uniform(knots[0] - 1, knots[-1] + 1, 20)]))
        samples = np.zeros((len(grid), d))
        samples[:, f] = grid
        assert (np.diff(model._model.transform(samples)[:, f]) >= 0).all()


@pytest.mark.parametrize(("n", "tol", "expected"), [(310, 1e-3, True), (310, 1e-6, False), (60, 1e-3, False)])
def test_descent_comes_first_where_ramps_are_many_and_samples_not_few(n, tol, expected, monkeypatch):
    rows = scipy.sparse.random(n, 700, 0.02, random_state=0, format="csr")
    y = np.asarray(rows[:, :300].sum(axis=1)).ravel() > np.median(np.asarray(rows[:, :300].sum(axis=1)))
    used = []

    def seen(*args, **kwargs):
        used.append("descent")
        return solve_descent(*args, **kwargs)

    monkeypatch.setattr(ramp_fit, "solve_descent", seen)
    model = MonotoneClassifier(n_knots=5, tol=tol).fit(rows, y)
    assert model.certificate_.relative_gap <= tol and bool(used) == expected
