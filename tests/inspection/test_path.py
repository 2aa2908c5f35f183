"""Pictures of paths."""

import matplotlib
import numpy as np
import pytest

from kernelweave import MixedNormClassifier, MixedNormClassifierCV, mixed_norm_path
from kernelweave.inspection import PathDisplay
from kernelweave.kernels import RBF, Linear

matplotlib.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")
KERNELS = [("one", RBF(gamma=1.0), [0]), ("two", Linear(), [1, 2])]


@pytest.fixture
def data():
    X = np.random.default_rng(0).normal(size=(30, 3))
    return X, X[:, 0] > 0


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_a_line_for_each_kernel(data):
    path = mixed_norm_path(MixedNormClassifier(KERNELS), *data, n_alphas=4)
    display = PathDisplay.from_path(path)
    assert [line.get_label() for line in display.ax_.lines] == ["one", "two"]
    for line, norms in zip(display.ax_.lines, path.kernel_norms.T, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), norms)
        np.testing.assert_array_equal(line.get_xdata(), path.alphas)
    assert display.score_ax_ is None and display.ax_.get_xscale() == "log"
    left, right = display.ax_.get_xlim()
    assert left > path.alphas.max() and right < path.alphas.min()
    _, ax = plt.subplots()
    again = PathDisplay.from_estimator(MixedNormClassifier(KERNELS), *data, n_alphas=4, ax=ax)
    assert again.ax_ is ax
    np.testing.assert_allclose(again.kernel_norms, display.kernel_norms)


def test_scores_and_choice_of_cross_validation(data):
    model = MixedNormClassifierCV(KERNELS, n_alphas=3, cv=2).fit(*data)
    display = PathDisplay.from_estimator(model, *data)
    np.testing.assert_array_equal(display.score_ax_.lines[0].get_ydata(), model.cv_scores_.mean(axis=1))
    marked = display.ax_.lines[-1].get_xdata()
    np.testing.assert_array_equal(marked, [model.alpha_] * 2)
    at = int(np.flatnonzero(model.alphas_ == model.alpha_)[0])
    np.testing.assert_allclose(display.kernel_norms[at], model.kernel_norms_, rtol=1e-2, atol=1e-4)
    other = PathDisplay.from_estimator(model, *data, alphas=[5.0, 1.0])
    assert other.cv_scores is None and other.score_ax_ is None


def test_norms_of_several_classes_are_joined(data):
    X, _ = data
    path = mixed_norm_path(MixedNormClassifier(KERNELS), X, np.digitize(X[:, 0], [-0.5, 0.5]), n_alphas=3)
    joined = PathDisplay.from_path(path).kernel_norms
    np.testing.assert_allclose(joined, np.linalg.norm(path.kernel_norms, axis=1))
