"""Run the benchmarks of this folder and print one line of JSON a figure.

`make bench` runs all; `make bench NAME=overhead` one. Exit code 1: a figure is over its bound, or a
benchmark could not be run. `--quick` runs the long ones on fewer spans and rounds.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
HELPERS = {"run", "figures"}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or every one there is."""
    if "--quick" in names:
        names = [name for name in names if name != "--quick"]
        os.environ["BENCH_QUICK"] = "1"
    stems = (p.stem for p in FOLDER.glob("*.py"))
    known = sorted(s for s in stems if s not in HELPERS and not s.startswith("_"))
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    kept = True
    for name in names or known:
        try:
            for figure in importlib.import_module(f"bench.{name}").measure():
                print(figure.to_line(), flush=True)
                kept = kept and figure.ok
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
            kept = False
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
