"""The baselines are what they are said to be, checked against scikit-learn's SVC."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelweave import MKLClassifier
from kernelweave.cli.comparison import compare, hold_out
from kernelweave.cli.console import Console
from kernelweave.kernels import RBF, Cosine, Linear

CONSOLE = Console(quiet=True, json=False)
KERNELS = [("good", Linear(), [0]), ("noise", RBF(gamma=5.0), [1, 2])]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 3))
    X[:, 0] += 1.2 * (2 * y - 1)
    X.flags.writeable = False
    return X, y


def build(**settings):
    return lambda verbose=0: MKLClassifier(KERNELS, verbose=verbose, **settings)


def unit_rbf(A, B):
    return np.exp(-5.0 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def grams(A, B):
    """The two kernels, cosine-normalised by hand: one column of numbers has only its sign."""
    return np.sign(A[:, :1] @ B[:, :1].T), unit_rbf(A[:, 1:], B[:, 1:])


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_baselines_agree_with_scikit_learn(data, C):
    X, y = data
    train, test = hold_out(y, 0.25, 0)
    found = compare(build(C=C, tol=1e-6), X, y, [(train, test)], tol=1e-6, console=CONSOLE)
    hits = []
    for weights in ((1.0, 0.0), (0.5, 0.5)):
        K, K_new = (sum(w * G for w, G in zip(weights, grams(A, X[train]), strict=True)) for A in (X[train], X[test]))
        machine = SVC(C=C, kernel="precomputed", tol=1e-8).fit(K, y[train])
        hits.append(int((machine.predict(K_new) == y[test]).sum()))
    model = MKLClassifier(KERNELS, C=C, tol=1e-6).fit(X[train], y[train])
    assert found.chosen == ["good"]
    assert (found.best_single, found.uniform) == tuple(hits)
    assert found.model == int((model.predict(X[test]) == y[test]).sum())
    assert (found.n_train, found.n_test, found.n_splits) == (60, 20, 1)


def test_splits_add_up(data):
    X, y = data
    splits = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    parts = [compare(build(), X, y, [split], tol=1e-3, console=CONSOLE) for split in splits]
    whole = compare(build(), X, y, splits, tol=1e-3, console=CONSOLE)
    assert (whole.n_test, whole.n_splits) == (80, 4)
    for name in ("model", "best_single", "uniform"):
        assert getattr(whole, name) == sum(getattr(part, name) for part in parts)
    assert whole.chosen == ["good"] * 4


def test_the_choice_does_not_see_the_held_out_rows(data):
    X, y = data
    train, test = hold_out(y, 0.25, 0)
    other = np.array(y)
    other[test] = 1 - other[test]
    found = [compare(build(), X, labels, [(train, test)], tol=1e-3, console=CONSOLE) for labels in (y, other)]
    assert found[0].chosen == found[1].chosen
    assert found[0].model + found[1].model == found[0].uniform + found[1].uniform == 20


@pytest.mark.parametrize("settings", [{"margin": "l2", "C": "auto"}, {"margin": "l2", "C": 3.0}, {"dtype": "float32"}])
@pytest.mark.parametrize("trace", ["mean", "sum", 40.0])
def test_a_single_kernel_is_its_own_baseline(data, settings, trace):
    X, y = data
    splits = [hold_out(y, 0.25, 0)]

    def alone(verbose=0):
        return MKLClassifier([("good", Linear(), [0, 1])], trace=trace, tol=1e-6, verbose=verbose, **settings)

    found = compare(alone, X, y, splits, tol=1e-6, console=CONSOLE)
    assert found.model == found.best_single == found.uniform


@pytest.mark.parametrize("settings", [{"margin": "l2", "C": "auto"}, {"C": 2.0}])
def test_the_budget_of_two_equal_kernels_is_that_of_the_baseline(data, settings):
    X, y = data
    splits = [hold_out(y, 0.25, 0)]

    def twins(verbose=0):
        kernels = [("one", Linear(), [0, 1]), ("two", Cosine(), [0, 1])]
        return MKLClassifier(kernels, trace="sum", tol=1e-7, verbose=verbose, **settings)

    found = compare(twins, X, y, splits, tol=1e-7, console=CONSOLE)
    assert found.model == found.best_single == found.uniform


def test_pipelines_are_prepared_on_the_rows_fitted_on():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200], y[:200]
    train, test = hold_out(y, 0.3, 0)

    def build(verbose=0):
        return make_pipeline(StandardScaler(), MKLClassifier([("k", Linear())], verbose=verbose))

    found = compare(build, X, y, [(train, test)], tol=1e-3, console=CONSOLE)
    model = build().fit(X[train], y[train])
    hits = int((model.predict(X[test]) == y[test]).sum())
    assert (found.model, found.best_single, found.uniform) == (hits, hits, hits)


def test_a_hard_margin_that_one_kernel_does_not_have(data):
    X, y = data
    found = compare(build(margin="hard"), X, y, [hold_out(y, 0.25, 0)], tol=1e-3, console=CONSOLE)
    # The signs of one column do not separate the classes; the narrow RBF does, alone and in the average.
    assert found.chosen == ["noise"]
    assert found.best_single is not None and found.uniform is not None


def test_no_single_kernel_may_have_a_hard_margin():
    # The classes alternate along each column; only the sum of the two tells them apart.
    corners = np.array([[-2.0, 1.0], [1.0, -2.0], [2.0, -1.0], [-1.0, 2.0]])
    X, y = np.repeat(corners, 6, axis=0), np.repeat([0, 0, 1, 1], 6)
    kernels = [("a", Linear(), [0]), ("b", Linear(), [1])]

    def build(verbose=0):
        return MKLClassifier(kernels, margin="hard", normalize=None, verbose=verbose)

    found = compare(build, X, y, [hold_out(y, 0.5, 0)], tol=1e-3, console=CONSOLE)
    assert found.best_single is None and found.chosen == []
    assert found.uniform == found.model == 12


@pytest.mark.parametrize(("labels", "held"), [(["a"] * 9 + ["b"] * 9, [3, 3]), ([True] * 6 + [False] * 12, [4, 2])])
def test_a_split_is_stratified_and_repeats(labels, held):
    y = np.array(labels)
    train, test = hold_out(y, 1 / 3, 5)
    assert sorted([*train, *test]) == list(range(18))
    assert list(np.unique(y[test], return_counts=True)[1]) == held
    assert [list(part) for part in hold_out(y, 1 / 3, 5)] == [list(train), list(test)]
    assert list(hold_out(y, 1 / 3, 6)[1]) != list(test)


@pytest.mark.parametrize(
    ("counts", "share", "message"),
    [
        ((10, 2), 0.25, r"class b has too few rows \(2\) to hold some out; add rows, or use --test-size 0"),
        ((10, 10), 0.01, "no stratified part of 0.01 can be held out: .*--test-size 0"),
        ((20, 3), 0.6, "leaves a class with one row to fit on; add rows"),
    ],
)
def test_too_few_rows_are_refused(counts, share, message):
    with pytest.raises(ValueError, match=message):
        hold_out(np.repeat(["a", "b"], counts), share, 0)
