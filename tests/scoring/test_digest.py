"""Evidence without any value: what the scorer still finds, and what it says that it cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.domain import (
    BOUNDARIES,
    ArgumentRule,
    Boundary,
    Case,
    Conduct,
    Contract,
    Evidence,
    ForbiddenCall,
    Integrity,
    Kind,
    LeakRule,
    Outcome,
    ResultShown,
    RuleKind,
    Status,
    ToolCall,
    ToolContract,
    Tools,
    Verdict,
)
from agenttrace.redaction import Redactor, read_digest
from agenttrace.redaction._digests import MOST_LEAVES
from agenttrace.report import terminal_verdict
from agenttrace.scoring import records_alone, score
from tests.builders import adapter_call, case, clean_run, due, evidence, execution, model_call, said

KEY = Redactor(b"k" * 32)
OTHER = Redactor(b"q" * 32)
ARGS = {"order": "A-104", "cents": 9800, "note": "Ring twice", "deep": {"rows": [1, {"b": True}]}}
HOLE = ("inconclusive", "instrumentation", "instrumentation")
PASS = ("pass", "none", "none")


def digested(made: Evidence, redactor: Redactor = KEY) -> Evidence:
    """The evidence as `content="digest"` records it."""
    mask = redactor.digests_for_run()

    def call(one: Any) -> Any:
        changed = {} if one.arguments is None else {"arguments": mask.mask_arguments(one.arguments)}
        if one.raw is not None:
            changed["raw"] = mask.mask_raw(one.raw)
        if hasattr(one, "result"):
            changed["result"] = mask.mask_value(one.result)
        return replace(one, **changed)

    conduct = replace(
        made.conduct,
        results_shown=tuple(
            replace(one, shown=mask.mask_value(one.shown)) for one in made.conduct.results_shown
        ),
        router_value=mask.mask_value(made.conduct.router_value),
    )
    outcome = replace(
        made.outcome,
        final_state=mask.mask_value(made.outcome.final_state),
        final_message=None
        if made.outcome.final_message is None
        else mask.mask_text(made.outcome.final_message),
    )
    return replace(
        made,
        **{b.value: tuple(map(call, made.at(b))) for b in BOUNDARIES},
        conduct=conduct,
        outcome=outcome,
        integrity=Integrity(masking=mask.masking()),
        tools=replace(
            made.tools, schemas={k: mask.mask_schema(v) for k, v in made.tools.schemas.items()}
        ),
    )


def run_of(model: Any = ARGS, adapter: Any = None, executor: Any = None, **fields: Any) -> Evidence:
    adapter = model if adapter is None else adapter
    executor = adapter if executor is None else executor
    return evidence(
        [model_call(args=model)], [adapter_call(args=adapter)], [execution(args=executor)], **fields
    )


def plain_and_digested(asked: Case | None, made: Evidence) -> tuple[Verdict, Verdict]:
    return (
        score(asked, made, redactor=KEY),
        score(asked, digested(made), redactor=KEY),
    )


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["9800", 9800, 9800.0, "A", "a", " a", "true", True])
)
names = st.sampled_from(["a", "b", "row_id"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(st.sampled_from(["order", "cents", "note"]), values, max_size=3)


@given(arguments, arguments, arguments, arguments)
def test_digests_give_the_boundary_and_the_path_that_values_give(wanted, model, adapter, executor):
    made = run_of(model, adapter, executor)

    for asked in (None, case(due(args=wanted))):
        plain, hidden = plain_and_digested(asked, made)
        assert said(hidden) == said(plain)
        assert [(d.boundary, len(d.path.split("/"))) for d in hidden.divergences] == [
            (d.boundary, len(d.path.split("/"))) for d in plain.divergences
        ]


CHANGES = {
    "/cents": ({**ARGS, "cents": 8900}, Kind.VALUE_CHANGED),
    "/deep/rows": ({**ARGS, "deep": {"rows": [1, {"b": False}]}}, Kind.VALUE_CHANGED),
    "/order": ({**ARGS, "order": None}, Kind.TYPE_COERCED),
    "/note": ({**ARGS, "note": "ring  twice"}, Kind.VALUE_CHANGED),
}


@pytest.mark.parametrize("path", CHANGES)
@pytest.mark.parametrize("boundary", ["adapter", "executor"])
def test_the_first_divergence_is_found_down_to_its_path_without_a_key(path: str, boundary: str):
    changed, kind = CHANGES[path]
    made = digested(run_of(**{boundary: changed}))

    verdict = score(None, made)

    (first,) = verdict.divergences
    assert (first.boundary, first.path, first.kind) == (Boundary(boundary), path, kind)
    assert verdict.status is Status.FAIL
    assert records_alone(None, made).value == boundary


def test_a_text_that_became_a_number_is_told_by_its_types():
    made = digested(run_of(executor={**ARGS, "cents": "9800"}))

    (first,) = score(None, made).divergences

    assert (first.path, first.kind) == ("/cents", Kind.TYPE_COERCED)


def test_what_differs_in_spelling_alone_is_told_so():
    (first,) = score(None, digested(run_of(executor={**ARGS, "note": "RING twice"}))).divergences

    assert "spelling" in (first.detail or "")


def test_the_plan_is_compared_with_the_key_that_the_records_were_made_with():
    right, wrong = case(due(args=ARGS)), case(due(args={**ARGS, "cents": 9801}))
    made = digested(run_of())

    assert said(score(right, made, redactor=KEY)) == PASS
    verdict = score(wrong, made, redactor=KEY)
    assert said(verdict) == ("fail", "model", "agent")
    assert verdict.divergences[0].path == "/cents"


def test_without_the_key_or_with_another_nothing_is_said_to_differ():
    asked = case(due(args={**ARGS, "cents": 1}))
    made = digested(run_of())

    for redactor, code in ((None, "no-key"), (OTHER, "other-key")):
        verdict = score(asked, made, redactor=redactor)
        assert said(verdict) == HOLE
        assert [cause.code for cause in verdict.causes] == [code]
        assert verdict.divergences == ()


def test_a_plan_of_no_arguments_needs_no_key():
    made = digested(run_of({}))

    assert said(score(case(due(args={})), made)) == PASS
    assert said(score(case(), made)) == ("fail", "model", "agent")


def test_two_processes_with_a_key_each_are_unknown_and_never_different():
    mine, theirs = digested(run_of()), digested(run_of(), OTHER)
    for changed in (run_of(), run_of(executor={**ARGS, "cents": 1})):
        made = replace(mine, executor=digested(changed, OTHER).executor)
        verdict = score(None, made)
        assert (verdict.status, verdict.causes[0].code) == (Status.INCONCLUSIVE, "other-key")
    assert theirs != mine


def test_masks_of_two_keys_are_unknown_and_never_different():
    secret = {"order": "A-104", "password": "hunter22"}
    made = evidence(
        [model_call(args=KEY.mask_expected(secret))],
        [adapter_call(args=KEY.mask_expected(secret))],
        [execution(args=OTHER.mask_expected(secret))],
        integrity=Integrity(masking=KEY.masking()),
    )

    verdict = score(None, made)

    assert (verdict.status, verdict.causes[0].code) == (Status.INCONCLUSIVE, "other-key")


def test_a_digest_beside_a_value_is_unknown():
    made = replace(digested(run_of()), executor=run_of().executor)

    assert score(None, made).status is Status.INCONCLUSIVE


def rule(kind: RuleKind, operand: Any, **fields: Any) -> ArgumentRule:
    return ArgumentRule(kind=kind, operand=operand, **fields)


def asking(pointer: str, one: ArgumentRule) -> Case:
    rest = {key: value for key, value in ARGS.items() if f"/{key}" != pointer}
    return case(due(args=rest, rules={pointer: one}))


UNDECIDABLE = [
    ("/order", rule(RuleKind.REGEX, "A-[0-9]+")),
    ("/order", rule(RuleKind.REGEX, "B-[0-9]+")),
    ("/cents", rule(RuleKind.RANGE, {"min": 0, "max": 10})),
    ("/cents", rule(RuleKind.TOLERANCE, {"value": 9800, "abs": 1})),
    ("/note", rule(RuleKind.NORMALIZER, "ring twice", normalizer="casefold")),
    ("/order", rule(RuleKind.SCHEMA, {"type": "string", "pattern": "^A-"})),
    ("/cents", rule(RuleKind.SCHEMA, {"minimum": 1})),
]


@pytest.mark.parametrize(("pointer", "one"), UNDECIDABLE)
def test_a_rule_that_needs_the_value_is_undecidable_and_the_cause_says_so(pointer, one):
    verdict = score(asking(pointer, one), digested(run_of()), redactor=KEY)

    assert said(verdict) == HOLE
    (cause,) = verdict.causes
    assert cause.code == "undecidable"
    assert f"the rule {one.kind.value} of {pointer}" in cause.detail


@pytest.mark.parametrize(
    "kind", [RuleKind.REGEX, RuleKind.EQUALS, RuleKind.NORMALIZER, RuleKind.DEFAULT]
)
@pytest.mark.parametrize("make", [KEY.digest_expected, KEY.mask_expected])
def test_no_verdict_holds_what_a_rule_asks_of_a_secret(kind, make):
    how = "casefold" if kind is RuleKind.NORMALIZER else None
    asked = due(args={}, rules={"/password": rule(kind, "hunter22", normalizer=how)})
    seen = clean_run(("refund", dict(make({"password": "other-one"}))))

    assert "hunter22" not in repr(score(case(asked), seen, redactor=KEY))


DECIDED = [
    ("/order", rule(RuleKind.EQUALS, "A-104"), True),
    ("/order", rule(RuleKind.EQUALS, "A-105"), False),
    ("/cents", rule(RuleKind.ONE_OF, [1, 9800]), True),
    ("/cents", rule(RuleKind.ONE_OF, [1, 2]), False),
    ("/note", rule(RuleKind.LENGTH, {"min": 10, "max": 10}), True),
    ("/note", rule(RuleKind.LENGTH, {"max": 9}), False),
    ("/order", rule(RuleKind.RANGE, {"min": 0}), False),
    ("/cents", rule(RuleKind.REGEX, ".*"), False),
    ("/cents", rule(RuleKind.IGNORE, None), True),
    ("/cents", rule(RuleKind.DEFAULT, 9800), True),
    ("/cents", rule(RuleKind.DEFAULT, 1), False),
    ("/cents", rule(RuleKind.SCHEMA, {"type": "integer"}), True),
    ("/order", rule(RuleKind.SCHEMA, {"maxLength": 4}), False),
    ("/deep", rule(RuleKind.SCHEMA, {"properties": {"rows": {"maxItems": 1}}}), False),
]


@pytest.mark.parametrize(("pointer", "one", "is_met"), DECIDED)
def test_a_rule_that_type_length_or_equality_decide_is_decided(pointer, one, is_met):
    asked = asking(pointer, one)
    plain, hidden = plain_and_digested(asked, run_of())

    assert said(plain) == said(hidden)
    assert (hidden.status is Status.PASS) is is_met


def test_an_undecidable_rule_does_not_hide_what_the_records_show_by_themselves():
    pointer, one = UNDECIDABLE[0]
    made = digested(run_of(executor={**ARGS, "cents": 1}))

    verdict = score(asking(pointer, one), made, redactor=KEY)

    assert verdict.status is Status.INCONCLUSIVE
    assert [(d.boundary, d.path) for d in verdict.divergences] == [(Boundary.EXECUTOR, "/cents")]


def test_an_undecidable_rule_that_changes_nothing_is_only_mentioned():
    pointer, one = UNDECIDABLE[0]
    asked = replace(
        asking(pointer, one),
        forbidden=(ForbiddenCall(name="refund", arguments=ARGS),),
        required=None,
    )

    assert said(score(asked, digested(run_of()), redactor=KEY)) == ("fail", "model", "agent")


def declared(**parts: Any) -> Case:
    return Case(case_id="c", contract=Contract(tools={"refund": ToolContract(**parts)}))


def test_a_declared_type_is_decided_by_the_loose_digest():
    made = digested(run_of({**ARGS, "cents": "9800"}, ARGS))
    wrong = digested(run_of({**ARGS, "cents": "9801"}, ARGS))

    assert said(score(declared(coerce={"cents": "integer"}), made)) == PASS
    assert score(declared(coerce={"cents": "integer"}), wrong).first.value == "adapter"


@pytest.mark.parametrize("executed", [9800, 98])
def test_a_declared_unit_is_undecidable(executed: int):
    made = digested(run_of({"cents": 98}, {"cents": executed}))

    verdict = score(declared(unit={"cents": "x100"}), made)

    assert (verdict.status, verdict.causes[0].code) == (Status.INCONCLUSIVE, "undecidable")


def test_a_default_of_the_tools_schema_is_known_by_its_digest():
    schema = {"type": "object", "properties": {"currency": {"type": "string", "default": "EUR"}}}
    tools = Tools(schemas={"refund": schema})
    filled = digested(run_of({"a": 1}, {"a": 1, "currency": "EUR"}, tools=tools))
    other = digested(run_of({"a": 1}, {"a": 1, "currency": "USD"}, tools=tools))

    assert "EUR" not in str(filled)
    assert said(score(None, filled)) == PASS
    assert score(None, other).first.value == "adapter"


def test_a_cut_off_text_is_still_known_to_be_one():
    made = evidence([model_call(raw='{"order": "A-1')], [], [])

    plain, hidden = plain_and_digested(None, made)

    assert [d.kind for d in hidden.divergences] == [d.kind for d in plain.divergences]
    assert said(hidden) == said(plain)


def test_a_result_is_known_in_the_text_that_the_model_was_given():
    shown = ResultShown(call_id="c1", shown='{"ok": true,  "n": [1, 2]}')
    made = evidence(
        [model_call()],
        [adapter_call()],
        [execution(result={"n": [1, 2], "ok": True})],
        conduct=Conduct(results_shown=(shown,)),
    )

    assert said(score(None, digested(made))) == PASS


def test_a_result_that_was_shown_otherwise_is_undecidable():
    shown = ResultShown(call_id="c1", shown="all is well")
    made = evidence(
        [model_call()],
        [adapter_call()],
        [execution(result={"n": 1})],
        conduct=Conduct(results_shown=(shown,)),
    )

    verdict = score(None, digested(made))

    assert (verdict.status, verdict.causes[0].code) == (Status.INCONCLUSIVE, "undecidable")


def test_outcomes_are_compared_and_leaks_are_undecidable():
    state = {"refunds": [{"cents": 9800}]}
    made = digested(run_of(outcome=Outcome(final_state=state, final_message="Done for A-104")))
    right = Case(case_id="c", outcome={"/refunds/0/cents": rule(RuleKind.EQUALS, 9800)})
    wrong = Case(case_id="c", outcome={"/refunds/0/cents": rule(RuleKind.EQUALS, 1)})
    leak = Case(case_id="c", leak=(LeakRule(tool="refund", path=""),))

    assert said(score(right, made, redactor=KEY)) == PASS
    assert score(wrong, made, redactor=KEY).status is Status.FAIL
    assert score(leak, made, redactor=KEY).causes[0].code == "undecidable"


def test_more_leaves_than_have_a_digest_each_are_found_down_to_their_container():
    rows = {f"k{n}": {"a": n, "b": [n, n]} for n in range(MOST_LEAVES // 2)}
    changed = {**rows, "k7": {"a": 7, "b": [7, 8]}}
    before, after = {"order": "A", "rows": rows}, {"order": "A", "rows": changed}

    assert said(score(None, digested(run_of(before)))) == PASS
    (first,) = score(None, digested(run_of(before, after))).divergences
    assert first.path.startswith("/rows")
    (first,) = score(None, digested(run_of(before, {**before, "order": "B"}))).divergences
    assert first.path == "/order"


def test_a_container_that_only_one_side_had_to_cut_down_is_compared_as_a_whole():
    inner = {"a": {"x": list(range(40))}}
    few = {"first": list(range(MOST_LEAVES - 60)), "inner": inner}
    many = {**few, "first": list(range(MOST_LEAVES - 20))}
    changed = {**many, "inner": {"a": {"x": [*range(39), 0]}}}

    paths = [d.path for d in score(None, digested(run_of(few, many))).divergences]
    both = [d.path for d in score(None, digested(run_of(few, changed))).divergences]

    assert paths == ["/first"]
    assert both[0] == "/first"
    assert both[1].startswith("/inner")


def test_a_rule_inside_a_container_that_was_cut_down_blames_nobody():
    rows = {f"k{n}": {"a": n} for n in range(MOST_LEAVES)}
    rest = {key: value for key, value in rows.items() if key != "k5"}
    asked = case(due(args={"rows": rest}, rules={"/rows/k5": rule(RuleKind.EQUALS, {"a": 5})}))

    assert score(asked, digested(run_of({"rows": rows})), redactor=KEY).status is (
        Status.INCONCLUSIVE
    )


def test_digests_are_shown_by_type_length_and_the_beginning_of_their_hash():
    made = digested(run_of(executor={**ARGS, "cents": 8900}))
    verdict = score(None, made)

    picture = terminal_verdict(verdict, made, width=200)

    hidden = made.model[0].arguments["cents"]
    found = read_digest(hidden)
    assert found is not None
    assert f"<integer #{found.exact[:8]}>" in picture
    assert "<string of 10 #" in picture
    assert "[digest:" not in picture
    assert f"<integer #{found.exact[:8]}>" in str(verdict)


def test_a_declared_type_that_nobody_made_is_no_pass():
    text = {**ARGS, "cents": "9800"}

    verdict = score(declared(coerce={"cents": "integer"}), digested(run_of(text)))

    assert (verdict.status, verdict.causes[0].code) == (Status.INCONCLUSIVE, "undecidable")


SECRET = {"order": "A-104", "password": "hunter22"}


def masked_run(*calls: ToolCall) -> Evidence:
    return replace(
        evidence([calls[0]], [calls[1]], [calls[2]]), integrity=Integrity(masking=KEY.masking())
    )


def test_a_text_of_the_plan_that_quotes_a_secret_of_the_run_is_masked_like_the_record():
    """The run had masked the value by its field before it stood in this text."""
    mask = KEY.for_run()
    mask.remember(SECRET)
    args = {"order": "A-104", "note": "use hunter22 twice: hunter22"}
    shown = mask.mask_arguments(args)
    made = masked_run(model_call(args=shown), adapter_call(args=shown), execution(args=shown))

    assert "hunter22" not in str(shown)
    assert said(score(case(due(args=args)), made, redactor=KEY)) == PASS
    wrong = case(due(args={**args, "note": "use hunter23 twice: hunter23"}))
    assert score(wrong, made, redactor=KEY).status is not Status.PASS


def test_what_was_masked_at_one_boundary_alone_is_the_same_value_by_its_digest():
    mask = KEY.for_run()
    args = {"order": "A-104", "note": "hunter22"}
    before, digest = mask.mask_arguments(args), mask.digest(args)
    mask.remember(SECRET)
    after = mask.mask_arguments(args)
    made = masked_run(
        model_call(args=before, digest=digest),
        adapter_call(args=before, digest=digest),
        execution(args=after, digest=digest),
    )

    assert before != after
    assert said(score(None, made)) == PASS


@pytest.mark.parametrize(("pointer", "one"), [UNDECIDABLE[0], UNDECIDABLE[2]])
def test_a_rule_about_a_masked_value_is_undecidable_too(pointer: str, one: ArgumentRule):
    shown = KEY.mask_expected(SECRET)
    made = masked_run(model_call(args=shown), adapter_call(args=shown), execution(args=shown))
    asked = case(due(args={"order": "A-104"}, rules={"/password": one}))

    assert said(score(asked, made, redactor=KEY)) == HOLE


def test_a_forbidden_secret_is_found_by_its_mask():
    shown = KEY.mask_expected(SECRET)
    made = masked_run(model_call(args=shown), adapter_call(args=shown), execution(args=shown))
    asked = Case(case_id="c", forbidden=(ForbiddenCall(name="refund", arguments=SECRET),))

    assert score(asked, made, redactor=KEY).policy == ("forbidden:refund",)


def test_a_mask_in_a_field_of_another_type_does_not_break_the_tools_schema():
    args = {"pin": 1234}
    shown = KEY.mask_expected(args)
    schema = {"type": "object", "properties": {"pin": {"type": "integer"}}}
    made = replace(
        masked_run(model_call(args=shown), adapter_call(args=shown), execution(args=shown)),
        tools=Tools(schemas={"refund": schema}),
    )

    assert said(score(None, made)) == PASS
