"""Make the pictures of the documentation from real fits: ``python docs/make_images.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

from kernelweave import MonotoneClassifier
from kernelweave.cli.demo import VIEWS, demo_model
from kernelweave.datasets import make_monotone
from kernelweave.exceptions import import_extra
from kernelweave.experiments import Settings
from kernelweave.experiments.kowalski.figure2 import relevance_maps
from kernelweave.experiments.kowalski.samples import KERNELS, realisation
from kernelweave.inspection import RelevanceDisplay, TransformDisplay

IMAGES = Path(__file__).parent / "images"
COLOURS = {"mean": "#4477aa", "error": "#ccbb44", "worst": "#aa3377"}


def demo_weights(folder: Path = IMAGES) -> Path:
    """Importances of the demo's kernels, one bar each, coloured by view."""
    plt = import_extra("matplotlib.pyplot", "plot", "Drawing")
    data = load_breast_cancer()
    model = demo_model().fit(data.data, data.target)[-1]
    names, shares = list(model.kernel_names_), 100 * model.kernel_importances_
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    axes.barh(names, shares, color=[COLOURS[name.split()[0]] for name in names])
    axes.invert_yaxis()
    axes.set_xlabel("importance: share of the trace budget (%)")
    for row, share in enumerate(shares):
        axes.text(share + 0.5, row, f"{share:.0f}", va="center", fontsize=8, color="#444444")
    totals = {view: sum(s for n, s in zip(names, shares, strict=True) if n.startswith(view)) for view in VIEWS}
    axes.set_title(", ".join(f"{view} {total:.0f} %" for view, total in totals.items()), fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    return _save(figure, folder / "demo-weights.png")


def titanic_relevance(folder: Path = IMAGES) -> Path:
    """Figure 2 of Kowalski et al. 2009: a map for each norm, samples by class and features."""
    plt = import_extra("matplotlib.pyplot", "plot", "Drawing")
    data = realisation(0, Settings())
    order = np.lexsort((*data.X.T, data.y))
    figure, grid = plt.subplots(6, 2, figsize=(9.0, 6.4), sharex=True, layout="constrained")
    columns = (("intercept", 1.0, "intercept"), ("constant kernel", 0.1, "constant kernel, λ / 10"))
    for column, (bias, factor, title) in zip(grid.T, columns, strict=True):
        for axes, (norm, relevance) in zip(column, relevance_maps(bias, factor, Settings()).items(), strict=True):
            RelevanceDisplay(relevance[:, order], list(KERNELS)).plot(ax=axes, colorbar=False)
            axes.set_title(f"{norm}    ({title})" if axes is column[0] else norm, fontsize=9, loc="left")
            axes.axvline(np.count_nonzero(data.y == 0) - 0.5, color="#4477aa", linewidth=0.8)
            axes.label_outer()
    figure.colorbar(grid[0, 0].images[0], ax=grid, label="relevance", ticks=[0, 1], aspect=40)
    return _save(figure, folder / "titanic-relevance.png")


def learned_transforms(folder: Path = IMAGES) -> Path:
    """Transforms of the three synthetic sets of Howard and Jebara 2007, with what each should find."""
    plt = import_extra("matplotlib.pyplot", "plot", "Drawing")
    figure, grid = plt.subplots(1, 3, figsize=(7.8, 2.8), sharey=True, layout="constrained")
    for axes, kind in zip(grid, ("identity", "log", "square"), strict=True):
        bent = make_monotone(400, transform=kind, random_state=0)
        model = MonotoneClassifier("alternating", C=100.0).fit(bent.data, bent.target)
        TransformDisplay.from_estimator(model, bent.data, ax=axes)
        values = np.linspace(0.0, 1.0, 100)
        axes.plot(values, bent.inverse(values), color="#aa3377", linewidth=1, label="right answer")
        axes.set_title(
            {"identity": "as it is", "log": "after a logarithm", "square": "after squaring"}[kind], fontsize=10
        )
    grid[2].legend(frameon=False, fontsize=8, loc="lower right")
    for axes in grid[1:]:
        axes.set_ylabel("")
    return _save(figure, folder / "learned-transforms.png")


def _save(figure: Any, path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    # Without the version of the library inside, the same fit gives the same file.
    figure.savefig(path, dpi=110, metadata={"Software": None})
    return path


if __name__ == "__main__":
    demo_weights()
    titanic_relevance()
    learned_transforms()
