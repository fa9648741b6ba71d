"""Faults of whole calls: another tool, text that is no object, too many or too few of them."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any

from bench._localise_due import (
    BOUNDARIES,
    LAST,
    OWNERS,
    Due,
    Inject,
    Point,
    below,
    carried,
    key_of,
    keys_of,
    point_of,
    refused,
)
from bench._localise_edit import Artifact, Place, Record, fail, ref, set_args, set_text
from bench._localise_script import Call, dump, returned
from bench._localise_values import canonical

Json = Any


def name_changed(boundary: str) -> Inject:
    def inject(artifact: Artifact, place: Place, random: Random) -> Due | None:
        call = artifact.script.call(place)
        others = [tool for tool in artifact.script.tools if tool != call.name]
        if not others:
            return None
        name = random.choice(others)
        for one in below(boundary):
            artifact.at(one, place)["payload"]["name"] = name
        message = artifact.message(place)
        if boundary == "model" and message is not None:
            message["tool"] = name
        point = point_of(artifact, place, boundary, "name_changed")
        due = Due(planned=[point], alone=[point])
        if artifact.script.style.is_bare and boundary != "model":
            return _unlinked(artifact, place, boundary)
        if boundary == "model":
            due.alone = []
            due.twin = artifact.script.with_call(place, replace(call, name=name))
            due.tools = frozenset({call.name, name})
        return due

    return inject


def _unlinked(artifact: Artifact, place: Place, boundary: str) -> Due:
    """What is due of a call under another name where nothing says that it is the same call.

    It is not guessed: one call is gone, and another is there that nobody asked for.
    """
    gone, new = ("dropped", "added") if boundary == "adapter" else ("not_executed", "not_requested")
    record = artifact.at(boundary, place)
    unasked = _unasked(artifact, record, boundary, new, place)
    points = [point_of(artifact, place, boundary, gone), *unasked.planned]
    return Due(planned=points, alone=points)


def _malformed_text(raw: str, random: Random) -> tuple[str, str]:
    value = json.loads(raw)
    return random.choice(
        [
            (str(value), "tool_calls"),
            (f"Sure, here is the call:\n{raw}", "tool_calls"),
            (f"```json\n{raw}\n```", "tool_calls"),
            (dump([value]), "tool_calls"),
            (dump(raw), "tool_calls"),
            (raw.replace(":", "=", 1), "tool_calls"),
            (f"{raw}}}", "tool_calls"),
            (f"Sure, {raw}", "length"),
        ]
    )


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _unreadable(
    kind: str, artifact: Artifact, place: Place, random: Random
) -> tuple[str, dict[str, Json]] | None:
    """Give the model's record text of this kind; its owner, and what a parser makes of it."""
    call = artifact.script.call(place)
    if not call.args:
        return None
    if kind == "truncated":
        raw, reason = call.raw[: random.randint(1, len(call.raw) - 1)].rstrip(), "length"
        owner = "agent"
    else:
        raw, reason = _malformed_text(call.raw, random)
        owner = "agent" if reason == "length" else "provider"
    if _is_object(raw) or not raw:
        return None
    complete = reason != "length"
    set_text(artifact.at("model", place), raw, complete=complete, finish_reason=reason)
    response = artifact.response(place[0])["payload"]
    response["finish_reason"] = reason
    kept = random.randint(0, len(call.args) - 1)
    return owner, dict(list(call.args.items())[:kept])


def no_object(kind: str) -> Inject:
    """Text that is no object, refused by the adapter; nothing ran."""

    def inject(artifact: Artifact, place: Place, random: Random) -> Due | None:
        made = _unreadable(kind, artifact, place, random)
        if made is None:
            return None
        refused(artifact, place, "the arguments are no JSON object")
        point = point_of(artifact, place, "model", kind, owner=made[0])
        tools = frozenset({artifact.script.call(place).name})
        return Due(planned=[point], alone=[point], tools=tools)

    return inject


def repaired(artifact: Artifact, place: Place, random: Random) -> Due | None:
    """Text that is no object, of which the adapter made arguments; the tool ran on them."""
    kind = random.choice(["truncated", "malformed"])
    made = _unreadable(kind, artifact, place, random)
    if made is None:
        return None
    owner, args = made
    carried(artifact, place, "adapter", args)
    unreadable = point_of(artifact, place, "model", kind, owner=owner)
    repaired = point_of(artifact, place, "adapter", "repaired")
    tools = frozenset({artifact.script.call(place).name})
    return Due(planned=[unreadable, repaired], alone=[repaired], tools=tools)


def rejected_by_adapter(artifact: Artifact, place: Place, random: Random) -> Due:
    refused(artifact, place, "an argument is of the wrong type")
    point = point_of(artifact, place, "adapter", "rejected")
    return Due(planned=[point], alone=[point])


