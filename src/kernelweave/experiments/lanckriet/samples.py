"""The five data sets of [L04], Tables 1 to 4: preparation, splits, Gram matrices, fits."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler

from kernelweave import MKLClassifier
from kernelweave.datasets import (
    load_breast_cancer_wisconsin,
    load_heart,
    load_ionosphere,
    load_sonar,
    make_twonorm,
)
from kernelweave.experiments.experiment import Settings
from kernelweave.kernels import RBF, Kernel, Linear, Polynomial, Precomputed

__all__ = [
    "CRITERIA",
    "PART_NAMES",
    "FloatArray",
    "Sample",
    "accuracy",
    "draw",
    "fit_matrices",
    "table_matrices",
    "unit_diagonal",
]

FloatArray = npt.NDArray[np.float64]

# The criteria as the tables name them, with what makes `MKLClassifier` use them.
CRITERIA: Mapping[str, Mapping[str, Any]] = {
    "HM": {"margin": "hard"},
    "SM1": {"margin": "l1", "C": 1.0},
    "SM2": {"margin": "l2", "C": 1.0},
    "SM2,C": {"margin": "l2", "C": "auto"},
}
_TRAIN_SHARE = 0.8
# [L04] does not print it: this size gives the printed omega where its second kernel is the identity.
_TWONORM_SIZE = 330
_LOADERS: dict[str, Callable[..., Any]] = {
    "heart": load_heart,
    "sonar": load_sonar,
    "breast": load_breast_cancer_wisconsin,
    "ionosphere": load_ionosphere,
}
PART_NAMES = (*_LOADERS, "twonorm")


@dataclass(frozen=True)
class Sample:
    """One random split, the samples to train on first.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        All samples.
    y : ndarray of shape (n,)
        Class codes 0 and 1.
    n_train : int
        How many are labelled.
    """

    X: FloatArray
    y: npt.NDArray[np.int64]
    n_train: int


def draw(part: str, split: int, settings: Settings, *, standardise: bool | None = None) -> Sample:
    """Random split number ``split``: 80 % to train on, 20 % to predict.

    Parameters
    ----------
    part : str
        One of ``PART_NAMES``.
    split : int
        Number of the split; twonorm is generated anew for each.
    settings : Settings
        Data folder and seed.
    standardise : bool or None, default=None
        Whether features get mean 0 and variance 1; None for heart only.

    Returns
    -------
    Sample
        By default heart is standardised, the others are as they come; rows of breast cancer with missing
        values are left out.
    """
    random = np.random.RandomState([settings.seed, zlib.crc32(part.encode()), split])
    if part == "twonorm":
        data = make_twonorm(_TWONORM_SIZE, random_state=random)
    else:
        data = _LOADERS[part](data_home=settings.data_home)
    X = (
        StandardScaler().fit_transform(data.data)
        if standardise or (standardise is None and part == "heart")
        else data.data
    )
    order = random.permutation(len(X))
    return Sample(X[order], data.target[order], round(_TRAIN_SHARE * len(X)))


def unit_diagonal(kernel: Kernel, X: FloatArray) -> FloatArray:
    """Gram matrix over all samples, k(x, z) / sqrt(k(x, x) k(z, z)).

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray of shape (n, n_features)
        Samples. One with k(x, x) = 0 keeps a row of zeros.

    Returns
    -------
    ndarray of shape (n, n)
    """
    K = np.array(kernel(X), dtype=np.float64)
    norms = np.sqrt(np.diag(K))
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return K * scale[:, None] * scale[None, :]


def table_matrices(sample: Sample, sigma: float) -> dict[str, FloatArray]:
    """The three kernels of Tables 1 to 3, over all samples.

    Parameters
    ----------
    sample : Sample
        The split.
    sigma : float
        Width of K2.

    Returns
    -------
    dict of str to ndarray of shape (n, n)
        K1 = (1 + x'z)^2, K2 = exp(-0.5 |x - z|^2 / sigma), K3 = x'z, with unit diagonals.
    """
    kernels = {"K1": Polynomial(degree=2), "K2": RBF(gamma=0.5 / sigma), "K3": Linear()}
    return {name: unit_diagonal(kernel, sample.X) for name, kernel in kernels.items()}


def fit_matrices(matrices: Mapping[str, FloatArray], sample: Sample, budget: float, **options: Any) -> MKLClassifier:
    """Fit Gram matrices over all samples; the test samples are known, but not their classes.

    Parameters
    ----------
    matrices : mapping of str to ndarray of shape (n, n)
        Gram matrices by name, used as they are.
    sample : Sample
        The split.
    budget : float
        The trace budget c divided by n.
    **options : dict
        More for `MKLClassifier`.

    Returns
    -------
    MKLClassifier

    Raises
    ------
    NotSeparableError
        For a hard margin without solution.
    """
    n, index = len(sample.y), np.arange(len(sample.y))
    kernels = [(name, Precomputed(K)) for name, K in matrices.items()]
    model = MKLClassifier(kernels, trace=float(budget * n), normalize=None, **options)
    model.fit(index[: sample.n_train], sample.y[: sample.n_train], X_unlabeled=index[sample.n_train :])
    return model


def accuracy(model: MKLClassifier, sample: Sample) -> float:
    """Correct predictions on the test samples, in percent.

    Parameters
    ----------
    model : MKLClassifier
        From `fit_matrices`.
    sample : Sample
        The split.

    Returns
    -------
    float
    """
    return 100.0 * float(np.mean(model.transduction_ == sample.y[sample.n_train :]))
