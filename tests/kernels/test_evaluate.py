import weakref

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from kernelweave.exceptions import InvalidKernelError, MissingExtraError
from kernelweave.kernels import (
    RBF,
    ChiSquared,
    Cosine,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    WidthFamily,
    freeze_kernels,
    iter_diagonals,
    iter_grams,
    resolve_entries,
)
from kernelweave.kernels.evaluate import features_of, has_features

RNG = np.random.default_rng(11)
X, Y = RNG.random((12, 4)), RNG.random((5, 4))
X.flags.writeable = False


def named(kernels, X):
    return freeze_kernels(resolve_entries(kernels), X)


def grams(kernels, X, Y=None):
    """Matrices of kernels frozen on X, by name."""
    frozen = named(kernels, X)
    return {frozen[i].name: K for i, K, _ in iter_grams(frozen, X, Y)}


class Counting(RBF):
    """Counts the distance computations."""

    calls = 0

    def distances(self, X, Y=None):
        type(self).calls += 1
        return super().distances(X, Y)


def test_families_expand_to_names_with_labels():
    frozen = named([("wide", WidthFamily(RBF(1.0), (0.1, 10)), [0, 1]), Linear()], X)
    assert [member.name for member in frozen] == ["wide[0.1]", "wide[10]", "linear"]
    assert [repr(member.kernel) for member in frozen] == ["RBF(gamma=0.1)", "RBF(gamma=10.0)", "Linear()"]
    assert frozen[0].columns.positions == (0, 1)
    np.testing.assert_allclose(grams([("w", WidthFamily(RBF(1.0), (0.1,)), [0])], X)["w[0.1]"], RBF(0.1)(X[:, :1]))


def test_repeated_names_of_members_are_refused():
    for kernels in ([("w", WidthFamily(RBF(), (1, 1)))], [("w[1]", Linear()), ("w", WidthFamily(RBF(), (1,)))]):
        with pytest.raises(InvalidKernelError, match=r"'w\[1\]': the name is used twice"):
            named(kernels, X)


def test_settings_are_frozen_on_the_training_samples():
    frozen = named([RBF("scale"), ("x", RBF("median"), [1, 2]), ("y", Polynomial(gamma="scale"), 0)], X)
    assert frozen[0].kernel.gamma == pytest.approx(1 / (4 * X.var()))
    assert frozen[1].kernel.gamma == RBF("median").freeze(X[:, 1:3]).gamma
    assert frozen[2].kernel.gamma == pytest.approx(1 / X[:, 0].var())


@pytest.mark.parametrize("other", [None, Y])
def test_matrices_are_those_of_the_kernels(other):
    kernels = [
        ("a", RBF(0.5)),
        ("b", Linear(), [0, 3]),
        ("c", RBF(2.0)),
        ("d", Laplacian(0.5)),
        ("e", RBF(0.5), [0, 3]),
        ("f", 2.0 * RBF(0.1) + RBF(1.0)),
        ("g", lambda X, Y: X @ Y.T),
        ("h", ChiSquared(1.0)),
        ("i", Laplacian(2.0) * Laplacian(0.1)),
    ]
    part, other_part = X[:, [0, 3]], None if other is None else other[:, [0, 3]]
    expected = {
        "a": RBF(0.5)(X, other),
        "b": Linear()(part, other_part),
        "c": RBF(2.0)(X, other),
        "d": Laplacian(0.5)(X, other),
        "e": RBF(0.5)(part, other_part),
        "f": 2 * RBF(0.1)(X, other) + RBF(1.0)(X, other),
        "g": Linear()(X, other),
        "h": ChiSquared(1.0)(X, other),
        "i": Laplacian(2.1)(X, other),
    }
    found = grams(kernels, X, other)
    assert found.keys() == expected.keys()
    for name, K in found.items():
        np.testing.assert_allclose(K, expected[name], rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("consume", [list, lambda matrices: [K.sum() for _, K, _ in matrices]])
def test_widths_on_the_same_columns_share_one_distance_computation(consume):
    Counting.calls = 0
    kernels = [("a", WidthFamily(Counting(1.0))), ("b", Counting(0.5)), ("c", 2.0 * Counting(0.1)), ("d", Linear())]
    consume(iter_grams(named(kernels, X), X))
    assert Counting.calls == 1
    consume(iter_grams(named([("a", Counting(1.0)), ("b", Counting(1.0), [0])], X), X, Y))
    assert Counting.calls == 3


def test_matrices_do_not_share_memory_and_do_not_pile_up():
    kernels = [("w", WidthFamily(RBF())), ("l", Linear()), ("p", Polynomial()), ("m", Laplacian(0.1))]
    matrices = [K for _, K, _ in iter_grams(named(kernels, X), X)]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(matrices) for b in matrices[:i])
    alive, most = [], 0
    for _, K, _ in iter_grams(named(kernels, X), X):
        alive = [reference for reference in alive if reference() is not None]
        most = max(most, len(alive))
        alive.append(weakref.ref(K))
        del K
    assert most == 0


