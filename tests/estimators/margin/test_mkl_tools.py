"""Life among scikit-learn's tools: containers, clones, searches, routing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelweave import MKLClassifier
from kernelweave.kernels import RBF, Linear, Precomputed


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["age", "g1", "g2"])
    frame["word"] = ["".join(rng.choice(list("abc"), 6)) for _ in range(60)]
    return frame


@pytest.fixture
def y(frame):
    return np.where(frame["age"] + frame["g1"] > 0, "yes", "no")


def letters(A, B):
    """A kernel of strings: shared counts of letters."""

    def counts(words):
        return np.array([[word.count(letter) for letter in "abc"] for word in np.ravel(words)], dtype=float)

    return counts(A) @ counts(B).T


KERNELS = [("clinic", Linear(), ["age"]), ("genes", RBF(gamma=0.5), ["g1", "g2"]), ("text", letters, "word")]


def test_columns_by_name_in_any_order(frame, y):
    model = MKLClassifier(KERNELS).fit(frame, y)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert list(model.kernel_names_) == ["clinic", "genes", "text"]
    other = MKLClassifier(KERNELS).fit(frame.iloc[:, ::-1], y)
    np.testing.assert_allclose(other.kernel_weights_, model.kernel_weights_)


def test_polars_as_pandas(frame, y):
    pandas, other = MKLClassifier(KERNELS), MKLClassifier(KERNELS)
    pandas.fit(frame[:40], y[:40], X_unlabeled=frame[40:])
    other.fit(pl.from_pandas(frame[:40]), y[:40], X_unlabeled=pl.from_pandas(frame[40:]))
    np.testing.assert_array_equal(other.transduction_, pandas.transduction_)


def test_sparse_as_dense(frame, y):
    X = frame[["age", "g1", "g2"]].to_numpy()
    dense = MKLClassifier([("a", RBF(0.5)), ("b", Linear())], tol=1e-8).fit(X, y)
    sparse = MKLClassifier([("a", RBF(0.5)), ("b", Linear())], tol=1e-8).fit(scipy.sparse.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.kernel_weights_, dense.kernel_weights_, atol=1e-5)


def test_bool_labels(frame, y):
    model = MKLClassifier(KERNELS).fit(frame, y == "yes")
    assert model.predict(frame).dtype == bool


def test_grid_search_over_nested_parameters(frame, y):
    search = GridSearchCV(MKLClassifier(KERNELS), {"genes__gamma": [0.01, 0.5], "C": [0.1, 1.0]}, cv=3, n_jobs=2)
    search.fit(frame, y)
    assert search.best_estimator_.kernels[1][1].gamma == search.best_params_["genes__gamma"]
    assert KERNELS[1][1].gamma == 0.5


def test_kernels_are_parameters(frame):
    model = MKLClassifier(KERNELS)
    model.set_params(genes=Linear(), clinic=RBF(gamma=2.0), C=3.0)
    assert isinstance(model.get_params()["genes"], Linear) and model.get_params()["clinic__gamma"] == 2.0
    assert isinstance(KERNELS[1][1], RBF)
    with pytest.raises(ValueError, match="unknown"):
        model.set_params(unknown__gamma=1.0)


def test_given_matrix_in_cross_validation_equals_its_kernel(frame, y):
    X = frame[["age", "g1", "g2"]].to_numpy()
    K = RBF(gamma=0.5)(X)
    scores = cross_val_score(MKLClassifier([("k", Precomputed(K))]), np.arange(60)[:, None], y, cv=4)
    np.testing.assert_array_equal(scores, cross_val_score(MKLClassifier([("k", RBF(gamma=0.5))]), X, y, cv=4))


def test_matrix_by_labels(frame, y):
    K = pd.DataFrame(np.eye(60) + 0.1, index=frame.index.map(str), columns=frame.index.map(str))
    nodes = frame.assign(node=frame.index.map(str))
    model = MKLClassifier([("net", Precomputed(K), "node"), ("clinic", Linear(), ["age"])]).fit(nodes[:40], y[:40])
    assert model.predict(nodes[40:]).shape == (20,)


def test_clones_share_the_matrix():
    K = np.eye(5)
    model = MKLClassifier([("k", Precomputed(K))])
    assert clone(model).kernels[0][1].K is K


def test_pipeline_passes_weights(frame, y):
    X = frame[["age", "g1", "g2"]].to_numpy()
    weight = np.where(y == "yes", 2.0, 1.0)
    direct = MKLClassifier(C=0.5).fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            MKLClassifier(C=0.5).set_fit_request(sample_weight=True),
        )
        routed.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(routed[-1].intercept_, direct.intercept_)


def test_representation_names_the_kernels():
    assert "genes" in MKLClassifier(KERNELS)._repr_html_()


def test_progress_is_shown_on_standard_error(frame, y, capsys):
    MKLClassifier(KERNELS, verbose=2).fit(frame, y)
    assert "iteration 1" in capsys.readouterr().err
    MKLClassifier(KERNELS, verbose=0).fit(frame, y)
    assert capsys.readouterr().err == ""
