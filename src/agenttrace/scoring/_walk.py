"""Where the records of one call stop agreeing with each other; no plan is needed for it.

For each chain the questions stand in pipeline order: did the model's text make a call, did the
adapter hand on that call, did the executor run it once and with the same arguments. What merely
follows from an earlier fault of the chain is none: a refusal of a cut-off text is no second
fault.
"""

from __future__ import annotations

from collections.abc import Sequence

from agenttrace.domain import (
    Boundary,
    Decision,
    Execution,
    Guardrail,
    Kind,
    Owner,
    is_agents_own,
)
from agenttrace.records import canonical
from agenttrace.scoring._agree import agrees
from agenttrace.scoring._declared import tool_name
from agenttrace.scoring._forms import CallForm
from agenttrace.scoring._gaps import may_be_unread
from agenttrace.scoring._link import Entry, Links
from agenttrace.scoring._payload import compare_payloads, unasked_runs
from agenttrace.scoring._plan import model_owner, note_unreadable
from agenttrace.scoring._row import Row, twin_key
from agenttrace.scoring._schema import breaks_schema


def walk_chains(row: Row) -> None:
    """Note every divergence that the records of the run show by themselves."""
    lead = row.evidence.first_observed
    if lead is None:
        return
    asks_model = lead is Boundary.MODEL and row.required is None
    for chain in row.chains:
        if lead not in chain.entries:
            _unrequested(row, chain, lead)
        elif asks_model or not agrees(row, chain):
            _Walk(row, chain, lead).run()


def _unrequested(row: Row, chain: Links, lead: Boundary) -> None:
    """A chain that begins after the first observed boundary: nobody asked for it."""
    entry = chain.lead
    if not is_agents_own(entry.call) or not row.evidence.sees(lead, entry.call.name):
        return
    if may_be_unread(row.evidence, lead, entry.call):
        return
    executed = entry.boundary is Boundary.EXECUTOR
    row.note(
        chain,
        entry.boundary,
        Kind.NOT_REQUESTED if executed else Kind.ADDED,
        Owner.EXECUTOR if executed else Owner.ADAPTER,
        after=entry.form.shown(),
    )


