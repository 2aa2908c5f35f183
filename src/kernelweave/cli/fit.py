"""``kernelweave fit``: from a table to a model file, with a comparison on the way."""

from __future__ import annotations

import os
import shlex
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave import MKLClassifier, __version__
from kernelweave.cli.comparison import compare, hold_out
from kernelweave.cli.console import Console
from kernelweave.cli.kernel_file import NamedEntry, read_kernels
from kernelweave.cli.outputs import check_output
from kernelweave.cli.summary import comparison_facts, comparison_text, model_facts, model_text
from kernelweave.cli.tables import (
    TableError,
    check_complete,
    check_numbers,
    is_nameless,
    is_numeric,
    read_table,
    stray_text,
    take_columns,
)
from kernelweave.exceptions import InvalidKernelError, import_extra
from kernelweave.kernels import auto_kernels
from kernelweave.persistence import save_model
from kernelweave.solvers.blas_threads import blas_threads

__all__ = ["run"]


# So few rows can have distinct whole numbers by chance.
_MANY = 20


@dataclass(frozen=True)
class _Data:
    """The part of a table that is fitted."""

    frame: Any
    y: Any
    numeric: list[str]
    ignored: list[str]
    kernels: list[Any]


def run(options: Namespace, console: Console) -> None:
    """Fit, compare, refit on all rows, write the model file.

    Parameters
    ----------
    options : argparse.Namespace
        From `kernelweave.cli.parser`.
    console : Console
        Where results go.
    """
    # What would fail at the end fails at the beginning.
    import_extra("skops.io", "cli", "Saving a model")
    check_output(options.model, [options.data, options.kernels])
    entries = None if options.kernels is None else read_kernels(options.kernels)
    data = _read(options, entries)
    _remark(console, data, entries is None)

    def build(verbose: Any) -> Any:
        return _model(options, data, verbose)

    with _explaining(options):
        comparison = _compared(options, data, build, console)
        began = time.perf_counter()
        with blas_threads(len(data.y)), console.fitting(f"Fitting all {len(data.y)} rows", options.tol) as verbose:
            model = build(verbose).fit(data.frame, data.y)
    final = model.steps[-1][1] if hasattr(model, "steps") else model
    facts = {
        "data": _data_facts(options, data),
        "held_out": comparison,
        **model_facts(final, time.perf_counter() - began),
    }
    save_model(model, options.model, facts=_metadata(facts))
    result = {"command": "fit", "kernelweave": __version__, "model": options.model, **facts}
    console.result(_text(options, facts), result)


@contextmanager
def _explaining(options: Namespace) -> Iterator[None]:
    """Say that the columns were standardised where the kernel that complains cannot know."""
    try:
        yield
    except InvalidKernelError as error:
        if options.scale == "standard" and "must not be negative" in str(error):
            message = f"{error}; numeric columns were standardised: --scale none leaves them as they are"
            raise InvalidKernelError(message) from error
        raise


def _compared(options: Namespace, data: _Data, build: Callable[[Any], Any], console: Console) -> dict[str, Any] | None:
    if not options.test_size:
        return None
    split = hold_out(data.y, options.test_size, options.seed)
    return comparison_facts(compare(build, data.frame, data.y, [split], tol=options.tol, console=console))


def _remark(console: Console, data: _Data, automatic: bool) -> None:
    if data.ignored and automatic:
        console.remark(f"Ignored (not numbers, without a name, or by --ignore): {', '.join(data.ignored)}")
    for name in data.numeric if automatic else []:
        column = data.frame[name]
        if column.dtype.kind in "iu" and len(column) > _MANY and column.is_unique:
            console.remark(
                f"Column {name!r} holds a different whole number in every row; if it is an identifier, "
                f"leave it out: --ignore {shlex.quote(name)}"
            )


def _read(options: Namespace, entries: list[NamedEntry] | None) -> _Data:
    table = read_table(options.data)
    labels = take_columns(table, [options.target], options.data)
    check_complete(labels, options.data)
    if labels[options.target].nunique() < 2:
        only = labels[options.target].iloc[0]
        raise TableError(f"'{options.data}': column {options.target!r} holds one class only ({only}); two are needed")
    take_columns(table, options.ignore, options.data)
    inputs = table.drop(columns=[options.target, *(name for name in options.ignore if name != options.target)])
    numeric = [name for name in inputs.columns if is_numeric(inputs[name]) and not is_nameless(name)]
    if entries is None:
        _refuse_strays(inputs, options.data)
        entries = [(name, kernel, None) for name, kernel in auto_kernels()]
    kernels = [
        (name, kernel, _columns(options, inputs, numeric, (name, kernel, columns))) for name, kernel, columns in entries
    ]
    wanted = {name for _, _, columns in kernels for name in columns}
    used = [name for name in inputs.columns if name in wanted]
    frame = inputs[used]
    check_complete(frame, options.data)
    numeric = [name for name in used if is_numeric(frame[name])]
    check_numbers(frame[numeric], options.data)
    ignored = [name for name in table.columns if name not in wanted and name != options.target]
    return _Data(frame, _labels(labels[options.target], options), numeric, ignored, kernels)


