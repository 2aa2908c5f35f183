"""Every kernel of ours keeps the contract (that the suite can fail is shown in tests/testing)."""

import re

import numpy as np
import pytest
import scipy.sparse
from sklearn.gaussian_process.kernels import DotProduct, Matern, RationalQuadratic

from kernelweave.kernels import (
    RBF,
    Alignment,
    ChiSquared,
    Constant,
    Cosine,
    DynamicTimeWarping,
    EditDistance,
    FunctionKernel,
    GaussianJensenShannon,
    GaussianKullbackLeibler,
    GaussianProcessKernel,
    HistogramIntersection,
    JensenShannon,
    Kernel,
    KullbackLeibler,
    Laplacian,
    Linear,
    MetricKernel,
    Polynomial,
    Precomputed,
    Sigmoid,
    ValueDifference,
    gaussian_rows,
)
from kernelweave.testing import check_kernel

RNG = np.random.default_rng(0)
VECTORS, NEW_VECTORS = RNG.normal(size=(17, 4)), RNG.normal(size=(6, 4))
HISTOGRAMS, NEW_HISTOGRAMS = RNG.poisson(1.5, size=(17, 9)) * 1.0, RNG.poisson(1.5, size=(6, 9)) * 1.0
WORDS = np.array(["abba", "baobab", "cab", "decade", "facade", "bead", "dab"], dtype=object)
MATRIX = VECTORS @ VECTORS.T


def minimum(X, Y):
    return np.minimum(X[:, None, :], Y[None, :, :]).sum(axis=2) + 10.0


class SharedLetters(Kernel):
    """The smallest kernel of structured samples: how many letters two words share."""

    vector_input = False

    def __call__(self, X, Y=None):
        counts = [[{c: word.count(c) for c in word} for word in words] for words in (X, X if Y is None else Y)]
        return np.array([[sum(a[c] * b.get(c, 0) for c in a) for b in counts[1]] for a in counts[0]], dtype=float)


ON_VECTORS = [
    Linear(),
    Constant(),
    Cosine(),
    Polynomial(),
    Polynomial(degree=3, gamma="scale", coef0=0.5),
    Polynomial(degree=2, coef0=-1.0),
    Sigmoid(),
    Sigmoid(gamma=0.1, coef0=-0.5),
    RBF(),
    RBF(gamma="median"),
    RBF(gamma=0.3),
    Laplacian(),
    Laplacian(gamma=0.3),
    FunctionKernel(minimum),
    GaussianProcessKernel(Matern(nu=1.5) + 0.5 * RationalQuadratic()),
    GaussianProcessKernel(DotProduct()),
    *(MetricKernel(name) for name in ("linear", "polynomial", "rbf", "laplacian", "cosine", "sigmoid")),
    MetricKernel("rbf", {"gamma": 0.3}),
    RBF(gamma=0.3) + Linear(),
    RBF(gamma="median") + 0.5 * RBF(gamma="scale"),
    RBF(gamma="median") * Polynomial(gamma="scale"),
    RBF(gamma=0.3) * RBF(gamma="scale"),
    2.5 * Laplacian(),
    -1.0 * Linear(),
    Linear() + Sigmoid(),
    2.0 * Linear(),
]
ON_HISTOGRAMS = [
    ChiSquared(),
    ChiSquared(gamma=0.1),
    HistogramIntersection(),
    MetricKernel("chi2"),
    JensenShannon(),
    JensenShannon(gamma=0.3),
    KullbackLeibler(),
    KullbackLeibler(gamma=0.3, smoothing=0.2),
    KullbackLeibler(symmetrize=True),
    0.5 * KullbackLeibler() + KullbackLeibler(gamma=2.0),
]
BAGS = [RNG.normal(size=(6, 3)) * RNG.gamma(3.0) + RNG.normal(size=3) for _ in range(23)]
CATEGORIES = np.array(
    [["red", "round"], ["blue", "flat"], ["red", "flat"], ["green", "round"], ["red", "tall"]], object
)


def name_of(kernel):
    # The same in every process: no addresses.
    return re.sub(r" at 0x\w+", "", repr(kernel))