class _Walk:
    """One chain that begins at the first observed boundary."""

    def __init__(self, row: Row, chain: Links, lead: Boundary) -> None:
        self.row = row
        self.chain = chain
        self.lead = lead
        self.first = chain.at(lead)[0]
        self.contract = row.case.contract

    def run(self) -> None:
        if not is_agents_own(self.first.call):
            return
        if self.lead is Boundary.MODEL and self.row.required is None:
            self._model_alone()
            if agrees(self.row, self.chain):
                return
        handed: list[Entry] | None = None
        if self.lead is not Boundary.ADAPTER and self._is_seen(Boundary.ADAPTER):
            handed = self._adapter()
            if handed is None:
                return
        elif self.lead is Boundary.ADAPTER:
            handed = [e for e in self.chain.at(self.lead) if e.call.error is None]
            if not handed:
                return
        due = handed or [self.first]
        unasked: list[Entry] = []
        if self.lead is not Boundary.EXECUTOR and self.chain.runs > len(due):
            beyond = self.chain.runs - self._spare() - len(due)
            unasked = unasked_runs(self.row, self.chain, beyond)
        compare_payloads(self.row, self.chain, unasked)
        if self.lead is not Boundary.EXECUTOR:
            self._executor(due[0], len(due), unasked)

    def _is_seen(self, boundary: Boundary) -> bool:
        """Whether this call would have left a record there."""
        if self.chain.at(boundary):
            return True
        evidence, call = self.row.evidence, self.first.call
        if may_be_unread(evidence, boundary, call):
            return False
        return evidence.sees(boundary, call.name) or evidence.sees(
            boundary, self.first.declared.name
        )

    def _model_alone(self) -> None:
        """What the model's record shows by itself; a plan says more about it."""
        row, chain, call = self.row, self.chain, self.first.call
        offered = row.evidence.tools.offered
        if self.first.form.args is None and not chain.runs:
            note_unreadable(row, chain)
        elif self._twins() and self._twins()[0] is not chain:
            row.note(
                chain,
                Boundary.MODEL,
                Kind.DUPLICATED,
                model_owner(row, chain),
                before=1,
                after=len(self._twins()),
            )
        elif (offered and call.name not in offered) or self._breaks_schema():
            row.note(
                chain,
                Boundary.MODEL,
                Kind.ADDED,
                model_owner(row, chain),
                after=self.first.form.shown(),
            )
        elif chain.runs and call.ref in row.blind_repeats:
            row.note(
                chain,
                Boundary.EXECUTOR,
                Kind.DUPLICATED,
                Owner.EXECUTOR_RETRIES,
                before=1,
                after=2,
            )

    def _breaks_schema(self) -> bool:
        """Whether the call fits its tool's schema neither as it is nor as it is declared."""
        schema = self.contract.tool(self.first.call.name).schema
        forms = (self.first.form, self.first.declared)
        return all(breaks_schema(form.args or {}, schema) for form in forms)

    def _adapter(self) -> list[Entry] | None:
        """Judge the adapter's records; the entries handed on, or None where nothing was."""
        row, chain = self.row, self.chain
        here = chain.at(Boundary.ADAPTER)
        good = [entry for entry in here if entry.call.error is None]
        if not good:
            if not row.is_faulty(chain) or chain.runs:
                row.note(
                    chain,
                    Boundary.ADAPTER,
                    Kind.REJECTED if here else Kind.DROPPED,
                    Owner.ADAPTER,
                    before=self.first.form.shown(),
                    detail=here[0].call.error if here else None,
                )
            return None
        if self.first.form.args is None:
            row.note(
                chain,
                Boundary.ADAPTER,
                Kind.REPAIRED,
                Owner.ADAPTER,
                before=self.first.form.shown(),
                after=good[0].form.shown(),
            )
        elif self.first.declared.name != good[0].declared.name:
            self._name_changed(Boundary.ADAPTER, self.first.form, good[0].form, Owner.ADAPTER)
        if len(good) > 1:
            row.note(
                chain,
                Boundary.ADAPTER,
                Kind.DUPLICATED,
                Owner.ADAPTER,
                before=1,
                after=len(good),
            )
        return good

    def _name_changed(
        self, boundary: Boundary, before: CallForm, after: CallForm, owner: Owner
    ) -> None:
        self.row.note(
            self.chain,
            boundary,
            Kind.NAME_CHANGED,
            owner,
            before=before.name,
            after=after.name,
        )

    def _executor(self, upper: Entry, handed: int, unasked: Sequence[Entry]) -> None:
        row, chain = self.row, self.chain
        client = self.contract.client_side_tools
        if upper.form.name in client or upper.declared.name in client:
            return
        if not self._is_seen(Boundary.EXECUTOR):
            return
        records = [e for e in chain.at(Boundary.EXECUTOR) if isinstance(e.call, Execution)]
        if not chain.runs:
            self._never_ran(upper, records)
            return
        for entry in records:
            call = entry.call
            entered = isinstance(call, Execution) and call.count and call.arguments is not None
            if entered and entry not in unasked and self._other_name(entry, upper):
                self._name_changed(Boundary.EXECUTOR, upper.form, entry.form, Owner.EXECUTOR)
                break
        if upper.form.args is None and upper.boundary is Boundary.MODEL:
            # Nothing between text and run was recorded; something made arguments of it.
            row.note(
                chain,
                Boundary.EXECUTOR,
                Kind.REPAIRED,
                Owner.ADAPTER,
                before=upper.form.shown(),
                after=records[0].form.shown(),
            )
        runs = chain.runs - sum(getattr(entry.call, "count", 0) for entry in unasked)
        if runs > handed and runs - self._spare() > handed:
            row.note(
                chain,
                Boundary.EXECUTOR,
                Kind.DUPLICATED,
                Owner.EXECUTOR_RETRIES,
                before=handed,
                after=runs,
            )
        for entry in unasked:
            row.note(
                chain,
                Boundary.EXECUTOR,
                Kind.NOT_REQUESTED,
                Owner.EXECUTOR,
                after=entry.form.shown(),
                detail="it ran in the dispatch of a call, with what nobody handed on",
            )
        if self._ran_against_a_decision():
            row.note(
                chain,
                Boundary.EXECUTOR,
                Kind.NOT_REQUESTED,
                Owner.EXECUTOR,
                after=records[0].form.shown(),
                detail="it ran without its own approval, or after a guardrail had tripped",
            )
        self._mutated(records)

    def _other_name(self, entry: Entry, upper: Entry) -> bool:
        names = (
            tool_name(entry.call.name, self.contract),
            tool_name(upper.form.name, self.contract),
        )
        return names[0] != names[1] and entry.declared.name != upper.declared.name

    def _never_ran(self, upper: Entry, records: Sequence[Entry]) -> None:
        row, chain = self.row, self.chain
        conduct = row.evidence.conduct
        guard = conduct.guardrail
        blocked = guard is not None and guard.blocked and self._is_guarded(guard)
        if row.is_faulty(chain) or blocked or self._decision() is Decision.REJECT:
            return
        answered = any(e.call.call_id in conduct.cache_hits for e in records)
        refused = not answered and any(e.call.error is not None for e in records)
        row.note(
            chain,
            Boundary.EXECUTOR,
            Kind.REJECTED if refused else Kind.NOT_EXECUTED,
            Owner.EXECUTOR,
            before=upper.form.shown(),
        )

    def _is_guarded(self, guard: Guardrail) -> bool:
        """Whether a guardrail speaks of this call; one that names no known call speaks of all."""
        if guard.call is None or guard.call == self.first.call.call_id:
            return True
        return canonical(guard.call) not in self.row.call_ids

    def _mutated(self, records: Sequence[Entry]) -> None:
        for entry in records:
            call = entry.call
            if not isinstance(call, Execution) or call.digest is None:
                continue
            if call.exit_digest is not None and call.exit_digest != call.digest:
                self.row.note(
                    self.chain,
                    Boundary.EXECUTOR,
                    Kind.MUTATED,
                    Owner.TOOL_OWNER,
                    before=call.digest,
                    after=call.exit_digest,
                    detail="the tool changed its own arguments while it ran",
                )

    def _decision(self) -> Decision | None:
        return self.row.decisions.get(canonical(self.first.call.call_id))

    def _ran_against_a_decision(self) -> bool:
        conduct = self.row.evidence.conduct
        if conduct.approvals and self._decision() is not Decision.APPROVE:
            return True
        guard = conduct.guardrail
        if guard is None or not self._is_guarded(guard):
            return False
        if guard.tripped_at_ms is None or guard.tool_started_at_ms is None:
            return guard.blocked and canonical(guard.call) in self.row.call_ids
        return guard.tool_started_at_ms > guard.tripped_at_ms

    def _twins(self) -> Sequence[Links]:
        """Chains whose model records repeat this one within its response, itself included."""
        return self.row.twins.get(twin_key(self.first.call), ())

    def _spare(self) -> int:
        """Runs of this chain that a twin without a run of its own may have asked for."""
        if self.lead is not Boundary.MODEL:
            return 0
        return sum(
            twin is not self.chain and not twin.at(Boundary.EXECUTOR) for twin in self._twins()
        )
