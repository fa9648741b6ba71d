"""What statuses, boundaries, owners and rules mean; `docs/reference/explain.md` has the same."""

from __future__ import annotations

from typing import Final

from agenttrace.report._explanation import Explanation, Group

WORDS: Final = (
    Explanation(
        code="pass",
        group=Group.STATUS,
        means="The calls at the compared boundary are the required ones, no rule is broken, and "
        "no executed call was changed without a declaration.",
        causes="a run that did what its case says; without a case, records that agree with each "
        "other.",
        look="`first` and `findings`: a row can pass although a call was refused and repaired, "
        "or a wrong one never ran.",
        declare="nothing to declare.",
    ),
    Explanation(
        code="fail",
        group=Group.STATUS,
        means="The figures do not match, a rule is broken, or an executed call was changed "
        "without a declaration.",
        causes="a fault of the product: agent, adapter, executor or tool.",
        look="`first`, `owner` and `kind`: each has an explanation of its own.",
        declare="see the kind of the first divergence; each says how.",
    ),
    Explanation(
        code="inconclusive",
        group=Group.STATUS,
        means="Evidence or reference must be repaired before the row can be judged; it counts "
        "neither way.",
        causes="records that are missing, cut off or of another run; a case that does not hold.",
        look="`causes`: each code has an explanation of its own.",
        declare="not possible; `agenttrace score --strict` counts such a row as failed.",
    ),
    Explanation(
        code="none",
        group=Group.FIRST,
        means="Nothing diverges.",
        causes="a run that kept to its case; changes that are all declared.",
        look="nothing.",
        declare="nothing to declare.",
    ),
    Explanation(
        code="model",
        group=Group.FIRST,
        means="What the model asked for is already wrong.",
        causes="the prompt, a tool's description, what the model was shown before, the output "
        "limit.",
        look="the response's raw text and the messages that led to it, in `agenttrace show`.",
        declare="argument `rules`, `ignore_args` or `plans` in the case, where several ways are "
        "right.",
    ),
    Explanation(
        code="adapter",
        group=Group.FIRST,
        means="The call was right at the model, and was changed, lost or refused before it was "
        "handed on.",
        causes="parsing, validation, coercion, defaults, renamed arguments.",
        look="the model's record beside the adapter's, and the code between them.",
        declare="the case's `contract`, or `@trace(contract=ToolContract(...))` beside the tool.",
    ),
    Explanation(
        code="executor",
        group=Group.FIRST,
        means="The call was right when it was handed on, and was changed, lost, repeated, swapped "
        "or hidden where it ran.",
        causes="wrappers and retries around the tool, dispatch, the tool itself.",
        look="the adapter's record beside the executor's, the number of executions and how each "
        "ended.",
        declare="the case's `contract`; `client_side_tools`, or the events `approval`, `guardrail` "
        "and `cache_hit`, for calls that were stopped or answered elsewhere.",
    ),
    Explanation(
        code="join",
        group=Group.FIRST,
        means="The records belong to another case or run.",
        causes="two runs in one task or thread; a report that is joined by position.",
        look="the codes under `causes`, and the ids of run, case and requests in the verdict.",
        declare="not possible; a case cannot say whose records these are.",
    ),
    Explanation(
        code="instrumentation",
        group=Group.FIRST,
        means="The evidence is not whole, or cannot place the fault.",
        causes="a boundary or tool that is not recorded, lost spans, a run that had not ended.",
        look="the codes under `causes`, and `agenttrace doctor`.",
        declare="`compare` names another boundary, and `client_side_tools` those tools that run "
        "elsewhere; lost evidence cannot be declared.",
    ),
    Explanation(
        code="label",
        group=Group.FIRST,
        means="The reference does not hold.",
        causes="a case that is out of date or contradicts itself.",
        look="the codes under `causes`, and `agenttrace check-cases`.",
        declare="not possible; correct the case.",
    ),
    Explanation(
        code="none",
        group=Group.OWNER,
        means="Nobody has to act, or what differs is linked by nothing but a tool's name.",
        causes="a row that passed; a provider without call ids.",
        look="how the records were linked: `chains` in the verdict's JSON.",
        declare="nothing to declare.",
    ),
    Explanation(
        code="agent",
        group=Group.OWNER,
        means="Prompt, model or agent logic: the wrong call was asked for.",
        causes="an unclear instruction or tool description, a wrong value in the messages, an "
        "output limit.",
        look="the messages before the turn in which the wrong value first appeared.",
        declare="argument `rules` or `plans` in the case, where the call is right too.",
    ),
    Explanation(
        code="provider",
        group=Group.OWNER,
        means="The provider's arguments are malformed or encoded twice.",
        causes="local servers and models with a weak tool-call format.",
        look="the raw argument text of the response.",
        declare="`envelope` in the contract where a call is wrapped on purpose; malformed text "
        "cannot be declared.",
    ),
    Explanation(
        code="adapter",
        group=Group.OWNER,
        means="What turns a response into calls, and results into messages.",
        causes="validation that coerces, a parser that repairs, results handed back in another "
        "order.",
        look="the adapter's record beside the model's, and the message that the model was shown.",
        declare="`rename`, `unit`, `coerce`, `defaults` and the other fields of the contract.",
    ),
    Explanation(
        code="executor",
        group=Group.OWNER,
        means="What runs a call: dispatch, wrappers, approval.",
        causes="a wrapper that changes arguments, a call that ran without its approval.",
        look="what stands between the adapter's record and the tool's entry.",
        declare="the contract's fields; the event `approval` for a call that a person allowed.",
    ),
    Explanation(
        code="executor-retries",
        group=Group.OWNER,
        means="A retry ran a call again.",
        causes="a retry after a timeout, although the first call had worked.",
        look="the executions of the call, how each ended, and the retry's settings.",
        declare="list the call twice in `required` where two are due; an idempotency key at the "
        "tool makes a repeat harmless.",
    ),
    Explanation(
        code="tool-owner",
        group=Group.OWNER,
        means="The tool: it changed its arguments, or every call was right and the end state is "
        "not.",
        causes="a tool that edits the dictionary it is given, a bug in its effect.",
        look="the tool's own code, and the state given to `run.set_state`.",
        declare="`outcome` in the case, where the end state is right as it is.",
    ),
    Explanation(
        code="evaluation-platform",
        group=Group.OWNER,
        means="What brings runs, cases and links together.",
        causes="runs that are joined with cases by position or time.",
        look="the codes under `causes`.",
        declare="not possible; join by id.",
    ),
    Explanation(
        code="instrumentation",
        group=Group.OWNER,
        means="The recorder, its set-up, or what carries its records.",
        causes="a library that is not hooked, a tool without `@trace`, a full queue, a process "
        "that was killed.",
        look="`agenttrace doctor`, and the recorder's log.",
        declare="`client_side_tools` for tools that run elsewhere; the rest is repaired, not "
        "declared.",
    ),
    Explanation(
        code="label-owner",
        group=Group.OWNER,
        means="The case.",
        causes="a tool that changed after the case was written.",
        look="the codes under `causes`, and `agenttrace check-cases`.",
        declare="not possible; correct the case.",
    ),
    Explanation(
        code="product-owner",
        group=Group.OWNER,
        means="A decision: the end state is right and only reads differ.",
        causes="an agent that looks things up in another way.",
        look="`missing` and `extra` in the verdict.",
        declare="`plans` with `plan_by: any_of`, where both ways are right.",
    ),
    Explanation(
        code="forbidden",
        group=Group.RULE,
        means="A call that the case forbids was made.",
        causes="a prompt that does not rule it out; a tool that should not be offered.",
        look="the call in `extra`, and the turn that asked for it.",
        declare="take it out of `forbidden`, or give the entry `args`, so that only those calls "
        "are meant.",
    ),
    Explanation(
        code="ordered",
        group=Group.RULE,
        means="A tool was first called before one that must come before it.",
        causes="an agent that skips a check; calls of one response that are run in parallel.",
        look="`turn` and `index` of both calls in `agenttrace show`.",
        declare="take the names out of `ordered`, or write a `sequence` rule for the calls that "
        "depend on each other.",
    ),
    Explanation(
        code="sequence",
        group=Group.RULE,
        means="A call has no earlier one that the rule asks for.",
        causes="an approval that is missing, or is of another order or amount.",
        look="the values at the pointers in `same` in both calls.",
        declare="loosen `where` or `same` of the rule with that `id`.",
    ),
    Explanation(
        code="states",
        group=Group.RULE,
        means="A call was made in a state that does not allow it, or the run ended in a state that "
        "is none of `end`.",
        causes="a step that was skipped or done twice; a call after the work was closed; an agent "
        "that stops half-way.",
        look="the divergence's detail, which names the state and the calls that may follow; where "
        "there is none, the last call of the machine.",
        declare="a step of the rule with that `id` for this call, or the state in `end`.",
    ),
    Explanation(
        code="max_calls",
        group=Group.RULE,
        means="A tool was called more often than allowed.",
        causes="a retry, a loop, a response that was handled twice.",
        look="the calls of that tool, and which of them the model asked for.",
        declare="raise `max_calls` of the tool.",
    ),
    Explanation(
        code="min_calls",
        group=Group.RULE,
        means="A tool was called less often than asked for.",
        causes="an agent that stops early; a call that was refused.",
        look="whether the model asked for the call, and where it was lost.",
        declare="lower `min_calls` of the tool.",
    ),
    Explanation(
        code="once_per",
        group=Group.RULE,
        means="Two calls of a tool have the same value where each must have its own.",
        causes="a retry without a key of its own; an agent that repeats an effect.",
        look="both calls, and the value at the rule's pointer.",
        declare="take the tool out of `once_per`, or point at another argument, such as an "
        "idempotency key.",
    ),
    Explanation(
        code="outcome",
        group=Group.RULE,
        means="The state after the run is another than the case asks for.",
        causes="a tool that did not do what it reported, or a call that is missing.",
        look="the state given to `run.set_state` at the rule's pointer.",
        declare="another rule at that pointer in `outcome`, where several states are right.",
    ),
    Explanation(
        code="leak",
        group=Group.RULE,
        means="A value of a tool's result stands in the final message and must not.",
        causes="a model that repeats what it was shown, in its own words or in a link.",
        look="the text given to `run.set_output`, and the value at the rule's `path`; the finding "
        "`leak-form` says in which form it stands, where it is not as it was.",
        declare="take the entry out of `leak`, where the user may see the value.",
    ),
)
