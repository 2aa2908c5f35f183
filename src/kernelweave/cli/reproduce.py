"""``kernelweave reproduce``: a table or figure of a paper, ours beside the printed numbers."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from kernelweave.cli.console import Console
from kernelweave.experiments import LISTINGS, Settings, load_experiment, page
from kernelweave.experiments.runner import run_experiment
from kernelweave.experiments.splits import write_whole

__all__ = ["run"]


def run(options: Namespace, console: Console) -> None:
    """List the experiments, or run one and write its page.

    Parameters
    ----------
    options : argparse.Namespace
        From `kernelweave.cli.parser`.
    console : Console
        Where results go.
    """
    if options.name is None:
        _list(console)
        return
    experiment = load_experiment(options.name)
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)  # now, not after the work
    settings = Settings(None if options.data is None else Path(options.data), options.seed)
    with console.steps(f"Reproducing {experiment.name}") as advance:
        result = run_experiment(
            experiment,
            settings,
            folder=folder / "splits" / experiment.name,
            n_splits=options.splits,
            n_jobs=options.jobs,
            advance=advance,
        )
    found = page.facts(result)
    written = [folder / f"{experiment.name}.json", folder / f"{experiment.name}.md"]
    write_whole(written[0], page.json_text(found))
    write_whole(written[1], page.markdown(result))
    console.result(page.text(result), {"command": "reproduce", **found})
    console.remark(f"Written: {', '.join(map(str, written))}; finished splits stay in {folder / 'splits'}.")


def _list(console: Console) -> None:
    width = max(len(listing.name) for listing in LISTINGS)
    lines = [f"{listing.name.ljust(width)}  {listing.reproduces}" for listing in LISTINGS]
    lines += ["", "Run one: kernelweave reproduce NAME [--splits K] [--jobs N] [--data DIR] [--out DIR] [--seed S]"]
    facts = [{"name": listing.name, "reproduces": listing.reproduces} for listing in LISTINGS]
    console.result("\n".join(lines), {"command": "reproduce", "experiments": facts})
