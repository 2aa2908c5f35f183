"""What the estimators with a mixed-norm penalty share: kernels, fit, attributes, prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted

from kernelweave._compat import take_rows
from kernelweave.estimators.kernel_parameters import KernelParameters
from kernelweave.estimators.mixed_norm.fit import MixedNormFit, MixedNormSettings, fit_mixed_norm, point_weights
from kernelweave.estimators.mixed_norm.sparse_expansion import SparseExpansion
from kernelweave.estimators.progress import progress_callback
from kernelweave.estimators.samples import check_samples
from kernelweave.gram.base import FloatArray, GramStack, IntArray
from kernelweave.gram.build import PreparedKernels
from kernelweave.gram.expansion import build_expansion
from kernelweave.kernels.constant import Constant
from kernelweave.kernels.entries import Entry, resolve_entries
from kernelweave.kernels.evaluate import freeze_kernels
from kernelweave.problems.losses import Loss
from kernelweave.problems.penalties import MixedNorm, penalty_named

__all__ = ["MixedNormModel", "Training", "as_coefficients"]

_CHOICES = {
    "normalize": ("cosine", "trace", "frobenius", None),
    "storage": ("auto", "dense", "memmap", "lazy"),
    "dtype": ("float64", "float32"),
}
# The word, so that True and 1 stay what they are in scikit-learn.
_KERNEL = "kernel"
_SPARSE = 0.25


@dataclass(frozen=True)
class Training:
    """Everything of a fit that does not depend on the targets.

    Parameters
    ----------
    X : samples
        The samples of positive weight.
    kept : ndarray of intp
        Which of all samples these are.
    points : samples
        The expansion points; ``X`` itself where they are the same.
    gram : GramStack
        The prepared kernels.
    prepared : PreparedKernels
        What new samples need.
    point_weights : ndarray of shape (n_points,) or None
        Factors of the columns of ``gram`` on top of the preparation.
    """

    X: Any
    kept: IntArray
    points: Any
    gram: GramStack
    prepared: PreparedKernels
    point_weights: FloatArray | None

    def unscaled(self, coefficients: FloatArray) -> FloatArray:
        """Coefficients of the prepared kernels from those of the stack."""
        return coefficients if self.point_weights is None else coefficients * self.point_weights[:, None]

    def scaled(self, coefficients: FloatArray) -> FloatArray:
        """Coefficients of the stack from those of the prepared kernels."""
        return coefficients if self.point_weights is None else coefficients / self.point_weights[:, None]


class MixedNormModel(KernelParameters):
    """Base of the estimators; subclasses have the parameters it reads."""

    penalty: str
    structure: str
    alpha: float
    fit_intercept: bool | str
    normalize: str | None
    storage: str
    dtype: str

    def _settings(self) -> MixedNormSettings:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}; got {getattr(self, name)!r}.")
        if not (isinstance(self.fit_intercept, bool | np.bool_) or self.fit_intercept == _KERNEL):
            raise ValueError(f"fit_intercept must be True, False or {_KERNEL!r}; got {self.fit_intercept!r}.")
        return MixedNormSettings(
            penalty=self.penalty,
            structure=self.structure,
            loss=getattr(self, "loss", "squared"),
            intercept=bool(self.fit_intercept) and self.fit_intercept != _KERNEL,
            callback=progress_callback(self.verbose),
            **{name: getattr(self, name) for name in ("tol", "max_iter", "time_limit", "solver")},
        )

    def _checked_alpha(self) -> float:
        if not (isinstance(self.alpha, Real) and 0 < self.alpha < np.inf):
            raise ValueError(f"alpha must be a positive finite number; got {self.alpha!r}.")
        return float(self.alpha)

    def _check_fit_samples(self, X: Any) -> Any:
        entries = resolve_entries(self.kernels)
        self._numeric = all(entry.kernel.vector_input is True for entry in entries)
        return check_samples(self, X, numeric=self._numeric, reset=True)

    def _entries(self) -> list[Entry]:
        entries = resolve_entries(self.kernels)
        if self.fit_intercept == _KERNEL:
            if any(entry.name == "constant" for entry in entries):
                raise ValueError("fit_intercept='kernel' adds a kernel named 'constant'; give yours another name.")
            entries.append(Entry("constant", Constant()))
        return entries

    def _train(
        self, X: Any, weight: FloatArray, points: Any, settings: MixedNormSettings, classes: Any = None
    ) -> Training:
        kept = np.flatnonzero(weight > 0).astype(np.intp)
        X_kept = X if len(kept) == len(weight) else take_rows(X, kept)
        scales = None
        if points is None:
            points, scales = X_kept, point_weights(settings.norm, weight[kept])
        else:
            points = check_samples(self, points, numeric=self._numeric, reset=False)
        gram, prepared = build_expansion(
            freeze_kernels(self._entries(), X_kept, None if classes is None else classes[kept]),
            X_kept,
            points,
            normalize=self.normalize,
            storage=self.storage,
            dtype=np.dtype(self.dtype),
            point_weights=scales,
        )
        return Training(X_kept, kept, points, gram, prepared, scales)

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, points: Any
    ) -> tuple[MixedNormSettings, Training, list[Loss], int]:
        """Settings, kernels, losses and the number of samples, from what is given to ``fit``."""
        raise NotImplementedError(f"{type(self).__name__} must implement _prepare")

    def _fit(self, X: Any, y: Any, sample_weight: Any, points: Any) -> Self:
        # A fit that fails or is interrupted must not pass for the one before.
        self.__dict__.pop("_expansion", None)
        alpha = self._checked_alpha()
        settings, training, losses, n = self._prepare(X, y, sample_weight, points)
        self._store(training, fit_mixed_norm(losses, alpha, training.gram, settings), n)
        return self

    def _losses(
        self, training: Training, targets: FloatArray, weight: FloatArray, settings: MixedNormSettings
    ) -> list[Loss]:
        return [settings.loss_of(target[training.kept], weight[training.kept]) for target in targets]

    def _norm(self) -> MixedNorm:
        return penalty_named(self.penalty, self.structure)

    def _store(self, training: Training, fit: MixedNormFit, n: int) -> None:
        coefficients = [training.unscaled(array) for array in fit.coefficients]
        self._expansion = SparseExpansion.of(training.prepared, training.points, coefficients, fit.intercept)
        own_points = training.points is training.X
        full = [_spread(array, training.kept, n) if own_points else array for array in coefficients]
        single = len(full) == 1  # a regression, or two classes
        norms = np.array([np.linalg.norm(array, axis=0) for array in full])
        self.coef_ = as_coefficients(full[0]) if single else [as_coefficients(array) for array in full]
        self.kernel_norms_ = norms[0] if single else norms
        self.kernel_names_ = np.array(training.prepared.names, dtype=object)
        self.support_ = np.flatnonzero(np.any([array.any(axis=1) for array in full], axis=0))
        self.intercept_ = fit.intercept
        self.alpha_max_ = float(fit.alpha_max[0]) if single else fit.alpha_max
        self.certificate_, self.status_, self.n_iter_ = fit.certificate, fit.status, fit.n_iter
        self.objective_, self.dual_gap_ = fit.certificate.primal, fit.certificate.gap
        self.n_samples_fit_ = n

    def _scores(self, X: Any) -> FloatArray:
        X = self._check_new(X)
        return self._expansion.scores(X)

    def _contributions(self, X: Any) -> FloatArray:
        X = self._check_new(X)
        return self._expansion.contributions(X)

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        X = self._checked(X)
        if self._numeric and not self._expansion.reads_samples and hasattr(X, "dtype"):
            # No kernel is left to find bad values.
            assert_all_finite(X, input_name="X")
        return X

    def _checked(self, X: Any) -> Any:
        return check_samples(self, X, numeric=self._numeric, reset=False)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_expansion")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def as_coefficients(array: FloatArray) -> Any:
    """The array, or a sparse one where at most a quarter of the entries are not zero."""
    return scipy.sparse.csr_array(array) if np.count_nonzero(array) <= _SPARSE * array.size else array


def _spread(array: FloatArray, rows: Sequence[int] | IntArray, n: int) -> FloatArray:
    if len(rows) == n:
        return array
    full = np.zeros((n, array.shape[1]))
    full[rows] = array
    return full