def rejected_at_entry(artifact: Artifact, place: Place, random: Random) -> Due:
    run = artifact.at("executor", place)["payload"]
    fail(run, "TypeError", "got an unexpected keyword argument")
    run["count"] = 0
    artifact.show(place, f"Error: {run['error']}", is_error=True)
    point = point_of(artifact, place, "executor", "rejected")
    return Due(planned=[point], alone=[point])


def not_executed(artifact: Artifact, place: Place, random: Random) -> Due:
    run = artifact.at("executor", place)
    if random.random() < 0.3:
        run["payload"]["count"] = 0
        for name in ("result", "exit_digest"):
            run["payload"].pop(name, None)
        run["payload"]["result_observed"] = False
    else:
        artifact.remove(run)
        artifact.finish()
    point = point_of(artifact, place, "executor", "not_executed")
    return Due(planned=[point], alone=[point])


def call_dropped_by_model(artifact: Artifact, place: Place, random: Random) -> Due:
    script, call = artifact.script, artifact.script.call(place)
    planned = [script.call(one) for one in script.places()]
    equal = frozenset(
        f"required/{n}"
        for n, one in enumerate(planned)
        if (one.name, canonical(one.args)) == (call.name, canonical(call.args))
    )
    artifact.remove_call(place)
    point = Point(boundary="model", kind="dropped", path="", owner="agent", time=LAST, calls=equal)
    return Due(planned=[point], twin=script.with_call(place), tools=frozenset({call.name}))


def call_dropped_by_adapter(artifact: Artifact, place: Place, random: Random) -> Due:
    artifact.remove(artifact.at("adapter", place))
    artifact.remove(artifact.at("executor", place))
    artifact.finish()
    point = point_of(artifact, place, "adapter", "dropped")
    return Due(planned=[point], alone=[point])


def _another(artifact: Artifact, place: Place, random: Random) -> dict[str, Json]:
    """Arguments that no call of the tool has."""
    args = {**artifact.script.call(place).args}
    return {**args, "extra_reference": f"ref-{random.randrange(10**6)}"}


def call_added_by_model(artifact: Artifact, place: Place, random: Random) -> Due:
    call = artifact.script.call(place)
    return _asked_again(artifact, place, call.name, _another(artifact, place, random), "added")


def call_repeated_by_model(artifact: Artifact, place: Place, random: Random) -> Due:
    call = artifact.script.call(place)
    return _asked_again(artifact, place, call.name, call.args, "duplicated")


def _asked_again(artifact: Artifact, place: Place, name: str, args: Json, kind: str) -> Due:
    script = artifact.script
    key, turn = f"call_one_more_{place[0]}", place[0]
    result = script.call(place).result
    here = artifact.add_call(
        turn, key=key, name=name, args=args, result=returned(result, script.style)
    )
    if (event := artifact.shown(here)) is not None:
        event["payload"]["data"]["shown"] = artifact.message(here)["content"] = result
    more = Call(key=key, call_id=key, name=name, raw=dump(args), result=result)
    calls = script.turns[turn - 1].calls
    twin = script.with_call((turn, len(calls) - 1), calls[-1], more)
    calls_named = keys_of(artifact, here)
    if kind == "duplicated":
        alike = [
            one
            for one in twin.places()
            if (twin.call(one).name, canonical(twin.call(one).args)) == (name, canonical(args))
        ]
        calls_named = frozenset().union(*(keys_of(artifact, one) for one in alike))
        # Of equal calls in the order of time the last has used up no place of its own.
        here = alike[-1]
    point = replace(point_of(artifact, here, "model", kind), calls=calls_named)
    return Due(planned=[point], twin=twin, tools=frozenset({name}))


def call_added_by_adapter(artifact: Artifact, place: Place, random: Random) -> Due:
    args = _another(artifact, place, random)
    handed = artifact.copied(artifact.at("adapter", place), ("adapt", "made up", place))
    ran = artifact.copied(artifact.at("executor", place), ("execution", "made up", place))
    for record in (handed, ran):
        for name in ("link", "response_id", "request_id", "turn", "index", "call_id"):
            record["payload"].pop(name, None)
        set_args(record, args)
    if artifact.script.style.has_ids and random.random() < 0.5:
        handed["payload"]["call_id"] = ran["payload"]["call_id"] = "made-up"
    artifact.insert_after(artifact.at("adapter", place), handed)
    artifact.insert_after(artifact.at("executor", place), ran)
    handed["payload"]["seq"] = ran["payload"]["seq"] = artifact.at("executor", place)["payload"][
        "seq"
    ]
    handed["payload"]["seq"] += 0.25
    ran["payload"]["seq"] += 0.5
    ran["payload"]["link"] = ref(handed)
    artifact.finish()
    return _unasked(artifact, handed, "adapter", "added", place)


