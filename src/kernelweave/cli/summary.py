"""Fitted models and comparisons as plain data, and that data as text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kernelweave.cli.comparison import Comparison

__all__ = ["comparison_facts", "comparison_text", "model_facts", "model_text", "strict"]

_BAR = 30


def strict(value: Any) -> Any:
    """A number for JSON, which knows no infinity: None where it is not finite."""
    number = float(value)
    return number if math.isfinite(number) else None


def model_facts(model: Any, seconds: float | None) -> dict[str, Any]:
    """What a fitted estimator has learned.

    Parameters
    ----------
    model : estimator
        Fitted; of any but `MKLClassifier` the certificate is told, and ``kernels`` is empty.
    seconds : float or None
        How long the fit took, where that is known.

    Returns
    -------
    dict
        ``kernels``, ``settings``, ``certificate``; see docs/command-line.md.
    """
    told = {"certificate": _certificate_facts(model, seconds)}
    if not hasattr(model, "kernel_weights_") or not hasattr(model, "dual_coef_"):
        return {"kernels": [], "settings": {"tol": float(model.tol)}, **told}
    classes = [str(label) for label in model.classes_.tolist()]
    weights, importances = np.atleast_2d(model.kernel_weights_), np.atleast_2d(model.kernel_importances_)
    shared = model.kernel_weights_.ndim == 1
    learned = np.atleast_1d(model.C_)
    return {
        "kernels": [
            {
                "name": str(name),
                "weight": _per_class(weights[:, i], classes, shared),
                "importance": _per_class(importances[:, i], classes, shared),
            }
            for i, name in enumerate(model.kernel_names_)
        ],
        "settings": {
            "margin": model.margin,
            "C": _per_class(learned, classes, len(learned) == 1),
            "C_learned": model.C == "auto" and model.margin == "l2",
            "weights": model.weights,
            "trace": strict(model.trace_),
            "normalize": model.normalize,
            "center": bool(model.center),
            "psd_repair": model.psd_repair,
            "tol": float(model.tol),
        },
        "n_support": len(model.support_),
        **told,
    }


def _certificate_facts(model: Any, seconds: float | None) -> dict[str, Any]:
    certificate = model.certificate_
    return {
        "objective": strict(certificate.primal),
        "lower_bound": strict(certificate.dual),
        "gap": strict(certificate.gap),
        "relative_gap": strict(certificate.relative_gap),
        "status": model.status_.name.lower(),
        "meaning": model.status_.value,
        # Alignment does not count them.
        "iterations": int(getattr(model, "n_iter_", 1)),
        "seconds": seconds,
    }


def _per_class(values: Any, classes: list[str], shared: bool) -> Any:
    if shared:
        return strict(values[0])
    return {label: strict(value) for label, value in zip(classes, values, strict=True)}


def model_text(facts: dict[str, Any]) -> str:
    """The text of `model_facts`."""
    kernels, settings = facts["kernels"], facts["settings"]
    if not kernels:
        return "\n".join(_certificate_lines(facts["certificate"], settings["tol"]))
    lines = [f"Classifier  {_settings_line(settings)}, {facts['n_support']} support vectors", ""]
    per_class = isinstance(kernels[0]["weight"], dict)
    for label in kernels[0]["weight"] if per_class else [None]:
        rows = [(kernel["name"], *(_of(kernel[key], label) for key in ("weight", "importance"))) for kernel in kernels]
        lines += _kernel_lines(rows, label)
        if settings["C_learned"]:
            rest = 1.0 - sum(importance for _, _, importance in rows)
            lines += [f"  the soft margin takes the other {rest:.1%} of the trace budget", ""]
    return "\n".join(lines + _certificate_lines(facts["certificate"], settings["tol"]))


def _settings_line(settings: dict[str, Any]) -> str:
    margin = {"hard": "hard margin", "l1": "1-norm soft margin", "l2": "2-norm soft margin"}[settings["margin"]]
    if settings["margin"] != "hard":
        value = settings["C"]
        shown = (
            ", ".join(f"{_number(v)} ({k})" for k, v in value.items()) if isinstance(value, dict) else _number(value)
        )
        margin += f", C = {shown}" + (" (learned)" if settings["C_learned"] else "")
    return margin


def _number(value: float | None) -> str:
    return "infinite" if value is None else f"{value:.4g}"


def _of(value: Any, label: str | None) -> float:
    return float(value if label is None else value[label])


def _kernel_lines(rows: list[tuple[str, float, float]], label: str | None) -> list[str]:
    width = max(len("Kernel"), *(len(name) for name, _, _ in rows))
    largest = max(*(importance for _, _, importance in rows), 1e-300)
    title = "" if label is None else f"  (class {label} against the rest)"
    lines = [f"{'Kernel':<{width}}      weight  importance{title}"]
    for name, weight, importance in rows:
        bar = "#" * max(round(_BAR * importance / largest), int(importance >= 0.0005))
        lines.append(f"{name:<{width}}  {weight:10.4g}  {importance:10.1%}  {bar}".rstrip())
    return [*lines, ""]


def _certificate_lines(certificate: dict[str, Any], tol: float) -> list[str]:
    gap = certificate["relative_gap"]
    time = "" if certificate["seconds"] is None else f" in {certificate['seconds']:.2f} s"
    lines = [
        "Certificate (the optimum lies between the two values)",
        f"  objective     {_value(certificate['objective'])}",
        f"  lower bound   {_value(certificate['lower_bound'])}",
        f"  relative gap  {'unknown' if gap is None else f'{gap:.1e}'}, asked for {tol:.1e}",
        f"  status        {certificate['status'].replace('_', ' ')} after {certificate['iterations']} iterations{time}",
    ]
    return lines if certificate["status"] == "optimal" else [*lines, f"                {certificate['meaning']}"]


def _value(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.8g}"


def comparison_facts(found: Comparison) -> dict[str, Any]:
    """A comparison for JSON: counts and accuracies."""
    counts = {"kernelweave": found.model, "best_single_kernel": found.best_single, "uniform_average": found.uniform}
    return {
        "n_train": found.n_train,
        "n_test": found.n_test,
        "n_splits": found.n_splits,
        "correct": counts,
        "accuracy": {name: None if count is None else count / found.n_test for name, count in counts.items()},
        "best_single_kernel": found.chosen,
    }


def comparison_text(facts: dict[str, Any]) -> str:
    """The text of `comparison_facts`."""
    n, best = facts["n_test"], "best single kernel"
    names = {"kernelweave": "kernelweave", "best_single_kernel": best, "uniform_average": "uniform average"}
    if facts["n_splits"] == 1:
        lines = [f"Held out: {n} stratified rows; fitted on the other {facts['n_train']}"]
    else:
        lines = [f"Cross-validated: each of {n} rows predicted by a fit without it, {facts['n_splits']} splits"]
    for key, label in names.items():
        count, accuracy = facts["correct"][key], facts["accuracy"][key]
        result = "no hard margin exists" if count is None else f"{accuracy:6.1%}  ({count} of {n})"
        chosen = ", ".join(dict.fromkeys(facts["best_single_kernel"])) if key == "best_single_kernel" else ""
        lines.append(f"  {label:<{len(best)}}  {result}  {chosen}".rstrip())
    # One success and one failure more, so that a perfect score is not taken for certainty.
    share = (facts["correct"]["kernelweave"] + 1) / (n + 2)
    error = math.sqrt(share * (1 - share) / n)
    return "\n".join(
        [
            *lines,
            "  All three have the same margin, C and tolerance; the single kernel is chosen by cross-validation on the",
            f"  rows fitted on. An accuracy has a standard error of about {error:.1%}: such differences can be chance.",
        ]
    )
