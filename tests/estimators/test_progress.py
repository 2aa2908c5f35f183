"""Progress on standard error."""

import numpy as np
import pytest

from kernelweave.estimators.progress import progress_callback
from kernelweave.solvers.driver import Progress

EARLY, LATE = Progress(3, 0.5, 0.25, False), Progress(40, 2.5, 1e-4, True)


@pytest.mark.parametrize("verbose", [0, False, np.False_])
def test_quiet(verbose):
    assert progress_callback(verbose) is None


def test_a_callable_is_used_as_it_is():
    def show(progress):
        return None

    assert progress_callback(show) is show


@pytest.mark.parametrize("verbose", [1, True])
def test_one_line_once_it_lasts(verbose, capsys):
    show = progress_callback(verbose)
    assert show(EARLY) is None
    assert capsys.readouterr().err == ""
    show(LATE)
    assert capsys.readouterr().err == "kernelweave: iteration 40, 2.5 s, gap 1.0e-04 (certified)\r"


def test_every_iteration(capsys):
    progress_callback(2)(EARLY)
    assert capsys.readouterr().err == "kernelweave: iteration 3, 0.5 s, gap 2.5e-01 (estimated)\n"


@pytest.mark.parametrize("verbose", ["loud", 1.5, None])
def test_what_is_none_of_these(verbose):
    with pytest.raises(ValueError, match="verbose must be a bool, a whole number or a callable"):
        progress_callback(verbose)
