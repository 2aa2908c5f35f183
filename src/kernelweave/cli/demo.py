"""``kernelweave demo``: the main job on a real data set that comes with scikit-learn."""

from __future__ import annotations

import time
from argparse import Namespace
from typing import Any

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelweave import MKLClassifier, __version__
from kernelweave.cli.comparison import compare
from kernelweave.cli.console import Console
from kernelweave.cli.summary import comparison_facts, comparison_text, model_facts, model_text
from kernelweave.kernels import RBF, Linear, WidthFamily
from kernelweave.solvers.blas_threads import blas_threads

__all__ = ["VIEWS", "demo_model", "run"]

# The 30 columns are ten features of the cell nuclei, summarised over an image in three ways.
VIEWS = {"mean": slice(0, 10), "error": slice(10, 20), "worst": slice(20, 30)}
_FACTORS = (1 / 4, 1.0, 4.0)
_TOL = 1e-4
_FOLDS = 5


def demo_model(verbose: Any = 0) -> Pipeline:
    """The demo's model, not fitted: for each view a linear kernel and RBF kernels of three widths.

    Parameters
    ----------
    verbose : int or callable, default=0
        As for `MKLClassifier`.

    Returns
    -------
    Pipeline
        Standardisation and `MKLClassifier`.
    """
    kernels: list[Any] = []
    for view, columns in VIEWS.items():
        kernels.append((f"{view} linear", Linear(), columns))
        kernels.append((f"{view} rbf", WidthFamily(RBF(gamma="median"), _FACTORS), columns))
    return make_pipeline(StandardScaler(), MKLClassifier(kernels, tol=_TOL, verbose=verbose))


def run(options: Namespace, console: Console) -> None:
    """Fit, compare with the baselines, print.

    Parameters
    ----------
    options : argparse.Namespace
        From `kernelweave.cli.parser`.
    console : Console
        Where results go.
    """
    data = load_breast_cancer()
    y = data.target_names[data.target]
    console.remark("The first run compiles the solvers, which takes a while; later runs start at once.")
    # Every row is predicted once: on so small a set, a single split says little.
    splits = list(StratifiedKFold(_FOLDS, shuffle=True, random_state=0).split(data.data, y))
    comparison = comparison_facts(compare(demo_model, data.data, y, splits, tol=_TOL, console=console))
    began = time.perf_counter()
    with blas_threads(len(y)), console.fitting(f"Fitting all {len(y)} rows", _TOL) as verbose:
        model = demo_model(verbose).fit(data.data, y)
    facts = {"held_out": comparison, **model_facts(model[-1], time.perf_counter() - began)}
    text = "\n\n".join(
        [
            "Breast cancer, Wisconsin (comes with scikit-learn): is a tumour benign or malignant?\n"
            f"{len(y)} samples, 10 features of their cell nuclei in three views: mean, standard error and worst\n"
            "value over the image. How much is each view worth, and through which kernel?",
            comparison_text(comparison),
            f"Fitted again on all {len(y)} rows:",
            model_text(facts),
            _view_line(facts["kernels"]),
            "Your own table: kernelweave fit data.csv --target COLUMN --model model.skops",
        ]
    )
    console.result(text, {"command": "demo", "kernelweave": __version__, **facts})


def _view_line(kernels: list[dict[str, Any]]) -> str:
    shares = {
        view: sum(kernel["importance"] for kernel in kernels if kernel["name"].startswith(view)) for view in VIEWS
    }
    return "Importance by view: " + ", ".join(f"{view} {share:.1%}" for view, share in shares.items())
