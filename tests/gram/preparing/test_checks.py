"""What a matrix must satisfy, beside a plain twin of the compiled pass."""

import numpy as np
import pytest

from kernelweave.exceptions import InvalidKernelError
from kernelweave.gram.preparing import checks

FINE, NOT_FINITE, ASYMMETRIC, NOT_DOMINATED = 0, 1, 2, 3


def gram(n=40, seed=0, dtype=np.float64):
    z = np.random.default_rng(seed).normal(size=(n, 5))
    return (z @ z.T).astype(dtype)


def plain_faults(matrix, slack):
    """All faults of the lower triangle and its mirror, as (kind, row, column)."""
    roots, faults = np.sqrt(np.maximum(np.diagonal(matrix).astype(float), 0.0)), set()
    for r in range(len(matrix)):
        for c in range(r + 1):
            a, b = float(matrix[r, c]), float(matrix[c, r])
            bound = roots[r] * roots[c]
            if not np.isfinite(a):
                faults.add((NOT_FINITE, r, c))
            elif not np.isfinite(b):
                faults.add((NOT_FINITE, c, r))
            elif abs(a - b) > slack * max(bound, abs(a), abs(b)):
                faults.add((ASYMMETRIC, r, c))
            elif abs(a) > bound * (1 + slack):
                faults.add((NOT_DOMINATED, r, c))
    return faults


def first_fault(matrix, slack=1e-8, definite=True):
    view = matrix.view()
    view.flags.writeable = False
    return checks._first_fault(view, np.sqrt(np.maximum(np.diagonal(matrix).astype(float), 0.0)), slack, definite)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 70])
def test_the_compiled_pass_finds_nothing_in_a_kernel(n, dtype):
    matrix = gram(n, dtype=dtype)
    slack = 1e-8 if dtype == np.float64 else n * np.finfo(np.float32).eps
    assert plain_faults(matrix, slack) == set()
    assert first_fault(matrix, slack)[0] == FINE


@pytest.mark.parametrize("place", [(0, 0), (39, 39), (39, 0), (0, 39), (33, 31), (20, 4), (4, 20)])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e3, "swap", "tiny"])
def test_the_compiled_pass_finds_what_a_plain_one_finds(place, value):
    matrix = gram()
    if value == "swap":
        matrix[place] = -matrix[place]
    elif value == "tiny":
        matrix[place] *= 1.0 + 1e-7
    else:
        matrix[place] = value
    faults, found = plain_faults(matrix, 1e-8), first_fault(matrix)
    assert found in faults if faults else found[0] == FINE


def test_every_kind_of_fault_comes_up():
    matrices = [gram() for _ in range(3)]
    matrices[0][5, 4] = np.nan
    matrices[1][5, 4] += 1.0
    matrices[2][5, 4] = matrices[2][4, 5] = 99.0
    assert [first_fault(matrix)[0] for matrix in matrices] == [NOT_FINITE, ASYMMETRIC, NOT_DOMINATED]
    assert [first_fault(matrix, definite=False)[0] for matrix in matrices] == [NOT_FINITE, ASYMMETRIC, FINE]


def test_asymmetry_is_relative_to_the_two_samples():
    # One sample is a million times shorter: its entries are judged by its own size.
    scale = np.ones(40)
    scale[7] = 1e-6
    matrix = gram() * np.outer(scale, scale)
    checks.check_kernel_matrix(matrix, "k")
    matrix[7, 3] *= 1.0 + 1e-6
    with pytest.raises(InvalidKernelError, match=r"Kernel 'k' is not symmetric: .* at \(7, 3\) but .* at \(3, 7\)"):
        checks.check_kernel_matrix(matrix, "k")


