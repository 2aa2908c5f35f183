"""Pictures of transforms: what is drawn, where, and from what."""

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelweave import MonotoneClassifier, MonotoneRegressor
from kernelweave.exceptions import MissingExtraError
from kernelweave.inspection import TransformDisplay

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 1, (60, 3)) ** 2
Y = np.sqrt(X[:, 0]) > np.sqrt(X[:, 1])


@pytest.fixture(scope="module")
def model():
    return MonotoneClassifier(share="feature", n_knots=4).fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_a_panel_for_each_curve_with_knots_and_density(model):
    display = TransformDisplay.from_estimator(model, pd.DataFrame(X, columns=["a", "b", "c"]))
    assert [axes.get_title() for axes in display.axes_] == ["a", "b", "c"]
    for f, (line, axes) in enumerate(zip(display.lines_, display.axes_, strict=True)):
        np.testing.assert_array_equal(line.get_data(), model.transform_curve(f))
        density = [patch for patch in axes.patches if type(patch).__name__ == "StepPatch"]
        assert len(density) == 1 and density[0].get_data().values.max() == pytest.approx(1.0)
    assert display.figure_ is display.axes_[0].figure


def test_one_panel_and_chosen_features(model):
    display = TransformDisplay.from_estimator(model, features=["c", 0], panels="one")
    assert len(display.axes_) == 1 and [line.get_label() for line in display.lines_] == ["c", "a"]
    assert [text.get_text() for text in display.axes_[0].get_legend().get_texts()] == ["c", "a"]
    assert not display.axes_[0].patches


def test_knots_equally_far_apart(model):
    display = TransformDisplay.from_estimator(model, features=["b"], scale="knots")
    knots, values = model.transform_curve("b")
    np.testing.assert_array_equal(display.lines_[0].get_data(), [np.arange(len(knots)), values])
    assert [label.get_text() for label in display.axes_[0].get_xticklabels()] == [f"{knot:.3g}" for knot in knots]
    # The line of a linear transform stays that of a linear transform.
    linear = next(line for line in display.axes_[0].lines if line.get_label() == "linear")
    np.testing.assert_allclose(linear.get_ydata(), (knots - knots[0]) / (knots[-1] - knots[0]))


def test_axes_of_one_s_own(model):
    _, axes = plt.subplots(1, 2)
    display = TransformDisplay.from_estimator(model, features=[0, 1], ax=axes)
    assert list(display.axes_) == list(axes)
    with pytest.raises(ValueError, match="3 panels need as many axes; got 2"):
        TransformDisplay.from_estimator(model, ax=axes)


def test_groups_share_a_curve_and_sparse_zeros_are_told():
    rows = scipy.sparse.csr_matrix(np.where(X > 0.3, X, 0.0))
    shared = MonotoneClassifier(n_knots=4).fit(rows, Y)
    display = TransformDisplay.from_estimator(shared, rows)
    zeros = 1 - rows.nnz / rows.shape[0] / rows.shape[1]
    assert display.axes_[0].get_title() == f"all features ({zeros:.0%} zeros)"
    np.testing.assert_array_equal(np.sort(display.curves[0].samples), np.sort(rows.data))
    grouped = MonotoneRegressor(n_knots=4, share=[1, 0, 1]).fit(X, X[:, 0])
    names = [axes.get_title() for axes in TransformDisplay.from_estimator(grouped).axes_]
    assert names == ["feature 1", "feature 0, feature 2"]


def test_many_features_show_the_first_sixteen():
    wide = MonotoneClassifier(share="feature", n_knots=3).fit(RNG.normal(size=(30, 20)), Y[:30])
    assert len(TransformDisplay.from_estimator(wide).axes_) == 16


def test_pipelines_send_the_samples_through():
    pipeline = make_pipeline(StandardScaler(), MonotoneClassifier(n_knots=4)).fit(X, Y)
    display = TransformDisplay.from_estimator(pipeline, X)
    np.testing.assert_allclose(display.curves[0].samples, StandardScaler().fit_transform(X).ravel())


def test_what_cannot_be_drawn(model, monkeypatch):
    for settings, message in [
        ({"features": ["z"]}, "no feature called 'z'"),
        ({"features": []}, "at least one feature"),
        ({"panels": "two"}, "panels must be one of"),
        ({"scale": "log"}, "scale must be one of"),
        ({"panels": "one", "scale": "knots"}, "needs panels='many'"),
    ]:
        with pytest.raises(ValueError, match=message):
            TransformDisplay.from_estimator(model, **settings)
    with pytest.raises(NotFittedError):
        TransformDisplay.from_estimator(MonotoneClassifier())
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"kernelweave\[plot\]"):
        TransformDisplay.from_estimator(model)
