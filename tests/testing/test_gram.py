"""Each check of the conformance suite for Gram stacks can fail."""

import numpy as np
import pytest

from kernelweave.gram.base import GramStack
from kernelweave.testing import check_gram_stack

N, M = 9, 3
Z = np.random.default_rng(0).normal(size=(M, N, 4))
REFERENCE = Z @ Z.transpose(0, 2, 1)


class Broken(GramStack):
    """A correct stack, of which each subclass below breaks one thing."""

    def __init__(self, matrices):
        self.matrices = np.array(matrices)
        self.n_kernels, *shape = self.matrices.shape
        self.shape, self.dtype = tuple(shape), self.matrices.dtype

    def read(self, kernels, rows, cols=None):
        cols = np.arange(self.shape[1]) if cols is None else cols
        return self.matrices[np.ix_(kernels, rows, cols)]

    def restrict(self, rows, cols=None):
        return type(self)(self.matrices[:, rows][:, :, rows if cols is None else cols])


class WrongCount(Broken):
    def __init__(self, matrices):
        super().__init__(matrices)
        self.n_kernels -= 1


class WrongShape(Broken):
    def __init__(self, matrices):
        super().__init__(matrices)
        self.shape = self.shape[0], self.shape[1] + 1


class WrongStorage(Broken):
    def __init__(self, matrices):
        super().__init__(matrices)
        self.dtype = np.dtype(int)


class ReadsTransposed(Broken):
    def read(self, kernels, rows, cols=None):
        return super().read(kernels, rows, cols)[:, ::-1]


class ForgetsColumns(Broken):
    def read(self, kernels, rows, cols=None):
        return super().read(kernels, rows)


class ReadsSingle(Broken):
    def read(self, kernels, rows, cols=None):
        return super().read(kernels, rows, cols).astype(np.float32)


class LendsItsMemory(Broken):
    def read(self, kernels, rows, cols=None):
        whole = cols is None and len(rows) == self.shape[0] and len(kernels) == self.n_kernels
        return self.matrices if whole else super().read(kernels, rows, cols)


class LendsReadOnly(Broken):
    def read(self, kernels, rows, cols=None):
        result = super().read(kernels, rows, cols)
        result.flags.writeable = False
        return result


class ReadsNoEmptyChoice(Broken):
    def read(self, kernels, rows, cols=None):
        return np.stack(list(super().read(kernels, rows, cols)))


class IgnoresOut(Broken):
    def combine(self, weights, out=None):
        return super().combine(weights)


class AddsToOut(Broken):
    def combine(self, weights, out=None):
        result = np.zeros(self.shape) if out is None else out
        result += np.tensordot(weights, self.matrices, axes=1)
        return result


class TakesPositiveWeights(Broken):
    def combine(self, weights, out=None):
        return super().combine(np.abs(weights), out)


class NeedsWeights(Broken):
    def combine(self, weights, out=None):
        result = super().combine(weights, out)
        result += 0.0 if weights.any() else 1.0
        return result


class Rounds(Broken):
    def products(self, vector):
        return super().products(vector).astype(np.float32).astype(np.float64)


class WritesIntoVectors(Broken):
    def products(self, vector):
        vector *= 1.0
        return super().products(vector)


class DropsTheSmallKernel(Broken):
    def products(self, vector):
        result = super().products(vector)
        result[np.abs(result).max(axis=1) < 1e-6] = 0.0
        return result


class TakesNoBlock(Broken):
    def matvec(self, weights, block):
        return super().matvec(weights, block if block.ndim == 1 else block[:, :1])


class ReadsColumnwiseBlocksWrongly(Broken):
    def matvec(self, weights, block):
        return super().matvec(weights, block if block.flags.c_contiguous else block.ravel("K").reshape(block.shape))


class MatvecNeedsWeights(Broken):
    def matvec(self, weights, block):
        return super().matvec(weights if weights.any() else weights + 1.0, block)


class AppliesTransposed(Broken):
    def apply(self, coefficients):
        return super().apply(coefficients[:, ::-1])


class AppliesSomething(Broken):
    def apply(self, coefficients):
        return super().apply(coefficients) if coefficients.any() else np.ones(self.shape[0])


class AdjointOfRows(Broken):
    def adjoint(self, vector):
        return super().adjoint(vector).T


class AdjointIsApply(Broken):
    def adjoint(self, vector):
        return super().adjoint(-vector)


class ProductsBeyondTheSupport(Broken):
    def support_products(self, vector, kernels=None):
        kernels = np.arange(self.n_kernels) if kernels is None else kernels
        return self.products(vector)[kernels]


class IgnoresChoice(Broken):
    def support_products(self, vector, kernels=None):
        return super().support_products(vector)


class SortsChoice(Broken):
    def support_products(self, vector, kernels=None):
        return super().support_products(vector, None if kernels is None else np.sort(kernels))


class NormsForForms(Broken):
    def quadratic_forms(self, block):
        forms = super().quadratic_forms(block)
        return np.sqrt(forms) if block.ndim == 2 else forms


