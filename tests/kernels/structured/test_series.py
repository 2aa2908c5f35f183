from itertools import pairwise

import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.kernels import DynamicTimeWarping

RNG = np.random.default_rng(0)


def test_a_delay_costs_nothing():
    series = np.array([[0.0, 0, 1, 2, 1, 0, 0], [0.0, 1, 2, 1, 0, 0, 0]])
    assert DynamicTimeWarping().distances(series)[0, 1] == 0.0
    assert DynamicTimeWarping(band=0).distances(series)[0, 1] == ((series[0] - series[1]) ** 2).sum()
    assert DynamicTimeWarping(band=0, cost="absolute").distances(series)[0, 1] == np.abs(series[0] - series[1]).sum()


def test_a_wider_band_never_costs_more():
    series = RNG.normal(size=(8, 20))
    distances = [DynamicTimeWarping(band=band).distances(series) for band in (0, 1, 3, 20, None)]
    for narrow, wide in pairwise(distances):
        assert (wide <= narrow).all()
    np.testing.assert_array_equal(distances[-1], distances[-2])


def test_series_of_unequal_length_and_several_values():
    short, long = np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 1.0], [2.0, 1.0]])
    np.testing.assert_array_equal(DynamicTimeWarping().distances([short, long]), np.zeros((2, 2)))
    stacked = RNG.normal(size=(3, 5, 2))
    np.testing.assert_array_equal(DynamicTimeWarping()(stacked), DynamicTimeWarping()(list(stacked)))


def test_the_forms():
    series = RNG.normal(size=(5, 6))
    D = DynamicTimeWarping().distances(series)
    np.testing.assert_allclose(DynamicTimeWarping(0.2, power=0.5)(series), np.exp(-0.2 * np.sqrt(D)), rtol=1e-14)
    np.testing.assert_allclose(DynamicTimeWarping(0.2, form="negative")(series), -0.2 * D, rtol=1e-14)
    pairs = D[np.tri(5, k=-1, dtype=bool)]
    assert DynamicTimeWarping(power=0.5).freeze(series).gamma == pytest.approx(np.median(pairs) ** -0.5)


def test_it_is_really_indefinite():
    series = RNG.integers(0, 3, size=(30, 6)) * 1.0
    kernel = DynamicTimeWarping(gamma=0.3)
    assert not kernel.positive_semidefinite
    assert np.linalg.eigvalsh(kernel(series))[0] < -1e-3


def test_unequal_lengths_in_an_estimator():
    lengths = RNG.integers(8, 14, size=40)
    y = np.arange(40) % 2
    X = [np.sin((1 + 2 * label) * np.linspace(0, 3, n)) for n, label in zip(lengths, y, strict=True)]
    # 1000 is far more than the size of what is negative in the spectrum here.
    kernel = DynamicTimeWarping(gamma=50.0)
    model = MKLClassifier([kernel]).fit(X, y)
    assert model.score(X, y) == 1.0
    objects = np.empty(40, dtype=object)
    objects[:] = X
    np.testing.assert_array_equal(MKLClassifier([kernel]).fit(objects, y).predict(objects), y)
    vectors = np.stack([np.stack([series[:8], series[:8] ** 2], axis=1) for series in X])
    assert MKLClassifier([kernel]).fit(vectors, y).predict(vectors).shape == (40,)


@pytest.mark.parametrize(
    ("kernel", "X", "message"),
    [
        (DynamicTimeWarping(1.0, cost="cubic"), [[1.0]], "cost must be one of"),
        (DynamicTimeWarping(1.0, band=-1), [[1.0]], "band must be a whole number"),
        (DynamicTimeWarping(1.0, band=0.5), [[1.0]], "band must be a whole number"),
        (DynamicTimeWarping(1.0, form="odd"), [[1.0]], "form must be one of"),
        (DynamicTimeWarping(1.0, power=0.0), [[1.0]], "power must be a positive number"),
        (DynamicTimeWarping(1.0), [[1.0], []], "series 1 is empty"),
        (DynamicTimeWarping(1.0), [[1.0], [2.0, np.nan]], "series 1 holds NaN"),
        (DynamicTimeWarping(1.0), [[1.0], [[1.0, 2.0]]], "different numbers of values"),
        (DynamicTimeWarping(1.0), [np.zeros((2, 2, 2))], "series 0 has shape"),
    ],
)
def test_bad_input(kernel, X, message):
    with pytest.raises(ValueError, match=message):
        kernel(X)


def test_new_series_must_have_as_many_values():
    with pytest.raises(ValueError, match="2 and 1 values"):
        DynamicTimeWarping(1.0)(np.zeros((1, 3, 2)), np.zeros((1, 3)))