def _refuse_strays(inputs: Any, path: str) -> None:
    """A few words among numbers make a column text; leaving it out silently would be a surprise."""
    for name in inputs.columns:
        if not is_nameless(name) and (stray := stray_text(inputs[name])) is not None:
            row, value = stray
            raise TableError(
                f"'{path}': column {name!r} holds {value!r} in row {row}, but numbers in most others; correct it, "
                f"or leave the column out: --ignore {shlex.quote(name)}"
            )


def _columns(options: Namespace, inputs: Any, numeric: list[str], entry: NamedEntry) -> list[str]:
    """The columns a kernel reads; a kernel of numbers that names none reads all numeric ones."""
    name, kernel, columns = entry
    where = f"'{options.kernels}', kernel {name!r}"
    if columns is None and kernel.vector_input is False:
        raise TableError(
            f"{where}: {type(kernel).__name__} reads objects, not numbers; name its column: columns = [...]"
        )
    if columns is None:
        if not numeric:
            raise TableError(f"'{options.data}' has no numeric column beside the target {options.target!r}")
        return numeric
    if options.target in columns:
        raise TableError(f"{where}: key 'columns' has the target {options.target!r}, which is what is to be predicted")
    chosen = take_columns(inputs, columns, options.data)
    if kernel.vector_input:
        text = [column for column in columns if not is_numeric(inputs[column])]
        check_numbers(chosen[text], options.data, f"; kernel {name!r} ({type(kernel).__name__}) takes numbers")
    return columns


def _labels(column: Any, options: Namespace) -> Any:
    if column.dtype.kind == "f":
        values = column.to_numpy()
        broken = np.flatnonzero(values != np.round(values))
        if broken.size:
            raise TableError(
                f"'{options.data}': column {options.target!r} holds numbers such as {values[broken[0]]:g}; "
                "a target of kernelweave fit holds classes"
            )
        return values.astype(np.int64) if np.isfinite(values).all() else values
    values = column.to_numpy()
    return np.array([str(value) for value in values]) if values.dtype.kind not in "biu" else values


def _model(options: Namespace, data: _Data, verbose: Any) -> Any:
    classifier = MKLClassifier(
        data.kernels,
        margin=options.margin,
        C=options.C,
        weights=options.weights,
        psd_repair=options.psd_repair,
        trace=options.trace,
        tol=options.tol,
        time_limit=options.time_limit,
        dtype=options.dtype,
        verbose=verbose,
    )
    if options.scale == "none" or not data.numeric:
        return classifier
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    # By position: for names, old versions of scikit-learn keep a list type that no model file may hold.
    positions = [i for i, name in enumerate(data.frame.columns) if name in data.numeric]
    scaler = ColumnTransformer(
        [("standard", StandardScaler(), positions)], remainder="passthrough", verbose_feature_names_out=False
    )
    # A frame on both sides: kernels choose their columns by name.
    return Pipeline([("scale", scaler.set_output(transform="pandas")), ("classify", classifier)])


def _data_facts(options: Namespace, data: _Data) -> dict[str, Any]:
    counts = Counter(str(label) for label in data.y.tolist())
    return {
        "file": os.path.basename(options.data),
        "target": options.target,
        "n_rows": len(data.y),
        "classes": dict(sorted(counts.items())),
        "columns": [
            {"name": name, "dtype": str(data.frame[name].dtype), "numeric": name in data.numeric}
            for name in data.frame.columns
        ],
        "ignored": data.ignored,
        "scale": options.scale,
    }


def _metadata(facts: dict[str, Any]) -> dict[str, Any]:
    """What the model file should say beyond what the model itself knows."""
    return {
        "columns": facts["data"]["columns"],
        "data": {key: value for key, value in facts["data"].items() if key != "columns"},
        "held_out": facts["held_out"],
        "fit_seconds": facts["certificate"]["seconds"],
    }


def _text(options: Namespace, facts: dict[str, Any]) -> str:
    data = facts["data"]
    classes = ", ".join(f"{label} {count}" for label, count in data["classes"].items())
    n_numeric = sum(column["numeric"] for column in data["columns"])
    scaled = " (standardised)" if data["scale"] == "standard" and n_numeric else ""
    columns = f"{n_numeric} numeric column{'s' * (n_numeric != 1)}{scaled}"
    if len(data["columns"]) > n_numeric:
        columns += f", {len(data['columns']) - n_numeric} other"
    parts = [f"Data        {data['file']}: {data['n_rows']} rows, {columns}\nTarget      {data['target']}: {classes}"]
    if facts["held_out"] is not None:
        parts.append(comparison_text(facts["held_out"]))
    parts.append(f"Fitted again on all {data['n_rows']} rows:")
    parts.append(model_text(facts))
    parts.append(f"Model written to {options.model}; it contains the rows it was fitted on.")
    return "\n\n".join(parts)
