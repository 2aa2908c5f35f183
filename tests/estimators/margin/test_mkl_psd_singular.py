"""Weights of any sign on kernels that are nearly singular or of low rank: the normal case."""

import warnings

import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.exceptions import NotSeparableError
from kernelweave.kernels import RBF, Linear, Polynomial
from kernelweave.solvers.driver import Status

RNG = np.random.default_rng(2)
X = RNG.normal(size=(80, 6))
Y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.4 * RNG.normal(size=80) > 0.3, 1, 0)
SINGULAR = {
    "wide": [("wide", RBF(gamma=1e-6)), ("wider", RBF(gamma=1e-8)), ("near", RBF(gamma=0.3))],
    "wide only": [("a", RBF(gamma=1e-4)), ("b", RBF(gamma=1e-5)), ("c", RBF(gamma=1e-6))],
    "few features": [("one", Linear(), [0]), ("two", Linear(), [1, 2]), ("three", Linear(), [3, 4, 5])],
    "wide and few features": [("wide", RBF(gamma=1e-6)), ("two", Linear(), [0, 1]), ("square", Polynomial(2), [0, 1])],
    "the same twice": [("a", Linear()), ("b", Linear()), ("c", RBF(gamma=0.3))],
}
CRITERIA = [{"margin": "l1"}, {"margin": "l2"}, {"margin": "hard"}, {"margin": "l2", "C": "auto"}]


# The hard margin of wide kernels alone on duplicates is a test of its own, below.
CASES = [
    pytest.param(kernels, criterion, repeats, id=f"{name}-{criterion}-{repeats}")
    for name, kernels in SINGULAR.items()
    for criterion in CRITERIA
    for repeats in (1, 2)
    if (name, criterion["margin"], repeats) != ("wide only", "hard", 2)
]


@pytest.mark.parametrize(("kernels", "criterion", "repeats"), CASES)
def test_it_is_certified(kernels, criterion, repeats):
    """Samples given twice make every matrix singular on top."""
    samples, labels = np.tile(X, (repeats, 1)), np.tile(Y, repeats)
    model = MKLClassifier(kernels, weights="psd", tol=1e-6, **criterion)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            model.fit(samples, labels)
        except NotSeparableError as error:
            assert criterion["margin"] == "hard" and error.direction.shape == (1, len(labels))
            return
    assert model.status_ is Status.OPTIMAL and model.certificate_.relative_gap <= 1e-6
    K = model.combined_kernel(samples)
    assert np.linalg.eigvalsh(0.5 * (K + K.T))[0] >= -1e-8 * np.diagonal(K).max()


def test_at_the_rounding_of_the_kernels_the_gap_is_told():
    """omega is 7e7: what separates is 1e-8 of the kernels, so their rounding is worth 1e-8 to 1e-6 of omega."""
    model = MKLClassifier(SINGULAR["wide only"], weights="psd", margin="hard", tol=1e-6)
    once = model.fit(X, Y).objective_
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(np.tile(X, (2, 1)), np.tile(Y, 2))
    # The optimum of samples given twice is that of the samples.
    assert model.objective_ == pytest.approx(once, rel=1e-6)
    assert model.certificate_.relative_gap <= 2e-5
    assert model.status_ is Status.OPTIMAL or any("gap" in str(w.message) for w in told)
