"""Why a reference does not hold, and what decides nothing; `causes.md` has the same sentences."""

from __future__ import annotations

from typing import Final

from agenttrace.report._explanation import Explanation, Group

REFERENCE: Final = (
    Explanation(
        code="no-plan-for-route",
        group=Group.CAUSE_LABEL,
        means="no plan is written for the value that the router decided",
        causes="a new route; an event `router_value` of another spelling",
        look="write the plan",
        declare="a plan with `when` for that value",
    ),
    Explanation(
        code="contradiction",
        group=Group.CAUSE_LABEL,
        means="the case requires what it forbids, asks for more calls than it allows, or its own "
        "assertions say something else",
        causes="two edits of one case by two people; assertions that were not brought along",
        look="correct the case",
        declare="not possible; correct the case",
    ),
    Explanation(
        code="stale-reference",
        group=Group.CAUSE_LABEL,
        means="the case is written for another schema version than the run used",
        causes="a tool's schema that changed after the case was written",
        look="bring the case up to date",
        declare="not possible; correct the case",
    ),
    Explanation(
        code="reference-of-later-boundary",
        group=Group.CAUSE_LABEL,
        means="compared at the model, the case asks for what the contract lets the adapter supply",
        causes="a reference copied from executed calls and compared at the model",
        look="write `compare: executor`, or the model's own form",
        declare="`compare: executor` in the case",
    ),
    Explanation(
        code="reference-of-earlier-boundary",
        group=Group.CAUSE_LABEL,
        means="compared after the adapter, the case states the model's form of what the contract "
        "says is changed on the way: an old name, a text where the tool takes a number",
        causes="a reference copied from the model's calls and compared at the executor",
        look="write the form that the tool receives, or `compare: model`",
        declare="`compare: model` in the case",
    ),
    Explanation(
        code="reference-lacks-default",
        group=Group.CAUSE_LABEL,
        means="the calls meet the case but for values that the tool itself fills in, and the "
        "compared boundary shows them",
        causes="a reference copied from the model's calls and compared at the executor",
        look="write the values down, or compare at the model",
        declare="`compare: model` in the case, where the model's own form is meant; a `default` "
        "rule for the argument",
    ),
    Explanation(
        code="edited-off-plan",
        group=Group.CAUSE_LABEL,
        means="the model kept the plan, and a person's edit on record left it",
        causes="a person who may change a call before it is made",
        look="bring the case up to date with what people may edit",
        declare="a plan for what the edit may lead to, or an argument rule",
    ),
    Explanation(
        code="reference-off-schema",
        group=Group.CAUSE_LABEL,
        means="a required call does not fit the tool's own schema, or leaves out a parameter that "
        "it requires, or a `default` rule names another default than the tool's",
        causes="a reference written by hand; a parameter that was renamed since",
        look="correct the case",
        declare="not possible; correct the case",
    ),
    Explanation(
        code="only-reads-differ",
        group=Group.CAUSE_LABEL,
        means="the end state matches, no rule is broken, and only declared reads differ",
        causes="an agent that looks things up in another way, or once more",
        look="decide whether these reads belong to the plan",
        declare="`plans` with `plan_by: any_of`, where both ways are right",
    ),
    Explanation(
        code="adapter-not-recorded",
        group=Group.FINDING,
        means="a change is seen at the executor and the adapter was not recorded, so the adapter "
        "may have made it",
        causes="an agent of your own without the `adapter` decorator; a framework without an "
        "integration",
        look="record the adapter, see Agents without a library",
        declare="not needed; it decides nothing",
    ),
    Explanation(
        code="response-unfinished",
        group=Group.FINDING,
        means="a response ended without a finish reason; where the plan is not met and nothing "
        "else ran, this is a cause and the row is inconclusive",
        causes="a stream that was closed early; a connection that broke",
        look="read streams to their end",
        declare="not needed; it decides nothing",
    ),
    Explanation(
        code="context-lost",
        group=Group.FINDING,
        means="records took the only open run, or that of their thread's starter, because their "
        "context was lost; where the first divergence rests on such a record, and no id "
        "says whose it is, this is a cause and the row is inconclusive",
        causes="threads and executors that do not carry the context",
        look="pass the context on, see Threads and requests",
        declare="not needed; it decides nothing",
    ),
    Explanation(
        code="equal-as-declared",
        group=Group.FINDING,
        means="the plan is met once what the contract or the tools' types call equal is taken as "
        "equal, while the figures, which compare values as they are written, show a difference",
        causes="`fold_case` or `normalize` in the contract; a plan with `10` where the tool's type "
        "is a number and it received `10.0`",
        look="nothing to do; write the tool's own form into the plan for figures of 1",
        declare="it is declared",
    ),
    Explanation(
        code="leak-form",
        group=Group.FINDING,
        means="the value of a broken leak rule stands in the final message in another form than "
        "the tool gave it: respelled, reformatted or encoded",
        causes="a link or a file with the value in it; a model that writes numbers and dates its "
        "own way",
        look="the final message for the form that the sentence names",
        declare="not needed; the broken rule decides",
    ),
    Explanation(
        code="setup-calls",
        group=Group.FINDING,
        means="calls of the set-up phase: shown, and left out of every comparison",
        causes='calls inside `run.phase("setup")`',
        look="nothing is to be done",
        declare="not needed; it decides nothing",
    ),
    Explanation(
        code="evaluation-calls",
        group=Group.FINDING,
        means="calls of the evaluation phase: shown, and left out of every comparison",
        causes='calls inside `run.phase("evaluation")`',
        look="nothing is to be done",
        declare="not needed; it decides nothing",
    ),
    Explanation(
        code="values-of-other-case",
        group=Group.FINDING,
        means="a call of the model's holds a value that only another case of the data set "
        "states; the sentence says what the request names",
        causes="context left over from another case: history, memory or a cache; an example in "
        "the prompt",
        look="what the model was shown before that call, and where it came from; see `lineage`",
        declare="not possible; it decides nothing",
    ),
)
