"""The steps by which records of two boundaries are linked, of falling strength.

A call id is no key: some providers send none, some repeat one, and retries change it. Each step
sees only what the earlier ones left: the span link taken at capture time; ids, with an equal
payload before any other, then one's own tool; an equal payload where one side has no id; the place
in order, where no call has an id; an equal payload, one to one, where the id became one that the
other side has nowhere; and last the only record left of a tool on both sides.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence

from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import Boundary, LinkedBy, Phase, ToolCall
from agenttrace.scoring._sight import Entry

if TYPE_CHECKING:
    from typing import Final

Made = dict[int, tuple[int, LinkedBy]]
Step = tuple[LinkedBy, Callable[[Entry], Hashable], Callable[[Entry], Hashable]]
Pairs = list[tuple[Entry, Entry]]


def link(
    lower: Sequence[Entry],
    upper: Sequence[Entry],
    above: Sequence[Sequence[Entry]] | None,
    below: Sequence[Sequence[Entry]],
    *,
    thorough: bool = False,
) -> Made:
    """Index of a lower record to index of the upper record it answers, and how that is known.

    Args:
        above: Records of the boundaries above the lower one; None: only ids tell calls apart.
        below: Records below the upper boundary, down to the lower one.
        thorough: Take every step, also for records that the first ones leave no choice.
    """
    if not thorough and (paired := _by_equal_ids(lower, upper)):
        return paired
    made: Made = {}
    taken: set[int] = set()
    # Set-up and evaluation repeat the agent's ids and payloads; they are nobody's run of its calls.
    lower = [entry for entry in lower if entry.call.phase is Phase.RUN]
    upper = [entry for entry in upper if entry.call.phase is Phase.RUN]
    _by_span(lower, upper, made, taken)
    lower = _without_children(lower)
    if not thorough:
        _by_own_ids(lower, upper, made, taken)
        if all(entry.index in made for entry in lower):
            return made
    _by_keys(lower, upper, _ID_STEPS, made, taken)
    _by_keys(lower, upper, _PAYLOAD_STEPS, made, taken)
    _repeats(lower, upper, made)
    _by_position(lower, upper, made, taken)
    if above is not None:
        lows = [one for one in _told_apart(lower, _ids(above)) if one.index not in made]
        ups = [one for one in _told_apart(upper, _ids(below)) if one.index not in taken]
        _renumbered(lows, ups, made, taken)
    _only_one_left(lower, upper, made, taken)
    return made


def repeated_ids(entries: Sequence[Entry]) -> set[Hashable]:
    """Ids that more than one record of a boundary bears."""
    seen: set[Hashable] = set()
    twice: set[Hashable] = set()
    for entry in entries:
        (twice if entry.call.call_id in seen else seen).add(entry.call.call_id)
    return twice


def _by_equal_ids(lower: Sequence[Entry], upper: Sequence[Entry]) -> Made | None:
    """Links of usual records that bear the same ids in the same order, each id once, and no link.

    What `_by_own_ids` comes to for them, without looking anything up; None for any others.
    """
    ids = [entry.id for entry in lower]
    if ids != [entry.id for entry in upper] or None in ids or len(set(ids)) < len(ids):
        return None
    made: Made = {}
    for low, up in zip(lower, upper, strict=True):
        if not (low.is_usual and up.is_usual) or low.call.link is not None:
            return None
        _ = low.declared.key, up.declared.key  # refused here, as there
        made[low.index] = up.index, LinkedBy.CALL_ID
    return made


def _by_own_ids(
    lower: Sequence[Entry], upper: Sequence[Entry], made: Made, taken: set[int]
) -> None:
    """Link each record whose id no other record of its own boundary bears, nor two of the upper.

    The steps by ids all ask for an equal id, and the last of them for nothing else: where only one
    record can answer, they come to it whatever it holds. What the later steps link is left to them.
    """
    free: dict[Hashable, int | None] = {}
    for entry in upper:
        _ = entry.declared.key  # a value that is no JSON is refused here, as in the steps
        if entry.index not in taken:
            key = entry.id
            free[key] = None if key in free else entry.index
    asking: dict[Hashable, Entry | None] = {}
    for entry in lower:
        key = entry.id
        if entry.index not in made and key is not None:
            _ = entry.declared.key
            asking[key] = None if key in asking else entry
    for key, own in asking.items():
        index = free.get(key)
        if own is not None and index is not None:
            made[own.index] = index, LinkedBy.CALL_ID
            taken.add(index)


def _by_keys(
    lower: Sequence[Entry],
    upper: Sequence[Entry],
    steps: Sequence[Step],
    made: Made,
    taken: set[int],
) -> None:
    """Link what has the same key on both sides, in order, one step after the other."""
    for how, low_key, up_key in steps:
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for entry in upper:
            if entry.index not in taken:
                key = up_key(entry)
                if key is not None:
                    waiting[key].append(entry.index)
        for entry in lower:
            if entry.index in made:
                continue
            key = low_key(entry)
            if key is not None and waiting.get(key):
                index = waiting[key].popleft()
                made[entry.index] = (index, how)
                taken.add(index)


def _without_children(entries: Sequence[Entry]) -> list[Entry]:
    """Records without executions that merely inherited the id of the one around them."""
    if all(entry.call.parent is None for entry in entries):
        return list(entries)
    ids = {entry.call.ref: entry.id for entry in entries}
    return [
        entry
        for entry in entries
        if entry.call.parent is None or ids.get(entry.call.parent, entry) != entry.id
    ]


def _by_span(lower: Sequence[Entry], upper: Sequence[Entry], made: Made, taken: set[int]) -> None:
    if all(entry.call.link is None for entry in lower):
        return
    by_ref = {entry.call.ref: entry.index for entry in upper}
    for entry in lower:
        if entry.call.link is not None and entry.call.link in by_ref:
            index = by_ref[entry.call.link]
            made[entry.index] = (index, LinkedBy.SPAN)
            taken.add(index)


def _response_id_payload(entry: Entry) -> Hashable:
    base = _response_and_id(entry)
    return None if base is None else (base, entry.declared.key)


def _response_id_name(entry: Entry) -> Hashable:
    base = _response_and_id(entry)
    return None if base is None else (base, entry.declared.name)


def _response_and_id(entry: Entry) -> Hashable:
    call = entry.call
    if call.call_id is None or call.response_id is None:
        return None
    return call.response_id, entry.id


def _id_and_payload(entry: Entry) -> Hashable:
    return None if entry.call.call_id is None else (entry.id, entry.declared.key)


def _id_and_name(entry: Entry) -> Hashable:
    """The id with the tool: one id for all calls of a run still tells two tools apart."""
    return None if entry.call.call_id is None else (entry.id, entry.declared.name)


def _id(entry: Entry) -> Hashable:
    return entry.id


def _payload_of_unknown(entry: Entry) -> Hashable:
    """The payload, where the recorder could not know whether there was an id."""
    if entry.call.call_id_known or not _may_be_matched(entry.call):
        return None
    return entry.declared.key


def _payload_of_any(entry: Entry) -> Hashable:
    return entry.declared.key if _may_be_matched(entry.call) else None


def _payload_of_unnamed(entry: Entry) -> Hashable:
    return entry.declared.key if entry.call.call_id is None else None


_ID_STEPS: Final[tuple[Step, ...]] = (
    (LinkedBy.CALL_ID, _response_id_payload, _response_id_payload),
    (LinkedBy.CALL_ID, _response_id_name, _response_id_name),
    (LinkedBy.CALL_ID, _response_and_id, _response_and_id),
    (LinkedBy.CALL_ID, _id_and_payload, _id_and_payload),
    (LinkedBy.CALL_ID, _id_and_name, _id_and_name),
    (LinkedBy.CALL_ID, _id, _id),
)
_PAYLOAD_STEPS: Final[tuple[Step, ...]] = (
    (LinkedBy.PAYLOAD, _payload_of_unknown, _payload_of_any),
    (LinkedBy.PAYLOAD, _payload_of_any, _payload_of_unnamed),
)


def _may_be_matched(call: ToolCall) -> bool:
    """Nested calls are linked by what they carry, never by likeness."""
    return call.parent is None


def _was_refused(entry: Entry) -> bool:
    """Whether nothing was handed on: only what says so itself ran all the same."""
    return entry.boundary is Boundary.ADAPTER and entry.call.error is not None


def _repeats(lower: Sequence[Entry], upper: Sequence[Entry], made: Made) -> None:
    """Records beyond the first of the same id, or of no known id, and payload: repeats of it."""
    named: dict[Hashable, int] = {}
    payloads: dict[Hashable, int] = {}
    for entry in upper:
        named.setdefault((entry.id, entry.declared.key), entry.index)
        payloads.setdefault(entry.declared.key, entry.index)
    for entry in lower:
        if entry.index in made:
            continue
        index, how = None, LinkedBy.PAYLOAD
        if entry.call.call_id is not None:
            index = named.get((entry.id, entry.declared.key))
            how = LinkedBy.CALL_ID
        elif _may_be_matched(entry.call):
            # Where neither side has an id, more of the same is a repeat.
            index = named.get((None, entry.declared.key))
            if index is None and not entry.call.call_id_known:
                index = payloads.get(entry.declared.key)
        if index is not None:
            made[entry.index] = (index, how)


def _placed(lower: Sequence[Entry], upper: Sequence[Entry]) -> tuple[Pairs, list[Pairs]]:
    """Records side by side, where no request has an id and both sides hold as many.

    First those of the whole run, empty where the tools do not agree place by place; then those of
    each tool by itself, and of each response where every record says which one it is of.
    """
    ups = [entry for entry in upper if _may_be_matched(entry.call) and not _was_refused(entry)]
    lows = [entry for entry in lower if _may_be_matched(entry.call)]
    is_told = all(entry.call.response_id is not None for entry in (*lows, *ups))
    groups: dict[Hashable, tuple[list[Entry], list[Entry]]] = {}
    for side, entries in enumerate((lows, ups)):
        for entry in entries:
            key = entry.call.response_id if is_told else None, entry.declared.name
            groups.setdefault(key, ([], []))[side].append(entry)
    whole = _side_by_side(lows, ups)
    if any(low.declared.name != up.declared.name for low, up in whole):
        whole = []
    return whole, [_side_by_side(*sides) for sides in groups.values()]


def _side_by_side(lows: Sequence[Entry], ups: Sequence[Entry]) -> Pairs:
    if len(ups) != len(lows) or any(entry.call.call_id is not None for entry in ups):
        return []
    return list(zip(lows, ups, strict=True))


def _by_position(
    lower: Sequence[Entry], upper: Sequence[Entry], made: Made, taken: set[int]
) -> None:
    """Where no call has an id, and what is linked stands in one order, link what stands between.

    Equal requests are one another's equals here: which of them an equal record was given says
    nothing of an order. Calls of one tool are an order of their own, once one at least is linked.
    """
    whole, by_tool = _placed(lower, upper)
    for pairs in (whole, *by_tool):
        is_sure = pairs is whole or any(low.index in made for low, _ in pairs)
        keys = {up.index: up.declared.key for _, up in pairs}
        if not is_sure or any(
            low.index in made and keys.get(made[low.index][0]) != up.declared.key
            for low, up in pairs
        ):
            continue
        free: dict[str, deque[int]] = defaultdict(deque)
        for _, up in pairs:
            if up.index not in taken:
                free[up.declared.key].append(up.index)
        for low, up in pairs:
            if low.index not in made and free[up.declared.key]:
                index = free[up.declared.key].popleft()
                made[low.index] = (index, LinkedBy.POSITION)
                taken.add(index)


def _ids(boundaries: Sequence[Sequence[Entry]]) -> frozenset[Hashable]:
    return frozenset(entry.id for entries in boundaries for entry in entries)


def _told_apart(entries: Sequence[Entry], elsewhere: frozenset[Hashable]) -> list[Entry]:
    """Records whose ids are each one call's own, and are on record nowhere else."""
    repeated = repeated_ids(entries)
    return [
        entry
        for entry in entries
        if entry.call.call_id not in repeated
        and entry.id not in elsewhere
        and entry.call.call_id is not None
        and _may_be_matched(entry.call)
        and not _was_refused(entry)
    ]


