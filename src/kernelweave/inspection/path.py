"""Kernels along a path of strengths, and the scores of cross-validation beside them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from kernelweave.estimators.mixed_norm.classifier import MixedNormClassifier
from kernelweave.estimators.mixed_norm.path import MixedNormPath, mixed_norm_path
from kernelweave.exceptions import import_extra
from kernelweave.gram.base import FloatArray

__all__ = ["PathDisplay"]


class PathDisplay:
    """Norm of each kernel's coefficients against the strength of the penalty.

    Make one with `from_path` or `from_estimator`. Needs the extra ``plot``.

    Parameters
    ----------
    alphas : ndarray of shape (n_alphas,)
        Strengths.
    kernel_norms : ndarray of shape (n_alphas, n_kernels)
        Norms.
    kernel_names : sequence of str of length n_kernels
        Names.
    cv_scores : ndarray of shape (n_alphas, n_folds), optional
        Scores of cross-validation, drawn below.
    alpha : float, optional
        The strength chosen, marked.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The norms.
    score_ax_ : matplotlib Axes or None
        The scores.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from kernelweave import MixedNormClassifier, mixed_norm_path
    >>> from kernelweave.inspection import PathDisplay
    >>> from kernelweave.kernels import RBF, Linear
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> path = mixed_norm_path(MixedNormClassifier([RBF(1.0), Linear()]), X, X[:, 0] > 0, n_alphas=4)
    >>> PathDisplay.from_path(path).kernel_norms.shape
    (4, 2)
    """

    def __init__(
        self,
        alphas: FloatArray,
        kernel_norms: FloatArray,
        kernel_names: Any,
        cv_scores: FloatArray | None = None,
        alpha: float | None = None,
    ) -> None:
        self.alphas = alphas
        self.kernel_norms = kernel_norms
        self.kernel_names = kernel_names
        self.cv_scores = cv_scores
        self.alpha = alpha

    @classmethod
    def from_path(cls, path: MixedNormPath, *, ax: Any = None) -> Self:
        """Draw a path that was run.

        Parameters
        ----------
        path : MixedNormPath
            From `mixed_norm_path`; of several classes the norms are joined (root of the sum of squares).
        ax : matplotlib Axes, optional
            Where to draw; a new figure when None.

        Returns
        -------
        PathDisplay

        Raises
        ------
        MissingExtraError
            When matplotlib is not installed.
        """
        return cls(path.alphas, _joined(path), list(path.kernel_names)).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Self:
        """Run the path of an estimator and draw it.

        Parameters
        ----------
        estimator : MixedNormClassifier, MixedNormRegressor, or a fitted MixedNormClassifierCV
            Kernels and penalty; not changed. The path of a fitted `MixedNormClassifierCV` has its strengths,
            its scores and its choice.
        X, y : as for the estimator's ``fit``
            Samples and targets.
        ax : matplotlib Axes, optional
            Where to draw the norms (then without scores); a new figure when None.
        **options : dict
            For `mixed_norm_path`.

        Returns
        -------
        PathDisplay

        Raises
        ------
        ValueError
            Whatever `mixed_norm_path` refuses.
        MissingExtraError
            When matplotlib is not installed.
        """
        import_extra("matplotlib", "plot", "Drawing a path")
        if not hasattr(estimator, "cv_scores_"):
            return cls.from_path(mixed_norm_path(estimator, X, y, **options), ax=ax)
        known = MixedNormClassifier().get_params(deep=False)
        given = estimator.get_params(deep=False)
        template = MixedNormClassifier(**{name: value for name, value in given.items() if name in known})
        path = mixed_norm_path(template, X, y, **({"alphas": estimator.alphas_} | options))
        scores = estimator.cv_scores_ if np.array_equal(path.alphas, estimator.alphas_) else None
        return cls(path.alphas, _joined(path), list(path.kernel_names), scores, estimator.alpha_).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the norms, and below them the scores where there are some.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw the norms alone; a new figure when None.

        Returns
        -------
        self

        Raises
        ------
        MissingExtraError
            When matplotlib is not installed.
        """
        plt = import_extra("matplotlib.pyplot", "plot", "Drawing a path")
        score_ax = None
        if ax is None and self.cv_scores is not None:
            _, (ax, score_ax) = plt.subplots(
                2, figsize=(6.4, 5.0), sharex=True, layout="constrained", height_ratios=[3, 2]
            )
        elif ax is None:
            _, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
        colours = plt.get_cmap("tab10").colors
        for t, (name, norms) in enumerate(zip(self.kernel_names, self.kernel_norms.T, strict=True)):
            style = ("-", "--", ":", "-.")[t // len(colours) % 4]
            ax.plot(self.alphas, norms, style, color=colours[t % len(colours)], label=name, linewidth=1.5)
        ax.set_ylabel("norm of the coefficients")
        ax.legend(frameon=False, fontsize=8, ncols=1 + len(self.kernel_names) // 9)
        if score_ax is not None:
            self._plot_scores(score_ax)
        for part in (ax, score_ax):
            if part is not None:
                part.set_xscale("log")
                part.spines[["top", "right"]].set_visible(False)
                if self.alpha is not None:
                    part.axvline(self.alpha, color="#888888", linewidth=1.0, linestyle=":")
        last = ax if score_ax is None else score_ax
        last.set_xlabel("strength of the penalty (alpha)")
        # The path starts from the strongest penalty.
        last.set_xlim(float(self.alphas.max()) * 1.1, float(self.alphas.min()) / 1.1)
        self.ax_, self.score_ax_, self.figure_ = ax, score_ax, ax.figure
        return self

    def _plot_scores(self, ax: Any) -> None:
        scores = np.asarray(self.cv_scores)
        means = scores.mean(axis=1)
        error = scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1]) if scores.shape[1] > 1 else np.zeros(len(scores))
        ax.plot(self.alphas, means, color="#222222", linewidth=1.5)
        ax.fill_between(self.alphas, means - error, means + error, color="#222222", alpha=0.15, linewidth=0)
        ax.set_ylabel("score (mean ± std. error)")


def _joined(path: MixedNormPath) -> FloatArray:
    norms = path.kernel_norms
    return norms if norms.ndim == 2 else np.sqrt((norms**2).sum(axis=1))
