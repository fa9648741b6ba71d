"""The files of a folder in one order on every system, without a list of all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def walk(folder: Path) -> Iterator[Path]:
    """The files of a folder and its subfolders, as their paths sort.

    The names of one folder are held at a time, and of those it stands in. Links to folders are not
    followed, and what may not be looked into is passed over.
    """
    try:
        with os.scandir(folder) as found:
            entries = sorted((one.name, one.is_dir(follow_symlinks=False)) for one in found)
    except OSError:
        return
    for name, is_folder in entries:
        if is_folder:
            yield from walk(folder / name)
        elif (folder / name).is_file():
            yield folder / name
