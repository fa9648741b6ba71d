"""Every row of `docs/reference/missing-evidence.md` holds, and every code has a row.

The rows are read from the page: one without a situation here fails, and so does a situation whose
row is gone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from agenttrace.domain import (
    ALL,
    NOTHING,
    Boundary,
    Case,
    Completeness,
    Conduct,
    DuplicateRecord,
    Integrity,
    LeakRule,
    Masking,
    Message,
    Observed,
    Outcome,
    Ownership,
    Phase,
    Plan,
    Response,
    ResultShown,
    Run,
    SourceCall,
    StatusReport,
    UnusableRecord,
    Verdict,
)
from agenttrace.records import Record, RecordKind, assemble
from agenttrace.redaction import Redactor
from agenttrace.report import EXPLANATIONS, Group
from agenttrace.scoring import CaseValues, score
from tests.builders import (
    ARGS,
    adapter_call,
    case,
    clean_run,
    due,
    evidence,
    execution,
    model_call,
    no_plan,
    rule,
    said,
)
from tests.scoring.test_digest import digested
from tests.support.made_runs import MadeRun, made_run

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "missing-evidence.md"
ROW = re.compile(r"^\| ([^|`]+) \| (\w+): ([\w-]+), ([\w-]+) \| (?:`([\w-]+)` )?\|$", re.MULTILINE)
ROWS = {what: (said, code) for what, *said, code in ROW.findall(PAGE.read_text("utf-8"))}
MODEL, ADAPTER, EXECUTOR = Boundary
ASKED = case(due())
OTHER = {**ARGS, "cents": 8900}
ALL_MADE = dict.fromkeys(Boundary, 1)
CALL = SourceCall(boundary=EXECUTOR, call_id="c9", name="refund")
ANSWERED = Message(role="tool", call_id="c9")
KEY = Redactor(b"k" * 32)
SECRET = {"password": "hunter2"}

SITUATIONS: dict[str, Callable[[], Verdict]] = {}


def situation(what: str, make: Callable[[], Verdict]) -> None:
    """The verdict on one row of the page."""
    assert what not in SITUATIONS, what
    SITUATIONS[what] = make


def whole(**fields: object) -> Verdict:
    """The verdict where the clean run's completeness says so."""
    return score(ASKED, clean_run(completeness=Completeness(**fields)))  # type: ignore[arg-type]


def owned(**fields: object) -> Verdict:
    return score(ASKED, clean_run(ownership=Ownership(**fields)))  # type: ignore[arg-type]


def recorded(change: Callable[[list[Record]], list[Record]]) -> Verdict:
    """The verdict on a whole recorded run, after something was done to its records."""
    made = some_run()
    return score(made.case, assemble(change(made.records)))


@cache
def some_run() -> MadeRun:
    """A passing run with a plan, an approval and two recorders."""
    runs = (made_run(seed) for seed in range(1, 1000))
    return next(
        made
        for made in runs
        if made.fault is None
        and made.case is not None
        and {record.recorder_id for record in made.records} == {"rec-1", "rec-2"}
        and made.evidence().conduct.approvals
        and not score(made.case, made.evidence()).findings
    )


def of_other_case(*messages: Message) -> Verdict:
    """The verdict on a call with another case's values, in a data set of both cases."""
    theirs = {"order": "B-209", "cents": 8900}
    other = replace(case(due(args=theirs)), case_id="case-2")
    run = clean_run(("refund", theirs), outcome=Outcome(messages=messages))
    return score(ASKED, run, others=CaseValues([ASKED, other]))


