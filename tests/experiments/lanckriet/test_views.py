"""One fold of real views."""

from __future__ import annotations

import numpy as np
import pytest

from kernelweave.experiments import Settings, load_experiment


@pytest.fixture(scope="module")
def tcga(real_data):
    return load_experiment("lanckriet-figure2").run("tcga", 0, Settings(real_data))


def test_means_and_gains_follow_from_the_areas(tcga):
    areas = {key[1:]: value for key, value in tcga.items() if key[0] == "tcga: ROC area"}
    columns = ("psd", "nonnegative", "uniform sum", "mrna", "mirna", "protein")
    for column in columns:
        values = [areas[f"class {name}", column] for name in ("Basal", "Her2", "LumA")]
        assert areas["mean", column] == pytest.approx(np.mean(values)) and 0.7 < min(values) <= max(values) <= 1
    best = max(areas["mean", view] for view in columns[3:])
    gain = tcga["tcga: mean ROC area gained", "over the best view", "psd"]
    assert gain == pytest.approx(areas["mean", "psd"] - best)


def test_weights_add_up_to_the_number_of_views(tcga):
    for column in ("psd", "nonnegative"):
        total = sum(tcga["tcga: mean weight", view, column] for view in ("mrna", "mirna", "protein"))
        assert total == pytest.approx(3.0, rel=1e-3)


def test_folds_do_not_repeat_themselves(real_data, tcga):
    other = load_experiment("lanckriet-figure2").run("tcga", 1, Settings(real_data))
    assert other.keys() == tcga.keys() and other != tcga
