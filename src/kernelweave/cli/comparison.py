"""Held-out accuracy of a model beside what it has to beat, on the same split.

The baselines are the same classifier (margin, C, trace, tolerance) on a kernel that was not
learned: the best single kernel, chosen by cross-validation on the training part, and the plain
average of the kernels. The kernels are prepared on the training part, once for all of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline

from kernelweave._compat import take_rows
from kernelweave.cli.console import Console
from kernelweave.exceptions import NotSeparableError
from kernelweave.gram.base import FloatArray, GramStack
from kernelweave.gram.build import PreparedKernels, build_stack
from kernelweave.kernels import Precomputed, freeze_kernels, resolve_entries
from kernelweave.solvers.blas_threads import blas_threads

__all__ = ["Comparison", "Split", "compare", "hold_out"]

Split = tuple[Any, Any]

_FOLDS = 3


@dataclass(frozen=True)
class Comparison:
    """Correct predictions on rows that were not fitted, summed over the splits.

    Parameters
    ----------
    n_train : int
        Rows fitted on, of the first split.
    n_test : int
        Rows predicted, of all splits.
    n_splits : int
        Number of splits.
    model, best_single, uniform : int or None
        Correct predictions; None where a hard margin has no solution on that kernel.
    chosen : list of str
        The single kernel that was chosen on each split; fewer where there was none to choose.
    """

    n_train: int
    n_test: int
    n_splits: int
    model: int
    best_single: int | None
    uniform: int | None
    chosen: list[str]


def compare(
    build: Callable[[Any], Any], X: Any, y: Any, splits: Sequence[Split], *, tol: float, console: Console
) -> Comparison:
    """See who predicts the rows best that were held out.

    Parameters
    ----------
    build : callable
        ``build(verbose)`` gives the model, not fitted: an `MKLClassifier` or a pipeline around one.
    X : array or frame of shape (n_samples, n_features)
        Samples.
    y : ndarray of shape (n_samples,)
        Labels.
    splits : sequence of (ndarray, ndarray)
        Rows to fit on and rows to predict; from `hold_out` or a cross-validator.
    tol : float
        Gap that the model is fitted to, for the progress bar.
    console : Console
        Where progress is shown.

    Returns
    -------
    Comparison
    """
    counts, chosen = [], []
    for number, (train, test) in enumerate(splits, 1):
        of = f", split {number} of {len(splits)}" if len(splits) > 1 else ""
        with blas_threads(len(train)):
            X_train, X_test = take_rows(X, train), take_rows(X, test)
            with console.fitting(f"Fitting {len(train)} rows{of}", tol) as verbose:
                model = build(verbose).fit(X_train, y[train])
            correct = int((model.predict(X_test) == y[test]).sum())
            with console.steps(f"Comparing with single kernels{of}") as advance:
                single, average, name = _baselines(model, (X_train, X_test), (y[train], y[test]), advance)
        counts.append((correct, single, average))
        chosen += [] if name is None else [name]
    model_counts, singles, averages = zip(*counts, strict=True)
    n_test = sum(len(test) for _, test in splits)
    return Comparison(
        len(splits[0][0]), n_test, len(splits), sum(model_counts), _total(singles), _total(averages), chosen
    )


def hold_out(y: Any, test_size: float, seed: int) -> Split:
    """A stratified split.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels.
    test_size : float
        Part to hold out.
    seed : int
        Of the random choice.

    Returns
    -------
    tuple of ndarray
        Rows to fit on, rows to predict.

    Raises
    ------
    ValueError
        When a class has too few rows.
    """
    classes, counts = np.unique(y, return_counts=True)
    way_out = "add rows, or use --test-size 0 to fit without a comparison"
    if counts.min() < 3:
        smallest = classes[counts.argmin()]
        raise ValueError(f"class {smallest!s} has too few rows ({counts.min()}) to hold some out; {way_out}")
    try:
        train, test = train_test_split(np.arange(len(y)), test_size=test_size, random_state=seed, stratify=y)
    except ValueError as error:
        raise ValueError(f"no stratified part of {test_size:g} can be held out: {error} {way_out}") from None
    if np.unique(y[train], return_counts=True)[1].min() < 2:
        raise ValueError(f"holding out {test_size:g} leaves a class with one row to fit on; {way_out}")
    return train, test


def _total(counts: Sequence[int | None]) -> int | None:
    return None if None in counts else sum(count for count in counts if count is not None)


def _baselines(
    model: Any, X: tuple[Any, Any], y: tuple[Any, Any], advance: Callable[[float, str], None]
) -> tuple[int | None, int | None, str | None]:
    """Correct predictions of the best single kernel and of the average, and the kernel's name."""
    final = model
    if isinstance(model, Pipeline):
        final, X = model.steps[-1][1], (model[:-1].transform(X[0]), model[:-1].transform(X[1]))
    named = freeze_kernels(resolve_entries(final.kernels), X[0], y[0])
    stack, prepared = build_stack(
        named,
        X[0],
        normalize=final.normalize,
        center=final.center,
        dtype=np.dtype(final.dtype),
        psd_repair=final.psd_repair,
    )
    judge = _Judge(final, len(named) if final.trace == "sum" else 1)
    best = _best_single(judge, stack, y[0], advance)
    average, single = _new_blocks(prepared, X[1], X[0], best)
    uniform = judge.correct(stack.combine(np.full(len(named), 1 / len(named))), y[0], average, y[1])
    if best is None:
        return None, uniform, None
    return judge.correct(stack.combine(np.eye(len(named))[best]), y[0], single, y[1]), uniform, named[best].name


