"""Make the pictures of the documentation from real fits: ``python docs/make_images.py``."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_breast_cancer

from kernelweave.cli.demo import VIEWS, demo_model
from kernelweave.exceptions import import_extra

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
    path = folder / "demo-weights.png"
    folder.mkdir(exist_ok=True)
    # Without the version of the library inside, the same fit gives the same file.
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
    return path


if __name__ == "__main__":
    demo_weights()
