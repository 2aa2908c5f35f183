"""``kernelweave predict``: classes and decision values of new rows."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from typing import Any

from kernelweave import __version__
from kernelweave.cli.console import Console
from kernelweave.cli.outputs import check_output
from kernelweave.cli.tables import (
    TableError,
    check_complete,
    check_numbers,
    is_numeric,
    read_table,
    table_kind,
    take_columns,
    write_table,
)
from kernelweave.exceptions import import_extra
from kernelweave.persistence import load_model, read_metadata

__all__ = ["run"]


def run(options: Namespace, console: Console) -> None:
    """Predict and write a table.

    Parameters
    ----------
    options : argparse.Namespace
        From `kernelweave.cli.parser`.
    console : Console
        Where results go.
    """
    if options.out is not None:
        check_output(options.out, [options.data, options.model])
        table_kind(options.out)
    metadata = read_metadata(options.model)
    model = load_model(options.model)
    samples = _samples(options, metadata, read_table(options.data))
    predictions = _predictions(model, samples)
    # Numbers that a regression predicts are not counted.
    labels = [str(label) for label in predictions["prediction"].tolist()] if metadata["classes"] else []
    facts: dict[str, Any] = {
        "command": "predict",
        "kernelweave": __version__,
        "model": options.model,
        "n_rows": len(predictions),
        "counts": dict(sorted(Counter(labels).items())),
        "out": options.out,
    }
    if options.out is None:
        facts["columns"] = list(predictions.columns)
        facts["rows"] = predictions.astype(object).to_numpy().tolist()
        console.result(predictions.to_csv(index=False).rstrip("\n"), facts)
        return
    write_table(predictions, options.out)
    counts = ", ".join(f"{label} {count}" for label, count in facts["counts"].items())
    told = f"{len(predictions)} predictions written to {options.out}"
    console.result(f"{told}: {counts}" if counts else told, facts)


def _samples(options: Namespace, metadata: dict[str, Any], table: Any) -> Any:
    """The columns that the model was fitted on, in its order."""
    columns = metadata["columns"]
    if columns is None:
        return _unnamed(options, metadata, table)
    frame = take_columns(table, [column["name"] for column in columns], options.data)
    if "data" not in metadata:
        # Fitted in Python, perhaps with an imputer or an encoder of its own: it knows what it takes.
        return frame
    check_complete(frame, options.data)
    numbers = [column["name"] for column in columns if column["numeric"]]
    check_numbers(frame[numbers], options.data, "; the model was fitted on numbers there")
    return frame


def _unnamed(options: Namespace, metadata: dict[str, Any], table: Any) -> Any:
    numeric = [name for name in table.columns if is_numeric(table[name])]
    if len(numeric) != metadata["n_features"]:
        raise TableError(
            f"'{options.data}' has {len(numeric)} numeric columns, but '{options.model}' was fitted on "
            f"{metadata['n_features']} columns without names; keep exactly these columns, in the same order"
        )
    check_numbers(table[numeric], options.data)
    return table[numeric].to_numpy()


def _predictions(model: Any, samples: Any) -> Any:
    pandas = import_extra("pandas", "cli", "Writing a table")
    frame = pandas.DataFrame({"prediction": model.predict(samples)})
    if not hasattr(model, "decision_function"):
        return frame
    scores = model.decision_function(samples)
    if scores.ndim == 1:
        frame[f"decision_{model.classes_[1]}"] = scores
    else:
        for label, column in zip(model.classes_, scores.T, strict=True):
            frame[f"decision_{label}"] = column
    return frame