situation(
    "the records answer a request that was not made for the run",
    lambda: owned(requests_of_case=("req-9",)),
)
situation(
    "the run is of another case",
    lambda: score(ASKED, replace(clean_run(), run=Run(run_id="r", case_id="case-9"))),
)
situation(
    "the user asked for what another case of the data set states, and got it",
    lambda: of_other_case(Message(role="user", turn=1, content="Refund 8900 for order B-209.")),
)
situation(
    "a call holds what another case states, and what was asked is not on record", of_other_case
)
situation("the trace names another case", lambda: owned(case_id_in_trace="case-9"))
situation(
    "the trace carries no case id, and no request is known to be the case's",
    lambda: owned(case_id_observed=True),
)
situation("the report's link leads to another case", lambda: owned(link_case_id="case-9"))
situation("the reference was picked by its place", lambda: owned(reference_chosen_by="position"))
situation("the hosts' clocks differ by minutes", lambda: owned(clock_offset_ms={"host": -240_000}))

situation(
    "nothing was recorded, and nothing was to be called",
    lambda: score(case(), evidence(responses=())),
)
situation(
    "no response was recorded, and a tool ran",
    lambda: score(ASKED, evidence([], [], [execution()], responses=())),
)
situation(
    "every request was answered with an error",
    lambda: score(case(), evidence(responses=(Response(ref="r1", error="overloaded"),))),
)
situation(
    "a response without calls was recorded, and nothing was to be called",
    lambda: score(case(), evidence(responses=(Response(ref="r1", text="No."),))),
)
situation(
    "fewer responses came than requests were made",
    lambda: whole(requests_made=2, responses_recorded=1),
)
CUT = (Response(ref="r1", turn=1, complete=False),)
situation(
    "the last response was not read to its end, and the plan is not met",
    lambda: score(ASKED, evidence(responses=CUT)),
)
situation(
    "a response was not read to its end, and the plan is met",
    lambda: score(ASKED, clean_run(responses=CUT)),
)
situation("the run had not ended when it was judged", lambda: whole(settled=False))
situation(
    "a recorder of the run never wrote its end", lambda: recorded(lambda records: records[:-1])
)
situation("a call arrived after judging", lambda: whole(late=("c9",)))
situation("an execution was still open when the run ended", lambda: whole(unfinished=("x",)))
for word, field, count in (
    ("spans were dropped", "dropped", 2),
    ("spans were sampled out", "sampled_out", 2),
    ("a number of a recorder never came", "missing_seqs", (4,)),
):
    of = "it was" if field == "missing_seqs" else "they were"
    situation(
        f"{word}, and nobody counted what {of}",
        lambda field=field, count=count: whole(**{field: count}),  # type: ignore[misc]
    )
    situation(
        f"{word}, and every call that was made arrived",
        lambda field=field, count=count: whole(**{field: count}, made=ALL_MADE),  # type: ignore[misc]
    )
situation(
    "fewer calls arrived than a manifest counts", lambda: whole(made={**ALL_MADE, ADAPTER: 2})
)
situation(
    "fewer calls arrived than a manifest counts, at a boundary of which nothing else came",
    lambda: score(
        case(due(), compare=MODEL),
        evidence([model_call()], [adapter_call()], None, completeness=Completeness(made=ALL_MADE)),
    ),
)
situation(
    "an approval was recorded and did not arrive",
    lambda: recorded(lambda records: [one for one in records if one.kind is not RecordKind.EVENT]),
)
situation("a recorder says that it lost something", lambda: whole(lost={"disk": 1}))
situation(
    "a call has an id, and no response on record gave it",
    lambda: score(ASKED, replace(clean_run(), model=())),
)
situation(
    "the first request on record holds the answer to a call that no recorded response gave",
    lambda: score(
        ASKED,
        evidence(
            [model_call(turn=1)],
            [adapter_call(call_id="c9"), adapter_call()],
            [execution()],
            responses=(Response(ref="r1", turn=1, calls=1, messages=(ANSWERED,)),),
            completeness=Completeness(made={**ALL_MADE, ADAPTER: 2}),
        ),
    ),
)
situation(
    "a tool ran for a request, and the adapter between them has no record of it",
    lambda: score(ASKED, replace(clean_run(), adapter=())),
)
situation(
    "a record is linked to one that is not there",
    lambda: score(ASKED, evidence([model_call()], [adapter_call()], [execution(link="adapter/9")])),
)
situation(
    "a response held more calls than are on record",
    lambda: score(ASKED, clean_run(responses=(Response(ref="r1", turn=1, calls=2),))),
)
situation(
    "the model was given an answer, and no run is on record",
    lambda: score(
        ASKED,
        replace(
            clean_run(),
            executor=(),
            conduct=Conduct(results_shown=(ResultShown(shown="ok", call_id="c0"),)),
        ),
    ),
)
situation(
    "a run is missing, and no count, answer, link or child speaks of it",
    lambda: score(ASKED, replace(clean_run(), executor=())),
)
situation("calls stand in traces of no run", lambda: whole(orphans=(CALL,)))
situation(
    "a raw message holds a call that the converted record lacks",
    lambda: whole(source_calls=(replace(CALL, boundary=MODEL),)),
)