class WrongFormsOfVectors(Broken):
    def quadratic_forms(self, block):
        forms = super().quadratic_forms(block)
        return forms if block.ndim == 2 else 2 * forms


class WrongTraces(Broken):
    def traces(self):
        return np.full(self.n_kernels, float(self.shape[0]))


class WrongDiagonals(Broken):
    def traces(self):
        return np.trace(self.matrices, axis1=1, axis2=2)

    def diagonals(self):
        return np.sqrt(super().diagonals())


class IgnoresShift(Broken):
    def shifted_solve(self, weights, diagonal):
        return super().shifted_solve(weights, np.full_like(diagonal, diagonal.mean()))


class SolvesVectorsOnly(Broken):
    def shifted_solve(self, weights, diagonal):
        solve = super().shifted_solve(weights, diagonal)
        return lambda rhs: solve(rhs) if rhs.ndim == 1 else solve(rhs[:, 0])


class SolvesInPlace(Broken):
    def shifted_solve(self, weights, diagonal):
        solve = super().shifted_solve(weights, diagonal)

        def overwrite(rhs):
            rhs[...] = solve(rhs)
            return rhs

        return overwrite


class SolvesInUnlockedPlace(Broken):
    def shifted_solve(self, weights, diagonal):
        solve = super().shifted_solve(weights, diagonal)

        def overwrite(rhs):
            solution = solve(rhs)
            rhs.flags.writeable = True
            rhs[...] = 0.0
            return solution

        return overwrite


class SortsRows(Broken):
    def restrict(self, rows, cols=None):
        return super().restrict(np.sort(rows), cols)


class RestrictsOnce(Broken):
    def restrict(self, rows, cols=None):
        part = super().restrict(rows, cols)
        part.restrict = lambda rows, cols=None: part
        return part


class RestrictsWrongRectangle(Broken):
    def restrict(self, rows, cols=None):
        return super().restrict(np.sort(rows) if cols is not None else rows, cols)


class RefusesSilently(Broken):
    def restrict(self, rows, cols=None):
        if cols is not None:
            raise ValueError("no")
        return super().restrict(rows)


class ChangesItself(Broken):
    def restrict(self, rows, cols=None):
        part = super().restrict(rows, cols)
        self.matrices[0, 0, 0] += 0.0 if cols is None else 1.0
        return part


REASONS = {
    WrongCount: "n_kernels",
    WrongShape: "has shape",
    WrongStorage: "has dtype",
    ReadsTransposed: "reads wrong entries",
    ForgetsColumns: "reads a wrong block",
    ReadsSingle: "float32, not float64",
    LendsItsMemory: "reads no new array",
    LendsReadOnly: "memory that is not new",
    ReadsNoEmptyChoice: "need at least one array",
    IgnoresOut: "into `out`",
    AddsToOut: "weighted sum in `out`",
    TakesPositiveWeights: "wrong weighted sum",
    NeedsWeights: "sum without weights",
    Rounds: "wrong products",
    WritesIntoVectors: "writes into what it was given",
    DropsTheSmallKernel: "wrong products",
    TakesNoBlock: "wrong matvec of a block",
    ReadsColumnwiseBlocksWrongly: "column-wise",
    MatvecNeedsWeights: "matvec without weights",
    AppliesTransposed: "wrong apply",
    AppliesSomething: "apply without coefficients",
    AdjointOfRows: "adjoint of shape",
    AdjointIsApply: "wrong adjoint",
    ProductsBeyondTheSupport: "products at the support",
    IgnoresChoice: "of some kernels",
    SortsChoice: "of some kernels",
    NormsForForms: "quadratic forms of a block",
    WrongFormsOfVectors: "wrong quadratic forms",
    WrongTraces: "wrong traces",
    WrongDiagonals: "wrong diagonals",
    IgnoresShift: "solves a shifted system",
    SolvesVectorsOnly: "solves a shifted system",
    SolvesInPlace: "writes into what it was given",
    SolvesInUnlockedPlace: "writes into a right-hand side",
    SortsRows: "restricted again",
    RestrictsOnce: "restricted again",
    RestrictsWrongRectangle: "rectangular block",
    RefusesSilently: "without saying why",
    ChangesItself: "^ChangesItself reads wrong entries",
}


def test_the_unbroken_stack_passes():
    check_gram_stack(Broken(REFERENCE), REFERENCE)


@pytest.mark.parametrize("broken", REASONS, ids=lambda broken: broken.__name__)
def test_every_check_can_fail(broken):
    scales = np.array([1.0, 1e3, 1e-9])[:, None, None]
    with pytest.raises(AssertionError, match=REASONS[broken]) as caught:
        check_gram_stack(broken(scales * REFERENCE), scales * REFERENCE)
    assert broken.__name__ in str(caught.value)


def test_no_broken_stack_is_forgotten():
    assert set(Broken.__subclasses__()) == set(REASONS)


@pytest.mark.parametrize("shape", [(9, 9), (1, 9, 9), (2, 3, 9)])
def test_too_little_to_tell(shape):
    with pytest.raises(ValueError, match="needs at least"):
        check_gram_stack(Broken(REFERENCE), np.ones(shape))