def test_ownership_is_told():
    matrix, stored = X @ X.T, X @ X.T
    index = np.arange(12)
    frozen = named([("p", Precomputed(matrix)), ("f", lambda X, Y: stored)], index)
    results = {frozen[i].name: (K, owned) for i, K, owned in iter_grams(frozen, index)}
    assert not results["p"][1]
    assert np.shares_memory(results["p"][0], matrix)
    assert not results["f"][1]
    assert np.shares_memory(results["f"][0], stored)
    ((_, copied, owned),) = iter_grams(frozen[:1], index[:3], index)
    assert owned
    np.testing.assert_array_equal(copied, matrix[:3])
    assert all(owned for _, _, owned in iter_grams(named("auto", X), X))


def test_single_precision_stays_single():
    index = np.arange(12)
    frozen = named([Precomputed((X @ X.T).astype(np.float32))], index)
    for rows in (index, index[::-1]):
        ((_, K, _),) = iter_grams(frozen, rows)
        assert K.dtype == np.float32


class SharedLetters(Kernel):
    vector_input = False

    def __call__(self, X, Y=None):
        return np.array([[float(len(set(a) & set(b))) for b in (X if Y is None else Y)] for a in X])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_table_of_everything(frame):
    """The shape of the README: numbers, a structured column, and rows of a given matrix."""
    table = {"age": [30, 40, 50], "bmi": [20.5, 30.5, 25.0], "protein": ["ACD", "CDE", "FGA"], "node": ["r", "s", "t"]}
    kernels = [
        ("clinical", Linear(), ["age", "bmi"]),
        ("sequence", SharedLetters(), "protein"),
        ("network", Precomputed(np.diag([1.0, 2.0, 3.0]), labels=["t", "s", "r"]), "node"),
        ("mine", lambda X, Y: np.array([[float(len(a) * len(b)) for b in Y] for a in X]), "protein"),
    ]
    frozen = named(kernels, frame(table))
    turned = frame({name: table[name][::-1] for name in ("node", "protein", "bmi", "age")})
    result = {frozen[i].name: K for i, K, _ in iter_grams(frozen, turned, frame(table))}
    numbers = np.array([table["age"], table["bmi"]]).T
    np.testing.assert_allclose(result["clinical"], numbers[::-1] @ numbers.T)
    assert result["sequence"].tolist() == [[1, 0, 3], [2, 3, 0], [3, 2, 1]]
    assert result["network"].tolist() == [[0, 0, 1], [0, 2, 0], [3, 0, 0]]
    assert (result["mine"] == 9).all()
    diagonals = {frozen[i].name: d.tolist() for i, d in iter_diagonals(frozen, turned)}
    assert diagonals["sequence"] == [3, 3, 3]
    assert diagonals["network"] == [1, 2, 3]


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix, pd.DataFrame])
def test_auto_takes_every_container(container):
    frozen = named("auto", container(X))
    found = {frozen[i].name: K for i, K, _ in iter_grams(frozen, container(X), container(Y))}
    expected = grams("auto", X, Y)
    assert list(expected) == ["linear", "quadratic", "rbf[0.0625]", "rbf[0.25]", "rbf[1]", "rbf[4]", "rbf[16]"]
    for name, K in found.items():
        np.testing.assert_allclose(K, expected[name], rtol=1e-10)


def test_diagonals_are_those_of_the_matrices():
    frozen = named([*["auto", "linear", "chi2"][1:], ("w", WidthFamily(RBF()), [0]), Polynomial(), Cosine()], X)
    matrices = {i: K for i, K, _ in iter_grams(frozen, X)}
    for i, diagonal in iter_diagonals(frozen, X):
        np.testing.assert_allclose(diagonal, np.diagonal(matrices.pop(i)), rtol=1e-12)
    assert not matrices


