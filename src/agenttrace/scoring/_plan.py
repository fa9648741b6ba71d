"""Where the model's own calls leave the plan.

Required and observed calls that remain after matching are paired by tool name, the fewest
differing arguments first; then by equal arguments under another name. What is left over was added
or dropped, or is one more of a call that was due.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from itertools import islice

from agenttrace.domain import (
    MISSING,
    Boundary,
    Divergence,
    JsonObject,
    JsonValue,
    Kind,
    Missing,
    Owner,
    RequiredCall,
    is_out_of_room,
)
from agenttrace.records import canonical, split_pointer
from agenttrace.scoring._changes import Change, changes, is_text_of, recorded
from agenttrace.scoring._due import due_forms
from agenttrace.scoring._forms import CallForm, pick
from agenttrace.scoring._link import Links
from agenttrace.scoring._match import fits, required_plain, value_at, without_pointer
from agenttrace.scoring._policy import is_forbidden
from agenttrace.scoring._row import (
    LAST,
    Found,
    Row,
    is_cut_off,
    is_planned,
    was_refused,
)
from agenttrace.scoring._rules import accepts

_MOST_CANDIDATES = 64


def find_plan_divergences(row: Row) -> None:
    """Note every way in which the model's calls leave the plan; none where there is no plan."""
    if row.required is None or not row.evidence.is_observed(Boundary.MODEL):
        return
    if _is_kept(row):
        return
    _PlanWalk(row, row.required).run()


def _is_kept(row: Row) -> bool:
    """Whether the figures at the model say already that its calls are the plan's, and no others.

    They are of the same calls as the walk below, which compares them as they are declared and as
    people edited them, and asks for forbidden calls of other agents.
    """
    figures = row.figures.get(Boundary.MODEL)
    if figures is None or not figures.counts.exact or row.sight.thorough:
        return False
    declared, due = row.declared, row.due
    # Types alone keep equal calls equal, if perhaps not what a rule says of their values.
    keeps_equal = not (declared.changes_calls or declared.defaults or due is None or due.ruled)
    if row.evidence.conduct.human_edits or row.case.forbidden:
        return False
    return declared.is_plain or keeps_equal


