"""KernelAligner through its public face."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from kernelweave import KernelAligner, alignment, centered_alignment
from kernelweave.exceptions import InvalidKernelError
from kernelweave.kernels import RBF, Linear, Polynomial, Precomputed

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4))
Y = np.where(X[:, 0] * X[:, 1] + 0.2 * RNG.normal(size=80) > 0, "in", "out")
K_SQUARE = (X @ X.T) ** 2
KERNELS = [("line", Linear()), ("square", Polynomial(degree=2)), ("near", RBF(gamma=0.5)), ("noise", Linear(), [3])]


@pytest.mark.parametrize("weights", ["nonnegative", "psd"])
@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("storage", ["dense", "auto"])
def test_learned_kernel_has_the_alignment_it_claims(weights, centered, storage):
    kernels = KERNELS if storage == "dense" else [("a", Linear(), [0]), ("b", Linear(), [1, 2]), ("c", Linear())]
    aligner = KernelAligner(kernels, weights=weights, centered=centered, storage=storage).fit(X, Y)
    K = aligner.transform(X)
    assert K.shape == (80, 80) and np.allclose(K, K.T)
    score = centered_alignment if centered else alignment
    assert score(K, Y) == pytest.approx(aligner.alignment_, rel=1e-8)
    assert alignment(K, np.where(Y == "in", 1, -1)) <= 1
    assert np.linalg.norm(K) == pytest.approx(1.0)
    assert aligner.alignment_ >= aligner.alignments_.max() - 1e-9
    assert aligner.kernel_importances_.sum() == pytest.approx(1.0)
    assert np.linalg.eigvalsh(K)[0] > -1e-9
    if weights == "nonnegative":
        assert (aligner.kernel_weights_ >= 0).all()
    assert aligner.certificate_.relative_gap <= 1e-8


def test_free_signs_align_at_least_as_well():
    values = [KernelAligner(KERNELS, weights=w).fit(X, Y).alignment_ for w in ("nonnegative", "psd")]
    assert values[1] >= values[0] - 1e-9


def test_single_kernels():
    aligner = KernelAligner(KERNELS).fit(X, Y)
    for i, (name, *_) in enumerate(KERNELS):
        alone = KernelAligner([KERNELS[i]]).fit(X, Y)
        assert alone.alignment_ == pytest.approx(aligner.alignments_[i]), name


def test_new_samples_are_centred_like_the_training_samples():
    aligner = KernelAligner(KERNELS).fit(X, Y)
    np.testing.assert_allclose(aligner.transform(X[:7]), aligner.transform(X)[:7], atol=1e-12)
    np.testing.assert_allclose(aligner.transform(X).sum(axis=0), 0, atol=1e-10)


def test_unlabelled_samples_count_in_the_norm_only():
    new = RNG.normal(size=(20, 4))
    aligner = KernelAligner(KERNELS, centered=False).fit(X, Y, X_unlabeled=new)
    everything = np.vstack([X, new])
    alone = KernelAligner(KERNELS, centered=False).fit(X, Y)
    assert aligner.transform(everything).shape == (100, 80)
    assert not np.allclose(aligner.kernel_weights_, alone.kernel_weights_)
    assert alignment(aligner.transform(X), Y) == pytest.approx(aligner.alignment_)
    with pytest.raises(ValueError, match="centered=False"):
        KernelAligner(KERNELS).fit(X, Y, X_unlabeled=new)


def test_several_classes():
    classes = np.digitize(X[:, 0], [-0.5, 0.5])
    aligner = KernelAligner([("signal", Linear(), [0]), ("noise", Linear(), [2, 3])]).fit(X, classes)
    assert aligner.kernel_importances_[0] > 0.9
    assert centered_alignment(aligner.transform(X), classes) == pytest.approx(aligner.alignment_)


def test_in_a_pipeline_and_a_grid():
    model = make_pipeline(KernelAligner(KERNELS), SVC(kernel="precomputed", C=1e3))
    assert cross_val_score(model, X, Y, cv=3).mean() > 0.7
    grid = GridSearchCV(model, {"kernelaligner__near__gamma": [0.1, 0.5]}, cv=3).fit(X, Y)
    assert grid.best_params_["kernelaligner__near__gamma"] in (0.1, 0.5)


def test_given_matrices_and_copies():
    K = X @ X.T
    aligner = KernelAligner([("given", Precomputed(K)), ("line", Precomputed(K**2))])
    fitted = aligner.fit(np.arange(60), Y[:60])
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(np.arange(60, 80)), fitted.transform(np.arange(60, 80)))
    assert not hasattr(clone(fitted), "kernel_weights_")
    assert len(fitted.get_feature_names_out()) == 60


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": "any"}, "weights must be one of"),
        ({"normalize": "l2"}, "normalize must be one of"),
        ({"tol": 0.0}, "tol must be"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        KernelAligner(KERNELS, **arguments).fit(X, Y)


def test_constant_kernels_get_no_weight():
    kernels = [
        ("flat", Precomputed(np.ones((80, 80)))),
        ("good", Precomputed(X @ X.T)),
        ("line", Precomputed(K_SQUARE)),
    ]
    for weights in ("nonnegative", "psd"):
        with pytest.warns(UserWarning, match="Constant on the training samples: kernel 'flat'"):
            aligner = KernelAligner(kernels, weights=weights).fit(np.arange(80), Y)
        assert aligner.kernel_weights_[0] == aligner.kernel_importances_[0] == aligner.alignments_[0] == 0.0
        without = KernelAligner(kernels[1:], weights=weights).fit(np.arange(80), Y)
        np.testing.assert_allclose(aligner.transform(np.arange(80)), without.transform(np.arange(80)), atol=1e-12)
    assert KernelAligner(kernels, centered=False).fit(np.arange(80), Y).kernel_weights_[0] >= 0
    with pytest.raises(InvalidKernelError, match="Every kernel is constant"):
        KernelAligner(kernels[:1]).fit(np.arange(80), Y)
