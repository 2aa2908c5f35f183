"""Kernels of categories whose likeness is learned from labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from kernelweave.kernels.base import FloatArray, Kernel
from kernelweave.kernels.structured.substitution import DistanceSubstitution

__all__ = ["ValueDifference"]


class ValueDifference(DistanceSubstitution):
    """Similarity of categories by how differently they foretell the class (value difference metric).

    ``D(x, z) = sum_a w_a(x_a) sum_c |P(c | x_a) - P(c | z_a)|^order`` over columns a and classes c, with
    probabilities estimated from labelled samples. The labels come from the estimator: within
    cross-validation each fit estimates its own, on its training samples alone. `from_labels` does the same by hand.
    A training sample counts in its own probabilities, so training samples look a little more alike within
    classes than new ones do.

    Parameters
    ----------
    gamma : float or "median", default="median"
        Width factor; "median" is one over the median of ``D^power`` between distinct training samples (of at
        most 1000 of them, as for `RBF`), of two directions the mean.
    order : int, default=2
        Power of the differences, 1 or 2.
    weighted : bool, default=False
        Weigh column a by ``w_a(x_a) = sqrt(sum_c P(c | x_a)^2)``, as in [1], which makes D non-symmetric and the
        kernel indefinite. Otherwise weights are one, and ``exp(-gamma D)`` is positive semidefinite.
    smoothing : float, default=1.0
        Counts at the classes' shares that are added to each value's own counts.
    form : {"exponential", "negative"}, default="exponential"
        ``exp(-gamma D^power)`` or ``-gamma D^power``.
    power : float, default=1.0
        Power of the distance.
    values : list of list, optional
        Values of each column; what was learned from labels.
    shares : list of ndarray of shape (n_values + 1, n_classes), optional
        Their class probabilities; the last row is for values never seen: the shares of the classes.

    References
    ----------
    .. [1] Stanfill, Waltz, "Toward memory-based reasoning", Communications of the ACM 29, 1986.
    .. [2] Wilson, Martinez, "Improved heterogeneous distance functions", JAIR 6, 1997.

    Examples
    --------
    >>> from kernelweave.kernels import ValueDifference
    >>> colours = [["red"], ["red"], ["blue"], ["green"]]
    >>> kernel = ValueDifference(gamma=1.0).learn_from(colours, ["warm", "warm", "cold", "cold"])
    >>> kernel(colours).round(3)
    array([[1.   , 1.   , 0.506, 0.506],
           [1.   , 1.   , 0.506, 0.506],
           [0.506, 0.506, 1.   , 1.   ],
           [0.506, 0.506, 1.   , 1.   ]])
    """

    vector_input = False

    def __init__(
        self,
        gamma: float | str = "median",
        *,
        order: int = 2,
        weighted: bool = False,
        smoothing: float = 1.0,
        form: str = "exponential",
        power: float = 1.0,
        values: Sequence[Sequence[Any]] | None = None,
        shares: Sequence[FloatArray] | None = None,
    ) -> None:
        self.gamma = gamma
        self.order = order
        self.weighted = weighted
        self.smoothing = smoothing
        self.form = form
        self.power = power
        self.values = values
        self.shares = shares

    @classmethod
    def from_labels(cls, X: Any, y: Any, **settings: Any) -> Self:
        """A kernel that has learned its probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns) or (n_samples,)
            Categories of any type that can be compared for equality.
        y : array-like of shape (n_samples,)
            Class labels.
        **settings : dict
            Parameters of the kernel.

        Returns
        -------
        ValueDifference
        """
        return cls(**settings).learn_from(X, y)

    def learn_from(self, X: Any, y: Any) -> Self:
        """The same kernel with probabilities estimated from labelled samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns) or (n_samples,)
            Categories.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        ValueDifference
            A new kernel; this one when it has learned already.
        """
        if self.shares is not None:
            return self
        if not self.smoothing >= 0:
            raise ValueError(f"smoothing must not be negative, got {self.smoothing!r}")
        columns, codes = _columns(X), np.unique(np.asarray(y), return_inverse=True)[1].ravel()
        if len(codes) != len(columns[0]):
            raise ValueError(f"there are {len(columns[0])} samples but {len(codes)} labels")
        members = np.eye(int(codes.max()) + 1)[codes]
        prior = members.mean(axis=0)
        values, shares = [], []
        for column in columns:
            known = list(dict.fromkeys(column))
            counts = np.zeros((len(known) + 1, len(prior)))
            np.add.at(counts, _numbers(column, known), members)
            counts += self.smoothing * prior
            counts[-1] = prior
            values.append(known)
            shares.append(counts / counts.sum(axis=1, keepdims=True))
        return type(self)(**{**self.get_params(deep=False), "values": values, "shares": shares})

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether no weights are used."""
        return not self.weighted

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        """Whether D is a sum of powers of differences (of order 1 or 2), and the form is the exponential."""
        return not self.weighted and self.form == "exponential" and self.power <= 1

    @property
    def proven(self) -> bool:  # type: ignore[override]
        """As `positive_semidefinite`: by Schoenberg's theorem."""
        return self.positive_semidefinite

    @property
    def distance(self) -> None:  # type: ignore[override]
        """None: what was learned has no name to be shared under."""
        return None

    def distances(self, X: Any, Y: Any = None) -> FloatArray:
        """Value differences, shape (n_x, n_y)."""
        if self.order not in (1, 2):
            raise ValueError(f"order must be 1 or 2, got {self.order!r}")
        if self.values is None or self.shares is None:
            raise ValueError(
                "the value difference has not learned from labels; use it in an estimator that is fitted with "
                "labels, or ValueDifference.from_labels(X_train, y_train)"
            )
        left = _columns(X)
        right = left if Y is None or Y is X else _columns(Y)
        if len(left) != len(self.values) or len(right) != len(self.values):
            raise ValueError(f"the value difference has learned {len(self.values)} columns, got {len(left)}")
        total = np.zeros((len(left[0]), len(right[0])))
        for column, other, known, shares in zip(left, right, self.values, self.shares, strict=True):
            differences = (np.abs(shares[:, None, :] - shares) ** self.order).sum(axis=2)
            if self.weighted:
                differences *= np.sqrt((shares**2).sum(axis=1))[:, None]
            total += differences[np.ix_(_numbers(column, known), _numbers(other, known))]
        return total

    def freeze(self, X: Any) -> Kernel:
        """Turn the rule for ``gamma`` into a number; the probabilities must have been learned."""
        if self.shares is None:
            self.distances(X)  # says what is missing
        return super().freeze(X)


def _columns(X: Any) -> list[list[Any]]:
    array = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    if array.ndim not in (1, 2):
        raise ValueError(f"categories must be a table of shape (n_samples, n_columns), got shape {array.shape}")
    return [array.tolist()] if array.ndim == 1 else [column.tolist() for column in array.T]


def _numbers(column: list[Any], known: Sequence[Any]) -> npt.NDArray[np.intp]:
    """Position of each value among the known ones; one past them for a new value."""
    positions = {value: i for i, value in enumerate(known)}
    return np.array([positions.get(value, len(positions)) for value in column], dtype=np.intp)