class _PlanWalk:
    def __init__(self, row: Row, required: Sequence[RequiredCall]) -> None:
        self.row = row
        self.required = required
        self.at_model = row.compare is Boundary.MODEL
        self.declared = row.declared.alike() if self.at_model else row.declared
        self.ignored = row.case.ignore_args
        self._made: Counter[str] = Counter()
        self._fitting: dict[str, int] = {}

    def run(self) -> None:
        row = self.row
        planned = [
            chain
            for chain in row.chains
            if (entry := chain.first(Boundary.MODEL)) is not None
            and is_planned(entry.call, row.case.agents)
        ]
        # Executed chains take a required slot before unexecuted ones.
        mine = sorted(planned, key=lambda chain: not chain.runs)
        seen = [self._seen(chain) for chain in mine]
        wanted = due_forms(row, self.declared, adapted=not self.at_model)
        due = wanted.calls
        matching = wanted.match(seen, thorough=row.sight.thorough)
        if not (matching.missing or matching.extra or row.sight.thorough):
            self._forbidden_of_others(planned)
            return
        self._made.update(form.key for form in seen)
        left = list(matching.missing)
        over = sorted(matching.extra, key=lambda j: row.times[id(mine[j])])
        self._take_met(due, mine, left, over)
        self._pair_by_name(due, seen, mine, left, over)
        self._pair_by_arguments(due, seen, mine, left, over)
        for j in over:
            self._surplus(due, seen, mine, j, left)
        self._forbidden_of_others(planned)
        for i in left:
            self._dropped(i)

    def _seen(self, chain: Links) -> CallForm:
        entry = chain.at(Boundary.MODEL)[0]
        form = entry.declared if self.declared is self.row.declared else self.declared(entry.form)
        if not self.row.edits:
            return form
        for edit in self.row.edits.get(canonical(entry.call.call_id), ()):
            here = value_at(form.args or {}, edit.path)
            if not isinstance(here, Missing) and canonical(here) == canonical(edit.before):
                form = form.with_args(_replaced(form.args or {}, edit.path, edit.after))
        return form

    def _take_met(
        self,
        due: Sequence[RequiredCall],
        mine: Sequence[Links],
        left: list[int],
        over: list[int],
    ) -> None:
        """Take out calls that are due although their declared or edited form does not show it.

        A person's edit may lead away from a plan that the model kept. And a rule is written for
        values of the compared boundary: where a call has one of these there, and its arguments
        changed as declared alone, the model's own spelling is not asked.
        """
        for i in list(left):
            if not self.row.edits and not due[i].rules:
                continue
            j = next((j for j in over if self._is_met(i, due[i], mine[j])), None)
            if j is not None:
                left.remove(i)
                over.remove(j)

    def _is_met(self, i: int, due: RequiredCall, chain: Links) -> bool:
        entry = chain.at(Boundary.MODEL)[0]
        if canonical(entry.call.call_id) in self.row.edits:
            return fits(due, self.declared(entry.form), self.ignored)
        return bool(due.rules) and any(
            low.declared.key == entry.declared.key
            and fits(self.required[i], low.form, self.ignored)
            for low in chain.at(self.row.compare)
        )

    def _pair_by_name(
        self,
        due: Sequence[RequiredCall],
        seen: Sequence[CallForm],
        mine: Sequence[Links],
        left: list[int],
        over: list[int],
    ) -> None:
        free: dict[str, dict[int, None]] = defaultdict(dict)
        for j in over:
            if seen[j].args is not None:
                free[seen[j].name][j] = None
        paired = {}
        for i in left:
            near = list(islice(free[due[i].name], _MOST_CANDIDATES))
            if not near:
                continue
            j, differences = self._nearest(due[i], seen, near)
            paired[i] = j
            del free[due[i].name][j]
            opened = self.declared.opened(mine[j].at(Boundary.MODEL)[0].form)
            for found in differences:
                one = recorded(found, self.required[i].arguments, opened.args)
                self.row.note(
                    mine[j],
                    Boundary.MODEL,
                    one.kind,
                    _owner(self.row, mine[j], one),
                    path=one.path,
                    before=one.before,
                    after=one.after,
                )
        taken = set(paired.values())
        left[:] = [i for i in left if i not in paired]
        over[:] = [j for j in over if j not in taken]

    def _nearest(
        self, due: RequiredCall, seen: Sequence[CallForm], near: Sequence[int]
    ) -> tuple[int, list[Change]]:
        """The first call with the fewest differences; one is the fewest that there can be."""
        best: tuple[int, list[Change]] | None = None
        for j in near:
            found = self._differences(due, seen[j])
            if best is None or len(found) < len(best[1]):
                best = j, found
            if len(found) <= 1:
                break
        assert best is not None, "asked only where a call is near"
        return best

    def _differences(self, due: RequiredCall, seen: CallForm) -> list[Change]:
        skip = self.ignored.get(due.name, frozenset())
        args: JsonObject = pick(seen.args or {}, skip)
        out: list[Change] = []
        for pointer, rule in due.rules.items():
            value = value_at(args, pointer)
            if not accepts(rule, value, pointer):
                kind = Kind.DROPPED if isinstance(value, Missing) else Kind.VALUE_CHANGED
                out.append(Change(kind=kind, path=pointer, before=MISSING, after=value))
            args = without_pointer(args, pointer)
        return out + changes(pick(due.arguments, skip), args)

    def _pair_by_arguments(
        self,
        due: Sequence[RequiredCall],
        seen: Sequence[CallForm],
        mine: Sequence[Links],
        left: list[int],
        over: list[int],
    ) -> None:
        free: dict[str, deque[int]] = defaultdict(deque)
        for j in over:
            if seen[j].args is not None:
                free[canonical(seen[j].args)].append(j)
        paired = {}
        for i in left:
            waiting = free.get(canonical(due[i].arguments))
            if waiting:
                paired[i] = j = waiting.popleft()
                self.row.note(
                    mine[j],
                    Boundary.MODEL,
                    Kind.NAME_CHANGED,
                    model_owner(self.row, mine[j]),
                    before=due[i].name,
                    after=seen[j].name,
                )
        taken = set(paired.values())
        left[:] = [i for i in left if i not in paired]
        over[:] = [j for j in over if j not in taken]

    def _surplus(
        self,
        due: Sequence[RequiredCall],
        seen: Sequence[CallForm],
        mine: Sequence[Links],
        j: int,
        left: list[int],
    ) -> None:
        row, chain, form = self.row, mine[j], seen[j]
        call = chain.at(Boundary.MODEL)[0].call
        if form.args is None:
            note_unreadable(row, chain)
            taken = next((i for i in left if due[i].name == form.name), None)
            if taken is not None:
                left.remove(taken)
            return
        wanted = self._wanted(due, form)
        if not wanted:
            row.note(chain, Boundary.MODEL, Kind.ADDED, model_owner(row, chain), after=form.shown())
            return
        if was_refused(chain):
            return
        made = self._made[form.key]
        blind = call.ref in row.blind_repeats
        row.note(
            chain,
            Boundary.EXECUTOR if blind else Boundary.MODEL,
            Kind.DUPLICATED,
            Owner.EXECUTOR_RETRIES if blind else model_owner(row, chain),
            before=wanted,
            after=made,
        )

    def _wanted(self, due: Sequence[RequiredCall], form: CallForm) -> int:
        """How many of the required calls are met by a call like this."""
        if form.key not in self._fitting:
            self._fitting[form.key] = sum(fits(one, form, self.ignored) for one in due)
        return self._fitting[form.key]

    def _forbidden_of_others(self, planned: Sequence[Links]) -> None:
        row = self.row
        if not row.case.forbidden:
            return
        known = {id(chain) for chain in planned}
        for chain in row.chains:
            entry = chain.first(Boundary.MODEL)
            if entry is None or id(chain) in known or not is_planned(entry.call, None):
                continue
            if any(is_forbidden(rule, entry.form) for rule in row.case.forbidden):
                row.note(
                    chain,
                    Boundary.MODEL,
                    Kind.ADDED,
                    model_owner(row, chain),
                    after=entry.form.shown(),
                )

    def _dropped(self, i: int) -> None:
        before: JsonValue = required_plain(self.required[i])
        self.row.found.append(
            Found(
                (LAST, float(i)),
                None,
                Divergence(
                    boundary=Boundary.MODEL,
                    kind=Kind.DROPPED,
                    path="",
                    call=f"required/{i}",
                    before=before,
                    after=MISSING,
                    owner=Owner.AGENT,
                ),
            )
        )


