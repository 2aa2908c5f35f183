"""``kernelweave inspect``: what a model file holds and where it comes from."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from kernelweave.cli.console import Console
from kernelweave.cli.summary import comparison_text, model_facts, model_text
from kernelweave.persistence import load_model, read_metadata

__all__ = ["run"]

_SHOWN = 12


def run(options: Namespace, console: Console) -> None:
    """Show weights, certificate and origin.

    Parameters
    ----------
    options : argparse.Namespace
        From `kernelweave.cli.parser`.
    console : Console
        Where results go.
    """
    metadata = read_metadata(options.model)
    model = load_model(options.model)
    final = model.steps[-1][1] if hasattr(model, "steps") else model
    learned = model_facts(final, metadata.get("fit_seconds"))
    parts = [_origin(options.model, metadata)]
    if metadata.get("held_out"):
        parts.append("When it was fitted:\n" + comparison_text(metadata["held_out"]))
    parts.append(model_text(learned))
    facts = {"command": "inspect", "model": options.model, "metadata": metadata, **learned}
    console.result("\n\n".join(parts), facts)


def _origin(path: str, metadata: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in metadata["versions"].items())
    columns, data = metadata["columns"], metadata.get("data", {})
    lines = [
        f"File        {path}",
        f"Written     {metadata['created']} by kernelweave {metadata['kernelweave']} ({versions})",
        f"Model       {metadata['estimator']}",
    ]
    source = f" of {data['file']}" if "file" in data else ""
    lines.append(f"Fitted on   {metadata['n_samples']} rows{source}, {metadata['n_features']} columns")
    if columns is not None:
        names = [column["name"] for column in columns]
        more = f", ... ({len(names)} in all)" if len(names) > _SHOWN else ""
        lines.append(f"Columns     {', '.join(names[:_SHOWN])}{more}")
    if "scale" in data:
        lines.append(f"Scaling     {data['scale']}")
    target = f" of {data['target']}" if "target" in data else ""
    if metadata["classes"]:
        lines.append(f"Classes     {', '.join(map(str, metadata['classes']))}{target}")
    return "\n".join(lines)
