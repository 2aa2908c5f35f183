"""Probabilistic latent semantic analysis (Hofmann 1999), the latent model of [L04], Figure 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["concept_shares"]

Float32Array = npt.NDArray[np.float32]

_BLOCK = 20_000


def concept_shares(
    train: Any, test: Any, n_concepts: int, *, n_iter: int, seed: int
) -> tuple[Float32Array, Float32Array]:
    """P(concept | document) by expectation maximisation.

    Parameters
    ----------
    train : CSR matrix of shape (n_train, n_words)
        Word counts from which P(word | concept) is learned.
    test : CSR matrix of shape (n_test, n_words)
        Word counts of other documents; their shares are fitted to the learned concepts.
    n_concepts : int
        Number of concepts.
    n_iter : int
        Steps, for both; few of them are the guard against overfitting.
    seed : int
        Of the starting point.

    Returns
    -------
    ndarray of shape (n_train, n_concepts) and ndarray of shape (n_test, n_concepts), dtype float32
        Rows sum to one; those of documents without words are equal shares.
    """
    random = np.random.default_rng(seed)
    shares = _normalised(random.uniform(0.5, 1.5, (train.shape[0], n_concepts)))
    words = _normalised(random.uniform(0.5, 1.5, (n_concepts, train.shape[1])))
    for _ in range(n_iter):
        ratio = _ratio(train, shares, words)
        new_words = _normalised(words * (ratio.T @ shares).T)
        shares = _normalised(shares * (ratio @ words.T))
        words = new_words
    new = np.full((test.shape[0], n_concepts), 1.0 / n_concepts, dtype=np.float32)
    for _ in range(n_iter):
        new = _normalised(new * (_ratio(test, new, words) @ words.T))
    return shares, new


def _ratio(counts: Any, shares: Float32Array, words: Float32Array) -> Any:
    """Counts over their expectations, where they are not zero."""
    ratio = counts.astype(np.float32)
    rows, columns = np.repeat(np.arange(counts.shape[0]), np.diff(ratio.indptr)), ratio.indices
    by_word = np.ascontiguousarray(words.T)
    for start in range(0, len(columns), _BLOCK):
        block = slice(start, start + _BLOCK)
        expected = np.einsum("ij,ij->i", shares[rows[block]], by_word[columns[block]])
        ratio.data[block] /= np.maximum(expected, np.finfo(np.float32).tiny)
    return ratio


def _normalised(matrix: Any) -> Float32Array:
    sums = matrix.sum(axis=1, keepdims=True)
    equal = np.full_like(matrix, 1.0 / matrix.shape[1])
    return np.divide(matrix, sums, out=equal, where=sums > 0).astype(np.float32)
