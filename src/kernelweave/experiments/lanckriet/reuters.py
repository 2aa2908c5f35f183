"""[L04], Figure 1: Reuters topics from words, from latent concepts, and from both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from kernelweave import MKLClassifier
from kernelweave.datasets import load_reuters
from kernelweave.experiments.experiment import Experiment, Key, Measurements, Settings
from kernelweave.experiments.lanckriet.plsa import concept_shares
from kernelweave.experiments.result import Cell
from kernelweave.kernels import Precomputed

__all__ = ["define"]

FloatArray = npt.NDArray[np.float64]

_SETS = 20
_SIZE = 1000
_CONCEPTS = 500
_TOL = 1e-4
_TOKENS = r"[a-zA-Z]+"
_PLSA_STEPS = 30
# How words are weighed (the paper's kernel takes term frequencies, the usual one tf-idf), and the latent model.
_PARTS = {
    "tf-idf": ("tf-idf", "LSA"),
    "term frequencies": ("term frequencies", "LSA"),
    "term frequencies and PLSA": ("term frequencies", "PLSA"),
}
_BUDGET = 2.0
_BOTH = ("over words", "over concepts")
# Fits by name: which of the kernels (words, concepts) each may use.
_CHOICES = {"words": (True, False), "concepts": (False, True), "combination": (True, True)}


@dataclass(frozen=True)
class _Corpus:
    """Texts, and which documents are for what."""

    texts: list[str]
    target: npt.NDArray[np.int64]
    topics: list[str]
    train: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]


@lru_cache(maxsize=1)
def _corpus(data_home: Path | None) -> _Corpus:
    reuters = load_reuters(data_home=data_home)
    return _Corpus(reuters.data, reuters.target, reuters.target_names.tolist(), reuters.train, reuters.test)


@lru_cache(maxsize=3)
def _words(weighing: str, data_home: Path | None) -> Any:
    corpus = _corpus(data_home)
    vectoriser = TfidfVectorizer(
        stop_words="english",
        token_pattern=_TOKENS,
        use_idf=weighing == "tf-idf",
        norm=None if weighing == "counts" else "l2",
    )
    return vectoriser.fit([corpus.texts[i] for i in corpus.train]).transform(corpus.texts)


@lru_cache(maxsize=2)
def _concepts(model: str, data_home: Path | None) -> FloatArray:
    # One model for all sets, as it needs no classes; a fixed seed, as it is not what varies.
    corpus = _corpus(data_home)
    if model == "LSA":
        words = _words("tf-idf", data_home)
        return TruncatedSVD(_CONCEPTS, random_state=0).fit(words[corpus.train]).transform(words)
    counts = _words("counts", data_home)
    concepts = np.empty((len(corpus.texts), _CONCEPTS))
    parts = concept_shares(counts[corpus.train], counts[corpus.test], _CONCEPTS, n_iter=_PLSA_STEPS, seed=0)
    concepts[corpus.train], concepts[corpus.test] = parts
    return concepts


def centred_blocks(train: Any, test: Any) -> tuple[FloatArray, FloatArray]:
    """Linear kernel, centred on the training samples, then scaled to unit diagonal.

    Parameters
    ----------
    train : ndarray or sparse matrix of shape (n_train, n_features)
        Training samples.
    test : ndarray or sparse matrix of shape (n_test, n_features)
        Other samples.

    Returns
    -------
    K : ndarray of shape (n_train, n_train)
        Between training samples.
    new : ndarray of shape (n_test, n_train)
        Between the others and the training samples.
    """
    K, new = _dense(train @ train.T), _dense(test @ train.T)
    squares = test.multiply(test).sum(axis=1) if scipy.sparse.issparse(test) else (test**2).sum(axis=1)
    means, mean, new_means = K.mean(axis=0), K.mean(), new.mean(axis=1)
    diagonal = np.asarray(squares).ravel() - 2.0 * new_means + mean
    K = K - means[:, None] - means[None, :] + mean
    new = new - new_means[:, None] - means[None, :] + mean
    lengths, new_lengths = np.sqrt(np.diag(K)), np.sqrt(diagonal)
    return K / np.outer(lengths, lengths), new / np.outer(new_lengths, lengths)


def _dense(block: Any) -> FloatArray:
    return np.asarray(block.todense() if scipy.sparse.issparse(block) else block, dtype=np.float64)


def _run(part: str, split: int, settings: Settings) -> Measurements:
    corpus = _corpus(settings.data_home)
    random = np.random.default_rng([settings.seed, split])
    chosen = random.choice(corpus.train, _SIZE, replace=False)
    weighing, model = _PARTS[part]
    features = (_words(weighing, settings.data_home), _concepts(model, settings.data_home))
    blocks = [centred_blocks(matrix[chosen], matrix[corpus.test]) for matrix in features]
    (words, new_words), (concepts, new_concepts) = blocks
    equal = (words + concepts) / 2, (new_words + new_concepts) / 2
    values: dict[Key, float] = {}
    weights = []
    for i, topic in enumerate(corpus.topics):
        y, y_test = corpus.target[chosen, i], corpus.target[corpus.test, i]
        right = {}
        for name, allowed in _CHOICES.items():
            used = [block for block, use in zip(blocks, allowed, strict=True) if use]
            right[name], mu = _accuracy(used, y, y_test)
        right["equal weights"], _ = _accuracy([equal], y, y_test)
        weights.append(mu)
        values.update({(f"accuracy %, {part}", topic, name): value for name, value in right.items()})
        for other in ("words", "concepts", "equal weights"):
            values[f"accuracy gained by the combination, {part}", topic, f"over {other}"] = (
                right["combination"] - right[other]
            )
        values.update(
            {(f"weights, {part}", topic, c): float(w) for c, w in zip(("words", "concepts"), mu, strict=True)}
        )
    means = np.mean(weights, axis=0)
    values.update(
        {(f"weights, {part}", "mean", c): float(w) for c, w in zip(("words", "concepts"), means, strict=True)}
    )
    return values


def _accuracy(blocks: list[tuple[FloatArray, FloatArray]], y: Any, y_test: Any) -> tuple[float, FloatArray]:
    """Accuracy in percent, and the weights."""
    named = [(str(i), Precomputed(K)) for i, (K, _) in enumerate(blocks)]
    model = MKLClassifier(named, C=1.0, trace=_BUDGET * _SIZE, normalize=None, tol=_TOL).fit(np.arange(_SIZE), y)
    # Between new and training samples there is no square matrix that `predict` could look into.
    new = sum(weight * block for weight, (_, block) in zip(model.kernel_weights_, blocks, strict=True))
    predicted = new @ model.dual_coef_[0] + model.intercept_[0] > 0
    return 100.0 * float(np.mean(predicted == y_test)), model.kernel_weights_


def define(name: str) -> Experiment:
    """The experiment of this name.

    Parameters
    ----------
    name : str
        "lanckriet-figure1".

    Returns
    -------
    Experiment
    """
    printed: dict[Key, float | str] = {}
    for part in _PARTS:
        printed |= {(f"weights, {part}", "mean", "words"): "1.37", (f"weights, {part}", "mean", "concepts"): "0.63"}
    return Experiment(
        name=name,
        title="Lanckriet et al. 2004, Figure 1",
        source="Lanckriet, Cristianini, Bartlett, El Ghaoui, Jordan, JMLR 5, 2004, Figure 1",
        protocol=_PROTOCOL,
        run=_run,
        n_splits=_SETS,
        parts=tuple(_PARTS),
        printed=printed,
        printed_splits=_SETS,
        notes=_NOTES,
        conclude=_count_topics,
    )


def _count_topics(cells: Sequence[Cell]) -> Sequence[str]:
    notes = []
    for part in _PARTS:
        gains: dict[str, list[Cell]] = {}
        for cell in cells:
            if cell.table == f"accuracy gained by the combination, {part}" and cell.column in _BOTH and cell.values:
                gains.setdefault(cell.row, []).append(cell)
        better = [topic for topic, pair in gains.items() if all((cell.mean or 0.0) > 0 for cell in pair)]
        clear = [t for t in better if all((c.mean or 0.0) > 2 * (c.standard_error or math.inf) for c in gains[t])]
        if gains:
            notes.append(
                f"{part}: the combination is more accurate than both kernels on {len(better)} of {len(gains)} topics "
                f"({', '.join(better) or 'none'}), by more than two standard errors over both on {len(clear)}."
            )
    return notes


_PROTOCOL = """
Reuters-21578, Distribution 1.0, ModApte split, its five largest topics one by one: 20 random sets of 1000 of the 9603
training documents; all 3299 test documents are predicted. Tokens are runs of letters in lower case without
scikit-learn's English stop words, about 27 000 types in the training documents (the paper has 37 926 by a
tokenisation of its own). Two kernels, linear in

- words: tf-idf, or term frequencies as in the paper, each document scaled to length 1;
- concepts: the 500 coordinates of a latent semantic analysis (`TruncatedSVD` of the tf-idf matrix of all 9603 training
  documents); or, as in the paper, P(concept | document) of 500 concepts by probabilistic latent semantic analysis
  (PLSA: expectation maximisation on the counts of the same documents, 30 steps from a random start).

Both are centred on the 1000 documents and scaled to unit diagonal. 1-norm soft margin, C = 1, nonnegative
weights that sum to 2 (`trace` = 2n), for a kernel alone as well. Relative duality gap 1e-4.
"""
_NOTES = (
    "The figure's values are not printed. Printed are the mean weights, and that the combination beats both kernels on "
    "four topics of five, significantly on all but earn, within an axis from 92 to 99 %.",
    "The caption's c = 4000 does not fit 1000 documents with unit diagonals; the printed weights sum to 2, so "
    "the run had c = 2000.",
    "The claim depends on the latent model: learned by PLSA, as in the paper, concepts alone are the weaker kernel on "
    "four topics and the combination gains on both kernels on all five; latent semantic analysis gives a stronger "
    "kernel, over which little is gained.",
)
