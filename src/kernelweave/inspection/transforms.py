"""Pictures of learned monotone transforms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from kernelweave.estimators.limits import check_choice
from kernelweave.exceptions import import_extra
from kernelweave.gram.base import FloatArray

__all__ = ["TransformCurve", "TransformDisplay"]

_MOST_PANELS = 16
_BINS = 60
_MOST_TICKS = 6
_COLUMNS = 4
_CURVE, _LINEAR, _DENSITY = "#4477aa", "#bbbbbb", "#dddddd"


@dataclass(frozen=True)
class TransformCurve:
    """One transform as it is drawn.

    Parameters
    ----------
    name : str
        What it belongs to.
    knots : ndarray of shape (n_knots,)
        Knots.
    values : ndarray of shape (n_knots,)
        The transform there.
    samples : ndarray of shape (n_values,) or None
        Values whose density is shown, zeros that a sparse matrix does not store left out.
    zeros : float
        Share of the values that are such zeros.
    linear : ndarray of shape (n_knots,) or None
        What a linear transform from 0 to 1 has at the knots, where ``knots`` are not values.
    """

    name: str
    knots: FloatArray
    values: FloatArray
    samples: FloatArray | None = None
    zeros: float = 0.0
    linear: FloatArray | None = None


@dataclass
class TransformDisplay:
    """Learned transforms with their knots and the density of the data.

    Make one with `from_estimator`. Needs the extra ``plot``.

    Parameters
    ----------
    curves : sequence of TransformCurve
        What to draw.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    axes_ : ndarray of matplotlib Axes
        One a panel.
    lines_ : list of matplotlib Line2D
        One a transform.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from kernelweave import MonotoneClassifier
    >>> from kernelweave.datasets import make_monotone
    >>> from kernelweave.inspection import TransformDisplay
    >>> bent = make_monotone(200, transform="square", random_state=0)
    >>> model = MonotoneClassifier(C=100.0).fit(bent.data, bent.target)
    >>> display = TransformDisplay.from_estimator(model, bent.data)
    >>> len(display.axes_), display.axes_[0].get_title()
    (1, 'all features')
    """

    curves: Sequence[TransformCurve]
    figure_: Any = field(default=None, init=False, repr=False)
    axes_: Any = field(default=None, init=False, repr=False)
    lines_: list[Any] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        features: Any = None,
        panels: str = "many",
        scale: str = "value",
        ax: Any = None,
    ) -> Self:
        """Draw the transforms of a fitted estimator.

        Parameters
        ----------
        estimator : MonotoneClassifier, MonotoneRegressor, MonotoneTransformer or Pipeline
            Fitted; of a pipeline the last step, with X sent through the others.
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features), optional
            Samples whose density is shown behind the curves.
        features : list of int or str, optional
            Features whose transforms to draw, by position or name. By default one curve for each transform, named
            by the features that share it; of more than 16 those of the first.
        panels : {"many", "one"}, default="many"
            A panel for each curve, or all in one.
        scale : {"value", "knots"}, default="value"
            Axis of the values: as they are, or with knots equally far apart, which shows what happens where most
            values are close together; the latter needs a panel for each curve.
        ax : matplotlib Axes or array of them, optional
            Where to draw: one for ``panels="one"`` or a single curve, else as many as there are curves. A new
            figure when None.

        Returns
        -------
        TransformDisplay

        Raises
        ------
        MissingExtraError
            When matplotlib is not installed.
        NotFittedError
            When the estimator is not fitted.
        ValueError
            For features that are not there, or axes of the wrong number.
        """
        import_extra("matplotlib", "plot", "Drawing transforms")
        if hasattr(estimator, "steps"):
            X = X if X is None else estimator[:-1].transform(X)
            estimator = estimator[-1]
        check_is_fitted(estimator)
        values = None if X is None else estimator._samples(X, reset=False)
        return cls(_curves(estimator, values, features)).plot(panels=panels, scale=scale, ax=ax)

    def plot(self, *, panels: str = "many", scale: str = "value", ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        panels : {"many", "one"}, default="many"
            A panel for each curve, or all in one.
        scale : {"value", "knots"}, default="value"
            Values as they are, or with knots equally far apart.
        ax : matplotlib Axes or array of them, optional
            Where to draw.

        Returns
        -------
        self
        """
        check_choice("panels", panels, ("many", "one"))
        check_choice("scale", scale, ("value", "knots"))
        n_panels = 1 if panels == "one" else len(self.curves)
        if scale == "knots" and n_panels < len(self.curves):
            raise ValueError("scale='knots' needs panels='many': each curve has knots of its own.")
        self._take_axes(n_panels, ax)
        self.lines_ = []
        for i, curve in enumerate(self.curves):
            drawn = _at_knots(curve) if scale == "knots" else curve
            self._draw(drawn, self.axes_[i % n_panels], alone=n_panels == len(self.curves))
            if scale == "knots":
                _label_knots(curve, self.axes_[i])
        if panels == "one" and len(self.curves) > 1:
            self.axes_[0].legend(frameon=False, fontsize="small")
        for axes in self.axes_:
            axes.set_xlabel("value")
            axes.spines[["top", "right"]].set_visible(False)
        self.axes_[0].set_ylabel("transform")
        return self

    def _take_axes(self, n_panels: int, ax: Any) -> None:
        if ax is None:
            plt = import_extra("matplotlib.pyplot", "plot", "Drawing transforms")
            columns = min(n_panels, _COLUMNS)
            rows = -(-n_panels // columns)
            size = (4.6, 3.4) if n_panels == 1 else (3.0 * columns, 2.6 * rows)
            figure, grid = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
            self.axes_ = grid.ravel()[:n_panels]
            for unused in grid.ravel()[n_panels:]:
                unused.set_axis_off()
        else:
            self.axes_ = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
            if len(self.axes_) != n_panels:
                raise ValueError(f"{n_panels} panels need as many axes; got {len(self.axes_)}.")
            figure = self.axes_[0].figure
        self.figure_ = figure

    def _draw(self, curve: TransformCurve, axes: Any, *, alone: bool) -> None:
        low, high = curve.values[0], curve.values[-1]
        name = curve.name + (f" ({curve.zeros:.0%} zeros)" if curve.zeros else "")
        if alone:
            _draw_density(curve, axes)
            linear = np.linspace(0.0, 1.0, 2) if curve.linear is None else curve.linear
            at = curve.knots[[0, -1]] if curve.linear is None else curve.knots
            line = low + (high - low) * linear
            axes.plot(at, line, color=_LINEAR, linestyle="--", linewidth=1, zorder=1, label="linear")
            axes.set_title(name, fontsize="medium")
        colour = {"color": _CURVE} if alone else {}
        (line,) = axes.plot(curve.knots, curve.values, marker="o", markersize=3.5, zorder=2, label=name, **colour)
        self.lines_.append(line)


def _at_knots(curve: TransformCurve) -> TransformCurve:
    """The curve over the numbers of its knots."""
    numbers = np.arange(len(curve.knots), dtype=np.float64)
    samples = None if curve.samples is None else np.interp(curve.samples, curve.knots, numbers)
    linear = (curve.knots - curve.knots[0]) / (curve.knots[-1] - curve.knots[0])
    return replace(curve, knots=numbers, samples=samples, linear=linear)


def _label_knots(curve: TransformCurve, axes: Any) -> None:
    shown = np.unique(np.linspace(0, len(curve.knots) - 1, min(len(curve.knots), _MOST_TICKS)).round().astype(int))
    axes.set_xticks(shown, [f"{curve.knots[i]:.3g}" for i in shown])


def _draw_density(curve: TransformCurve, axes: Any) -> None:
    """A histogram between the outermost knots, as high as the curve at its highest bin."""
    if curve.samples is None or not len(curve.samples):
        return
    inside = np.clip(curve.samples, curve.knots[0], curve.knots[-1])
    counts, edges = np.histogram(inside, bins=_BINS, range=(curve.knots[0], curve.knots[-1]))
    low, high = curve.values[0], curve.values[-1]
    heights = low + (high - low) * counts / max(counts.max(), 1)
    axes.stairs(heights, edges, baseline=low, fill=True, color=_DENSITY, zorder=0)


def _curves(estimator: Any, values: Any, features: Any) -> list[TransformCurve]:
    groups = estimator.groups_
    if features is not None:
        chosen = [estimator._position(feature) for feature in features]
        if not chosen:
            raise ValueError("features must name at least one feature.")
        return [_curve(estimator, f, _name(estimator, [f]), values, [f]) for f in chosen]
    curves = []
    for group in range(min(int(groups.max()) + 1, _MOST_PANELS)):
        members = np.flatnonzero(groups == group).tolist()
        name = "all features" if len(members) == len(groups) > 1 else _name(estimator, members)
        curves.append(_curve(estimator, members[0], name, values, members))
    return curves


def _name(estimator: Any, members: list[int]) -> str:
    names = getattr(estimator, "feature_names_in_", None)
    shown = [f"feature {f}" if names is None else str(names[f]) for f in members[:3]]
    return ", ".join(shown) + (f", ... ({len(members)})" if len(members) > len(shown) else "")


def _curve(estimator: Any, feature: int, name: str, values: Any, members: list[int]) -> TransformCurve:
    knots, transformed = estimator.transform_curve(feature)
    if values is None:
        return TransformCurve(name, knots, transformed)
    if not scipy.sparse.issparse(values):
        return TransformCurve(name, knots, transformed, np.ravel(values[:, members]))
    part = scipy.sparse.csc_matrix(values)[:, members]
    return TransformCurve(name, knots, transformed, part.data, 1.0 - part.nnz / max(np.prod(part.shape), 1))
