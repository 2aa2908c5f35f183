"""Small fitted models."""

from __future__ import annotations

import numpy as np
import pytest

from kernelweave import MKLClassifier


@pytest.fixture(scope="session")
def samples():
    """Read-only samples of four columns and labels of two classes."""
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 20)
    X = rng.normal(size=(40, 4)) + (y == "yes")[:, None]
    X.flags.writeable = False
    return X, y


@pytest.fixture(scope="session")
def model(samples):
    """A fitted classifier."""
    return MKLClassifier().fit(*samples)
