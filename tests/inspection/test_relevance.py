"""Relevance maps: numbers first, then the picture."""

import matplotlib
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from kernelweave import MixedNormClassifier, MKLClassifier
from kernelweave.inspection import RelevanceDisplay, relevance_map
from kernelweave.kernels import RBF, Linear

matplotlib.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")
KERNELS = [("one", RBF(gamma=1.0), [0]), ("two", Linear(), [1, 2])]


@pytest.fixture
def data():
    X = np.random.default_rng(0).normal(size=(30, 3))
    return X, np.where(X[:, 0] > 0, "yes", "no")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_is_the_scaled_size_of_the_coefficients(data, penalty):
    model = MixedNormClassifier(KERNELS, penalty=penalty).fit(*data)
    before = vars(model).copy()
    display = RelevanceDisplay.from_estimator(model)
    coef = np.abs(model.coef_.toarray() if penalty == "l1" else model.coef_)
    np.testing.assert_allclose(display.relevance, (coef / coef.max()).T)
    np.testing.assert_array_equal(display.relevance, relevance_map(model))
    assert vars(model) == before
    (image,) = display.ax_.images
    np.testing.assert_array_equal(image.get_array(), display.relevance)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["one", "two"]
    assert len(display.figure_.axes) == 2  # with the colour bar


def test_order_axes_and_several_classes(data):
    X, _ = data
    model = MixedNormClassifier(KERNELS).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    _, ax = plt.subplots()
    display = RelevanceDisplay.from_estimator(model, class_label=2, order=[5, 3], ax=ax, colorbar=False)
    assert display.ax_ is ax and len(ax.figure.axes) == 1
    np.testing.assert_allclose(display.relevance, relevance_map(model, class_label=2)[:, [5, 3]])
    sizes = np.max([np.abs(c if isinstance(c, np.ndarray) else c.toarray()) for c in model.coef_], axis=0)
    np.testing.assert_allclose(relevance_map(model), (sizes / sizes.max()).T)


def test_no_coefficient_is_lost_among_many_samples():
    relevance = np.zeros((1, 5000))
    relevance[0, 1234] = 1.0
    (image,) = RelevanceDisplay(relevance, ["k"]).plot().ax_.images
    assert image.get_array().shape == (1, 800) and image.get_array().max() == 1.0


def test_what_has_no_map_is_refused(data):
    with pytest.raises(NotFittedError):
        relevance_map(MixedNormClassifier())
    with pytest.raises(ValueError, match="got MKLClassifier"):
        RelevanceDisplay.from_estimator(MKLClassifier().fit(*data))
    with pytest.raises(ValueError, match="class_label 'maybe' is not among"):
        relevance_map(MixedNormClassifier(KERNELS).fit(*data), class_label="maybe")
    nothing = MixedNormClassifier(KERNELS, alpha=1e9).fit(*data)
    assert not relevance_map(nothing).any()
