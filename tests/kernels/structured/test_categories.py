import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from kernelweave import KernelAligner, MKLClassifier
from kernelweave.kernels import Linear, ValueDifference, WidthFamily, freeze_kernels, resolve_entries

RNG = np.random.default_rng(0)
X = RNG.choice(list("abc"), size=(60, 3)).astype(object)
Y = np.where(X[:, 0] == "a", "yes", "no")


def by_definition(x, z, X, y, order, weighted, smoothing):
    total, classes = 0.0, np.unique(y)
    for a in range(X.shape[1]):
        shares = []
        for value in (x[a], z[a]):
            has = X[:, a] == value
            counts = np.array([np.sum(has & (y == c)) + smoothing * np.mean(y == c) for c in classes])
            shares.append(counts / counts.sum())
        weight = np.sqrt((shares[0] ** 2).sum()) if weighted else 1.0
        total += weight * (np.abs(shares[0] - shares[1]) ** order).sum()
    return total


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.5, 1.0])
def test_by_its_definition(order, weighted, smoothing):
    kernel = ValueDifference.from_labels(X, Y, order=order, weighted=weighted, smoothing=smoothing)
    new = np.array([["a", "b", "new"], ["c", "c", "c"]], dtype=object)
    for other in (X[:7], new):
        expected = [[by_definition(x, z, X, Y, order, weighted, smoothing) for z in X[:9]] for x in other]
        np.testing.assert_allclose(kernel.distances(other, X[:9]), expected, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("power", [0.5, 1.0])
def test_unweighted_is_definite_as_it_says(order, power):
    kernel = ValueDifference.from_labels(X, Y, order=order, power=power).freeze(X)
    assert kernel.positive_semidefinite and kernel.proven
    assert np.linalg.eigvalsh(kernel(X))[0] > -1e-12


def test_weighted_is_not_symmetric():
    labels = RNG.choice(["p", "q", "r"], size=60)
    kernel = ValueDifference.from_labels(X, labels, weighted=True, form="negative").freeze(X)
    K = kernel(X)
    assert not kernel.symmetric and not kernel.positive_semidefinite
    assert np.abs(K - K.T).max() > 1e-3


def test_estimators_tell_it_the_labels():
    model = MKLClassifier([("votes", ValueDifference(gamma=1.0))]).fit(X, Y)
    by_hand = MKLClassifier([("votes", ValueDifference.from_labels(X, Y, gamma=1.0))]).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), by_hand.decision_function(X))
    assert model.get_params()["votes__shares"] is None
    KernelAligner([("votes", ValueDifference(gamma=1.0))]).fit(X, Y)


def test_cross_validation_estimates_within_each_fold():
    # Each value occurs once: it foretells its own label in training, and nothing in a test fold.
    unique, labels = np.arange(60).astype(str)[:, None].astype(object), RNG.choice(["p", "q"], size=60)
    model = MKLClassifier([ValueDifference(gamma=1.0)])
    assert clone(model).fit(unique, labels).score(unique, labels) == 1.0
    assert cross_val_score(model, unique, labels, cv=5).mean() < 0.75


def test_labels_reach_kernels_inside_others():
    composed = 0.5 * ValueDifference(gamma=1.0) + ValueDifference(gamma=2.0) * ValueDifference()
    entries = resolve_entries([("c", composed), ("w", WidthFamily(ValueDifference(gamma=1.0), factors=(1, 2)))])
    named = freeze_kernels(entries, X, Y)
    assert [member.name for member in named] == ["c", "w[1]", "w[2]"]
    for member in named:
        assert np.isfinite(member.kernel(X)).all()
    plain = Linear() + Linear()
    (kept,) = freeze_kernels(resolve_entries([plain]), np.ones((3, 1)), [0, 1, 0])
    assert kept.kernel is plain


def test_without_labels_it_says_so():
    with pytest.raises(ValueError, match="has not learned from labels"):
        ValueDifference().freeze(X)
    with pytest.raises(ValueError, match="has not learned from labels"):
        ValueDifference(gamma=1.0)(X)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: ValueDifference.from_labels(X, Y[:5]), "60 samples but 5 labels"),
        (lambda: ValueDifference.from_labels(X, Y, smoothing=-1.0), "smoothing must not be negative"),
        (lambda: ValueDifference.from_labels(X, Y, gamma=1.0, order=3)(X), "order must be 1 or 2"),
        (lambda: ValueDifference.from_labels(X, Y, gamma=1.0)(X[:, :2]), "learned 3 columns, got 2"),
        (lambda: ValueDifference.from_labels(np.zeros((2, 2, 2)), [0, 1]), "table of shape"),
    ],
)
def test_bad_input(act, message):
    with pytest.raises(ValueError, match=message):
        act()
