"""The blocks of Figure 1 against the library's own centring; one set of documents."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from kernelweave import MKLClassifier
from kernelweave.experiments.lanckriet_reuters import centred_blocks
from kernelweave.kernels import Linear


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
