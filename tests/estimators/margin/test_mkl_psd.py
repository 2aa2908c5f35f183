"""Weights of any sign through the public face."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier, load_model, save_model
from kernelweave.exceptions import NotSeparableError
from kernelweave.kernels import RBF, Linear, Polynomial, Precomputed
from kernelweave.solvers.driver import Status

ORACLES = json.loads((Path(__file__).parents[2] / "oracles" / "system_a.json").read_text())
INSTANCES = {entry["id"]: entry for entry in ORACLES["instances"]}
CELLS = [c for c in ORACLES["results"] if c["weights"] == "psd" and c["margin"] != "alignment"]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 5))
Y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * RNG.normal(size=90) > 0, "up", "down")
KERNELS = [
    ("line", Linear()),
    ("square", Polynomial(degree=2)),
    ("near", RBF(gamma=0.5)),
    ("part", RBF(gamma=0.2), [0, 1, 2]),
]
CRITERIA = [{"margin": "l1"}, {"margin": "l2", "C": 10.0}, {"margin": "hard"}, {"margin": "l2", "C": "auto"}]


def of_cell(cell, **settings):
    entry = INSTANCES[cell["instance"]]
    kernels = [(f"k{i}", Precomputed(np.array(K))) for i, K in enumerate(entry["kernels"])]
    C = {"l1": cell["C"], "hard": 1.0, "auto_c": "auto"}.get(cell["margin"])
    margin = "l2" if cell["margin"] == "auto_c" else cell["margin"]
    model = MKLClassifier(
        kernels,
        weights="psd",
        margin=margin,
        C=1.0 / cell["tau"] if C is None else C,
        trace=cell["trace_budget"],
        normalize=None,
        tol=1e-8,
        **settings,
    )
    n, n_tr = entry["n"], entry["n_tr"]
    return model, (np.arange(n_tr), np.array(entry["y"])[:n_tr]), np.arange(n_tr, n)


@pytest.mark.parametrize("cell", CELLS, ids=[f"{c['instance']}-{c['margin']}" for c in CELLS])
def test_reference_values(cell):
    model, labelled, unlabelled = of_cell(cell)
    if cell["omega"] is None:
        with pytest.raises(NotSeparableError, match="hard margin has no solution") as caught:
            model.fit(*labelled, X_unlabeled=unlabelled)
        assert caught.value.direction.shape == (1, len(labelled[0]))
        return
    model.fit(*labelled, X_unlabeled=unlabelled)
    low, high = cell["bracket"]
    assert model.status_ is Status.OPTIMAL and model.certificate_.relative_gap <= 1e-8
    assert model.objective_ >= low * (1 - 1e-8) and model.objective_ - model.dual_gap_ <= high * (1 + 1e-8)
    if cell["agreed_digits"] > 7:
        assert model.objective_ == pytest.approx(cell["omega"], rel=1e-7)
    np.testing.assert_array_equal(model.transduction_, model.predict(unlabelled))


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_free_signs_do_at_least_as_well(criterion):
    free = MKLClassifier(KERNELS, weights="psd", tol=1e-7, **criterion).fit(X, Y)
    nonnegative = MKLClassifier(KERNELS, tol=1e-7, **criterion).fit(X, Y)
    assert free.objective_ <= nonnegative.objective_ * (1 + 1e-7)
    assert free.kernel_importances_.sum() == pytest.approx(
        1.0 - (90 / free.C_ / free.trace_ if "auto" in criterion.values() else 0)
    )
    combined = free.combined_kernel(X)
    assert np.linalg.eigvalsh(combined)[0] >= -1e-8 * combined.max()


def test_semidefinite_over_unlabelled_samples_too():
    new = RNG.normal(size=(40, 5))
    model = MKLClassifier(KERNELS, weights="psd", tol=1e-7).fit(X[:60], Y[:60], X_unlabeled=new)
    alone = MKLClassifier(KERNELS, weights="psd", tol=1e-7).fit(X[:60], Y[:60])
    # More samples, more constraints: with unit diagonals and "mean" the budget per sample is the same.
    assert model.objective_ >= alone.objective_ * (1 - 1e-6)
    everything = np.vstack([X[:60], new])
    K = [(everything @ everything.T), (1 + everything @ everything.T) ** 2]
    distances = ((everything[:, None] - everything) ** 2).sum(-1)
    K += [np.exp(-0.5 * distances), np.exp(-0.2 * ((everything[:, None, :3] - everything[:, :3]) ** 2).sum(-1))]
    K = [k / np.sqrt(np.outer(k.diagonal(), k.diagonal())) for k in K]
    combined = np.tensordot(model.kernel_weights_, K, 1)
    assert np.linalg.eigvalsh(combined)[0] >= -1e-8
    assert np.trace(combined) == pytest.approx(model.trace_)


@pytest.mark.parametrize("solver", ["subspace", "primal_dual"])
def test_solvers_agree(solver):
    model = MKLClassifier(KERNELS, weights="psd", solver=solver, tol=1e-8).fit(X, Y)
    auto = MKLClassifier(KERNELS, weights="psd", tol=1e-8).fit(X, Y)
    assert model.objective_ == pytest.approx(auto.objective_, rel=2e-8)
    np.testing.assert_allclose(model.decision_function(X), auto.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("multiclass", ["shared", "per_class"])
def test_several_classes(multiclass):
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = MKLClassifier(KERNELS, weights="psd", multiclass=multiclass, tol=1e-6).fit(X, y)
    assert model.status_ is Status.OPTIMAL and model.score(X, y) > 0.8
    assert model.kernel_weights_.shape == ((4,) if multiclass == "shared" else (3, 4))


def test_sample_weights_count_as_copies():
    copies = np.repeat(np.arange(40), 1 + np.arange(40) % 2)
    weighted = MKLClassifier(KERNELS, weights="psd", tol=1e-8, trace=40.0)
    weighted.fit(X[:40], Y[:40], sample_weight=1.0 + np.arange(40) % 2)
    copied = MKLClassifier(KERNELS, weights="psd", tol=1e-8, trace=60.0).fit(X[copies], Y[copies])
    assert weighted.objective_ == pytest.approx(copied.objective_, rel=1e-6)


def test_decisions_follow_the_margin():
    """[L04] (20): y f >= 1 where alpha is 0, <= 1 at the box, 1 between."""
    model = MKLClassifier(KERNELS, weights="psd", C=0.5, tol=1e-10).fit(X, Y)
    margins = np.where(Y == "up", 1, -1) * model.decision_function(X)
    alpha = np.abs(model.dual_coef_[0])
    assert (margins[alpha < 1e-6] > 1 - 1e-4).all() and (margins[alpha > 0.5 - 1e-6] < 1 + 1e-4).all()
    free = (alpha > 1e-4) & (alpha < 0.5 - 1e-4)
    assert free.any() and np.abs(margins[free] - 1).max() < 1e-4


@pytest.mark.parametrize("storage", ["float32", "factor"])
def test_storage(storage):
    factors = [("a", Linear(), [0]), ("b", Linear(), [1, 2]), ("c", Linear())]
    plain = MKLClassifier(factors, weights="psd", storage="dense", tol=1e-7).fit(X, Y)
    settings = {"dtype": "float32", "storage": "dense"} if storage == "float32" else {"storage": "factor"}
    other = MKLClassifier(factors, weights="psd", tol=1e-5, **settings).fit(X, Y)
    assert other.objective_ == pytest.approx(plain.objective_, rel=1e-4)


def test_stopping_short_warns_and_keeps_a_feasible_point():
    with pytest.warns(ConvergenceWarning, match="iteration limit after 3"):
        model = MKLClassifier(KERNELS, weights="psd", max_iter=3, tol=1e-9).fit(X, Y)
    assert model.status_ is Status.ITERATION_LIMIT and model.dual_gap_ > 0
    combined = model.combined_kernel(X)
    assert np.linalg.eigvalsh(combined)[0] >= -1e-8 * combined.max()


def test_files_and_pickles_keep_the_decisions(tmp_path):
    model = MKLClassifier(KERNELS, weights="psd").fit(X, Y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), model.decision_function(X))
    save_model(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "model.skops").predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights": "any"}, "weights must be one of"),
        ({"weights": "psd", "solver": "bundle"}, "'subspace', 'primal_dual'.* with weights='psd'"),
        ({"weights": "nonnegative", "solver": "subspace"}, "'bundle', 'interior_point'.* with weights='nonnegative'"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        MKLClassifier(KERNELS, **settings).fit(X, Y)
