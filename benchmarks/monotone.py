"""Monotone transforms: time in units of one linear SVM, growth with samples, features and ramps, sparse text."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.harness import Row, cpu_seconds
from kernelweave import MonotoneClassifier
from kernelweave.gram.base import FloatArray

__all__ = ["rows"]

_TOL = 1e-4


def rows(*, large: bool = False) -> list[Row]:
    """All figures; ``large`` adds 100 000 samples, dense, sparse and text."""
    warnings.simplefilter("ignore")
    MonotoneClassifier().fit(*_dense(100, 3))
    MonotoneClassifier(solver="descent").fit(*_dense(100, 3))
    result = []
    for n, J, goal in [(1000, 5, 8.0), (1000, 20, 8.0), (10_000, 5, 8.0), (10_000, 20, 8.0)]:
        result.append(_units(f"dense n={n} d=20 J={J}", *_dense(n, 20), J, goal))
    for n, goal in [(1000, 5.0), (10_000, 5.0)]:
        result.append(_units(f"sparse 1 % n={n} d=1000 J=5", *_sparse(n, 1000), 5, goal))
    result += _growth()
    if large:
        result.append(_units("dense n=100000 d=20 J=20", *_dense(100_000, 20), 20, 5.0))
        result.append(_units("sparse 1 % n=100000 d=1000 J=5", *_sparse(100_000, 1000), 5, 5.0))
        result.append(_units("text of 100000 documents, 30000 words, J=5", *_text(100_000, 30_000), 5, 5.0))
    return result


def _dense(n: int, d: int) -> tuple[FloatArray, FloatArray]:
    """Squared features of a noisy linear rule: the square root is to be found."""
    rng = np.random.default_rng(0)
    latent = rng.random((n, d))
    return latent**2, np.where(latent.sum(axis=1) - 0.5 * d + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


def _sparse(n: int, d: int) -> tuple[Any, FloatArray]:
    """Counts at 1 % of the places, of which three in ten features matter, by their square roots."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(n, d, 0.01, format="csr", random_state=0, data_rvs=lambda k: rng.geometric(0.3, k) + 0.0)
    return X, _rule(X, rng.normal(size=d) * (rng.random(d) < 0.3), rng)


def _text(n: int, n_words: int) -> tuple[Any, FloatArray]:
    """Word counts with Zipf's frequencies, 100 words a document."""
    rng = np.random.default_rng(0)
    share = 1.0 / np.arange(10, n_words + 10)
    words = rng.choice(n_words, size=(n, 100), p=share / share.sum())
    documents = np.repeat(np.arange(n), 100)
    X = scipy.sparse.csr_matrix((np.ones(n * 100), (documents, words.ravel())), shape=(n, n_words))
    X.sum_duplicates()
    return X, _rule(X, rng.normal(size=n_words), rng)


def _rule(X: Any, w: FloatArray, rng: np.random.Generator) -> FloatArray:
    scores = X.sqrt() @ w
    scores += 0.5 * scores.std() * rng.normal(size=X.shape[0])
    return np.where(scores > np.median(scores), 1.0, -1.0)


def _fit(X: Any, y: FloatArray, J: int) -> tuple[float, MonotoneClassifier]:
    repeats = 3 if X.shape[0] <= 10_000 else 1
    return cpu_seconds(lambda: MonotoneClassifier(n_knots=J + 1, tol=_TOL).fit(X, y), repeats, warm_up=0)


def _units(name: str, X: Any, y: FloatArray, J: int, goal: float) -> Row:
    from sklearn.svm import LinearSVC

    repeats = 3 if X.shape[0] <= 10_000 else 1
    unit, svc = cpu_seconds(lambda: LinearSVC(loss="hinge").fit(X, y), repeats, warm_up=0)
    ours, model = _fit(X, y, J)
    stopped = ", at its iteration limit" if svc.n_iter_ >= svc.max_iter else ""
    told = f"{model.n_iter_} steps, certified {model.certificate_.relative_gap:.0e}, {ours:.2f} s with the knots"
    return Row(f"{name} gap 1e-4", ours / unit, goal, "units", f"one LinearSVC, {unit:.2g} s{stopped}", told)


def _growth() -> list[Row]:
    """Exponents of the time: linear is one."""
    samples = [_fit(*_dense(n, 20), 5)[0] for n in (5000, 20_000)]
    features = [_fit(*_dense(5000, d), 5)[0] for d in (10, 40)]
    ramps = [_fit(*_dense(5000, 20), J)[0] for J in (5, 20)]
    return [
        Row(f"growth with {what}, exponent", float(np.log(times[1] / times[0]) / np.log(4.0)), goal, "", note=between)
        for what, times, goal, between in [
            ("samples", samples, 1.1, "n = 5000 to 20000"),
            ("features", features, 2.0, "d = 10 to 40"),
            ("ramps", ramps, 1.0, "J = 5 to 20"),
        ]
    ]
