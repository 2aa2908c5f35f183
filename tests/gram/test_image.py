"""The image of a vector says the same as the products it stands for, whatever the storage."""

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.kernels.monotone.ramps import Ramps

RNG = np.random.default_rng(1)
N, M = 30, 3
RAMPS = RampStack(Ramps((np.array([-1.0, -0.2, 0.3, 1.0]),), np.zeros(4, dtype=np.intp)).cells(RNG.normal(size=(N, 4))))
FACTORS = FactorStack([RNG.normal(size=(N, r)) for r in (1, 4, 2)])
STACKS = {
    "ramps": RAMPS,
    "factors": FACTORS,
    "wide": FactorStack([RNG.normal(size=(N, 20)) for _ in range(M)]),
    "dense": DenseStack([FACTORS.combine(np.eye(M)[i]) for i in range(M)]),
}


@pytest.mark.parametrize("name", list(STACKS))
@pytest.mark.parametrize("weights", [np.array([0.5, 2.0, 1e-9]), np.array([1.0, 0.0, 0.5])], ids=["all", "one idle"])
def test_image(name, weights):
    stack = STACKS[name]
    v, u, x = RNG.normal(size=N), RNG.normal(size=N), RNG.normal(size=M)
    products = stack.products(v)
    image = stack.image(v)
    np.testing.assert_allclose(image.forms, products @ v, rtol=1e-10)
    np.testing.assert_allclose(image.combine(x), x @ products, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(image.adjoint(u), products @ u, rtol=1e-10, atol=1e-10)
    shift = 10.0 ** RNG.uniform(-3, 3, N)
    solve = stack.shifted_solve(weights, shift)
    expected = products @ np.linalg.solve(stack.combine(weights) + np.diag(shift), products.T)
    found = image.schur(solve)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(found, found.T, atol=1e-12 * np.abs(expected).max())


def test_vectors_with_zeros():
    v = np.where(np.arange(N) % 2, 0.0, RNG.normal(size=N))
    np.testing.assert_allclose(
        STACKS["dense"].image(v).combine(np.ones(M)), STACKS["factors"].image(v).combine(np.ones(M))
    )