def _unasked(artifact: Artifact, record: Record, boundary: str, kind: str, place: Place) -> Due:
    key = record["payload"].get("call_id") or key_of(artifact, record, boundary)
    point = Point(
        boundary=boundary,
        kind=kind,
        path="",
        owner=OWNERS[boundary],
        # Nothing says which call of the turn it came after: it stands behind all of them.
        time=(float(place[0]), 1e6 + BOUNDARIES.index(boundary)),
        calls=frozenset({key}),
    )
    return Due(planned=[point], alone=[point])


def run_unasked(artifact: Artifact, place: Place, random: Random) -> Due:
    """A run that nothing asked for, at the end of the run or among its calls."""
    ran = artifact.copied(artifact.at("executor", place), ("execution", "unasked", place))
    for name in ("link", "response_id", "request_id", "turn", "index", "call_id"):
        ran["payload"].pop(name, None)
    set_args(ran, _another(artifact, place, random))
    if random.random() < 0.5:
        artifact.append_run(ran)
        place = (len(artifact.script.turns), 0)
    else:
        artifact.insert_after(artifact.at("executor", place), ran)
    artifact.finish()
    last = max(r["payload"]["turn"] for r in artifact if r["kind"] == "call")
    return _unasked(artifact, ran, "executor", "not_requested", (min(place[0], last), 0))


def run_beside(artifact: Artifact, place: Place, random: Random) -> Due:
    """One more run inside a dispatch, with arguments that nobody handed on."""
    own = artifact.at("executor", place)
    ran = artifact.copied(own, ("execution", "beside", place))
    set_args(ran, _another(artifact, place, random))
    ran["payload"]["attempt"] = 2
    if random.random() < 0.5:
        artifact.insert_after(own, ran)
    else:
        artifact.insert_after(own, ran)
        own["payload"]["seq"], ran["payload"]["seq"] = ran["payload"]["seq"], own["payload"]["seq"]
    artifact.finish()
    if not artifact.script.style.has_links:
        # Its id is another run's and its payload nobody's: it is linked to nothing.
        point = _unasked(artifact, ran, "executor", "not_requested", place).alone[0]
        point = replace(point, calls=frozenset({key_of(artifact, ran, "executor")}))
        return Due(planned=[point], alone=[point])
    point = point_of(artifact, place, "executor", "not_requested")
    return Due(planned=[point], alone=[point])


def run_against_decision(artifact: Artifact, place: Place, random: Random) -> Due | None:
    """A person decided about every call; one that was rejected ran all the same."""
    places = artifact.script.places()
    ids = [artifact.script.call(one).call_id for one in places]
    if not artifact.script.style.has_ids or len(set(ids)) < len(ids):
        return None
    for one in places:
        decision = "reject" if one == place else "approve"
        event = artifact.copied(artifact.at("model", one), ("approval", one))
        event["kind"] = "event"
        data = {"call": artifact.script.call(one).call_id, "decision": decision}
        event["payload"] = {"name": "approval", "data": data}
        artifact.insert_after(artifact.at("adapter", one), event)
    artifact.finish()
    point = point_of(artifact, place, "executor", "not_requested")
    return Due(planned=[point], alone=[point])


def run_twice(artifact: Artifact, place: Place, random: Random) -> Due:
    own = artifact.at("executor", place)
    for number in range(random.choice([1, 1, 2])):
        again = artifact.copied(own, ("execution", "again", place, number))
        again["payload"]["attempt"] = number + 2
        artifact.insert_after(own, again)
        again["payload"]["seq"] += 0.1 * number
    artifact.finish()
    point = point_of(artifact, place, "executor", "duplicated", owner="executor-retries")
    return Due(planned=[point], alone=[point])


def handed_on_twice(artifact: Artifact, place: Place, random: Random) -> Due:
    handed, ran = artifact.at("adapter", place), artifact.at("executor", place)
    again = artifact.insert_after(handed, artifact.copied(handed, ("adapt", "again", place)))
    more = artifact.insert_after(ran, artifact.copied(ran, ("execution", "again", place)))
    again["payload"]["seq"] = more["payload"]["seq"] + 0.1
    more["payload"]["seq"] += 0.2
    if "link" in more["payload"]:
        more["payload"]["link"] = ref(again)
    artifact.finish()
    point = point_of(artifact, place, "adapter", "duplicated")
    return Due(planned=[point], alone=[point])


def mutated(artifact: Artifact, place: Place, random: Random) -> Due:
    payload = artifact.at("executor", place)["payload"]
    payload["exit_digest"] = payload["digest"][:-4] + "0000"
    point = point_of(artifact, place, "executor", "mutated", owner="tool-owner")
    return Due(planned=[point], alone=[point])
