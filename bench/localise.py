"""How well the scorer names a fault: real runs, one fault put in at a known place, and the verdict.

The faults are put into serialized evidence by code that knows nothing of the scorer. Each verdict
is held against what is due by the rules of the field cases: boundary, kind, path and owner. A fault
counts as unseen only where the evidence is byte for byte that of an untouched run.

`python -m bench.localise` prints the figures; `--kind` takes one kind or one fault, `--limit` so
many faults of each kind, `--show N` prints N verdicts that are not as due, and `--seed` one fault
by the name that is printed with it. `BENCH_QUICK=1` tries a few of each.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from bench._localise_judge import ASPECTS, Judge, Judged
from bench._localise_runs import scripts, shared_folder
from bench._localise_sample import Sampler, seeds
from bench._localise_script import Script
from bench.figures import Figure

EACH, QUICK = 210, 3
PAIRS = 500
BOUNDS = {"boundary": 0.5, "kind": 2.0, "path": 1.0, "owner": 2.0, "call": 1.0, "second": 2.0}
JUDGES = {"judge"}
"""All other parts make faults and say what is due; none of them may know the scorer."""
FORBIDDEN = ("agenttrace.scoring", "agenttrace.session", "agenttrace.cli")


def measure() -> Iterator[Figure]:
    """Errors of blame in percent, over all faults and by kind, worst first."""
    is_quick = bool(os.environ.get("BENCH_QUICK"))
    if is_quick:
        yield from figures(judged(QUICK, pairs=3 * QUICK, runs=24, longest=6))
    else:
        yield from figures(judged(EACH, pairs=PAIRS))


def judged(
    each: int,
    *,
    pairs: int,
    kind: str | None = None,
    runs: int | None = None,
    longest: int | None = None,
) -> list[Judged]:
    """The verdicts of untouched runs, and of so many faults of each kind.

    Args:
        each: At least so many faults of each kind, spread over its boundaries.
        pairs: Runs with two faults at once.
        kind: One kind, or one fault by name; None: all.
        runs: How many untouched runs; None: all.
        longest: Most calls of a run; None: all runs.
    """
    assert_apart()
    found = scripts(shared_folder())
    if longest is not None:
        found = [one for one in found if len(one.places()) <= longest]
    sampler = Sampler(found)
    made: list[Judged] = []
    with Judge() as judge:
        if kind is None:
            for one in spread(found, runs):
                made += judge.untouched(one, f"untouched:{one.case_id}")
        wanted = list(seeds(each, pairs=pairs, kind=kind))
        for number, seed in enumerate(wanted, 1):
            made += judge.sample(sampler.sample(seed))
            if number % 500 == 0:
                print(f"localise: {number} of {len(wanted)} faults", file=sys.stderr, flush=True)
    return made


def spread(found: Sequence[Script], runs: int | None) -> Sequence[Script]:
    """So many runs from all over the sources."""
    return found if runs is None else found[:: max(1, len(found) // runs)][:runs]


def figures(found: Sequence[Judged]) -> list[Figure]:
    """The bounded figures over all, then those by kind, worst first."""
    made = [
        _share(f"localise.{aspect}_wrong", found, aspect, BOUNDS[aspect])
        for aspect in ASPECTS
        if any(aspect in one.asked for one in found)
    ]
    nothing = [one for one in found if not one.asked]
    alarms = sum(one.is_alarm for one in nothing)
    made.append(
        Figure(
            name="localise.false_alarms",
            value=alarms,
            unit="verdicts",
            bound=0,
            against=f"{len(nothing)} with nothing to find, {_unseen(found)} of them unseen faults",
        )
    )
    strays = [one for one in found if one.asked and one.strays]
    asked = sum(bool(one.asked) for one in found)
    if asked:
        made.append(
            Figure(
                name="localise.strays",
                value=100 * len(strays) / asked,
                unit="percent",
                bound=None,
                against=f"{asked} verdicts; divergences listed beside those that are due",
            )
        )
    rows = sorted(by_kind(found), key=lambda row: (-row[1], -row[2], row[0]))
    for name, wrong, _, count in rows:
        made.append(
            Figure(
                name=f"localise.kind.{name}",
                value=wrong,
                unit="percent",
                bound=None,
                against=f"{count} verdicts; any of boundary, kind, path, owner or call not as due",
            )
        )
    return made


def by_kind(found: Iterable[Judged]) -> Iterator[tuple[str, float, int, int]]:
    """Kind, percent not as due, how many these are, and how many were tried."""
    tried: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for one in found:
        tried[one.kind] += 1
        wrong[one.kind] += not one.is_right
    for name, count in tried.items():
        yield name, 100 * wrong[name] / count, wrong[name], count


def table(found: Sequence[Judged]) -> str:
    """The table of the docs page: errors by kind in percent, worst first."""
    kinds = [row[0] for row in sorted(by_kind(found), key=lambda row: (-row[1], row[0]))]
    lines = [
        "| kind | faults | unseen | boundary | kind | path | owner | alarms |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind in kinds:
        own = [one for one in found if one.kind == kind]
        cells = [f"`{kind}`", str(len({one.seed for one in own})), str(_unseen(own))]
        for aspect in ("boundary", "kind", "path", "owner"):
            asked = [one for one in own if aspect in one.asked]
            wrong = sum(aspect in one.wrong for one in asked)
            cells.append(f"{100 * wrong / len(asked):.2f}" if asked else "–")
        nothing = [one for one in own if not one.asked]
        cells.append(str(sum(one.is_alarm for one in nothing)) if nothing else "–")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def assert_apart() -> None:
    """See that no part of the injector imports anything of the scorer.

    Raises:
        RuntimeError: One does.
    """
    for path in injector():
        for name in imported(path.read_text("utf-8")):
            if name.startswith(FORBIDDEN) or name in ("agenttrace", "bench._localise_judge"):
                raise RuntimeError(f"{path.name} imports {name}. Nothing was measured.")


def injector() -> list[Path]:
    """The files that make faults."""
    parts = sorted(Path(__file__).parent.glob("_localise_*.py"))
    return [path for path in parts if path.stem.removeprefix("_localise_") not in JUDGES]


def imported(source: str) -> Iterator[str]:
    """Every module that a module imports, wherever it does so."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)