def note_unreadable(row: Row, chain: Links) -> None:
    """Note argument text that is no JSON object: cut off, or malformed."""
    entry = chain.at(Boundary.MODEL)[0]
    cut = is_cut_off(entry.call)
    stopped = is_out_of_room(entry.call.finish_reason)
    row.note(
        chain,
        Boundary.MODEL,
        Kind.TRUNCATED if cut else Kind.MALFORMED,
        Owner.AGENT if cut or stopped else Owner.PROVIDER,
        after=entry.form.shown(),
    )


def model_owner(row: Row, chain: Links) -> Owner:
    """Who owns a fault at the model: the agent, unless the client fed or answered for it.

    A response that was first returned for another request came out of a cache before the first
    boundary. A client that offered an older schema than the tool uses asked for the wrong thing.
    """
    call = chain.at(Boundary.MODEL)[0].call
    first_seen = row.evidence.ownership.response_first_seen_with
    if first_seen is not None and first_seen != call.request_id:
        return Owner.ADAPTER
    return Owner.AGENT


def _owner(row: Row, chain: Links, change: Change) -> Owner:
    owner = model_owner(row, chain)
    if owner is not Owner.AGENT:
        return owner
    if change.kind is Kind.NESTED and _encoded_twice(change):
        return Owner.PROVIDER
    if change.kind in (Kind.RENAMED, Kind.DROPPED, Kind.ADDED) and _offered_stale_schema(row):
        return Owner.ADAPTER
    return owner


def _encoded_twice(change: Change) -> bool:
    if isinstance(change.before, Missing) or isinstance(change.after, Missing):
        return False
    return is_text_of(change.before, change.after)


def _offered_stale_schema(row: Row) -> bool:
    versions = row.evidence.tools.versions
    offered, used = versions.get("model"), versions.get("executor")
    return offered is not None and used is not None and canonical(offered) != canonical(used)


def _replaced(args: JsonObject, pointer: str, value: JsonValue) -> JsonObject:
    """Arguments with another value at a pointer; as they are where it leads through no object."""
    parts = split_pointer(pointer)
    passed: list[JsonObject] = [args]
    for part in parts[:-1]:
        inner = passed[-1].get(part)
        if not isinstance(inner, Mapping):
            return args
        passed.append(inner)
    for part, container in zip(reversed(parts), reversed(passed), strict=False):
        value = {**container, part: value}
    return value if parts and isinstance(value, Mapping) else args
