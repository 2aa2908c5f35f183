"""Latent concepts that are known, and a likelihood that never falls."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from kernelweave.experiments.lanckriet.plsa import concept_shares


@pytest.fixture(scope="module")
def corpus():
    """40 documents, each on one of two themes that share no word."""
    rng = np.random.default_rng(0)
    theme = np.arange(40) % 2
    counts = np.zeros((40, 12))
    for row, t in zip(counts, theme, strict=True):
        row[6 * t : 6 * t + 6] = rng.poisson(3, 6)
    return scipy.sparse.csr_matrix(counts), theme


def test_two_themes_are_told_apart(corpus):
    counts, theme = corpus
    train, test = concept_shares(counts[:30], counts[30:], 2, n_iter=50, seed=0)
    assert train.sum(axis=1) == pytest.approx(1.0, abs=1e-5) and test.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    first = train[0].argmax()
    assert train[:, first] == pytest.approx((theme[:30] == theme[0]).astype(float), abs=1e-3)
    assert test[:, first] == pytest.approx((theme[30:] == theme[0]).astype(float), abs=1e-3)


def test_likelihood_never_falls(corpus):
    counts, _ = corpus
    dense = counts.toarray()

    def likelihood(n_iter):
        shares, _ = concept_shares(counts, counts[:1], 5, n_iter=n_iter, seed=1)
        # The best words for these shares are not returned; a few steps find the fit they allow.
        words = np.full((5, 12), 1 / 12)
        for _ in range(200):
            ratio = dense / np.maximum(shares @ words, 1e-12)
            words = words * (shares.T @ ratio)
            words /= words.sum(axis=1, keepdims=True)
        return (dense * np.log(np.maximum(shares @ words, 1e-12))).sum()

    values = [likelihood(n) for n in (1, 3, 10, 40)]
    assert values == sorted(values) and values[-1] > values[0] + 1


def test_a_document_without_words_has_equal_shares(corpus):
    counts, _ = corpus
    empty = scipy.sparse.csr_matrix((1, 12))
    assert concept_shares(counts, empty, 4, n_iter=3, seed=0)[1] == pytest.approx(0.25)
