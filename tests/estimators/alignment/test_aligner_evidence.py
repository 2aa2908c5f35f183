"""The Gaussian-process criterion of the aligner."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as GaussianRBF
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from kernelweave import KernelAligner
from kernelweave.kernels import RBF, Linear
from kernelweave.solvers.driver import Status

RNG = np.random.default_rng(1)
X = RNG.normal(size=(80, 4))
y = np.where(X[:, 0] + 0.3 * RNG.normal(size=80) > 0, 1, -1)
KERNELS = [("signal", RBF(gamma=0.5), [0]), ("noise", RBF(gamma=0.5), [1, 2]), ("line", Linear(), [3])]


def test_one_kernel_is_a_gaussian_process():
    model = KernelAligner([("k", RBF(gamma=0.5), [0])], criterion="evidence", centered=False, tol=1e-10).fit(X, y)
    kernel = ConstantKernel(1.0) * GaussianRBF(1.0, "fixed") + WhiteKernel(1.0)
    theirs = GaussianProcessRegressor(kernel, n_restarts_optimizer=3, random_state=0).fit(X[:, :1], y.astype(float))
    assert model.kernel_weights_[0] == pytest.approx(theirs.kernel_.k1.k1.constant_value, rel=1e-3)
    assert model.noise_ == pytest.approx(theirs.kernel_.k2.noise_level, rel=1e-3)
    # Their posterior mean, from our weights.
    K = model.transform(X)
    mean = K @ np.linalg.solve(K + model.noise_ * np.eye(80), y)
    np.testing.assert_allclose(mean, theirs.predict(X[:, :1]), atol=1e-3)


@pytest.mark.parametrize("centered", [True, False])
def test_it_finds_the_signal_and_says_it_is_local(centered):
    model = KernelAligner(KERNELS, criterion="evidence", centered=centered).fit(X, y)
    assert model.status_ is Status.LOCAL_MINIMUM
    assert model.certificate_.relative_gap <= 1e-8
    assert model.kernel_importances_[0] > 0.8 and model.kernel_importances_.sum() == pytest.approx(1.0)
    assert 0 < model.alignment_ <= 1 and model.alignments_[0] == model.alignments_.max()


def test_several_classes_and_pipelines():
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    aligner = KernelAligner(KERNELS, criterion="evidence")
    model = make_pipeline(aligner, SVC(kernel="precomputed", C=10.0)).fit(X, three)
    assert model.score(X, three) > 0.85
    assert clone(aligner).criterion == "evidence"
    refitted = model[0].set_params(criterion="alignment").fit(X, three)
    assert not hasattr(refitted, "noise_")


@pytest.mark.parametrize("change", [{"weights": "psd"}, {"X_unlabeled": X[:3]}])
def test_what_it_does_not_take(change):
    unlabelled = change.pop("X_unlabeled", None)
    with pytest.raises(ValueError, match="evidence"):
        KernelAligner(KERNELS, criterion="evidence", centered=False, **change).fit(X, y, X_unlabeled=unlabelled)
