"""Records calls at the boundaries as spans and evidence; it decides nothing."""

from agenttrace.capture._adapter import Dispatch, adapter
from agenttrace.capture._binding import body_of
from agenttrace.capture._context import (
    Place,
    Scope,
    current_place,
    current_scope,
    enter_scope,
    inherited,
    leave_scope,
    unrecorded,
)
from agenttrace.capture._drafts import CallDraft, RequestStamp, ResponseDraft, ToolOffer
from agenttrace.capture._events import record_event
from agenttrace.capture._foreign import instance_dict, type_name
from agenttrace.capture._guard import count, failed, guard, is_strict, losses, lost, say, warn_once
from agenttrace.capture._hooks import HookReport, hooks, report_hook, withdraw_hooks
from agenttrace.capture._lines import check_folder, folder_problem
from agenttrace.capture._passing import let_pass
from agenttrace.capture._recorder import Recorder, recorder
from agenttrace.capture._responses import (
    OpenResponse,
    begin_request,
    open_response,
    record_response,
)
from agenttrace.capture._retention import UNENDED_S, YOUNG_S, clean_up
from agenttrace.capture._run_state import RunState
from agenttrace.capture._sampling import KEPT, LEFT_OUT, Unsampled, is_sampled
from agenttrace.capture._settings import Settings
from agenttrace.capture._snapshot import snapshot
from agenttrace.capture._source import Source, source, use_source
from agenttrace.capture._spans import Attached, run_context
from agenttrace.capture._stored import (
    RunFacts,
    StoredRun,
    facts_of,
    has_ended,
    open_evidence,
    remove_run,
    stored_runs,
)
from agenttrace.capture._traced import ToolT, TracedTool, callable_name, trace
from agenttrace.capture._waiting import ThreadMark

__all__ = [
    "KEPT",
    "LEFT_OUT",
    "UNENDED_S",
    "YOUNG_S",
    "Attached",
    "CallDraft",
    "Dispatch",
    "HookReport",
    "OpenResponse",
    "Place",
    "Recorder",
    "RequestStamp",
    "ResponseDraft",
    "RunFacts",
    "RunState",
    "Scope",
    "Settings",
    "Source",
    "StoredRun",
    "ThreadMark",
    "ToolOffer",
    "ToolT",
    "TracedTool",
    "Unsampled",
    "adapter",
    "begin_request",
    "body_of",
    "callable_name",
    "check_folder",
    "clean_up",
    "count",
    "current_place",
    "current_scope",
    "enter_scope",
    "facts_of",
    "failed",
    "folder_problem",
    "guard",
    "has_ended",
    "hooks",
    "inherited",
    "instance_dict",
    "is_sampled",
    "is_strict",
    "leave_scope",
    "let_pass",
    "losses",
    "lost",
    "open_evidence",
    "open_response",
    "record_event",
    "record_response",
    "recorder",
    "remove_run",
    "report_hook",
    "run_context",
    "say",
    "snapshot",
    "source",
    "stored_runs",
    "trace",
    "type_name",
    "unrecorded",
    "use_source",
    "warn_once",
    "withdraw_hooks",
]
