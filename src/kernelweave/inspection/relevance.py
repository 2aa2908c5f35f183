"""Which kernels and samples a fitted expansion uses, as a picture."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from kernelweave.exceptions import import_extra
from kernelweave.gram.base import FloatArray

__all__ = ["RelevanceDisplay", "relevance_map"]

_MOST_COLUMNS = 800  # about what a picture can show; beyond, a column is the largest of several samples


def relevance_map(estimator: Any, *, class_label: Any = None) -> FloatArray:
    """Sizes of the coefficients of a fitted model, scaled to [0, 1].

    Parameters
    ----------
    estimator : MixedNormClassifier, MixedNormClassifierCV or MixedNormRegressor
        Fitted.
    class_label : object, optional
        With several classes: the one whose coefficients to take. By default the largest over the classes.

    Returns
    -------
    ndarray of shape (n_kernels, n_samples)

    Raises
    ------
    ValueError
        For a model without such coefficients, or a class that it does not know.
    sklearn.exceptions.NotFittedError
        When the model is not fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MixedNormClassifier
    >>> from kernelweave.inspection import relevance_map
    >>> from kernelweave.kernels import RBF
    >>> X = np.arange(6.0)[:, None]
    >>> model = MixedNormClassifier([RBF(gamma=1.0)], penalty="l1", alpha=0.1).fit(X, X[:, 0] > 2)
    >>> relevance_map(model).shape, float(relevance_map(model).max())
    ((1, 6), 1.0)
    """
    check_is_fitted(estimator)
    if not hasattr(estimator, "coef_") or not hasattr(estimator, "kernel_names_"):
        raise ValueError(
            f"A relevance map is of a MixedNormClassifier or MixedNormRegressor; got {type(estimator).__name__}."
        )
    sizes = _sizes(estimator, class_label)
    largest = sizes.max(initial=0.0)
    return np.asarray((sizes / largest if largest > 0 else sizes).T)


class RelevanceDisplay:
    """Relevance map: one row a kernel, one column a sample, the size of the coefficient as colour ([K09] Figure 2).

    Make one with `from_estimator`. Needs the extra ``plot``.

    Parameters
    ----------
    relevance : ndarray of shape (n_kernels, n_samples)
        Sizes of the coefficients in [0, 1].
    kernel_names : sequence of str of length n_kernels
        Names of the rows.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from kernelweave import MixedNormClassifier
    >>> from kernelweave.inspection import RelevanceDisplay
    >>> from kernelweave.kernels import RBF
    >>> X = np.arange(6.0)[:, None]
    >>> model = MixedNormClassifier([RBF(gamma=1.0)], penalty="l1", alpha=0.1).fit(X, X[:, 0] > 2)
    >>> display = RelevanceDisplay.from_estimator(model)
    >>> display.ax_.get_yticklabels()[0].get_text()
    'rbf'
    """

    def __init__(self, relevance: FloatArray, kernel_names: Any) -> None:
        self.relevance = relevance
        self.kernel_names = kernel_names

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, class_label: Any = None, order: Any = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw the coefficients of a fitted model.

        Parameters
        ----------
        estimator : MixedNormClassifier, MixedNormClassifierCV or MixedNormRegressor
            Fitted.
        class_label : object, optional
            With several classes: the one whose coefficients to show. By default the largest over the classes.
        order : array-like of shape (n_shown,), optional
            Samples in the order of the columns; all as they were given when None.
        ax : matplotlib Axes, optional
            Where to draw; a new figure when None.
        **options : dict
            For `plot`.

        Returns
        -------
        RelevanceDisplay

        Raises
        ------
        ValueError
            For a model without such coefficients, or a class that it does not know.
        sklearn.exceptions.NotFittedError
            When the model is not fitted.
        MissingExtraError
            When matplotlib is not installed.
        """
        import_extra("matplotlib", "plot", "Drawing a relevance map")
        relevance = relevance_map(estimator, class_label=class_label)
        chosen = relevance if order is None else relevance[:, np.asarray(order)]
        return cls(chosen, list(estimator.kernel_names_)).plot(ax=ax, **options)

    def plot(self, *, ax: Any = None, cmap: str = "afmhot_r", colorbar: bool = True, **options: Any) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; a new figure when None.
        cmap : str, default="afmhot_r"
            Colour map; the default has white for zero.
        colorbar : bool, default=True
            Explain the colours.
        **options : dict
            For matplotlib's ``imshow``.

        Returns
        -------
        self

        Raises
        ------
        MissingExtraError
            When matplotlib is not installed.
        """
        plt = import_extra("matplotlib.pyplot", "plot", "Drawing a relevance map")
        n_kernels, n_samples = self.relevance.shape
        if ax is None:
            _, ax = plt.subplots(figsize=(7.0, 0.9 + 0.32 * n_kernels), layout="constrained")
        settings = {"aspect": "auto", "interpolation": "nearest", "vmin": 0.0, "vmax": 1.0} | options
        place = (-0.5, n_samples - 0.5, n_kernels - 0.5, -0.5)
        image = ax.imshow(_shrunk(self.relevance), cmap=cmap, extent=place, **settings)
        ax.set_yticks(range(n_kernels), self.kernel_names)
        ax.set_xlabel("sample")
        ax.tick_params(length=0)
        if colorbar:
            ax.figure.colorbar(image, ax=ax, label="relevance", ticks=[0, 1])
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _sizes(estimator: Any, class_label: Any) -> FloatArray:
    """Absolute coefficients, shape (n_samples, n_kernels)."""
    several = isinstance(estimator.coef_, list)
    arrays = estimator.coef_ if several else [estimator.coef_]
    if class_label is not None:
        if not several or class_label not in estimator.classes_:
            known = list(estimator.classes_) if several else "none: there is one set of coefficients"
            raise ValueError(f"class_label {class_label!r} is not among the classes with coefficients ({known}).")
        arrays = [arrays[int(np.flatnonzero(estimator.classes_ == class_label)[0])]]
    dense = [array.toarray() if issparse(array) else array for array in arrays]
    return np.asarray(np.max([np.abs(array) for array in dense], axis=0))


def _shrunk(relevance: FloatArray) -> FloatArray:
    """The same with few enough columns, each the largest of those it stands for: none is lost."""
    n = relevance.shape[1]
    if n <= _MOST_COLUMNS:
        return relevance
    starts = np.linspace(0, n, _MOST_COLUMNS, endpoint=False).astype(np.intp)
    return np.maximum.reduceat(relevance, starts, axis=1)