@pytest.mark.parametrize("kernel", ON_VECTORS, ids=name_of)
def test_kernels_of_vectors(kernel):
    check_kernel(kernel, VECTORS, NEW_VECTORS)


@pytest.mark.parametrize("kernel", [*ON_HISTOGRAMS, MetricKernel("additive_chi2")], ids=name_of)
def test_kernels_of_histograms(kernel):
    check_kernel(kernel, HISTOGRAMS, NEW_HISTOGRAMS)


@pytest.mark.parametrize("container", [scipy.sparse.csr_matrix, scipy.sparse.csc_array])
@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Cosine(),
        Polynomial(gamma="scale"),
        Sigmoid(),
        RBF(),
        RBF(gamma="median"),
        Laplacian(),
        ChiSquared(),
        HistogramIntersection(),
        JensenShannon(),
        KullbackLeibler(),
        0.5 * Linear() + RBF(),
        MetricKernel("rbf"),
        GaussianProcessKernel(Matern()),
    ],
    ids=name_of,
)
def test_sparse_samples(kernel, container):
    check_kernel(kernel, container(HISTOGRAMS), container(NEW_HISTOGRAMS))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("labels", [None, [f"node {i}" for i in range(17)]])
def test_precomputed(dtype, labels):
    samples = np.arange(17) if labels is None else np.array(labels)
    matrix = MATRIX.astype(dtype)
    matrix.flags.writeable = False
    kernel = Precomputed(matrix, labels)
    check_kernel(kernel, samples, samples[[3, 0, 5]])
    check_kernel(kernel, samples[::-1][:-1])


@pytest.mark.parametrize("samples", [WORDS, list(WORDS)], ids=["array", "list"])
def test_structured_samples(samples):
    check_kernel(SharedLetters(), samples)
    check_kernel(0.5 * SharedLetters() + SharedLetters() * SharedLetters(), samples)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize(
    "make",
    [
        GaussianKullbackLeibler,
        lambda covariance: GaussianKullbackLeibler(0.2, covariance=covariance, symmetrize=True),
        GaussianJensenShannon,
    ],
)
def test_kernels_of_gaussians(make, covariance):
    rows = gaussian_rows(BAGS, covariance=covariance)
    check_kernel(make(covariance=covariance), rows[:17], rows[17:])


@pytest.mark.parametrize(
    "kernel",
    [
        DynamicTimeWarping(),
        DynamicTimeWarping(gamma=0.1, band=1, cost="absolute"),
        DynamicTimeWarping(power=0.5),
        DynamicTimeWarping(form="negative", power=0.5),
    ],
    ids=name_of,
)
def test_kernels_of_series(kernel):
    check_kernel(kernel, VECTORS, NEW_VECTORS)
    unequal = [RNG.normal(size=(length, 2)) for length in (3, 5, 4, 2, 6)]
    check_kernel(kernel, unequal, unequal[1:3])


@pytest.mark.parametrize(
    "kernel",
    [
        Alignment(),
        Alignment("global", match=1.0, mismatch=-0.5, gap_open=1.0),
        Alignment(matrix=RNG.normal(size=(7, 7)), alphabet="abcdefo"),
    ],
    ids=["local", "global", "table"],
)
@pytest.mark.parametrize("samples", [WORDS, list(WORDS)], ids=["array", "list"])
def test_alignment_scores(kernel, samples):
    check_kernel(kernel, samples)


@pytest.mark.parametrize(
    "kernel",
    [
        EditDistance(),
        EditDistance(gamma=0.5, normalized=True),
        EditDistance(weights=(1, 2, 2)),
        EditDistance(form="negative"),
    ],
    ids=name_of,
)
def test_edit_distances(kernel):
    pytest.importorskip("rapidfuzz")
    check_kernel(kernel, WORDS)
    check_kernel(kernel, [word.split("a") for word in WORDS])


@pytest.mark.parametrize("settings", [{}, {"weighted": True}, {"order": 1, "form": "negative"}], ids=repr)
def test_value_differences(settings):
    check_kernel(ValueDifference.from_labels(CATEGORIES, [0, 1, 0, 2, 1], **settings), CATEGORIES)
