"""The classifiers that [H07] compares, each tuned on validation samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics.pairwise import euclidean_distances, linear_kernel
from sklearn.svm import SVC

from kernelweave import MonotoneClassifier

__all__ = [
    "Holdout",
    "Method",
    "baselines",
    "hinge_loss",
    "learned",
    "linear_machines",
    "powers",
    "tfidf",
    "tuned_error",
]

FloatArray = npt.NDArray[np.float64]
# Decision values of the validation and the test samples, for one setting.
Scores = tuple[FloatArray, FloatArray]
Kernels = Iterator[tuple[FloatArray, FloatArray, FloatArray]]

_WIDTHS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
_DEGREES = (2, 3)
_MACHINE_STEPS = 200_000  # a large C on classes that overlap would take minutes


@dataclass(frozen=True)
class Holdout:
    """Samples to train on, to choose settings by, and to test on.

    Parameters
    ----------
    X : tuple of three array-like or sparse matrices
        Training, validation and test samples.
    y : tuple of three ndarray
        Their classes, -1 and 1.
    penalties : sequence of float
        Values of C to choose from, in units of one over the mean of k(x, x) on the training samples.
    """

    X: tuple[Any, Any, Any]
    y: tuple[FloatArray, FloatArray, FloatArray]
    penalties: Sequence[float]


Method = Callable[[Holdout], Iterator[Scores]]


def tuned_error(method: Method, holdout: Holdout) -> float:
    """Error rate on the test samples at the setting that is best on the validation samples.

    Parameters
    ----------
    method : callable
        Gives the scores of its settings, one after another.
    holdout : Holdout
        The samples.

    Returns
    -------
    float
        Of equally many errors the smaller hinge loss decides.
    """
    best, error = (np.inf, np.inf), np.nan
    for held, test in method(holdout):
        quality = (float(np.mean(held * holdout.y[1] <= 0)), hinge_loss(held, holdout.y[1]))
        if quality < best:
            best, error = quality, float(np.mean(test * holdout.y[2] <= 0))
    return error


def hinge_loss(scores: FloatArray, y: FloatArray) -> float:
    """Mean of ``max(1 - y f, 0)``."""
    return float(np.maximum(1.0 - y * scores, 0.0).mean())


def baselines(*, gaussian: bool = True) -> dict[str, Method]:
    """Support vector machines on the features as they are, and on their square roots.

    Parameters
    ----------
    gaussian : bool, default=True
        With the polynomial and the Gaussian kernel.

    Returns
    -------
    dict
        By the column of the table.
    """
    methods: dict[str, Method] = {
        "Linear": linear_machines,
        "Sqrt": partial(linear_machines, transform=np.sqrt),
    }
    if gaussian:
        methods |= {"Poly": partial(_machines, kernels=_polynomial), "RBF": partial(_machines, kernels=_gaussian)}
    return methods


def linear_machines(holdout: Holdout, transform: Callable[[Any], Any] | None = None) -> Iterator[Scores]:
    """Linear machines on transformed features.

    Parameters
    ----------
    holdout : Holdout
        The samples.
    transform : callable, optional
        Of each entry; of sparse matrices the stored entries, so that it has to keep zero.

    Yields
    ------
    tuple of two ndarray
    """
    yield from _machines(holdout, kernels=partial(_linear, transform=transform))


def powers(exponents: Sequence[float]) -> Method:
    """Linear machines on ``x^a`` (0^0 = 0), a chosen with C."""

    def method(holdout: Holdout) -> Iterator[Scores]:
        for a in exponents:
            yield from linear_machines(holdout, _Power(a))

    return method


def tfidf(holdout: Holdout) -> Iterator[Scores]:
    """Linear machines on term frequencies times inverse document frequencies, of unit length."""
    weighting = TfidfTransformer().fit(holdout.X[0])
    weighted = tuple(weighting.transform(X) for X in holdout.X)
    yield from linear_machines(Holdout(weighted, holdout.y, holdout.penalties))


def learned(method: str, n_knots: Sequence[int] = (10,), **settings: Any) -> Method:
    """`MonotoneClassifier`, the number of knots chosen with C.

    Parameters
    ----------
    method : {"convex", "alternating"}
        CMono or LMono.
    n_knots : sequence of int
        Numbers to choose from.
    **settings : dict
        More for the classifier.
    """
    return partial(_monotone, method=method, n_knots=n_knots, settings=settings)


def _monotone(holdout: Holdout, method: str, n_knots: Sequence[int], settings: Mapping[str, Any]) -> Iterator[Scores]:
    train = holdout.X[0]
    # Transformed values lie in [0, 1], and are zero where a sparse matrix is.
    size = train.nnz / train.shape[0] if scipy.sparse.issparse(train) else train.shape[1] / 3.0
    for count in n_knots:
        for penalty in holdout.penalties:
            model = MonotoneClassifier(method, n_knots=count, C=penalty / size, **settings)
            with warnings.catch_warnings():
                # Some settings are hard to solve; their answers count for what they are worth.
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(train, holdout.y[0])
            yield model.decision_function(holdout.X[1]), model.decision_function(holdout.X[2])


def _machines(holdout: Holdout, kernels: Callable[[tuple[Any, Any, Any]], Kernels]) -> Iterator[Scores]:
    for K, held, test in kernels(holdout.X):
        size = float(np.mean(np.diagonal(K)))
        for penalty in holdout.penalties:
            machine: Any = SVC(kernel="precomputed", C=penalty / size, max_iter=_MACHINE_STEPS)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                machine.fit(K, holdout.y[0])
            yield machine.decision_function(held), machine.decision_function(test)


def _linear(parts: tuple[Any, Any, Any], transform: Callable[[Any], Any] | None = None) -> Kernels:
    first, *others = parts if transform is None else [_entrywise(transform, X) for X in parts]
    K, held, test = (np.asarray(linear_kernel(X, first)) for X in (first, *others))
    yield K, held, test


def _polynomial(parts: tuple[Any, Any, Any]) -> Kernels:
    for linear in _linear(parts):
        size = float(np.mean(np.diagonal(linear[0])))
        for degree in _DEGREES:
            K, held, test = ((1.0 + inner / size) ** degree for inner in linear)
            yield K, held, test


def _gaussian(parts: tuple[Any, Any, Any]) -> Kernels:
    squared = [euclidean_distances(X, parts[0], squared=True) for X in parts]
    middle = float(np.median(squared[0][np.triu_indices(len(squared[0]), 1)]))
    for width in _WIDTHS:
        K, held, test = (np.exp(-distances / (width * middle)) for distances in squared)
        yield K, held, test


def _entrywise(transform: Callable[[Any], Any], X: Any) -> Any:
    """Applied to the stored entries of a sparse matrix: transforms that keep zero."""
    if not scipy.sparse.issparse(X):
        return transform(X)
    changed = X.copy()
    changed.data = transform(changed.data)
    return changed


@dataclass(frozen=True)
class _Power:
    exponent: float

    def __call__(self, values: FloatArray) -> FloatArray:
        return np.where(values > 0, 1.0, 0.0) if self.exponent == 0 else values**self.exponent
