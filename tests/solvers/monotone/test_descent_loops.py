"""The compiled coordinate descent does what plain Python does, step by step."""

import numpy as np
import pytest
import scipy.sparse

from kernelweave.gram.ramps.directed import DirectedRampStack
from kernelweave.gram.ramps.ramp_loops import prefix_tables
from kernelweave.kernels.monotone.ramps import Ramps
from kernelweave.solvers.monotone.descent_loops import descend

RNG = np.random.default_rng(5)
N = 25
MASK = (1 << 64) - 1


def plain(Z, weights, directions, y, box, ridge, curvature, alpha, bias, stiffness, tol, max_epochs, seed):
    """Rows of Z, lists and Python integers instead of tables and unsigned arithmetic."""
    order, active = list(range(len(y))), len(y)
    state = (88172645463325252 + seed * 2654435761) & MASK
    top, bottom, violation, epochs = np.inf, -np.inf, np.inf, 0
    while epochs < max_epochs and violation > tol:
        seen, k = [], 0
        while k < active:
            state ^= (state << 13) & MASK
            state ^= state >> 7
            state ^= (state << 17) & MASK
            r = k + state % (active - k)
            order[k], order[r] = order[r], order[k]
            i = order[k]
            w = Z.T @ (y * alpha)
            w = np.where(directions * w >= 0, w, 0.0)
            gradient = y[i] * (Z[i] @ (weights * w) + bias) - 1.0 + ridge[i] * alpha[i]
            at_zero, at_box = alpha[i] <= 0, alpha[i] >= box[i]
            if (at_zero and gradient > top) or (at_box and gradient < bottom):
                active -= 1
                order[k], order[active] = order[active], i
                continue
            projected = min(gradient, 0.0) if at_zero else max(gradient, 0.0) if at_box else gradient
            seen.append(projected)
            if abs(projected) > 1e-14:
                moved = min(max(alpha[i] - gradient / curvature[i], 0.0), box[i])
                bias += stiffness * (moved - alpha[i]) * y[i]
                alpha[i] = moved
            k += 1
        epochs += 1
        violation = max(seen) - min(seen) if active else 0.0
        top = max(seen) if max(seen) > 0 else np.inf
        bottom = min(seen) if min(seen) < 0 else -np.inf
    return alpha, bias, violation, epochs


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("margin", ["l1", "l2"])
def test_compiled_and_plain_take_the_same_steps(sparse, margin, directed):
    X = RNG.normal(size=(N, 3))
    knots = np.array([-1.0, -0.3, 0.0, 0.4, 2.0])
    ramps = Ramps((knots, np.array([-1.0, 0.0, 1.0])), np.array([0, 1, 0]), anchored=sparse)
    cells = ramps.cells(scipy.sparse.csr_matrix(np.where(np.abs(X) < 0.3, 0, X)) if sparse else X)
    rank = cells.n_coefficients
    stack = DirectedRampStack(cells, ramps.n_ramps, np.array([1.0, 0.0, -1.0]) if directed else np.zeros(3))
    directions = stack.directions
    Z = np.stack([stack.forward(c) for c in np.eye(rank)], axis=1)
    y = np.where(RNG.random(N) < 0.4, 1.0, -1.0)
    box = np.full(N, 0.7 if margin == "l1" else np.inf)
    ridge = np.full(N, 0.0 if margin == "l1" else 0.5)
    weights = RNG.random(rank)
    curvature = (Z**2) @ weights + ridge + 0.1
    start = np.where(RNG.random(N) < 0.5, 0.0, 0.3)
    coefficients = stack.unrestricted(y * start)
    tables = prefix_tables(weights * stack.backward(y * start), cells.offsets)
    alpha = start.copy()
    found = descend(
        cells.indptr, cells.slots, cells.positions, cells.offsets, weights,
        directions if directed else np.empty(0), coefficients, tables, y, box, ridge, curvature, alpha,
        0.2, 0.1, 1e-3, 6, 3,
    )  # fmt: skip
    expected, *rest = plain(
        Z, weights, directions, y, box, ridge, curvature, start.copy(), 0.2, 0.1, 1e-3, 6, 3
    )  # fmt: skip
    np.testing.assert_allclose(alpha, expected, atol=1e-10)
    np.testing.assert_allclose(found, rest, atol=1e-9)
    np.testing.assert_allclose(tables, prefix_tables(weights * stack.backward(y * alpha), cells.offsets), atol=1e-12)
    assert found[2] > 1 and not np.array_equal(alpha, start)
