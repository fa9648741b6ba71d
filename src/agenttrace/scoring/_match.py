"""Unordered matching of required calls against observed calls, each observed call at most once.

Order is judged elsewhere, by sequence rules: two lookups may run either way round, so a matcher
that minded order would fail safe runs. Exact calls are matched first, by hash, in linear time;
what is left, where rules make several calls fit, is matched as a largest one-to-one matching
within one tool name.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence

from agenttrace._dataclass import dataclass, field
from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import (
    MISSING,
    BoundaryFigures,
    Counts,
    JsonObject,
    JsonValue,
    Missing,
    RequiredCall,
)
from agenttrace.errors import UnscorableError
from agenttrace.records import at_pointer, canonical, split_pointer, without
from agenttrace.scoring._forms import CallForm, pick
from agenttrace.scoring._loose import loose_key
from agenttrace.scoring._opaque import is_cut_down
from agenttrace.scoring._rules import accepts

if TYPE_CHECKING:
    from typing import Final, TypeAlias

Ignored = Mapping[str, frozenset[str]]
_MOST_EDGES: Final = 100_000
_Apart: TypeAlias = "tuple[int, list[JsonValue | Missing]]"


@dataclass(frozen=True, slots=True)
class Matching:
    """Which observed call takes which required one, by index."""

    taken: Mapping[int, int] = field(default_factory=dict)
    """Index of an observed call to the index of the required call it takes."""
    missing: tuple[int, ...] = ()
    extra: tuple[int, ...] = ()


def value_at(args: JsonObject, pointer: str) -> JsonValue | Missing:
    """What stands at a pointer; MISSING where nothing does."""
    found: JsonValue | Missing = at_pointer(args, pointer, MISSING)
    return _cut_down_before(args, pointer) if isinstance(found, Missing) else found


def _cut_down_before(args: JsonObject, pointer: str) -> JsonValue | Missing:
    """The digest of the container that hides what stands at a pointer; MISSING without one."""
    while pointer:
        pointer = pointer.rpartition("/")[0]
        around: JsonValue | Missing = at_pointer(args, pointer, MISSING)
        if not isinstance(around, Missing):
            return around if is_cut_down(around) else MISSING
    return MISSING


def without_pointer(args: JsonObject, pointer: str) -> JsonObject:
    """Arguments without what a pointer points to; the pointer of the whole leaves nothing."""
    rest = without(args, pointer)
    return rest if isinstance(rest, Mapping) else {}


def fits(required: RequiredCall, seen: CallForm, ignored: Ignored) -> bool:
    """Whether one observed call is the required one under its rules."""
    if required.name != seen.name or seen.args is None:
        return False
    skip = ignored.get(required.name, frozenset())
    pointers = tuple(required.rules)
    values, rest = _taken_apart(pick(seen.args, skip), pointers, _last_items_first(pointers))
    return rest == canonical(pick(required.arguments, skip)) and _accepted(required, values)


def _taken_apart(
    args: JsonObject, pointers: Sequence[str], last_first: Sequence[str]
) -> tuple[list[JsonValue | Missing], str]:
    """What stands at the pointers, and canonical text of all else."""
    values = [value_at(args, pointer) for pointer in pointers]
    for pointer in last_first:
        args = without_pointer(args, pointer)
    return values, canonical(args)


def _last_items_first(pointers: Sequence[str]) -> list[str]:
    """Pointers in the order in which what stands there can be taken out of lists."""
    return sorted(pointers, key=_place_in_lists, reverse=True)


def _place_in_lists(pointer: str) -> list[tuple[int, str]]:
    """Key by which items of one list stand in order: taking one out moves up all after it."""
    parts = split_pointer(pointer)
    return [(int(part) if part.isdecimal() and len(part) < 10 else -1, part) for part in parts]


def _accepted(required: RequiredCall, values: Sequence[JsonValue | Missing]) -> bool:
    rules = required.rules.items()
    return all(accepts(rule, value, at) for (at, rule), value in zip(rules, values, strict=True))


class Due:
    """Required calls, each with the text that it is matched by, which is made once."""

    __slots__ = ("_ignored", "calls", "forms", "keys", "ruled")

    def __init__(
        self,
        calls: Sequence[RequiredCall],
        ignored: Ignored,
        write: Callable[[JsonValue], str] = canonical,
    ) -> None:
        self.calls = calls
        self.ruled = {call.name for call in calls if call.rules}
        """Tools of which some call has rules: text alone does not say what fits there."""
        self.forms = [CallForm(call.name, call.arguments, None, write) for call in calls]
        self._ignored = ignored
        self.keys = [None if one.name in self.ruled else self.key_of(one) for one in self.forms]
        """None: a call of a tool with rules."""

    def key_of(self, form: CallForm) -> str | None:
        """The text that a call is matched by; None where its arguments are none."""
        if form.args is None:
            return None
        skip = self._ignored.get(form.name) if self._ignored else None
        kept = pick(form.args, skip) if skip else form.args
        return form.key if kept is form.args else form.with_args(kept).key

    def keys_of(self, observed: Sequence[CallForm]) -> list[str | None]:
        """The text of each observed call; equal lists of them are matched alike."""
        if self._ignored:
            return [self.key_of(form) for form in observed]
        return [None if form.args is None else form.key for form in observed]

    def match(
        self,
        observed: Sequence[CallForm],
        keys: Sequence[str | None] | None = None,
        *,
        thorough: bool = False,
    ) -> Matching:
        """The largest one-to-one matching; both sides may be empty.

        Where the observed calls are the required ones, in their order and without rules, each takes
        its own: the search below would come to the same.

        Args:
            keys: The texts of the observed calls, where they were made already.
            thorough: Search in any case.

        Raises:
            UnscorableError: Rules make more than 100,000 pairs possible within one tool.
        """
        if keys is None:
            keys = self.keys_of(observed)
        if not (self.ruled or thorough) and keys == self.keys:
            return Matching(taken={index: index for index in range(len(keys))})
        return _match(self.calls, self.keys, observed, keys, self._ignored)


def match(
    required: Sequence[RequiredCall], observed: Sequence[CallForm], ignored: Ignored
) -> Matching:
    """The largest one-to-one matching; both sides may be empty.

    Raises:
        UnscorableError: Rules make more than 100,000 pairs possible within one tool.
    """
    return Due(required, ignored).match(observed)


def _match(
    required: Sequence[RequiredCall],
    due_keys: Sequence[str | None],
    observed: Sequence[CallForm],
    seen_keys: Sequence[str | None],
    ignored: Ignored,
) -> Matching:
    free: dict[str, deque[int]] = defaultdict(deque)
    for index, seen_key in enumerate(seen_keys):
        if seen_key is not None:
            free[seen_key].append(index)
    taken: dict[int, int] = {}
    open_required: list[int] = []
    for index, due_key in enumerate(due_keys):
        if due_key is None:
            open_required.append(index)
            continue
        waiting = free.get(due_key)
        if waiting:
            taken[waiting.popleft()] = index
    if open_required:
        _match_ruled(required, open_required, observed, ignored, taken)
    used = set(taken.values())
    return Matching(
        taken=taken,
        missing=tuple(i for i in range(len(required)) if i not in used),
        extra=tuple(j for j in range(len(observed)) if j not in taken),
    )


def figures(
    required: Sequence[RequiredCall], observed: Sequence[CallForm], ignored: Ignored
) -> BoundaryFigures:
    """Counts at one boundary, with the missing and extra calls behind them."""
    return figures_of(required, observed, match(required, observed, ignored))


def figures_of(
    required: Sequence[RequiredCall], observed: Sequence[CallForm], found: Matching
) -> BoundaryFigures:
    """Counts of one matching, with the missing and extra calls behind them."""
    tp, fp, fn = len(found.taken), len(found.extra), len(found.missing)
    return BoundaryFigures(
        counts=Counts(
            tp=tp,
            fp=fp,
            fn=fn,
            precision=_ratio(tp, tp + fp),
            recall=_ratio(tp, tp + fn),
            f1=_ratio(2 * tp, 2 * tp + fp + fn),
            exact=not fp and not fn,
            expected=tp + fn,
            observed=tp + fp,
        ),
        missing=tuple(required_plain(required[i]) for i in found.missing),
        extra=tuple(observed[j].shown() for j in found.extra),
    )


def required_plain(call: RequiredCall) -> dict[str, JsonValue]:
    """A required call as it stands in the case."""
    plain: dict[str, JsonValue] = {"name": call.name, "args": call.arguments}
    if call.rules:
        plain["rules"] = {
            pointer: (
                {"normalizer": rule.normalizer, "value": rule.operand}
                if rule.normalizer is not None
                else {rule.kind.value: rule.operand}
            )
            for pointer, rule in call.rules.items()
        }
    return plain


def loose_f1(required: Sequence[RequiredCall], observed: Sequence[CallForm]) -> float | None:
    """F1 over sets with Python's own equality, 0.0 when both are empty: the Ragas score.

    Source: Ragas `ToolCallF1`, whose figures it reproduces wherever that score is well defined.
    None where the original raises or the case cannot be written for it.
    """
    if any(call.rules for call in required):
        return None
    return loose_f1_of([CallForm(call.name, call.arguments) for call in required], observed)


def loose_f1_of(required: Sequence[CallForm], observed: Sequence[CallForm]) -> float | None:
    """`loose_f1` of required calls without rules."""
    if any(call.args is None for call in observed):
        return None
    numbers = iter(range(len(required) + len(observed)))
    want = {loose_key(call, numbers) for call in required}
    got = {loose_key(call, numbers) for call in observed}
    if not want and not got:
        return 0.0
    return round(2 * len(want & got) / (len(want) + len(got)), 4)


def _ratio(over: int, under: int) -> float | None:
    return round(over / under, 4) if under else None


def _match_ruled(
    required: Sequence[RequiredCall],
    open_required: Sequence[int],
    observed: Sequence[CallForm],
    ignored: Ignored,
    taken: dict[int, int],
) -> None:
    by_name: dict[str, list[int]] = defaultdict(list)
    for index, call in enumerate(observed):
        if index not in taken:
            by_name[call.name].append(index)
    sizes = Counter(required[i].name for i in open_required)
    for name, count in sizes.items():
        if count * len(by_name[name]) > _MOST_EDGES:
            raise UnscorableError(
                f"tool {name!r:.60}: {count} required calls with rules stand against "
                f"{len(by_name[name])} observed ones, more pairs than {_MOST_EDGES}. The row was "
                "not matched. Use literal arguments, or split the case."
            )
    edges = _edges(required, open_required, observed, by_name, ignored)
    kept = set(_largest(edges))
    back: dict[int, list[int]] = {}
    for i in open_required:
        if i in kept:
            for j in edges[i]:
                back.setdefault(j, []).append(i)
    taken.update(_largest({j: back[j] for j in sorted(back)}))


def _edges(
    required: Sequence[RequiredCall],
    open_required: Sequence[int],
    observed: Sequence[CallForm],
    by_name: Mapping[str, Sequence[int]],
    ignored: Ignored,
) -> dict[int, list[int]]:
    """Which observed calls each required one fits; each call is taken apart once a set of rules."""
    apart: dict[tuple[str, tuple[str, ...]], dict[str, list[_Apart]]] = {}
    edges = {}
    for i in open_required:
        call = required[i]
        skip, pointers = ignored.get(call.name, frozenset()), tuple(call.rules)
        groups = apart.get((call.name, pointers))
        if groups is None:
            groups = apart[call.name, pointers] = {}
            last_first = _last_items_first(pointers)
            for j in by_name[call.name]:
                args = observed[j].args
                if args is not None:
                    values, rest = _taken_apart(pick(args, skip), pointers, last_first)
                    groups.setdefault(rest, []).append((j, values))
        near = groups.get(canonical(pick(call.arguments, skip)), [])
        edges[i] = [j for j, values in near if _accepted(call, values)]
    return edges


def _largest(edges: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """A largest matching, left to right, in which earlier left nodes come before later ones.

    Run once from each side it keeps the first required calls and the first observed ones. A search
    that fails has seen only what no later path can use, so all of that is left out for good.
    """
    owner: dict[int, int] = {}
    place: dict[int, int] = {}
    dead: set[int] = set()
    for start in edges:
        came_from: dict[int, int] = {}
        queue = deque([start])
        end: int | None = None
        while queue and end is None:
            i = queue.popleft()
            for j in edges[i]:
                if j in came_from or j in dead:
                    continue
                came_from[j] = i
                if j not in owner:
                    end = j
                    break
                queue.append(owner[j])
        if end is None:
            dead.update(came_from)
        while end is not None:
            i = came_from[end]
            before = place.get(i)
            owner[end], place[i] = i, end
            end = before
    return place
