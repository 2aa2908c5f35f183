"""From named kernels and samples to a prepared stack, and to prepared values on new samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from kernelweave.exceptions import InvalidKernelError
from kernelweave.gram.base import FloatArray, GramStack, IntArray
from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.gram.preparing.checks import check_kernel_matrix, check_positive_semidefinite, refuse_asymmetric_kernel
from kernelweave.gram.preparing.memory import check_memory
from kernelweave.gram.preparing.preparation import Preparation, fit_preparation, preparation_from
from kernelweave.gram.preparing.repair import REPAIRS, Repair, fit_repair
from kernelweave.kernels.base import n_samples
from kernelweave.kernels.evaluate import NamedKernel, features_of, has_features, iter_diagonals, iter_grams, lent_types

__all__ = ["PreparedKernels", "build_stack"]

# Factors pay when their ranks together stay below this share of the samples.
_LOW_RANK = 0.25
# Below this many multiplications, definiteness is looked at before the fit rather than after it.
_CHEAP_CHECK = 1e9


@dataclass(frozen=True)
class PreparedKernels:
    """Frozen kernels with their fitted preparation.

    Parameters
    ----------
    named : list of NamedKernel
        The kernels.
    preparations : list of Preparation
        One each, fitted on the training samples.
    unverified : tuple of int
        Kernels whose definiteness is a claim that was not looked at.
    """

    named: list[NamedKernel]
    preparations: list[Preparation]
    unverified: tuple[int, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the kernels, in order."""
        return [member.name for member in self.named]

    @property
    def traces(self) -> FloatArray:
        """Traces of the prepared kernels over all training samples, shape (m,)."""
        return np.array([preparation.trace for preparation in self.preparations])

    @property
    def needs_all_columns(self) -> bool:
        """Whether new samples must be compared with every training sample (centring, repair), not just some."""
        return any(preparation.needs_all_columns for preparation in self.preparations)

    def new_blocks(
        self, X: Any, X_train: Any, columns: IntArray, kernels: IntArray
    ) -> Iterator[tuple[int, FloatArray]]:
        """Prepared kernel values of new samples.

        Parameters
        ----------
        X : samples
            New samples.
        X_train : samples
            The training samples in ``columns`` (all of them where `needs_all_columns`).
        columns : ndarray of intp
            Their indices among the training samples.
        kernels : ndarray of intp
            Which kernels.

        Yields
        ------
        index : int
            Kernel.
        block : ndarray of shape (n_new, len(columns)), dtype float64
            Values, yours to change.
        """
        chosen = [self.named[i] for i in kernels]
        diagonals = self._diagonals(kernels, X)
        for position, block, owned in iter_grams(chosen, X, X_train):
            index = int(kernels[position])
            values = block if owned and block.dtype == np.float64 else block.astype(np.float64)
            yield index, self.preparations[index].apply_to_new(values, diagonals[position], columns)

    def _diagonals(self, kernels: IntArray, X: Any) -> list[FloatArray]:
        result = [np.ones(n_samples(X))] * len(kernels)
        needed = [position for position, i in enumerate(kernels) if self.preparations[i].needs_diagonal]
        for position, diagonal in iter_diagonals([self.named[kernels[position]] for position in needed], X):
            result[needed[position]] = diagonal
        return result


def build_stack(
    named: Sequence[NamedKernel],
    X: Any,
    *,
    normalize: str | None,
    center: bool,
    storage: str = "auto",
    dtype: npt.DTypeLike = np.float64,
    check_psd: bool = False,
    psd_repair: str | None = None,
) -> tuple[GramStack, PreparedKernels]:
    """Evaluate, check and prepare kernels on the training samples.

    Parameters
    ----------
    named : sequence of NamedKernel
        Frozen kernels.
    X : samples
        All training samples, labelled ones first.
    normalize : {"cosine", "trace"} or None
        Normalisation.
    center : bool
        Centre each kernel in feature space first.
    storage : {"auto", "dense", "factor"}
        "auto" takes factors when every kernel offers features of low total rank.
    dtype : dtype
        float64 or float32 storage.
    check_psd : bool
        Check the spectrum of every kernel, whatever it costs.
    psd_repair : {"clip", "flip", "shift"} or None
        What to do about negative eigenvalues of kernels that are not proven to have none; None refuses them.

    Returns
    -------
    stack : GramStack
        n x n, prepared.
    prepared : PreparedKernels
        What new samples need.

    Raises
    ------
    InvalidKernelError
        Naming the kernel that is not finite, symmetric, positive semidefinite, or zero.
    MemoryLimitError
        When a dense stack would not fit.
    """
    named = list(named)
    if psd_repair is not None and psd_repair not in REPAIRS:
        raise ValueError(f"psd_repair must be one of {REPAIRS} or None; got {psd_repair!r}.")
    for member in named:
        refuse_asymmetric_kernel(member.kernel.symmetric, member.name)
    if storage == "factor" or (storage == "auto" and all(has_features(member) for member in named)):
        factors = _factors(named, X)
        if storage == "factor" or sum(z.shape[1] for z in factors) <= _LOW_RANK * n_samples(X):
            return _factor_stack(named, factors, normalize=normalize, center=center, dtype=dtype)
    return _dense_stack(
        named, X, normalize=normalize, center=center, dtype=dtype, check_psd=check_psd, psd_repair=psd_repair
    )


