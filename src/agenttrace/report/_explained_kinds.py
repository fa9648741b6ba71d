"""What each kind of change means; `docs/reference/kinds.md` has the same sentences."""

from __future__ import annotations

from typing import Final

from agenttrace.report._explanation import Explanation, Group

KINDS: Final = (
    Explanation(
        code="masked",
        group=Group.KIND,
        means="The value became a mask: a text that holds `***`, or that is `[redacted]`, "
        "`<masked>`, `[EMAIL_1]` or the like. Values that agenttrace itself masked have "
        "equal tokens at every boundary, and so no change.",
        causes="a framework's or proxy's masking that wrote its mask into the live call and not "
        "into a copy.",
        look="what runs between the last record with the value and the first one with the mask, "
        "and writes into the call it should only copy.",
        declare="not possible; a mask that reaches a tool is a fault.",
    ),
    Explanation(
        code="truncated",
        group=Group.KIND,
        means="A text or a list became its own beginning. With an empty `path`: the argument text "
        "ends in the middle of its JSON.",
        causes="a length limit in a client, a database column or a log; for a call, the model's "
        "output limit.",
        look="how long `after` is: a round number is a limit. For a call, the response's finish "
        "reason and its output limit.",
        declare="`rules` with `regex` or `length` for that argument in the case; a call that is "
        "cut off cannot be declared.",
    ),
    Explanation(
        code="repaired",
        group=Group.KIND,
        means="Argument text that is no JSON object was given arguments, or a tool ran on them; "
        "`path` is empty.",
        causes="a parser for partial JSON, or one that falls back to `{}` when parsing fails.",
        look="the model's raw text in `agenttrace show`, and which parser the adapter hands it to.",
        declare="not possible; refuse the call and let the model repeat it.",
    ),
    Explanation(
        code="precision_lost",
        group=Group.KIND,
        means="A fraction was cut off, or an integer beyond 2^53 moved to a neighbour.",
        causes="JSON numbers read as doubles by JavaScript or a proxy, `int()` on an amount.",
        look="the number's type on the way: where it is parsed, and each `int()`, `float()` and "
        "`round()`.",
        declare="send long identifiers as text, or use a `range` or `tolerance` rule where the "
        "value may differ.",
    ),
    Explanation(
        code="scaled",
        group=Group.KIND,
        means="The number was multiplied or divided by a power of ten up to 10^9, by "
        "60, or by 3600.",
        causes="cents taken for whole units, milliseconds for seconds.",
        look="the units in the tool's description, in the adapter and in the tool's signature.",
        declare='`unit` in the contract, such as `{"issue_refund": {"amount": "x100"}}`.',
    ),
    Explanation(
        code="time_shifted",
        group=Group.KIND,
        means="Both values are ISO 8601 date-times, with a `T`, and they differ.",
        causes="a change of time zone, an offset that was dropped.",
        look="where text is parsed into a date-time, and with which zone it is written back.",
        declare="`normalize` with `utc_instant`, which makes two spellings of one instant equal; "
        "another instant stays a change.",
    ),
    Explanation(
        code="unicode_normalized",
        group=Group.KIND,
        means="The texts are equal after NFKC normalization.",
        causes="a database or file system that composes accents, full-width characters made "
        "narrow.",
        look="both values by code point, as the picture shows them, and what stores or compares "
        "the text on the way.",
        declare="`normalize` with `nfc` where the difference is one of composition.",
    ),
    Explanation(
        code="case_changed",
        group=Group.KIND,
        means="The texts are equal when case is folded.",
        causes="identifiers or e-mail addresses that a framework makes lower case.",
        look="each `lower()`, `upper()` and case-folding field type between the two records.",
        declare="`fold_case` in the contract.",
    ),
    Explanation(
        code="whitespace_changed",
        group=Group.KIND,
        means="The texts are equal when all white space is taken out.",
        causes="trimming, templates, line ends.",
        look="each `strip()`, template and field type between the two records.",
        declare="`normalize` with `trim` or `collapse_whitespace`.",
    ),
    Explanation(
        code="reordered",
        group=Group.KIND,
        means="The list has the same items in another order. With an empty `path`: the calls are "
        "the right ones in an order that a rule of the case forbids; `before` is the order "
        "wanted, or the names that a state machine knows, and `after` the one seen.",
        causes="a set in between; calls of one response that are run in parallel.",
        look="for a list, sets and sorting on the way; for calls, `turn` and `index` of each in "
        "`agenttrace show`.",
        declare="for a list, an argument rule; for calls, take the rule out of the case if the "
        "order has no meaning.",
    ),
    Explanation(
        code="nested",
        group=Group.KIND,
        means="One value is JSON text of the other, or the value was wrapped into, or taken out "
        "of, an object or a list of one. At the model, a value that is JSON text of what "
        "the plan says is owned by the provider.",
        causes="arguments encoded twice, a framework that passes its parameters as one object.",
        look="each `json.dumps` and `json.loads` on the way, and how the framework passes a tool "
        "its arguments.",
        declare="`envelope` in the contract where the whole call is wrapped.",
    ),
    Explanation(
        code="type_coerced",
        group=Group.KIND,
        means="The value has another JSON type, and `3` and `3.0` differ too; or the function "
        "received another type than its signature declares.",
        causes='validation that turns `"9800"` into `9800`, or `"false"` into `True`.',
        look="the tool's schema and the signature of its function: do they state the same type?",
        declare="`coerce` in the contract, to `integer`, `number`, `boolean` or `string`.",
    ),
    Explanation(
        code="value_changed",
        group=Group.KIND,
        means="The value differs and none of the above holds; or, at the model, a rule of the "
        "case is not met.",
        causes="the model's mistake, a clamp, a rewrite in a wrapper.",
        look="at the model, the messages that led to the call; later, the code between the two "
        "records.",
        declare="an argument rule in the case where several values are right, `ignore_args` where "
        "the value says nothing.",
    ),
    Explanation(
        code="renamed",
        group=Group.KIND,
        means="An equal value stands under another key; `path` and `before` are the old pointer "
        "and `after` the new one.",
        causes="an alias, camel case made snake case.",
        look="aliases in the tool's schema and in its argument model.",
        declare="`rename` in the contract.",
    ),
    Explanation(
        code="dropped",
        group=Group.KIND,
        means="The argument is gone. With an empty `path`, the whole call is: a required call was "
        "never requested, or the adapter never saw a requested one.",
        causes="a parameter that the adapter does not know, a null that was taken out, a loop that "
        "reads only the first call of a response.",
        look="for an argument, what filters unknown or empty ones; for a call, the response's "
        "calls beside the adapter's records.",
        declare="`drop_null_optional` or `drop_unknown` in the contract.",
    ),
    Explanation(
        code="added",
        group=Group.KIND,
        means="The argument is new. With an empty `path`, the whole call is: nobody asked for it, "
        "it does not fit the tool's own schema, or it is forbidden or one more than "
        "`max_calls` allows.",
        causes="a session value that a wrapper puts in; for calls, a call that the plan does not "
        "know.",
        look="for an argument, what the wrapper or the framework injects; for a call, the "
        "response that asked for it.",
        declare="`defaults` in the contract for a fixed value, `ignore_args` for one that changes.",
    ),
    Explanation(
        code="default_applied",
        group=Group.KIND,
        means="The argument was missing and the tool's own default was filled in. It is always "
        "declared, by the tool's schema or its signature, so it is never listed as a "
        "divergence. The word is kept for readers of other sources that say so.",
        causes="an optional parameter that the model left out.",
        look="whether the model should have stated the value.",
        declare="not needed.",
    ),
    Explanation(
        code="name_changed",
        group=Group.KIND,
        means="The same arguments went to a tool of another name; `before` and `after` are the "
        "names.",
        causes="a prefix that names the server, a router, a near miss of the model's.",
        look="the names of the tools offered to the model beside those in the tool registry.",
        declare="`strip_prefix` or `name_map` in the contract.",
    ),
    Explanation(
        code="malformed",
        group=Group.KIND,
        means="The argument text is no JSON object, and is not merely cut off. The owner is the "
        "provider, or the agent where the response ended for its length.",
        causes="single quotes, text around the JSON, a list in place of an object.",
        look="the raw text and the finish reason of the response.",
        declare="not possible.",
    ),
    Explanation(
        code="rejected",
        group=Group.KIND,
        means="The call was refused with an error before the tool was entered.",
        causes="validation in the adapter; a `TypeError` at the call itself.",
        look="the error on the adapter's record, and the tool's schema as it was offered to the "
        "model.",
        declare="not needed where the model then repairs its call: the row passes and says "
        "`recovered`.",
    ),
    Explanation(
        code="not_executed",
        group=Group.KIND,
        means="The call was handed on and the tool never ran.",
        causes="a cache that answered, a crash between dispatch and tool, a tool that runs "
        "elsewhere.",
        look="the result that the model was shown: somebody made it without the tool.",
        declare="`client_side_tools` in the contract for tools that the agent's side does not run; "
        "the events `guardrail` and `approval` for calls that were stopped on purpose.",
    ),
    Explanation(
        code="not_requested",
        group=Group.KIND,
        means="The tool ran and nobody asked for it, or it ran against a decision on record. A "
        "further run inside the dispatch of a call is one that nobody asked for where its tool or "
        "its arguments are not those that were handed on.",
        causes="a call that the program makes by itself, a guardrail that tripped after the tool "
        "had begun, another call's approval.",
        look="who called the function: its span's parent, and the events of the run.",
        declare='`run.phase("setup")` or `run.phase("evaluation")` around calls that are not the '
        "agent's; the event `approval` for those that a person allowed.",
    ),
    Explanation(
        code="duplicated",
        group=Group.KIND,
        means="`before` and `after` are numbers: how often the call was due and how often it was "
        "seen, or how often it was handed on and how often it ran; or two calls share a "
        "value that `once_per` allows once.",
        causes="a retry of a call whose answer was lost, a response that was handled twice.",
        look="the time between the executions and the error of the first: a retry follows a "
        "failure or a timeout.",
        declare="list the call twice in `required` where two are due.",
    ),
    Explanation(
        code="mutated",
        group=Group.KIND,
        means="The arguments were changed between the tool's entry and its end.",
        causes="a tool that pops keys of the dictionary it was given.",
        look="what the tool does to its argument: `pop`, `update`, `sort`, `del`, assignment.",
        declare="not possible; copy the argument in the tool.",
    ),
    Explanation(
        code="result_changed",
        group=Group.KIND,
        means="The model was shown another result than the tool returned, under every known "
        "rendering of it.",
        causes="a summary in place of the result, a cache of an older one.",
        look="what turns the result into the message that the model is shown.",
        declare="not possible.",
    ),
    Explanation(
        code="result_swapped",
        group=Group.KIND,
        means="The model was shown the result of another call.",
        causes="results of parallel calls that are put back in the order in which they ended.",
        look="whether results are handed back by call id or by the order in which they ended.",
        declare="not possible.",
    ),
    Explanation(
        code="error_hidden",
        group=Group.KIND,
        means="The model was shown a success where the tool had failed.",
        causes='`except Exception: return ""` around the tool.',
        look="each `except` between the tool and the model's next request.",
        declare="not possible; hand the error back as an error.",
    ),
)
