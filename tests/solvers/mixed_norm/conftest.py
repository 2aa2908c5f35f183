"""Problems with indefinite, non-symmetric kernels, and the reference values of a conic solver."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kernelweave.gram.rectangular import RectangularStack
from kernelweave.problems.losses import LogisticLoss, SquaredHingeLoss, SquaredLoss
from kernelweave.problems.mixed_norm import MixedNormProblem
from kernelweave.problems.penalties import MixedNorm

LOSSES = {"squared_hinge": SquaredHingeLoss, "logistic": LogisticLoss, "squared": SquaredLoss}


@pytest.fixture(scope="session")
def oracle():
    return json.loads((Path(__file__).parents[2] / "oracles" / "system_c.json").read_text())


@pytest.fixture(scope="session")
def from_oracle(oracle):
    """Problem and stack of one entry of the oracle."""
    data = {entry["id"]: entry for entry in oracle["datasets"]}

    def build(entry):
        y = np.array(data[entry["dataset"]]["y"], dtype=float)
        penalty = MixedNorm(entry["p"], entry["q"], entry["r"])
        loss = SquaredHingeLoss(y, np.ones(len(y)))
        gram = RectangularStack(np.array(data[entry["dataset"]]["K"]))
        return MixedNormProblem(loss, penalty, entry["lam"], entry["intercept"]), gram

    return build


def similarities(n, seed, dtype=np.float64):
    """Tanh (indefinite), a broken distance (not symmetric), two Gaussians, as a read-only array; and labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    inner = X @ X.T
    distances = np.maximum(np.diag(inner)[:, None] + np.diag(inner) - 2 * inner, 0)
    K = np.stack(
        [
            np.tanh(inner - 0.5),
            -np.sqrt(distances) * (1 + 0.2 * rng.random((n, n))),
            np.exp(-distances),
            np.exp(-distances / 10),
        ]
    )
    K = K.astype(dtype)
    K.flags.writeable = False
    return K, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.fixture(scope="session")
def make_problem():
    """Problem and stack: ``make_problem(penalty, share of the largest strength, ...)``."""

    def build(penalty, share=0.1, *, loss="squared_hinge", n=40, seed=0, intercept=True, dtype=np.float64):
        K, y = similarities(n, seed, dtype)
        rng = np.random.default_rng(seed + 1)
        target = y + 0.1 * rng.normal(size=n) if loss == "squared" else y
        gram = RectangularStack(K)
        fitted = LOSSES[loss](target, rng.uniform(0.5, 1.5, n))
        w = fitted.slopes(np.full(n, fitted.best_bias(np.zeros(n)) if intercept else 0.0))
        strength = share * penalty.dual_norm(gram.adjoint(w))
        return MixedNormProblem(fitted, penalty, strength, intercept), gram

    return build
