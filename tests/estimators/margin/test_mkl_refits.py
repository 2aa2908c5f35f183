"""What is left behind: by failed fits, by earlier fits, in the caller's objects."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import cross_validate
from sklearn.utils.validation import check_is_fitted

from kernelweave import MKLClassifier
from kernelweave.exceptions import NotSeparableError
from kernelweave.kernels import RBF, Linear, Precomputed
from kernelweave.solvers.driver import Status

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=60) > 0, 1, 0)
KERNELS = [("rbf", RBF(gamma=0.5)), ("linear", Linear(), [0])]
for array in (X, Y):
    array.flags.writeable = False


def interrupt(progress):
    raise KeyboardInterrupt


FAILURES = {
    "interrupted": ({"verbose": interrupt}, KeyboardInterrupt),
    "not separable": ({"margin": "hard", "kernels": [("linear", Linear(), [1])]}, NotSeparableError),
    "bad setting": ({"C": -1.0}, ValueError),
    "bad kernel": ({"kernels": [("zero", Precomputed(np.zeros((60, 60))), [0])]}, ValueError),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("fitted_before", [False, True])
def test_a_fit_that_fails_leaves_no_model(failure, fitted_before):
    settings, error = FAILURES[failure]
    model = MKLClassifier(KERNELS)
    if fitted_before:
        model.fit(X, Y, X_unlabeled=X[:5])
    model.set_params(**settings)
    with pytest.raises(error):
        model.fit(X, Y)
    assert not hasattr(model, "transduction_")
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    for method in (model.predict, model.decision_function, model.contributions, model.combined_kernel):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            method(X)
    # And it can be fitted afterwards.
    fresh = model.set_params(kernels=KERNELS, C=1.0, margin="l1", verbose=0).fit(X, Y)
    np.testing.assert_array_equal(fresh.predict(X), MKLClassifier(KERNELS).fit(X, Y).predict(X))


def test_a_second_fit_forgets_the_first():
    model = MKLClassifier(KERNELS).fit(X, Y, X_unlabeled=X[:5])
    assert model.transduction_.shape == (5,)
    model.fit(X[:, :2], np.arange(60) % 3)
    assert not hasattr(model, "transduction_")
    assert model.classes_.tolist() == [0, 1, 2] and model.n_features_in_ == 2 and model.dual_coef_.shape == (3, 60)


@pytest.mark.parametrize("limit", [{"max_iter": 1}, {"time_limit": 0}])
@pytest.mark.parametrize("solver", ["bundle", "interior_point"])
def test_the_best_point_is_kept_and_usable(limit, solver):
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap of \d.*Asked for: 1.0e-09"):
        model = MKLClassifier(KERNELS, tol=1e-9, solver=solver, **limit).fit(X, Y)
    assert model.status_ in (Status.ITERATION_LIMIT, Status.TIME_LIMIT) and model.n_iter_ == 1
    assert model.certificate_.relative_gap > 1e-9
    exact = MKLClassifier(KERNELS, tol=1e-9).fit(X, Y)
    assert model.certificate_.dual <= exact.objective_ <= model.objective_ * (1 + 1e-12)
    assert model.kernel_weights_.sum() == pytest.approx(1.0) and np.isfinite(model.decision_function(X)).all()


def test_unlabelled_samples_are_sliced_with_the_others():
    seen = []

    class Spy(MKLClassifier):
        def fit(self, X, y, sample_weight=None, X_unlabeled=None):
            seen.append((len(X), None if X_unlabeled is None else len(X_unlabeled)))
            return super().fit(X, y, sample_weight, X_unlabeled)

    Spy.__init__ = MKLClassifier.__init__
    cross_validate(Spy(KERNELS), X, Y, cv=3, params={"X_unlabeled": X})
    cross_validate(Spy(KERNELS), X, Y, cv=3, params={"X_unlabeled": X[:7]})
    assert seen == [(40, 40)] * 3 + [(40, 7)] * 3


def test_nothing_of_the_callers_is_changed():
    kernels, K = list(KERNELS), X @ X.T
    weight, kept = np.ones(60), K.copy()
    K.flags.writeable = weight.flags.writeable = False
    model = MKLClassifier([*kernels, ("given", Precomputed(K), [0])], center=True, dtype="float32")
    before = {name: repr(value) for name, value in model.get_params().items()}
    rows = np.column_stack([np.arange(60.0), X])
    rows.flags.writeable = False
    model.fit(rows, Y, sample_weight=weight).predict(rows[:5])
    assert {name: repr(value) for name, value in model.get_params().items()} == before
    assert np.array_equal(K, kept) and kernels == KERNELS
    assert KERNELS[0][1].get_params() == {"gamma": 0.5}


@pytest.mark.parametrize("margin", ["l1", "l2", "hard"])
@pytest.mark.parametrize("spread", [1.0, 1e6])
def test_scales_of_kernels_do_not_matter_to_normalised_ones(margin, spread):
    """Cosine normalisation takes the scales away; without it the weights undo them."""
    K = [RBF(gamma=g)(X) for g in (0.3, 3.0)]
    scaled = [K[0] * spread, K[1] / spread]
    rows = np.arange(60)
    settings = {"margin": margin, "tol": 1e-9}
    plain = MKLClassifier([("a", Precomputed(K[0])), ("b", Precomputed(K[1]))], **settings).fit(rows, Y)
    named = [("a", Precomputed(scaled[0])), ("b", Precomputed(scaled[1]))]
    cosine = MKLClassifier(named, **settings).fit(rows, Y)
    raw = MKLClassifier(named, normalize=None, trace=60.0, **settings).fit(rows, Y)
    for model in (cosine, raw):
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-7)
        np.testing.assert_allclose(model.kernel_importances_, plain.kernel_importances_, atol=1e-4)
        np.testing.assert_allclose(model.decision_function(rows), plain.decision_function(rows), atol=1e-3)
    np.testing.assert_allclose(raw.kernel_weights_ * [spread, 1 / spread], plain.kernel_weights_, rtol=1e-2, atol=1e-4)


def test_sample_counts_of_given_matrices():
    rows = np.column_stack([np.arange(60), X])
    entries = [("rbf", RBF(0.5), [1, 2]), ("small", Precomputed(np.eye(59)), [0])]
    with pytest.raises(ValueError, match=r"kernel 'small': row index 59 of sample 59 is outside .* with 59 rows"):
        MKLClassifier(entries).fit(rows, Y)
    # A larger matrix knows samples for later.
    MKLClassifier([entries[0], ("large", Precomputed(np.eye(61)), [0])]).fit(rows, Y)


def test_a_callable_of_another_size_is_named():
    with pytest.raises(ValueError, match=r"kernel 'cut': .*\(59, 59\)|kernel 'cut'.*shape"):
        MKLClassifier([("rbf", RBF(0.5)), ("cut", lambda A, B: (A @ B.T)[:-1, :-1])]).fit(X, Y)
