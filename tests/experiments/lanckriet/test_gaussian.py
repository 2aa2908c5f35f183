"""The tuned Gaussian kernel against scikit-learn's grid search."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.svm import SVC

from kernelweave.datasets import make_twonorm
from kernelweave.experiments.lanckriet import gaussian as lanckriet_gaussian
from kernelweave.experiments.lanckriet.samples import Sample

WIDTHS, PENALTIES, PARTITIONS = (0.05, 1.0), (0.1, 10.0), 3


@pytest.fixture
def sample(monkeypatch):
    """A small sample, and a small grid."""
    monkeypatch.setattr(lanckriet_gaussian, "_WIDTHS", WIDTHS)
    monkeypatch.setattr(lanckriet_gaussian, "_PENALTIES", PENALTIES)
    monkeypatch.setattr(lanckriet_gaussian, "_PARTITIONS", PARTITIONS)
    data = make_twonorm(90, random_state=0)
    return Sample(data.data + 2.0 * np.random.default_rng(0).normal(size=data.data.shape), data.target, 60)


def test_the_choice_is_among_the_best_of_a_grid_search(sample):
    train, test = slice(60), slice(60, None)
    squared = ((sample.X[:60, None] - sample.X[None, :60]) ** 2).sum(axis=2)
    middle = np.median(squared[np.triu_indices(60, 1)])
    search = GridSearchCV(
        SVC(),
        {"gamma": [1 / (middle * width) for width in WIDTHS], "C": list(PENALTIES)},
        cv=StratifiedShuffleSplit(PARTITIONS, test_size=0.2, random_state=7),
    ).fit(sample.X[train], sample.y[train])
    ranks, settings = search.cv_results_["rank_test_score"], search.cv_results_["params"]
    assert len(set(ranks)) > 1
    best = [setting for rank, setting in zip(ranks, settings, strict=True) if rank == 1]
    scores = [SVC(**s).fit(sample.X[train], sample.y[train]).score(sample.X[test], sample.y[test]) for s in best]
    found = lanckriet_gaussian.tuned_gaussian(sample, 7)
    assert found["SM1"] in [pytest.approx(100 * score) for score in scores]


def test_a_kernel_without_a_hard_margin_is_never_right():
    K = np.ones((4, 4))
    y = np.array([0, 1, 0, 1])
    assert lanckriet_gaussian._correct("HM", K, y, np.arange(4), np.arange(4), np.inf) == 0
    assert lanckriet_gaussian._correct("HM", np.eye(4), y, np.arange(4), np.arange(4), np.inf) == 4
