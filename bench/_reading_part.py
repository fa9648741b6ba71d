"""Parts of `reading` in a process of their own: `python -m bench._reading_part [--json] FOLDER`.

With `--json` every line of the files is parsed by the standard library and let go; without, they
are read as evidence and the size of the temporary database is printed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def parse(folder: Path) -> None:
    """Parse each line of the files."""
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            for line in file:
                json.loads(line)


def size_aside(folder: Path) -> int:
    """Bytes of the database that reading these files makes."""
    from agenttrace import read_evidence

    found = read_evidence(folder)
    database = found._index._database
    (pages,), (size,) = (
        database.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size")
    )
    return int(pages) * int(size)


if __name__ == "__main__":
    if sys.argv[1] == "--json":
        parse(Path(sys.argv[2]))
    else:
        print(size_aside(Path(sys.argv[1])))
