"""What can be typed, and the one line that answers what cannot."""

from __future__ import annotations

import argparse

import pytest

from kernelweave.cli.parser import UsageError, build_parser

FIT = ["fit", "d.csv", "--target", "y", "--model", "m.skops"]


def test_defaults_of_fit():
    options = build_parser().parse_args(FIT)
    assert options.command == "fit"
    assert (options.margin, options.C, options.weights, options.trace) == ("l1", 1.0, "nonnegative", "mean")
    assert (options.tol, options.test_size, options.seed, options.scale) == (1e-3, 0.25, 0, "standard")
    assert (options.kernels, options.time_limit, options.dtype, options.ignore) == (None, None, "float64", [])
    assert not (options.json or options.quiet or options.debug)


def test_numbers_and_words():
    options = build_parser().parse_args([*FIT, "--C", "auto", "--margin", "l2", "--trace", "12", "--test-size", "0"])
    assert (options.C, options.trace, options.test_size) == ("auto", 12.0, 0.0)
    options = build_parser().parse_args([*FIT, "--C", "1e2", "--trace", "sum", "--ignore", "a", "--ignore", "b"])
    assert (options.C, options.trace, options.ignore) == (100.0, "sum", ["a", "b"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], r"arguments are required: COMMAND \(see: kernelweave --help\)"),
        (["fly"], r"invalid choice: 'fly'.*'fit'"),
        (["fit", "d.csv"], r"arguments are required: --target, --model \(see: kernelweave fit --help\)"),
        ([*FIT, "--C", "-1"], "argument --C: must be a positive number or 'auto', got '-1'"),
        ([*FIT, "--C", "nan"], "argument --C: must be a positive number or 'auto', got 'nan'"),
        ([*FIT, "--C", "inf"], "argument --C: must be"),
        ([*FIT, "--trace", "median"], "argument --trace: must be a positive number or 'mean' or 'sum', got 'median'"),
        ([*FIT, "--tol", "auto"], "argument --tol: must be a positive number, got 'auto'"),
        ([*FIT, "--test-size", "1"], "argument --test-size: must be at least 0 and below 1, got '1'"),
        ([*FIT, "--test-size", "some"], "argument --test-size: must be at least 0 and below 1, got 'some'"),
        ([*FIT, "--seed", "x"], "argument --seed: invalid int value: 'x'"),
        ([*FIT, "--margin", "l3"], "argument --margin: invalid choice: 'l3'"),
        ([*FIT, "--report", "r.html"], "unrecognized arguments: --report r.html"),
    ],
)
def test_usage_errors(arguments, message):
    with pytest.raises(UsageError, match=message) as caught:
        build_parser().parse_args(arguments)
    assert "\n" not in str(caught.value)


def test_every_option_has_a_help_text():
    parser = build_parser()
    commands = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction)).choices
    assert set(commands) == {"demo", "fit", "predict", "inspect", "reproduce", "datasets"}
    for command in commands.values():
        assert all(action.help for action in command._actions)
