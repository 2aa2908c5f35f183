"""What can be typed after ``kernelweave``. Nothing heavy is imported here, so ``--help`` is quick."""

from __future__ import annotations

import argparse
import math
from typing import NoReturn

from kernelweave import __version__
from kernelweave.exceptions import KernelweaveError

__all__ = ["UsageError", "build_parser"]

_DESCRIPTION = "Learn how much each notion of similarity is worth, with a certificate of optimality."
_EXIT = """exit status:
  0  done
  2  bad input; one line on standard error says what to do
  1  a fault of kernelweave itself (--debug shows where)
  130  interrupted (Ctrl-C); no file is half-written"""


class UsageError(KernelweaveError, ValueError):
    """The command line makes no sense."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see: {self.prog} --help)")


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line.

    Returns
    -------
    argparse.ArgumentParser
        Raises `UsageError` where argparse would print and exit; the attribute ``command`` of its
        result is the name of the module in `kernelweave.cli` that does the work.
    """
    parser = _Parser(
        prog="kernelweave",
        description=_DESCRIPTION,
        epilog=_EXIT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"kernelweave {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Parser)
    _add_demo(commands)
    _add_fit(commands)
    _add_predict(commands)
    _add_inspect(commands)
    _add_reproduce(commands)
    _command(commands, "datasets", "list_datasets", "List the data sets that kernelweave.datasets can load.")
    return parser


def _command(commands: argparse._SubParsersAction[_Parser], name: str, module: str, summary: str) -> _Parser:
    command = commands.add_parser(name, help=summary, description=summary)
    command.set_defaults(command=module)
    command.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    command.add_argument("--quiet", action="store_true", help="no progress bar and no remarks on standard error")
    command.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return command


def _add_demo(commands: argparse._SubParsersAction[_Parser]) -> None:
    _command(commands, "demo", "demo", "Fit a real data set that comes with scikit-learn; needs no network.")


def _add_fit(commands: argparse._SubParsersAction[_Parser]) -> None:
    fit = _command(
        commands, "fit", "fit", "Fit a table: learn kernel weights, compare with baselines, write a model file."
    )
    fit.add_argument("data", help="table: .csv, .tsv (also .gz) or .parquet, with a header")
    fit.add_argument("--target", required=True, metavar="COLUMN", help="column that holds the classes")
    fit.add_argument("--model", required=True, metavar="FILE", help="model file to write, by convention .skops")
    fit.add_argument(
        "--kernels",
        metavar="FILE",
        help="kernels as a TOML file; otherwise linear, quadratic and five RBF widths on all numeric columns",
    )
    fit.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="COLUMN",
        help="leave a column out, such as an identifier; may be given several times",
    )
    fit.add_argument("--margin", choices=("l1", "l2", "hard"), default="l1", help="soft margin or none (default: l1)")
    fit.add_argument(
        "--C", type=_positive_or("auto"), default=1.0, help="penalty, or 'auto' with --margin l2 (default: 1)"
    )
    fit.add_argument(
        "--weights", choices=("nonnegative",), default="nonnegative", help="set of the kernel weights (nonnegative)"
    )
    fit.add_argument(
        "--psd-repair",
        choices=("clip", "flip", "shift"),
        help="what to do about the negative eigenvalues of an indefinite kernel (default: refuse it)",
    )
    fit.add_argument(
        "--trace",
        type=_positive_or("mean", "sum"),
        default="mean",
        help="trace budget of the combined kernel: 'mean' or 'sum' of the traces, or a number (default: mean)",
    )
    fit.add_argument("--tol", type=_positive_or(), default=1e-3, help="relative duality gap to reach (default: 0.001)")
    fit.add_argument("--time-limit", type=_positive_or(), metavar="SECONDS", help="stop the solver after this time")
    fit.add_argument(
        "--dtype", choices=("float64", "float32"), default="float64", help="float32 halves the memory of the kernels"
    )
    fit.add_argument(
        "--scale",
        choices=("standard", "none"),
        default="standard",
        help="numeric columns to mean 0 and variance 1, or as they are (default: standard)",
    )
    fit.add_argument(
        "--test-size",
        type=_share,
        default=0.25,
        metavar="SHARE",
        help="part of the rows held out for the comparison; 0 for none (default: 0.25)",
    )
    fit.add_argument("--seed", type=int, default=0, help="seed of the random split (default: 0)")


def _add_predict(commands: argparse._SubParsersAction[_Parser]) -> None:
    predict = _command(commands, "predict", "predict", "Predict the classes of new rows with a model file.")
    predict.add_argument("model", help="model file written by 'kernelweave fit' or kernelweave.save_model")
    predict.add_argument("data", help="table with the columns the model was fitted on")
    predict.add_argument(
        "--out", metavar="FILE", help="where to write: .csv, .tsv (also .gz) or .parquet; otherwise standard output"
    )


def _add_inspect(commands: argparse._SubParsersAction[_Parser]) -> None:
    inspect = _command(
        commands, "inspect", "inspect_model", "Show the weights and the certificate of a model file, and its origin."
    )
    inspect.add_argument("model", help="model file written by 'kernelweave fit' or kernelweave.save_model")


def _add_reproduce(commands: argparse._SubParsersAction[_Parser]) -> None:
    reproduce = _command(
        commands, "reproduce", "reproduce", "Reproduce a table or figure of a paper, beside the printed numbers."
    )
    reproduce.add_argument("name", nargs="?", metavar="NAME", help="experiment; without it they are listed")
    reproduce.add_argument(
        "--splits", type=_count, metavar="K", help="random splits of each part (default: as in the paper)"
    )
    reproduce.add_argument("--jobs", type=_count, default=1, metavar="N", help="processes to use (default: 1)")
    reproduce.add_argument(
        "--data", metavar="DIR", help="folder of the data sets (default: see 'kernelweave datasets')"
    )
    reproduce.add_argument(
        "--out",
        default="reproductions",
        metavar="DIR",
        help="folder for NAME.md, NAME.json and the finished splits, which a run goes on from (default: reproductions)",
    )
    reproduce.add_argument("--seed", type=int, default=0, help="seed of everything random (default: 0)")


class _positive_or:
    """A positive number, or one of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def __call__(self, text: str) -> float | str:
        if text in self.words:
            return text
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if 0 < number < math.inf:
            return number
        allowed = " or ".join(["a positive number", *(f"'{word}'" for word in self.words)])
        raise argparse.ArgumentTypeError(f"must be {allowed}, got {text!r}")


def _count(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if 0 <= number < 1:
        return number
    raise argparse.ArgumentTypeError(f"must be at least 0 and below 1, got {text!r}")
