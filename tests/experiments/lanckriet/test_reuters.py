"""The blocks of Figure 1 against the library's own centring; one set of documents."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from kernelweave import MKLClassifier
from kernelweave.experiments import Cell, load_experiment
from kernelweave.experiments.lanckriet.reuters import centred_blocks
from kernelweave.kernels import Linear


def test_topics_are_counted():
    experiment = load_experiment("lanckriet-figure1")
    part = experiment.parts[0]
    gains = {"earn": ((0.1, 0.3), (0.2, 0.2)), "acq": ((0.1, 0.1), (-0.2, -0.1)), "crude": ((0.3, 0.31), (0.2, 0.21))}
    cells = [
        Cell(f"accuracy gained by the combination, {part}", topic, column, values)
        for topic, pair in gains.items()
        for column, values in zip(("over words", "over concepts"), pair, strict=True)
    ]
    (note,) = experiment.conclude(cells)
    assert note.startswith(f"{part}: ") and "2 of 3 topics (earn, crude)" in note and note.endswith("on 1.")


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix])
def test_blocks_are_what_the_estimator_prepares(container):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)) + 1.0, np.arange(30) % 2
    train, test = X[:20], X[20:]
    K, new = centred_blocks(container(train), container(test))
    model = MKLClassifier([("one", Linear())], center=True, normalize="cosine", trace=1.0).fit(train, y[:20])
    weight = model.kernel_weights_[0]
    assert weight * K == pytest.approx(model.combined_kernel(train), rel=1e-10)
    assert weight * new == pytest.approx(model.combined_kernel(test), rel=1e-10)
    assert np.diag(K) == pytest.approx(1.0)
