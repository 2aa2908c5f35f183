"""Each check of the conformance suite for kernels can fail."""

import pickle

import numpy as np
import pytest

from kernelweave.kernels import RBF, Kernel, Linear
from kernelweave.testing import check_kernel

RNG = np.random.default_rng(0)
VECTORS, NEW_VECTORS = RNG.normal(size=(17, 4)), RNG.normal(size=(6, 4))


class Broken(Kernel):
    """A correct kernel, of which each subclass below breaks one thing."""

    unit_diagonal = True
    distance = "sqeuclidean"

    def __init__(self, gamma="scale"):
        self.gamma = gamma

    def freeze(self, X):
        return self if self.gamma != "scale" else type(self)(1 / X.var())

    def distances(self, X, Y=None):
        return RBF(1.0).distances(X, Y)

    def from_distances(self, distances, out=None):
        return RBF(self.gamma).from_distances(distances, out)

    def __call__(self, X, Y=None):
        return self.from_distances(self.distances(X, Y))


class WrongShape(Broken):
    def __call__(self, X, Y=None):
        return super().__call__(X, Y)[:, :-1]


class WrongType(Broken):
    def __call__(self, X, Y=None):
        return super().__call__(X, Y).astype(np.float16)


class NotAnArray(Broken):
    def __call__(self, X, Y=None):
        return super().__call__(X, Y).tolist()


class NotFinite(Broken):
    def __call__(self, X, Y=None):
        K = super().__call__(X, Y)
        K[-1, 0] = K[0, -1] = np.nan
        return K


class NotSymmetric(Broken):
    def __call__(self, X, Y=None):
        K = super().__call__(X, Y)
        K[0, 1] += 0.1
        return K


class CrossNotSymmetric(Broken):
    def __call__(self, X, Y=None):
        K = super().__call__(X, Y)
        return K if Y is None or len(Y) != len(NEW_VECTORS) else 2 * K


class NotDefinite(Broken):
    def __call__(self, X, Y=None):
        return np.cos(3 * self.distances(X, Y))


class NotUnit(Broken):
    def __call__(self, X, Y=None):
        return 1.5 * super().__call__(X, Y)


class WrongDiagonal(Broken):
    def diag(self, X):
        return np.full(len(X), 2.0)


class BlocksDiffer(Broken):
    def __call__(self, X, Y=None):
        return RBF(self.gamma).from_distances(self.distances(X, Y)) if Y is None else np.ones((len(X), len(Y)))


class DependsOnCompany(Broken):
    def __call__(self, X, Y=None):
        shift = X.mean() if Y is None else X.mean() + Y.mean()
        return RBF(abs(shift) + 0.1).from_distances(self.distances(X, Y))


class NewSamplesNotFinite(Broken):
    def __call__(self, X, Y=None):
        K = super().__call__(X, Y)
        if Y is not None and len(Y) == len(NEW_VECTORS):
            K[0, 0] = np.inf
        return K


class WritesSamples(Broken):
    def __call__(self, X, Y=None):
        X -= X.mean()
        return super().__call__(X, Y)


class WritesUnlocked(Broken):
    def __call__(self, X, Y=None):
        base = X.base if X.base is not None else X
        base.flags.writeable = True
        base[0, 0] += 1e-12
        base.flags.writeable = False
        return super().__call__(X, Y)


class ReturnsSamples(Broken):
    unit_diagonal, positive_semidefinite, symmetric, distance = False, False, False, None

    def __call__(self, X, Y=None):
        X.flags.writeable = True
        return X


class ReturnsItsOwnMemory(Broken):
    def __call__(self, X, Y=None):
        K = super().__call__(X, Y)
        self.kept = {**getattr(self, "kept", {}), K.shape: getattr(self, "kept", {}).get(K.shape, K)}
        self.kept[K.shape][:] = K
        return self.kept[K.shape]


class CopiesParameters(Broken):
    def __init__(self, gamma="scale", weights=()):
        self.gamma, self.weights = gamma, list(weights)


class FreezeInPlace(Broken):
    def freeze(self, X):
        self.gamma = 1 / X.var()
        return self


class FreezeNever(Broken):
    def freeze(self, X):
        return type(self)(1 / X.var())


class FreezeToNumber(Broken):
    def freeze(self, X):
        return 1.0


class NotPicklable(Broken):
    def __reduce__(self):
        raise pickle.PicklingError("no")


class PickleForgets(Broken):
    def __setstate__(self, state):
        self.gamma = 17.0


class WrongDistances(Broken):
    def from_distances(self, distances, out=None):
        return super().from_distances(2 * distances, out)

    def __call__(self, X, Y=None):
        return super().from_distances(self.distances(X, Y))


class WritesDistances(Broken):
    def from_distances(self, distances, out=None):
        return super().from_distances(distances, distances)


class IgnoresOut(Broken):
    def from_distances(self, distances, out=None):
        return super().from_distances(distances)


class WrongFeatures(Broken):
    def features(self, X):
        return X


class DefiniteButNotSymmetric(Broken):
    symmetric = False


class Raises(Broken):
    def __call__(self, X, Y=None):
        raise KeyError("x")


def test_the_correct_kernel_passes():
    check_kernel(Broken(), VECTORS, NEW_VECTORS)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (WrongShape, "shape"),
        (WrongType, "float16, not float64"),
        (NotAnArray, "returns list"),
        (NotFinite, "NaN or infinity"),
        (NotSymmetric, "promises symmetry, but k"),
        (CrossNotSymmetric, r"k\(Y, X\)' is not k\(X, Y\)"),
        (NotDefinite, "smallest eigenvalue"),
        (NotUnit, r"k\(x, x\) = 1"),
        (WrongDiagonal, "diag"),
        (BlocksDiffer, "part of X"),
        (DependsOnCompany, "part of X"),
        (NewSamplesNotFinite, "infinity on new samples"),
        (WritesSamples, "writes into its samples"),
        (WritesUnlocked, "writes into its samples"),
        (ReturnsItsOwnMemory, "same memory twice"),
        (CopiesParameters, "RuntimeError under clone"),
        (FreezeInPlace, "other parameters after freeze"),
        (FreezeNever, "frozen again"),
        (FreezeToNumber, "not frozen to a Kernel"),
        (NotPicklable, "PicklingError under pickle"),
        (PickleForgets, "after pickle"),
        (WrongDistances, "from distances"),
        (WritesDistances, "writes into shared distances"),
        (IgnoresOut, "where it is told to"),
        (WrongFeatures, "features"),
        (DefiniteButNotSymmetric, "but not symmetric"),
        (Raises, "raises KeyError"),
    ],
)
def test_broken_kernels_are_caught(kernel, message):
    with pytest.raises(AssertionError, match=message):
        check_kernel(kernel(), VECTORS, NEW_VECTORS)


def test_a_kernel_that_returns_its_samples_is_caught():
    with pytest.raises(AssertionError, match="memory of its samples"):
        check_kernel(ReturnsSamples(gamma=1.0), np.eye(5))


def test_too_few_samples_to_check():
    with pytest.raises(ValueError, match="at least four"):
        check_kernel(Linear(), VECTORS[:3])