situation("the text of a record was cut", lambda: whole(truncated=("c0",)))
situation(
    "two recorders recorded one event",
    lambda: whole(duplicates=(DuplicateRecord(boundary=EXECUTOR, recorders=("a", "b")),)),
)
situation("one record came twice, equal", lambda: recorded(lambda records: records * 2))
situation(
    "one record came twice, unequal",
    lambda: recorded(lambda records: [*records, replace(records[1], end_ns=records[1].end_ns + 5)]),
)
UNREADABLE = UnusableRecord(boundary=EXECUTOR, reason="not JSON")
situation(
    "a record cannot be read, and the verdict needs it", lambda: whole(unusable=(UNREADABLE,))
)
situation(
    "a record cannot be read, and the verdict does not need it",
    lambda: whole(unusable=(replace(UNREADABLE, boundary=ADAPTER),)),
)
situation(
    "a status says ok and is known to be an error",
    lambda: whole(statuses=(StatusReport(recorded="ok", actual="error"),)),
)
situation(
    "a record is not what was received",
    lambda: score(
        ASKED,
        clean_run(integrity=Integrity(digests={"raw_response": "a", "recorded_model": "b"})),
    ),
)
situation(
    "a tool ran, and nobody recorded with which arguments",
    lambda: score(
        ASKED,
        evidence([model_call()], [adapter_call()], [replace(execution(), arguments=None)]),
    ),
)
situation(
    "an adapter handed a call on, and nobody recorded with which arguments",
    lambda: score(
        ASKED,
        evidence([model_call()], [replace(adapter_call(), arguments=None)], [execution()]),
    ),
)

situation(
    "a recorder's mask stands where the values may differ",
    lambda: score(
        None,
        evidence(
            [model_call()],
            [adapter_call()],
            [execution(args={**ARGS, "order": "[REDACTED]"})],
            integrity=Integrity(masked_by="recorder"),
        ),
    ),
)
situation(
    "every value carries the same mask",
    lambda: score(
        case(due(args={"to": "[REDACTED]"})),
        clean_run(
            ("refund", {"to": "[REDACTED]"}),
            integrity=Integrity(
                masking=Masking(method="constant", boundaries=tuple(Boundary), reference=True)
            ),
        ),
    ),
)
situation(
    "values are masked with a key that is not at hand",
    lambda: score(
        case(due(args=SECRET)),
        clean_run(
            ("refund", KEY.mask_expected(SECRET)), integrity=Integrity(masking=KEY.masking())
        ),
        redactor=Redactor(b"q" * 32),
    ),
)
situation(
    "every value is a digest, and there is no key", lambda: score(ASKED, digested(clean_run(), KEY))
)
situation(
    "a rule needs a value that was not kept, and the verdict hangs on it",
    lambda: score(
        case(due(args={"order": "A-104"}, rules={"/cents": rule("range", {"min": 1})})),
        digested(clean_run(), KEY),
        redactor=KEY,
    ),
)

