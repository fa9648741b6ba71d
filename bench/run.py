"""Run the benchmarks of this folder and print one line of JSON a figure.

`make bench` runs all; `make bench NAME=overhead` one. Exit code 1: a figure is over its bound.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
HELPERS = {"run", "figures"}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or every one there is."""
    known = sorted(p.stem for p in FOLDER.glob("*.py") if p.stem not in HELPERS)
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    kept = True
    for name in names or known:
        for figure in importlib.import_module(f"bench.{name}").measure():
            print(figure.to_line(), flush=True)
            kept = kept and figure.ok
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
