"""What holds for every kernel on any samples."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernelweave.kernels import (
    RBF,
    ChiSquared,
    Cosine,
    HistogramIntersection,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    WidthFamily,
    freeze_kernels,
    iter_grams,
    resolve_entries,
)

QUICK = settings(max_examples=25, deadline=None)

WHOLE = st.integers(0, 9).map(float)
ANY = st.one_of(WHOLE, st.floats(0, 1e3, allow_subnormal=False), st.sampled_from([1e-8, 1e6]))


@st.composite
def samples(draw, entries=ANY):
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    X = draw(arrays(np.float64, (n, d), elements=entries))
    X.flags.writeable = False
    return X


SIMPLE = [
    Linear(),
    Cosine(),
    Polynomial(2, gamma=1e-3),
    Polynomial(3, gamma="scale"),
    RBF("scale"),
    RBF("median"),
    RBF(1e-4),
    Laplacian("median"),
    ChiSquared("median"),
    HistogramIntersection(),
]
every_kernel = st.sampled_from([*SIMPLE, Sigmoid(1e-3)])
definite_kernel = st.recursive(
    st.sampled_from(SIMPLE),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda a, c: c * a, inner, st.floats(0, 10)),
    ),
    max_leaves=3,
)


def assert_close(K, expected):
    np.testing.assert_allclose(K, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max(initial=0.0))


@QUICK
@given(definite_kernel, samples())
def test_promised_definiteness_holds(kernel, X):
    assert kernel.positive_semidefinite
    K = kernel.freeze(X)(X)
    smallest = np.linalg.eigvalsh(K).min()
    assert smallest >= -1e-8 * max(np.diagonal(K).max(), 0.0)


@QUICK
@given(every_kernel, samples(), st.randoms(use_true_random=False))
def test_permuting_samples_permutes_the_matrix(kernel, X, random):
    order = list(range(len(X)))
    random.shuffle(order)
    assert_close(kernel.freeze(X[order])(X[order]), kernel.freeze(X)(X)[np.ix_(order, order)])


@QUICK
@given(every_kernel, samples(), st.data())
def test_blocks_are_blocks(kernel, X, data):
    frozen = kernel.freeze(X)
    rows = data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=5))
    assert_close(frozen(X, X[rows]), frozen(X)[:, rows])
    assert_close(frozen.diag(X[rows]), frozen(X)[rows, rows])


@QUICK
@given(every_kernel, every_kernel, every_kernel, samples(WHOLE), st.floats(-5, 5))
def test_algebra_of_kernels_is_that_of_matrices(a, b, c, X, scale):
    a, b, c = (kernel.freeze(X) for kernel in (a, b, c))
    A, B, C = a(X), b(X), c(X)
    assert_close((a + b)(X), A + B)
    assert_close((a * b)(X), A * B)
    assert_close((scale * a)(X), scale * A)
    assert_close(((a + b) * c)(X), A * C + B * C)
    assert_close((a + scale * b + c).diag(X), np.diagonal(A + scale * B + C))


@QUICK
@given(samples(WHOLE), st.floats(0.1, 10))
def test_scaling_the_samples(X, factor):
    assert_close(Linear()(factor * X), factor**2 * Linear()(X))
    assert_close(Cosine()(factor * X), Cosine()(X))
    assert_close(HistogramIntersection()(factor * X), factor * HistogramIntersection()(X))
    for kernel in (RBF("median"), RBF("scale"), Laplacian(), ChiSquared(), Polynomial(gamma="scale"), Sigmoid()):
        assert_close(kernel(factor * X), kernel(X)) if X.std() > 0 else None


@QUICK
@given(samples(WHOLE), st.floats(-100, 100))
def test_distances_ignore_a_shift(X, shift):
    for kernel in (RBF(0.1), Laplacian(0.1)):
        assert_close(kernel(X + shift), kernel(X))


@QUICK
@given(definite_kernel, samples(WHOLE), st.data())
def test_a_given_matrix_stands_for_its_kernel(kernel, X, data):
    frozen = kernel.freeze(X)
    given_matrix = Precomputed(frozen(X))
    rows = data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=5))
    cols = data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=5))
    assert_close(given_matrix(np.array(rows), np.array(cols)), frozen(X[rows], X[cols]))


@QUICK
@given(samples(WHOLE), st.lists(every_kernel, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_sharing_and_reordered_columns_change_nothing(X, kernels, random):
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    entries = [(f"k{i}", kernel) for i, kernel in enumerate(kernels)] + [("w", WidthFamily(RBF(0.1)))]
    named = freeze_kernels(resolve_entries(entries), frame)
    names = list(frame.columns)
    random.shuffle(names)
    indices = []
    for index, K, _ in iter_grams(named, frame[names], frame):
        indices.append(index)
        assert_close(K, named[index].kernel(X, X.copy()))
    assert sorted(indices) == list(range(len(named)))


@pytest.mark.parametrize("kernel", SIMPLE, ids=repr)
def test_definite_on_a_larger_set_with_duplicates(kernel):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.poisson(2.0, size=(60, 5)) + 1e6 * (rng.random((60, 1)) < 0.1), 2, axis=0)
    K = kernel.freeze(X)(X)
    assert np.linalg.eigvalsh(K).min() >= -1e-8 * np.diagonal(K).max()