def _share(name: str, found: Sequence[Judged], aspect: str, bound: float) -> Figure:
    asked = [one for one in found if aspect in one.asked]
    wrong = sum(aspect in one.wrong for one in asked)
    return Figure(
        name=name,
        value=100 * wrong / len(asked),
        unit="percent",
        bound=bound,
        against=f"{len(asked)} verdicts on observable faults",
    )


def _unseen(found: Iterable[Judged]) -> int:
    return sum(one.is_unseen for one in found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print figures, or single verdicts."""
    parser = argparse.ArgumentParser(prog="python -m bench.localise", description=__doc__)
    parser.add_argument("--json", action="store_true", help="every verdict, one a line")
    parser.add_argument("--table", action="store_true", help="the table of the docs page")
    parser.add_argument("--kind", help="one kind, two_at_once, or one fault such as added@adapter")
    parser.add_argument("--limit", type=int, default=EACH, help="faults of each kind")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="N that are not as due")
    parser.add_argument("--seed", help="one fault, by the name that was printed with it")
    given = parser.parse_args(arguments)
    try:
        return _replay(given.seed) if given.seed else _print(given)
    except RuntimeError as error:
        print(f"localise: {error}", file=sys.stderr)
        return 2


def _print(given: argparse.Namespace) -> int:
    pairs = -(-given.limit * PAIRS // EACH)
    found = judged(given.limit, pairs=pairs, kind=given.kind)
    if given.json:
        for one in found:
            print(json.dumps({**vars(one), "right": one.is_right}))
    elif given.table:
        print(table(found))
    for one in [one for one in found if not one.is_right][: given.show]:
        print(_lines(one))
    made = figures(found)
    if not (given.json or given.table):
        for figure in made:
            print(figure.to_line())
    return 0 if all(figure.ok for figure in made) else 1


def _replay(seed: str) -> int:
    sample = Sampler(scripts(shared_folder())).sample(seed)
    print("\n".join(sample.artifact.lines()))
    with Judge() as judge:
        found = judge.sample(sample)
    for one in found:
        print(_lines(one), file=sys.stderr)
    return 0 if all(one.is_right for one in found) else 1


def _lines(one: Judged) -> str:
    wrong = ", ".join(one.wrong) or ("alarm" if one.is_alarm else "as due")
    plan = "with a plan" if one.mode == "plan" else "without a plan"
    return f"{one.seed} {plan}: {wrong}\n  due:  {one.due}\n  said: {one.said}"


if __name__ == "__main__":
    sys.exit(main())
