"""Ill-conditioned input is certified; what cannot be done is said."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier
from kernelweave.exceptions import InvalidKernelError, MemoryLimitError, NotSeparableError
from kernelweave.gram.preparing import memory
from kernelweave.kernels import RBF, Linear, Precomputed
from kernelweave.solvers.driver import Status

CRITERIA = [("l1", 1.0), ("l1", 1e-3), ("l1", 1e4), ("l2", 1.0), ("l2", "auto")]


def rbf(X, gamma):
    squares = (X**2).sum(axis=1)
    return np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0))


def labelled(n, positive=0.5, flipped=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    return X, (score > np.quantile(score, 1 - positive)) ^ (rng.random(n) < flipped)


def scales():
    X, y = labelled(120)
    return [rbf(X, 0.3) * 1e6, X @ X.T * 1e-6, rbf(np.roll(X, 5, axis=0), 1.0)], y


def duplicates():
    X, y = labelled(120)
    return [rbf(X, 0.3)] * 5 + [X @ X.T] * 3, y


def useless():
    X, y = labelled(120)
    return [rbf(np.roll(X, 7, axis=0), 1.0), np.eye(120)], y


def five_samples():
    X, y = labelled(5, 0.4, 0.0)
    return [rbf(X, 0.3), X @ X.T], y


def one_kernel():
    X, y = labelled(120)
    return [rbf(X, 0.3)], y


def rare_class():
    X, y = labelled(400, 0.01, 0.0)
    return [rbf(X, 0.3), X @ X.T, rbf(X, 3.0)], y


def many_kernels():
    X, y = labelled(200)
    rng = np.random.default_rng(1)
    return [rbf(X[:, rng.choice(4, 2, replace=False)], 10 ** rng.uniform(-2, 1)) for _ in range(500)], y


def given(matrices):
    return [(f"k{i}", Precomputed(K)) for i, K in enumerate(matrices)]


@pytest.mark.parametrize("case", [scales, duplicates, useless, five_samples, one_kernel, rare_class])
@pytest.mark.parametrize(("margin", "C"), CRITERIA)
@pytest.mark.parametrize("normalize", ["cosine", None])
def test_ill_conditioned_kernels_are_certified(case, margin, C, normalize):
    matrices, y = case()
    model = MKLClassifier(given(matrices), margin=margin, C=C, tol=1e-6, normalize=normalize)
    model.fit(np.arange(len(y)), y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.relative_gap <= 1e-6


@pytest.mark.parametrize(("margin", "C"), [("l1", 1.0), ("l2", "auto")])
def test_more_kernels_than_samples_are_certified(margin, C):
    matrices, y = many_kernels()
    model = MKLClassifier(given(matrices), margin=margin, C=C, tol=1e-5).fit(np.arange(len(y)), y)
    assert model.certificate_.relative_gap <= 1e-5


@pytest.mark.parametrize("solver", ["auto", "bundle", "interior_point"])
def test_hard_margin_where_there_is_one(solver):
    X, y = labelled(120, flipped=0.0)
    model = MKLClassifier(given([rbf(X, 1.0), X @ X.T]), margin="hard", solver=solver, tol=1e-6).fit(np.arange(120), y)
    assert model.certificate_.relative_gap <= 1e-6
    signs = np.where(y, 1.0, -1.0)
    assert (signs * model.decision_function(np.arange(120))).min() > 0.999


@pytest.mark.parametrize("solver", ["auto", "bundle", "interior_point"])
def test_no_hard_margin_comes_with_its_proof(solver):
    X, y = labelled(60)
    matrices = [X @ X.T, X[:, :2] @ X[:, :2].T]
    with pytest.raises(NotSeparableError, match=r"margin='l1' or margin='l2'") as caught:
        MKLClassifier(given(matrices), margin="hard", solver=solver, normalize=None).fit(np.arange(60), y)
    direction = caught.value.direction[0]
    signed = np.where(y, direction, -direction)
    assert (direction >= 0).all() and abs(signed.sum()) < 1e-12 < direction.sum()
    for K in matrices:
        assert signed @ K @ signed < 1e-10 * (np.diagonal(K) @ direction)


def test_stopping_short_warns_with_the_gap_and_keeps_the_best_point():
    X, y = labelled(120)
    model = MKLClassifier([("a", RBF(0.3)), ("b", RBF(3.0))], max_iter=2, tol=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"iteration limit .* gap of \d\.\de-?\+?\d+.*raise max_iter"):
        model.fit(X, y)
    assert model.status_ is Status.ITERATION_LIMIT and np.isfinite(model.dual_gap_)
    assert model.score(X, y) > 0.6


def test_a_callback_stops_the_fit():
    X, y = labelled(120)
    seen = []
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        MKLClassifier(tol=1e-9, verbose=lambda progress: seen.append(progress) or len(seen) == 2).fit(X, y)
    assert [progress.iteration for progress in seen] == [1, 2]


def test_an_interrupt_passes_through_and_leaves_no_model():
    X, y = labelled(60)

    def interrupt(progress):
        raise KeyboardInterrupt

    model = MKLClassifier(verbose=interrupt, tol=1e-12)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "kernel_weights_")


def test_too_little_memory_is_refused_before_allocation(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)
    X, y = labelled(400)
    with pytest.raises(MemoryLimitError, match=r"7 kernel matrices of 400 samples .* dtype='float32'"):
        MKLClassifier().fit(X, y)


def corrupted(place, value):
    X, _ = labelled(30)
    K = rbf(X, 0.3)
    K[place] = value
    return K


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (corrupted((3, 5), np.nan), r"'bad' has the value nan at row 3, column 5|'bad' has the value nan at row 5"),
        (corrupted((3, 5), 0.9), r"'bad' is not symmetric: .* at \(5, 3\)"),
        (corrupted((4, 4), -1.0), r"'bad' .*negative diagonal|'bad' .*diagonal"),
        (np.zeros((30, 30)), r"'bad' is zero on the training samples"),
        (np.eye(30) + 0.9 * np.eye(30, k=1) + 0.9 * np.eye(30, k=-1), r"smallest eigenvalue is -0\.7"),
    ],
)
def test_a_matrix_that_is_no_kernel_is_named(matrix, message):
    X, y = labelled(30)
    kernels = [("good", RBF(0.3), slice(0, 4)), ("bad", Precomputed(matrix), [4])]
    with pytest.raises(InvalidKernelError, match=message):
        MKLClassifier(kernels).fit(np.column_stack([X, np.arange(30)]), y)


def test_bad_samples_name_kernel_and_place():
    X, y = labelled(30)
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"'b'.*column 2 holds NaN in row 7"):
        MKLClassifier([("a", Linear(), [0, 1]), ("b", RBF(1.0), [2, 3])]).fit(X, y)


def test_rows_without_norm_stay_zero_with_one_warning():
    X, y = labelled(30)
    X[4, :2] = 0.0
    with pytest.warns(UserWarning, match=r"'b' has k\(x, x\) = 0 at row 4") as caught:
        model = MKLClassifier([("a", RBF(1.0)), ("b", Linear(), [0, 1])], storage="dense").fit(X, y)
    assert len(caught) == 1 and np.isfinite(model.objective_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"margin": "l3"}, "margin must be"),
        ({"C": -1.0}, "C must be a positive finite number"),
        ({"C": "auto"}, "C='auto' needs margin='l2'"),
        ({"trace": "median"}, "trace must be"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"solver": "smo"}, "solver must be"),
        ({"storage": "disk"}, "storage must be one of"),
        ({"kernels": []}, "empty list"),
    ],
)
def test_bad_settings_say_what_is_allowed(settings, message):
    X, y = labelled(30)
    with pytest.raises(ValueError, match=message):
        MKLClassifier(**settings).fit(X, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(30, int), "one class only"),
        (np.linspace(0, 1, 30), "[Uu]nknown label type"),
        (np.arange(29) % 2, "29"),
    ],
)
def test_bad_labels_are_refused(y, message):
    X, _ = labelled(30)
    with pytest.raises(ValueError, match=message):
        MKLClassifier().fit(X, y)