BLIND = {**dict.fromkeys(Boundary, ALL), EXECUTOR: Observed(tools=frozenset({"other"}))}
situation(
    "a required tool leaves no record at the compared boundary",
    lambda: score(ASKED, replace(clean_run(), executor=(), observed=BLIND)),
)
situation(
    "a tool that nothing asks for leaves no record",
    lambda: score(None, replace(clean_run(), executor=(), observed=BLIND)),
)
situation(
    "the compared boundary was not recorded, and the others keep the plan",
    lambda: score(ASKED, evidence([model_call()], [adapter_call()], None)),
)
situation(
    "the compared boundary was not recorded, and the model left the plan",
    lambda: score(ASKED, evidence([model_call(args=OTHER)], [adapter_call(args=OTHER)], None)),
)
situation(
    "the model was not recorded, and the adapter's calls are not the plan's",
    lambda: score(ASKED, evidence(None, [adapter_call(args=OTHER)], [execution(args=OTHER)])),
)
situation(
    "the adapter was not recorded, and an argument changed",
    lambda: score(None, evidence([model_call()], None, [execution(args=OTHER)])),
)
situation(
    "what differs is linked by nothing but the tool's name",
    lambda: score(
        no_plan(),
        evidence([model_call()], None, [execution(args=OTHER, call_id=None, call_id_known=False)]),
    ),
)
situation(
    "a run took the only open one because its context was lost, and nobody asked for it",
    lambda: score(None, evidence([], [], [execution(call_id=None, inferred=True)])),
)
situation(
    "a run lost its context, and its id says whose it is",
    lambda: score(ASKED, evidence([model_call()], [adapter_call()], [execution(inferred=True)])),
)
situation(
    "the case checks the final state, and none was recorded",
    lambda: score(case(due(), outcome={"/a": rule("equals", 1)}), clean_run()),
)
situation(
    "the case checks the final message, and none was recorded",
    lambda: score(case(due(), leak=(LeakRule(tool="refund", path="/code"),)), clean_run()),
)
situation(
    "the case picks its plan by the router's value, and none was recorded",
    lambda: score(
        Case(
            case_id="c",
            required=(),
            plans=(Plan(plan_id="a", required=(due(),), when="refunds"),),
            plan_by="router",
        ),
        clean_run(),
    ),
)
situation(
    "what the model was shown after its last turn",
    lambda: score(
        case(due(), due("look", {})),
        clean_run(
            ("look", {}),
            ("refund", ARGS),
            conduct=Conduct(results_shown=(ResultShown(shown="ok", call_id="c0"),)),
        ),
    ),
)
for word, phase in (
    ("a fixture made a call before the run", Phase.SETUP),
    ("an evaluator made a call after the run", Phase.EVALUATION),
):
    situation(
        word,
        lambda phase=phase: score(  # type: ignore[misc]
            ASKED,
            evidence(
                [model_call()],
                [adapter_call()],
                [execution(), execution("other", {}, call_id=None, phase=phase)],
            ),
        ),
    )


@pytest.mark.parametrize("what", ROWS)
def test_a_row_of_the_page_holds(what: str):
    wanted, code = ROWS[what]

    verdict = SITUATIONS[what]()

    assert list(said(verdict)) == wanted
    held = verdict.causes if wanted[0] == "inconclusive" else verdict.findings
    assert ([one.code for one in held][:1] or [""]) == [code]


def test_each_situation_has_a_row_and_each_row_a_situation():
    assert sorted(ROWS) == sorted(SITUATIONS)
    assert len(ROWS) == PAGE.read_text("utf-8").count("\n| ") - 2 * 5


def test_each_cause_and_finding_of_the_evidence_has_a_row():
    groups = {Group.CAUSE_JOIN, Group.CAUSE_EVIDENCE, Group.FINDING}
    codes = {one.code for one in EXPLANATIONS if one.group in groups}
    codes -= {"leak-form", "equal-as-declared"}  # of rules and contracts, not of the evidence

    assert codes - {code for _, code in ROWS.values()} == set()


def test_the_run_that_the_rows_of_recorded_runs_are_about_passes():
    assert said(recorded(lambda records: records))[0] == "pass"
    assert NOTHING not in some_run().evidence().observed.values()
