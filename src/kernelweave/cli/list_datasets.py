"""``kernelweave datasets``: the data sets that `kernelweave.datasets` can load, and which are at hand."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from kernelweave.cli.console import Console
from kernelweave.datasets import available, data_folder

__all__ = ["run"]


def run(options: Namespace, console: Console) -> None:
    """List the data sets; nothing is downloaded.

    Parameters
    ----------
    options : argparse.Namespace
        From `kernelweave.cli.parser`.
    console : Console
        Where results go.
    """
    folder, listings = data_folder(), available()
    rows = [("name", "samples", "features", "at hand", "loader")]
    for entry in listings:
        features = " + ".join(map(str, entry.features)) or "text"
        rows.append((entry.name, str(entry.samples), features, "yes" if entry.cached else "no", entry.loader))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines += ["", f"Folder: {folder} (set KERNELWEAVE_DATA for another). Loaders are in kernelweave.datasets.", ""]
    lines += [f"{entry.name}: {entry.source}" for entry in listings]
    facts = {
        "command": "datasets",
        "folder": str(folder),
        "datasets": [{**asdict(entry), "features": list(entry.features)} for entry in listings],
    }
    console.result("\n".join(lines), facts)
