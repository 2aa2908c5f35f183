import sys

import numpy as np
import pandas as pd
import pytest

from kernelweave.exceptions import MissingExtraError
from kernelweave.inspection import kernel_health
from kernelweave.kernels import (
    RBF,
    FunctionKernel,
    KullbackLeibler,
    Linear,
    Precomputed,
    Sigmoid,
    ValueDifference,
    WidthFamily,
)

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(20, 3)))


def infinite(X, Y):
    values = X @ Y.T
    values[2, 5] = np.inf
    values[4, 4] = np.nan
    return values


def failing(X, Y):
    raise RuntimeError("out of order")


@pytest.fixture(scope="module")
def health():
    kernels = [
        ("good", RBF(gamma=0.5)),
        ("tanh", Sigmoid(gamma=0.7, coef0=-0.5)),
        ("divergence", KullbackLeibler()),
        ("constant", FunctionKernel(lambda X, Y: np.full((len(X), len(Y)), 2.0))),
        ("zero", 0.0 * Linear()),
        ("infinite", FunctionKernel(infinite)),
        ("failing", FunctionKernel(failing)),
        ("misplaced", Linear(), [7]),
        ("family", WidthFamily(RBF(gamma=1.0), factors=(1, 2))),
    ]
    return kernel_health(kernels, X)


def test_verdicts(health):
    assert {row.name: row.verdict for row in health} == {
        "good": "ok",
        "tanh": "indefinite",
        "divergence": "not symmetric",
        "constant": "constant",
        "zero": "zero",
        "infinite": "not finite",
        "failing": "error",
        "misplaced": "error",
        "family[1]": "ok",
        "family[2]": "ok",
    }
    assert len(health) == 10
    assert "out of order" in health["failing"].advice
    assert "there is no column 7" in health["misplaced"].advice
    assert "row 2" in health["infinite"].advice
    assert "psd_repair" in health["tanh"].advice
    with pytest.raises(KeyError, match="there is no kernel 'best'; the kernels are good, tanh"):
        health["best"]


def test_numbers(health):
    matrix = Sigmoid(gamma=0.7, coef0=-0.5)(X)
    values, row = np.linalg.eigvalsh(matrix), health["tanh"]
    assert row.smallest_eigenvalue == pytest.approx(values[0])
    assert row.negative_share == pytest.approx(-values[values < 0].sum() / np.abs(values).sum())
    assert row.scale == pytest.approx(np.diagonal(matrix).mean())
    assert row.largest_entry == pytest.approx(np.abs(matrix).max())
    assert row.asymmetry == 0.0
    K = KullbackLeibler()(X)
    assert health["divergence"].asymmetry == pytest.approx(np.abs(K - K.T).max() / K.max())
    assert health["infinite"].n_not_finite == 2
    assert np.isnan(health["infinite"].smallest_eigenvalue)
    assert health["zero"].n_zero_rows == 20
    assert health["constant"].n_duplicates == 19


def test_zero_rows_and_duplicates():
    samples = np.vstack([X[:5], X[:2], np.zeros((1, 3))])
    (row,) = kernel_health([Linear()], samples)
    assert (row.verdict, row.n_zero_rows, row.n_duplicates) == ("ok", 1, 2)


def test_text_and_html(health):
    lines = repr(health).splitlines()
    assert lines[0].split()[:2] == ["kernel", "verdict"]
    assert [line.split()[0] for line in lines[1:11]] == [row.name for row in health]
    assert any(line.startswith("failing: ") and "out of order" in line for line in lines[12:])
    html = kernel_health([("<b>", Linear())], X)._repr_html_()
    assert "&lt;b&gt;" in html and "<b>" not in html
    assert html.count("<tr>") == 2


def test_frame(health, monkeypatch):
    frame = health.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.loc["tanh", "verdict"] == "indefinite"
    assert list(frame.index) == [row.name for row in health]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pandas"):
        health.to_frame()


def test_many_samples_are_looked_at_in_part():
    samples = RNG.normal(size=(60, 3))
    health = kernel_health([("tanh", Sigmoid(gamma=0.7, coef0=-0.5))], samples, max_samples=25)
    whole = kernel_health([("tanh", Sigmoid(gamma=0.7, coef0=-0.5))], samples)
    assert (health.n_samples, health.n_spectrum) == (60, 25)
    assert health["tanh"].smallest_eigenvalue >= whole["tanh"].smallest_eigenvalue
    assert "Eigenvalues of 25 of the 60 samples" in repr(health)
    assert "Eigenvalues of" not in repr(whole)
    assert "25 of the 60" in health._repr_html_()


def test_labels_and_given_matrices():
    categories, y = RNG.choice(list("ab"), size=(20, 2)).astype(object), RNG.integers(0, 2, size=20)
    assert kernel_health([ValueDifference()], categories, y)["valuedifference"].verdict == "ok"
    assert "has not learned from labels" in kernel_health([ValueDifference()], categories)["valuedifference"].advice
    matrix = (X @ X.T).astype(np.float32)
    matrix.flags.writeable = False
    assert kernel_health([Precomputed(matrix)], np.arange(20))["precomputed"].verdict == "ok"


def test_what_is_no_list_of_kernels():
    with pytest.raises(TypeError, match="entry 0 of kernels"):
        kernel_health([3.0], X)
