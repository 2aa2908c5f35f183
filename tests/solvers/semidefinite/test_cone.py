"""The HKM direction satisfies its equations, and steps end where the cone does."""

import numpy as np
import pytest

from kernelweave.solvers.semidefinite.cone import Cone, length_inside

RNG = np.random.default_rng(0)


def symmetric(*shape):
    matrices = RNG.normal(size=shape)
    return matrices + np.swapaxes(matrices, -1, -2)


def definite(p):
    half = RNG.normal(size=(p, p))
    return half @ half.T + np.eye(p)


def setting(p=6, m=3):
    matrices = symmetric(m, p, p)
    matrices[0] = definite(p)
    xi = np.array([5.0, 0.1, -0.1])
    return matrices, xi, definite(p)


def test_direction_solves_the_linearised_complementarity():
    matrices, xi, Z = setting()
    cone = Cone(matrices, xi, Z)
    X = np.tensordot(xi, matrices, 1)
    cone.factorise()
    R = cone.right_side(0.3)
    dX, dZ = cone.direction(R, np.array([0.2, -0.1, 0.4]))
    np.testing.assert_allclose(dX, np.tensordot([0.2, -0.1, 0.4], matrices, 1), rtol=1e-12)
    # X Z + X dZ + dX Z = sigma I after multiplication by X^-1 and symmetrisation.
    inverse = np.linalg.inv(X)
    whole = dZ + Z + inverse @ dX @ Z - 0.3 * inverse
    np.testing.assert_allclose(whole + whole.T, 0, atol=1e-10)


def test_second_order_correction():
    matrices, xi, Z = setting()
    cone = Cone(matrices, xi, Z)
    dX, dZ = symmetric(6, 6), symmetric(6, 6)
    product = np.linalg.inv(np.tensordot(xi, matrices, 1)) @ dX @ dZ
    difference = cone.right_side(0.3) - cone.right_side(0.3, (dX, dZ))
    np.testing.assert_allclose(difference, 0.5 * (product + product.T), rtol=1e-9)


def test_inner_products_and_schur_complement():
    matrices, xi, Z = setting()
    cone = Cone(matrices, xi, Z)
    np.testing.assert_allclose(cone.forms, np.einsum("ipq,pq->i", matrices, Z), rtol=1e-12)
    X = np.tensordot(xi, matrices, 1)
    assert cone.complementarity == pytest.approx(np.vdot(X, Z), rel=1e-12)
    expected = np.einsum("ipq,qr,jrs,sp->ij", matrices, Z, matrices, np.linalg.inv(X))
    np.testing.assert_allclose(cone.factorise(), expected, rtol=1e-9)


@pytest.mark.parametrize("p", [5, 160])
def test_length_to_the_boundary(p):
    A, change = definite(p), symmetric(p, p)
    length = length_inside(np.linalg.cholesky(A), change)
    smallest = np.linalg.eigvalsh(A + length * change)[0] / np.linalg.eigvalsh(A)[-1]
    # Lanczos, on large cones, stops a little short of the boundary.
    assert -1e-12 <= smallest <= (1e-12 if p < 100 else 0.05)
    assert length_inside(np.linalg.cholesky(A), A) == np.inf


def test_points_outside_are_refused():
    matrices, xi, Z = setting()
    with pytest.raises(np.linalg.LinAlgError):
        Cone(matrices, -xi, Z)
    with pytest.raises(np.linalg.LinAlgError):
        Cone(matrices, xi, -Z)
