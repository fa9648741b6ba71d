"""Why evidence is foreign or not whole, code by code; `docs/reference/causes.md` has the same."""

from __future__ import annotations

from typing import Final

from agenttrace.report._explanation import Explanation, Group

EVIDENCE: Final = (
    Explanation(
        code="foreign-request",
        group=Group.CAUSE_JOIN,
        means="the run holds responses to requests that were not made for it",
        causes="two runs open at once in one task or thread; a client shared between runs whose "
        "streams are read later",
        look="keep runs apart: open one `run` for each case, in the task or thread that asks",
        declare="not possible; a case cannot say whose records these are",
    ),
    Explanation(
        code="other-case",
        group=Group.CAUSE_JOIN,
        means="the trace, the run or the scored file names another case than the one given",
        causes="a file that was renamed or copied from another case; `--cases` that leads to other "
        "cases than were recorded",
        look="score each run by the case whose id it carries",
        declare="not possible; a case cannot say whose records these are",
    ),
    Explanation(
        code="no-case-id",
        group=Group.CAUSE_JOIN,
        means="the trace carries no case id and no request is known to be the case's",
        causes="a run that was opened without `case`; an exporter that takes the attribute out",
        look="name the case: `run(case=...)`; by time alone a trace and a case cannot be joined",
        declare="not possible; a case cannot say whose records these are",
    ),
    Explanation(
        code="link-to-other-case",
        group=Group.CAUSE_JOIN,
        means="the report's link leads to another case than the scored file is of",
        causes="a report made from several files, a link by row number",
        look="repair the link, or score the file it leads to",
        declare="not possible; a case cannot say whose records these are",
    ),
    Explanation(
        code="reference-not-by-id",
        group=Group.CAUSE_JOIN,
        means="the reference was picked by its place or as a fallback",
        causes="a data set joined by its row number; an id that was not found",
        look="pick cases by id",
        declare="not possible; a case cannot say whose records these are",
    ),
    Explanation(
        code="request-of-other-case",
        group=Group.CAUSE_JOIN,
        means="the user's messages name values that only another case of the data set states, "
        "more than one amount or date; they and the tools' answers hold none of this case's, and "
        "the calls do what they ask for",
        causes="a data set joined by its row number; a run that was opened with the wrong "
        "`case`; a retry that was given another prompt",
        look="find out which case the request was made for, and score the run by that one",
        declare="not possible; a case cannot say whose records these are",
    ),
    Explanation(
        code="blank",
        group=Group.CAUSE_EVIDENCE,
        means="no response and no call was recorded",
        causes="a library that is not instrumented; a run that ended before its first request; a "
        "request that failed",
        look="ask `agenttrace doctor` whether the library is hooked; see When nothing is recorded",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="response-missing",
        group=Group.CAUSE_EVIDENCE,
        means="more requests were made than responses recorded",
        causes="a streamed or raw response that nobody read to its end; a request that failed",
        look="read raw and streamed responses to their end inside the run",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="unsettled",
        group=Group.CAUSE_EVIDENCE,
        means="the run had not ended when it was judged, or a recorder of it never wrote its end",
        causes="a verdict asked for inside the `with` block; a process that was killed",
        look="leave the `with` block first; let the process end by itself, not by `SIGKILL`",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="late",
        group=Group.CAUSE_EVIDENCE,
        means="records arrived after the row was judged",
        causes="background work that ended after the run; a collector's queue",
        look="judge again",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="never-finished",
        group=Group.CAUSE_EVIDENCE,
        means="executions were still open at the run's end",
        causes="tools started in the background, and a run that did not wait for them",
        look="wait for background work inside the run",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="orphans",
        group=Group.CAUSE_EVIDENCE,
        means="calls stand in traces of no run",
        causes="threads, queues or processes that do not carry the context",
        look="pass the context on to where they are made",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="record-cut",
        group=Group.CAUSE_EVIDENCE,
        means="a recorder or a limit cut the text of a record",
        causes="an attribute length limit of the SDK or the collector; an argument text beyond "
        "agenttrace's own limit",
        look="raise the attribute limits of the SDK or the collector, or score local evidence",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="recorded-twice",
        group=Group.CAUSE_EVIDENCE,
        means="one event was recorded twice",
        causes="one library hooked by two instrumentations; `model_response` beside an "
        "instrumented SDK",
        look="take out one of two hooks: give no response to `model_response` that a hook "
        "records already",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="conflict",
        group=Group.CAUSE_EVIDENCE,
        means="unequal records came under one reference",
        causes="a processor that changes attributes; a span id that is used twice",
        look="look for a collector or processor that rewrites spans",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="spans-dropped",
        group=Group.CAUSE_EVIDENCE,
        means="spans were dropped, and no manifest says which",
        causes="a queue that is too small, or an exporter that is slower than the program",
        look="score local evidence, or enlarge the queue",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="sampled-out",
        group=Group.CAUSE_EVIDENCE,
        means="spans were sampled out, and no manifest says which",
        causes="a sampler in the SDK or in the collector",
        look="score local evidence, which sampling does not touch",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="sequence-hole",
        group=Group.CAUSE_EVIDENCE,
        means="numbers of a recorder never came, and no manifest says what they were",
        causes="a process whose file was not collected; a span that was lost on its way",
        look="collect the run's other files, or score local evidence",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="records-missing",
        group=Group.CAUSE_EVIDENCE,
        means="fewer calls arrived at a boundary than the manifest says were made",
        causes="a process whose file was not collected; spans that were lost on their way",
        look="collect the run's other files, or score local evidence",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="record-absent",
        group=Group.CAUSE_EVIDENCE,
        means="a record is missing that others speak of: an id that no recorded response gave, a "
        "link to nothing, a response that held more calls than are on record, a run that passed "
        "an adapter without a trace, a call that the first recorded request already holds the "
        "answer to",
        causes="records lost on their way; `instrument()` or `run` that came after the first "
        "response; a second client whose responses nobody records; ids that a program makes "
        "itself",
        look="record every response, give the adapter the response's own id and no other, or "
        "score local evidence",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="lost",
        group=Group.CAUSE_EVIDENCE,
        means="the recorder itself says that it lost something, or that it made responses, events "
        "or schemas that did not arrive, and names it",
        causes="a full disk, a full queue, a value that cannot be recorded, a hook that failed",
        look="see the log: each fault is logged once, with its traceback",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="unusable-record",
        group=Group.CAUSE_EVIDENCE,
        means="a record came that cannot be read and that the verdict needs",
        causes="a file that was edited or cut off; a collector that changed an attribute",
        look="the message names file and line, or the attribute that was cut",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="status-contradicted",
        group=Group.CAUSE_EVIDENCE,
        means="an outcome is recorded as one thing and known to be another",
        causes="a wrapper that catches the error and sets the span's status to ok",
        look="trust neither; repair what writes the status",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="lost-in-conversion",
        group=Group.CAUSE_EVIDENCE,
        means="a call stands in the raw messages and not in the converted record",
        causes="a converter that reads only the first call of a message, or skips unknown types",
        look="repair the converter",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="record-wrong",
        group=Group.CAUSE_EVIDENCE,
        means="a record's digest is not that of what was received",
        causes="a processor that changes or cuts arguments; a file that was edited",
        look="look for a processor that changes records",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="mask-unstable",
        group=Group.CAUSE_EVIDENCE,
        means="a mask stands where the values differ, and nothing says whether the value behind "
        "it is another one",
        causes="recorders with other keys; a mask that a program made itself",
        look="mask with one key everywhere",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="mask-collapsed",
        group=Group.CAUSE_EVIDENCE,
        means="different values, or all of them, carry one mask",
        causes="a masker that writes one constant, such as `***`, for every value",
        look="mask with keyed tokens, not with a constant",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="other-key",
        group=Group.CAUSE_EVIDENCE,
        means="values were masked or digested with a key that is not at hand, or with two "
        "different ones; or one side is a digest and the other is not",
        causes="a machine or a process with a key file of its own; recorders with unlike `content`",
        look="score where the key is, with one key and one `content` for all recorders; see Keep "
        "secrets out",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="no-key",
        group=Group.CAUSE_EVIDENCE,
        means="every value is a digest, the case states values, and there is no key",
        causes='evidence recorded with `content="digest"`, scored where the key is not',
        look="score where the key is, with one key and one `content` for all recorders",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="undecidable",
        group=Group.CAUSE_EVIDENCE,
        means="a rule needs a value that was masked or never kept, or an order of two calls that "
        "is not proven, and the verdict hangs on it; the sentence lists what was asked. Where it "
        "does not hang on it, a finding",
        causes="a `regex`, `range`, `schema` or `normalizer` rule for an argument that is masked "
        "or only digested; calls of two processes with one sequence number",
        look='use `equals`, `one_of` or `length`, or record with `content="values"`; let the '
        "processes pass the call's reference on",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="run-not-recorded",
        group=Group.CAUSE_EVIDENCE,
        means="the model was given an answer to a call, and no run of the tool is on record "
        "although it would have been",
        causes="a tool that runs in another process; a function that is reached without its "
        "decorator",
        look="look for a process or thread whose records did not arrive",
        declare="`client_side_tools` in the contract, the event `cache_hit` for a cached answer, "
        "or `guardrail` and `approval` for a call that was stopped",
    ),
    Explanation(
        code="arguments-not-recorded",
        group=Group.CAUSE_EVIDENCE,
        means="a call was handed on or its tool entered, nothing says with what, and the verdict "
        "needs to know",
        causes="a tracer that keeps names and leaves arguments out; a limit that took them away",
        look="record arguments there, or score local evidence",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="tool-not-observed",
        group=Group.CAUSE_EVIDENCE,
        means="a required tool leaves no record at the compared boundary",
        causes="a tool that nobody decorated or hooked",
        look="decorate the function with `@trace`",
        declare="`client_side_tools` in the contract, where the agent's side does not run the tool",
    ),
    Explanation(
        code="boundary-not-recorded",
        group=Group.CAUSE_EVIDENCE,
        means="the compared boundary was not recorded at all",
        causes="a chat log, which has no executor; an agent whose adapter is not hooked",
        look="record it",
        declare="`compare` in the case, or `--compare`, where another boundary is meant",
    ),
    Explanation(
        code="first-boundary-not-recorded",
        group=Group.CAUSE_EVIDENCE,
        means="the calls differ at the first recorded boundary, and an earlier one was not "
        "recorded",
        causes="tools are decorated and the model's SDK is not instrumented",
        look="instrument the model's SDK, so that the two can be told apart",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="linked-by-name-only",
        group=Group.CAUSE_EVIDENCE,
        means="the records that differ are linked by nothing but the tool's name",
        causes="a provider without call ids and arguments that differ",
        look="pass the call's id on, see How blame is found",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="route-not-recorded",
        group=Group.CAUSE_EVIDENCE,
        means="the case picks its plan by the router's value, and none was recorded",
        causes='a run that does not call `run.event("router_value", ...)`',
        look="record what the router decided",
        declare="a plan whose `when` is null, for runs without a route",
    ),
    Explanation(
        code="state-not-recorded",
        group=Group.CAUSE_EVIDENCE,
        means="the case checks the final state and none was recorded",
        causes="a run that does not call `run.set_state`",
        look="`run.set_state(...)`",
        declare="not possible; a case cannot stand for evidence",
    ),
    Explanation(
        code="message-not-recorded",
        group=Group.CAUSE_EVIDENCE,
        means="the case checks the final message and none was recorded",
        causes="a run that does not call `run.set_output`",
        look="`run.set_output(...)`",
        declare="not possible; a case cannot stand for evidence",
    ),
)