def test_factors_of_the_kernels_that_have_them():
    frozen = named([RBF(), ("l", Linear(), [0]), ("c", 2.0 * Cosine()), ("p", Polynomial())], X)
    assert [has_features(member) for member in frozen] == [False, True, True, False]
    matrices = {i: K for i, K, _ in iter_grams(frozen, X)}
    for i in (1, 2):
        Z = features_of(frozen[i], X)
        np.testing.assert_allclose(Z @ Z.T, matrices[i])


class Faulty(Kernel):
    """Does what it is told in ``how``."""

    def __init__(self, how):
        self.how = how

    def __call__(self, X, Y=None):
        return self.how(X)

    def diag(self, X):
        return self.how(X)


def fail(error):
    raise error


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (lambda X: fail(ValueError("bad letter")), "kernel 'sequence': bad letter"),
        (lambda X: fail(KeyError("B")), "kernel 'sequence': KeyError: 'B'"),
        (lambda X: fail(ZeroDivisionError("division by zero")), "kernel 'sequence': ZeroDivisionError: division"),
        (lambda X: np.ones((12, 5)), r"kernel 'sequence': returned shape \(12, 5\) for 12 and 12 samples"),
        (lambda X: np.where(np.eye(12) > 0, 1, np.nan), "kernel 'sequence': the result holds nan in row 0, column 1"),
        (lambda X: np.diag([1.0] * 11 + [-np.inf]), "the result holds -inf in row 11, column 11"),
        (lambda X: "text", "kernel 'sequence': returned shape"),
        (lambda X: np.full((12, 12), "x", dtype=object), "kernel 'sequence': could not convert"),
    ],
)
def test_what_goes_wrong_in_a_kernel_names_it(how, message):
    frozen = named([("fine", Linear()), ("sequence", Faulty(how))], X)
    with pytest.raises(InvalidKernelError, match=message) as caught:
        list(iter_grams(frozen, X))
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (lambda X: fail(TypeError("no")), "kernel 'sequence': TypeError: no"),
        (lambda X: np.ones(5), r"kernel 'sequence': diag returned shape \(5,\) for 12 samples"),
        (lambda X: np.full(12, np.nan), "kernel 'sequence': the result holds nan in the diagonal at sample 0"),
    ],
)
def test_what_goes_wrong_in_a_diagonal_names_the_kernel(how, message):
    frozen = named([("sequence", Faulty(how))], X)
    with pytest.raises(InvalidKernelError, match=message):
        list(iter_diagonals(frozen, X))


@pytest.mark.parametrize("error", [MemoryError("no room"), MissingExtraError("install it")])
def test_some_errors_stay_what_they_are(error):
    with pytest.raises(type(error), match=str(error)):
        list(iter_grams(named([Faulty(lambda X: fail(error))], X), X))


def test_finiteness_can_be_left_to_others():
    frozen = named([("a", Faulty(lambda X: np.full((12, 12), np.nan)))], X)
    ((_, K, _),) = iter_grams(frozen, X, check_finite=False)
    assert np.isnan(K).all()


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ([("a", Linear(), "age")], "kernel 'a': column 'age' is chosen by name"),
        ([("a", Linear(), 7)], "kernel 'a': there is no column 7"),
        ([("a", RBF("auto"))], "kernel 'a': gamma must be"),
        ([("a", Precomputed(np.eye(3)) + RBF())], "(?s)kernel 'a': .* its own entry"),
        ([("a", WidthFamily(Linear()))], "kernel 'a': .*parameter gamma"),
    ],
)
def test_what_goes_wrong_in_freezing_names_the_kernel(kernels, message):
    with pytest.raises(InvalidKernelError, match=message):
        named(kernels, X)


def test_missing_numbers_are_named_in_training_and_new_samples():
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(InvalidKernelError, match="kernel 'b': column 2 holds NaN in row 3"):
        named([("a", Linear(), [0, 1]), ("b", RBF(), [1, 2])], bad)
    frozen = named([("a", Linear(), [0, 1]), ("b", RBF(), [1, 2])], X)
    with pytest.raises(InvalidKernelError, match="kernel 'b': column 2 holds NaN in row 3"):
        list(iter_grams(frozen, Y, bad))
    with pytest.raises(InvalidKernelError, match="kernel 'b': column 2 holds NaN in row 3"):
        list(iter_diagonals(frozen, bad))
    assert len(list(iter_grams(frozen[:1], bad))) == 1
