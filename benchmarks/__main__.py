"""Run benchmarks: ``python -m benchmarks [name ...] [--large]``."""

from __future__ import annotations

import argparse
import importlib
import sys

from benchmarks.harness import print_rows

SUITES = {
    "nonnegative": "Nonnegative weights",
    "free_sign": "Weights of any sign",
    "mixed_norm": "Mixed norms",
    "monotone": "Monotone transforms",
    "memory": "Memory",
    "startup": "Start-up",
}


def main() -> int:
    """Run the chosen suites; exit status 0 whether or not a goal was met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="name", help=f"which to run: {', '.join(SUITES)} (all by default)")
    parser.add_argument("--large", action="store_true", help="add the sizes and baselines that take minutes")
    arguments = parser.parse_args()
    unknown = set(arguments.suites) - set(SUITES)
    if unknown:
        parser.error(f"no benchmark called {sorted(unknown)[0]!r}; there are {', '.join(SUITES)}")
    for name in arguments.suites or list(SUITES):
        rows = importlib.import_module(f"benchmarks.{name}").rows(large=arguments.large)
        print_rows(SUITES[name], rows)
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
