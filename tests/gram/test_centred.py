"""Centring on the way gives the matrices that centring beforehand gives."""

import numpy as np
import pytest

from kernelweave.gram.centred import CentredStack
from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.testing import check_gram_stack

RNG = np.random.default_rng(0)
FACTORS = [RNG.normal(size=(13, 3)) + 2.0, RNG.normal(size=(13, 20))]
MATRICES = np.array([z @ z.T for z in FACTORS])


def centred(matrices):
    P = np.eye(13) - 1 / 13
    return P @ matrices @ P


@pytest.mark.parametrize("stack", [DenseStack(MATRICES), FactorStack(FACTORS)], ids=["dense", "factor"])
def test_contract(stack):
    check_gram_stack(CentredStack(stack), centred(MATRICES))


def test_float32_storage():
    single = MATRICES.astype(np.float32)
    stack = CentredStack(DenseStack(single))
    assert stack.dtype == np.float32
    check_gram_stack(stack, centred(single.astype(np.float64)))


def test_rectangles_are_refused():
    with pytest.raises(ValueError, match="symmetric"):
        CentredStack(DenseStack(MATRICES)).restrict(np.arange(3), np.arange(4))
