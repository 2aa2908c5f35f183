"""The experiments by name. Each is a module of its own, loaded when it is asked for."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass

from kernelweave.experiments.experiment import Experiment

__all__ = ["LISTINGS", "Listing", "load_experiment"]


@dataclass(frozen=True)
class Listing:
    """One line of the list of experiments.

    Parameters
    ----------
    name : str
        As typed after ``kernelweave reproduce``.
    module : str
        Module of `kernelweave.experiments` whose ``define(name)`` gives the `Experiment`.
    reproduces : str
        Paper, table or figure, and what is in it.
    """

    name: str
    module: str
    reproduces: str


# A new experiment is added here; nothing else finds it.
LISTINGS: tuple[Listing, ...] = (
    Listing("lanckriet-table1", "lanckriet.tables", "Lanckriet et al. 2004, Table 1: heart and sonar"),
    Listing("lanckriet-table2", "lanckriet.tables", "Lanckriet et al. 2004, Table 2: breast cancer and ionosphere"),
    Listing("lanckriet-table3", "lanckriet.tables", "Lanckriet et al. 2004, Table 3: twonorm"),
    Listing("lanckriet-table4", "lanckriet.widths", "Lanckriet et al. 2004, Table 4: five Gaussians, C learned"),
    Listing(
        "lanckriet-controls", "lanckriet.controls", "Lanckriet et al. 2004, Tables 1 and 2: controlled experiments"
    ),
    Listing("lanckriet-blocks", "lanckriet.blocks", "Lanckriet et al. 2004, Tables 1 and 2: means over other splits"),
    Listing("lanckriet-twonorm", "lanckriet.blocks", "Lanckriet et al. 2004, Table 3: many generated samples"),
    Listing("lanckriet-figure1", "lanckriet.reuters", "Lanckriet et al. 2004, Figure 1: Reuters, words and concepts"),
    Listing("lanckriet-figure2", "lanckriet.views", "Lanckriet et al. 2004, Figure 2: other public views in its place"),
    Listing("howard-synthetic", "howard.synthetic", "Howard and Jebara 2007: bent coordinates"),
    Listing("howard-webkb", "howard.counts", "Howard and Jebara 2007: home pages as word counts"),
    Listing("howard-corel", "howard.counts", "Howard and Jebara 2007: photographs as colour histograms"),
    Listing("howard-gender", "howard.counts", "Howard and Jebara 2007: faces of men and women (a stand-in)"),
    Listing("howard-microarray", "howard.genes", "learned transforms against a logarithm, two microarray sets"),
    Listing("kowalski-indefinite", "kowalski.indefinite", "left open by Kowalski et al. 2009: norms, repairs + SVC"),
    Listing("kowalski-titanic", "kowalski.titanic", "Kowalski et al. 2009, section 5: Titanic under six norms"),
    Listing("kowalski-figure2", "kowalski.figure2", "Kowalski et al. 2009, Figure 2: relevance of kernels and samples"),
)


def load_experiment(name: str) -> Experiment:
    """The experiment of this name.

    Parameters
    ----------
    name : str
        One of the names in ``LISTINGS``.

    Returns
    -------
    Experiment

    Raises
    ------
    ValueError
        For any other name.
    """
    for listing in LISTINGS:
        if listing.name == name:
            module = importlib.import_module(f"kernelweave.experiments.{listing.module}")
            experiment: Experiment = module.define(name)
            return experiment
    names = [listing.name for listing in LISTINGS]
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"Did you mean '{close[0]}'?" if close else f"There are {', '.join(names)}."
    raise ValueError(f"There is no experiment called {name!r}. {hint}")