def _factors(named: list[NamedKernel], X: Any) -> list[Any]:
    for member in named:
        if not has_features(member):
            raise InvalidKernelError(
                f"kernel '{member.name}': storage='factor' needs a kernel with a feature map (method features), "
                f"and {type(member.kernel).__name__} has none; use storage='dense'."
            )
    return [features_of(member, X) for member in named]


def _factor_stack(
    named: list[NamedKernel], factors: list[Any], *, normalize: str | None, center: bool, dtype: npt.DTypeLike
) -> tuple[FactorStack, PreparedKernels]:
    prepared, preparations = [], []
    for member, raw in zip(named, factors, strict=True):
        z = raw.toarray() if scipy.sparse.issparse(raw) else np.array(raw, dtype=np.float64)
        mean = z.mean(axis=0)
        means = z @ mean if center else None
        preparation = preparation_from(
            np.einsum("nr,nr->n", z, z), means, member.name, normalize=_normalisation(member, normalize)
        )
        if center:
            z -= mean
        if preparation.scale is not None:
            z *= preparation.scale[:, None]
        prepared.append(z.astype(dtype, copy=False))
        preparations.append(preparation)
    return FactorStack(prepared), PreparedKernels(named, preparations)


def _dense_stack(
    named: list[NamedKernel],
    X: Any,
    *,
    normalize: str | None,
    center: bool,
    dtype: npt.DTypeLike,
    check_psd: bool,
    psd_repair: str | None,
) -> tuple[DenseStack, PreparedKernels]:
    n, m = n_samples(X), len(named)
    # A given matrix is borrowed, unless it must be stored in another type, or may have to be repaired.
    lent = [
        given is not None and (given == dtype or dtype != np.float32) and (psd_repair is None or member.kernel.proven)
        for given, member in zip(lent_types(named, X), named, strict=True)
    ]
    check_memory(n, m - sum(lent), dtype)
    matrices: list[Any] = [None] * m
    scales: list[FloatArray | None] = [None] * m
    shifts: list[FloatArray | None] = [None] * m
    preparations: list[Any] = [None] * m
    look = check_psd or m * n**3 / 3 <= _CHEAP_CHECK
    for i, matrix, owned in iter_grams(named, X, check_finite=False):
        repair = _examined(named[i], matrix, check_psd or _doubtful(named[i], look), psd_repair)
        if repair is not None:
            matrix, owned = repair.of_training(matrix), True
        kind = _normalisation(named[i], normalize)
        preparations[i] = fit_preparation(matrix, named[i].name, normalize=kind, center=center, repair=repair)
        if owned:
            matrices[i] = preparations[i].apply_in_place(matrix).astype(dtype, copy=False)
        else:
            # Somebody else's memory: borrowed as it is, with the preparation applied on the way.
            matrices[i] = matrix if matrix.dtype == dtype or dtype != np.float32 else matrix.astype(dtype)
            scales[i], shifts[i] = preparations[i].scale, preparations[i].shift
    unverified = () if look or psd_repair else tuple(i for i, member in enumerate(named) if not member.kernel.proven)
    return DenseStack(matrices, scales, shifts), PreparedKernels(named, preparations, unverified)


def _examined(member: NamedKernel, matrix: Any, look: bool, psd_repair: str | None) -> Repair | None:
    """Refuse a matrix that is no kernel matrix, or say how it is to be repaired."""
    repaired = psd_repair is not None and not member.kernel.proven
    check_kernel_matrix(matrix, member.name, definite=not repaired)
    if psd_repair is not None and repaired:
        return fit_repair(matrix, psd_repair)
    if look:
        check_positive_semidefinite(matrix, member.name, matrix.dtype)
    return None


def _normalisation(member: NamedKernel, normalize: str | None) -> str | None:
    """A unit diagonal would leave but the signs of a kernel made of one number a sample."""
    return "trace" if normalize == "cosine" and member.kernel.single_feature else normalize


def _doubtful(member: NamedKernel, cheap: bool) -> bool:
    """Whether to look at the spectrum before the fit: always without a promise, if cheap without a proof."""
    kernel = member.kernel
    return not kernel.positive_semidefinite or (cheap and not kernel.proven)