def _renumbered(lows: Sequence[Entry], ups: Sequence[Entry], made: Made, taken: set[int]) -> None:
    """Calls whose ids changed on their way, of each payload as many on both sides, in order.

    Where one side holds more of a payload, one of them may be of a call that is not on record, and
    nothing says which.
    """
    sides: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, entries in enumerate((lows, ups)):
        for entry in entries:
            sides[entry.declared.key][side].append(entry.index)
    for low, up in sides.values():
        if len(low) == len(up):
            made.update(
                {one: (other, LinkedBy.PAYLOAD) for one, other in zip(low, up, strict=True)}
            )
            taken.update(up)


def _only_one_left(
    lower: Sequence[Entry], upper: Sequence[Entry], made: Made, taken: set[int]
) -> None:
    low_left: dict[str, list[Entry]] = defaultdict(list)
    up_left: dict[str, list[Entry]] = defaultdict(list)
    for entry in lower:
        if entry.index not in made and _may_be_matched(entry.call):
            low_left[entry.declared.name].append(entry)
    for entry in upper:
        if entry.index in taken or _was_refused(entry):
            continue
        if _may_be_matched(entry.call):
            up_left[entry.declared.name].append(entry)
    for name, left in low_left.items():
        others = up_left.get(name, [])
        if len(left) == 1 and len(others) == 1 and _could_be_one(left[0], others[0]):
            made[left[0].index] = (others[0].index, LinkedBy.ONLY_ONE_LEFT)


def _could_be_one(low: Entry, up: Entry) -> bool:
    """Two known ids that differ say that they are two calls; a known absence on one side too."""
    if low.call.call_id is not None:
        return up.call.call_id is None
    return up.call.call_id is None or not low.call.call_id_known