def test_rounding_is_no_fault():
    matrix = gram()
    checks.check_kernel_matrix(matrix * (1.0 + 1e-10 * np.random.default_rng(0).normal(size=matrix.shape)), "k")
    single = gram(dtype=np.float32)
    single[3, 2] = np.nextafter(single[3, 2], np.float32(np.inf))
    checks.check_kernel_matrix(single, "k")


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_messages_name_kernel_and_place_in_every_layout(layout):
    matrix = gram()
    matrix[6, 2] = np.nan
    matrix = {"C": matrix, "F": np.asfortranarray(matrix), "strided": np.repeat(matrix, 2, axis=1)[:, ::2]}[layout]
    kept = matrix.copy()
    with pytest.raises(InvalidKernelError, match="Kernel 'gene' has the value nan at row 6, column 2; every entry"):
        checks.check_kernel_matrix(matrix, "gene")
    np.testing.assert_array_equal(matrix, kept)
    assert matrix.flags.writeable


def test_asymmetric_and_dominated_say_the_smallest_eigenvalue():
    matrix = gram()
    matrix[6, 2] += 1.0
    symmetric = 0.5 * (matrix + matrix.T)
    smallest = f"{np.linalg.eigvalsh(symmetric)[0]:.6g}"
    with pytest.raises(InvalidKernelError, match=f"not symmetric.*smallest eigenvalue .* is {smallest}. Check how"):
        checks.check_kernel_matrix(matrix, "k")
    matrix = np.eye(4)
    matrix[3, 1] = matrix[1, 3] = 2.0
    with pytest.raises(InvalidKernelError, match=r"entry 2 at \(3, 1\) exceeds the diagonal .*eigenvalue .* is -1\."):
        checks.check_kernel_matrix(matrix, "k")


def test_the_eigenvalue_is_left_out_where_it_cannot_be_had(monkeypatch):
    assert checks._smallest(np.array([[np.nan]])) == ""
    assert checks._smallest(np.broadcast_to(np.float64(1.0), (3001, 3001))) == ""


def test_shapes_and_diagonals():
    with pytest.raises(InvalidKernelError, match=r"Kernel 'k' must be a square matrix; got shape \(2, 3\)"):
        checks.check_kernel_matrix(np.ones((2, 3)), "k")
    matrix = gram()
    matrix[9, 9] = -0.25
    with pytest.raises(InvalidKernelError, match=r"Kernel 'k' has a negative diagonal entry \(-0.25 at row 9\)"):
        checks.check_kernel_matrix(matrix, "k")
    checks.check_diagonal(np.array([0.0, 1.0]), "k")


def test_a_zero_row_and_tiny_kernels_pass():
    matrix = gram()
    matrix[3] = matrix[:, 3] = 0.0
    checks.check_kernel_matrix(matrix, "k")
    checks.check_kernel_matrix(1e-200 * matrix, "k")
    checks.check_kernel_matrix(1e200 * matrix, "k")


def with_smallest_eigenvalue(smallest):
    """Largest diagonal entry 1, and one eigenvalue as given beside zero or more."""
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]
    matrix = rotation @ np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 0.0]) @ rotation.T
    matrix = matrix / matrix.diagonal().max() + smallest * np.outer(rotation[:, 5], rotation[:, 5])
    return 0.5 * (matrix + matrix.T)


@pytest.mark.parametrize(("storage", "smallest"), [("float64", -0.5e-8), ("float32", -2e-8), ("float64", 0.0)])
def test_semidefinite_up_to_the_tolerance(storage, smallest):
    matrix = with_smallest_eigenvalue(smallest)
    assert checks.is_positive_semidefinite(matrix, storage)
    checks.check_positive_semidefinite(matrix, "k", storage)


@pytest.mark.parametrize(("storage", "smallest"), [("float64", -2e-8), ("float32", -1e-5), ("float64", -0.1)])
def test_indefinite_beyond_the_tolerance(storage, smallest):
    matrix = with_smallest_eigenvalue(smallest)
    assert not checks.is_positive_semidefinite(matrix, storage)
    with pytest.raises(InvalidKernelError, match=f"Kernel 'k' .* its smallest eigenvalue is {smallest:.1g}"):
        checks.check_positive_semidefinite(matrix, "k", storage)


def test_a_zero_matrix_is_semidefinite():
    checks.check_positive_semidefinite(np.zeros((3, 3)), "k")


def test_definiteness_leaves_the_matrix_alone():
    matrix = gram()
    matrix.flags.writeable = False
    checks.check_positive_semidefinite(matrix, "k")
