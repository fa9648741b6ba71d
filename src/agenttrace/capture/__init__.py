"""Records calls at the boundaries as spans and evidence; it decides nothing."""

from agenttrace.capture._adapter import Dispatch, adapter
from agenttrace.capture._binding import body_of
from agenttrace.capture._context import Scope, current_scope, enter_scope, leave_scope
from agenttrace.capture._drafts import CallDraft, RequestStamp, ResponseDraft, ToolOffer
from agenttrace.capture._events import record_event
from agenttrace.capture._guard import count, failed, guard, is_strict, losses, lost, say, warn_once
from agenttrace.capture._hooks import HookReport, hooks, report_hook, withdraw_hooks
from agenttrace.capture._recorder import Recorder, recorder
from agenttrace.capture._responses import (
    OpenResponse,
    begin_request,
    open_response,
    record_response,
)
from agenttrace.capture._run_state import RunState
from agenttrace.capture._settings import DEFAULT_EVIDENCE, Settings
from agenttrace.capture._snapshot import snapshot
from agenttrace.capture._source import Source, source, use_source
from agenttrace.capture._spans import Attached, run_context
from agenttrace.capture._traced import ToolT, TracedTool, callable_name, contracts, trace

__all__ = [
    "DEFAULT_EVIDENCE",
    "Attached",
    "CallDraft",
    "Dispatch",
    "HookReport",
    "OpenResponse",
    "Recorder",
    "RequestStamp",
    "ResponseDraft",
    "RunState",
    "Scope",
    "Settings",
    "Source",
    "ToolOffer",
    "ToolT",
    "TracedTool",
    "adapter",
    "begin_request",
    "body_of",
    "callable_name",
    "contracts",
    "count",
    "current_scope",
    "enter_scope",
    "failed",
    "guard",
    "hooks",
    "is_strict",
    "leave_scope",
    "losses",
    "lost",
    "open_response",
    "record_event",
    "record_response",
    "recorder",
    "report_hook",
    "run_context",
    "say",
    "snapshot",
    "source",
    "trace",
    "use_source",
    "warn_once",
    "withdraw_hooks",
]
