"""`make cases`: judge every shared field case and say how many are right, a kind at a time."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.cases.judged import Judged, judge, shared_folder
from tests.cases.loader import read_documents


def main() -> int:
    """Print right/total a kind, the wrong ones, and last `cases: RIGHT/TOTAL`."""
    folder = shared_folder() / "cases"
    if not folder.is_dir():
        print(f"{folder}: no field cases there; set AGENTTRACE_SHARED to the folder above them")
        return 2
    judged = [judge(document) for document in read_documents(folder)]
    total = Counter(one.group for one in judged)
    right = Counter(one.group for one in judged if one.is_right)
    for group in sorted(total):
        print(f"{group:10} {right[group]}/{total[group]}")
    for one in judged:
        for line in _complaints(one):
            print(line)
    whole = sum(one.is_right and not one.differences for one in judged)
    print(f"with figures, rules and every divergence as written: {whole}/{len(judged)}")
    print(f"cases: {sum(right.values())}/{len(judged)}")
    return 0 if sum(right.values()) == len(judged) else 1


def _complaints(one: Judged) -> list[str]:
    name = f"{one.document['kind']} {one.document['id']}"
    if one.error is not None:
        return [f"wrong: {name}: raised {one.error}"]
    lines = [f"differs: {name}: {difference}" for difference in one.differences]
    if not one.is_right:
        lines.insert(0, f"wrong: {name}: said {one.said}, right {one.right}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