class _Judge:
    """Fits the model's classifier on a given matrix and counts correct predictions."""

    def __init__(self, model: Any, factor: int) -> None:
        self.model, self.factor = model, factor

    def correct(self, train: FloatArray, y_train: Any, new: FloatArray, y_new: Any) -> int | None:
        n, total = len(y_train), len(y_train) + len(y_new)
        # In the precision of the storage, so that rounding is judged as such.
        K = np.zeros((total, total), dtype=self.model.dtype)
        K[:n, :n], K[n:, :n], K[:n, n:] = train, new, new.T
        # The budget "sum" counts every kernel; on one matrix that is this factor.
        K *= self.factor
        np.fill_diagonal(K[n:, n:], 1.0)
        # The matrix is prepared: normalised, centred and repaired already.
        prepared = {"normalize": None, "center": False, "psd_repair": None}
        baseline = clone(self.model).set_params(kernels=Precomputed(K), **prepared, verbose=0)
        try:
            baseline.fit(np.arange(n), y_train)
        except NotSeparableError:
            return None
        return int((baseline.predict(np.arange(n, total)) == y_new).sum())


def _best_single(judge: _Judge, stack: GramStack, y: Any, advance: Callable[[float, str], None]) -> int | None:
    """The kernel with the most correct predictions in cross-validation, the first of equals."""
    folds = min(_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    splits = list(StratifiedKFold(folds, shuffle=True, random_state=0).split(y, y))
    scores, n_kernels = [], stack.n_kernels
    for i in range(n_kernels):
        matrix, hits = stack.combine(np.eye(n_kernels)[i]), []
        for fitted, held in splits:
            with warnings.catch_warnings():
                # A choice among kernels does not hang on the last digit; the fits that are reported warn.
                warnings.simplefilter("ignore", ConvergenceWarning)
                block, new = matrix[np.ix_(fitted, fitted)], matrix[np.ix_(held, fitted)]
                hits.append(judge.correct(block, y[fitted], new, y[held]))
        total = _total(hits)
        scores.append(-1 if total is None else total)
        advance((i + 1) / n_kernels, f"{i + 1} of {n_kernels}")
    return int(np.argmax(scores)) if max(scores) >= 0 else None


def _new_blocks(prepared: PreparedKernels, X: Any, X_train: Any, best: int | None) -> tuple[FloatArray, FloatArray]:
    """Average and best single kernel between new and training samples."""
    everything = np.arange(X_train.shape[0], dtype=np.intp)
    kernels = np.arange(len(prepared.named), dtype=np.intp)
    average = np.zeros((X.shape[0], len(everything)))
    single = average
    for index, block in prepared.new_blocks(X, X_train, everything, kernels):
        average += block / len(kernels)
        if index == best:
            single = block
    return average, single
