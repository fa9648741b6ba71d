"""Every span, attribute and scope name that agenttrace writes or reads, spelled once.

`gen_ai.*`, `error.*` and `exception.*` are OpenTelemetry's; none of those is invented here. What
is ours starts with `agenttrace.`.
"""

from __future__ import annotations

from agenttrace._late import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

SCOPE: Final = "agenttrace"
SCHEMA_URL: Final = "https://opentelemetry.io/schemas/gen-ai-dev/1.43.0-dev"

# Span names; `{}` takes the tool or the model.
SPAN_RUN: Final = "agent_run"
SPAN_RESPONSE: Final = "model_response"
SPAN_CALL: Final = "tool_call"
SPAN_ADAPT: Final = "tool_adapt"
SPAN_EXECUTE: Final = "execute_tool"
SPAN_EVENT: Final = "agenttrace_event"
SPAN_SCHEMA: Final = "tool_schema"

# OpenTelemetry GenAI conventions.
GEN_AI_OPERATION_NAME: Final = "gen_ai.operation.name"
GEN_AI_PROVIDER_NAME: Final = "gen_ai.provider.name"
GEN_AI_RESPONSE_ID: Final = "gen_ai.response.id"
GEN_AI_RESPONSE_MODEL: Final = "gen_ai.response.model"
GEN_AI_RESPONSE_FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
GEN_AI_TOOL_NAME: Final = "gen_ai.tool.name"
GEN_AI_TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
GEN_AI_TOOL_CALL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
GEN_AI_TOOL_CALL_RESULT: Final = "gen_ai.tool.call.result"
ERROR_TYPE: Final = "error.type"

OPERATION_EXECUTE_TOOL: Final = "execute_tool"
OPERATION_CHAT: Final = "chat"

# Ours: common to all records.
RECORD_KIND: Final = "agenttrace.record.kind"
RECORD: Final = "agenttrace.record"
BOUNDARY: Final = "agenttrace.boundary"
RECORDER_ID: Final = "agenttrace.recorder.id"
SEQ: Final = "agenttrace.seq"
RUN_ID: Final = "agenttrace.run.id"
RUN_ATTEMPT: Final = "agenttrace.run.attempt"
CASE_ID: Final = "agenttrace.case.id"
CASE_REVISION: Final = "agenttrace.case.revision"
AGENT_ID: Final = "agenttrace.agent.id"
AGENT_VERSION: Final = "agenttrace.agent.version"
PROMPT_VERSION: Final = "agenttrace.prompt.version"
TURN: Final = "agenttrace.turn"

# Ours: calls at the model and the adapter, responses.
TOOL_NAME: Final = "agenttrace.tool.name"
TOOL_CALL_ID: Final = "agenttrace.tool.call.id"
TOOL_CALL_ARGUMENTS: Final = "agenttrace.tool.call.arguments"
TOOL_CALL_RAW: Final = "agenttrace.tool.call.raw"
TOOL_CALL_COMPLETE: Final = "agenttrace.tool.call.complete"
REQUEST_ID: Final = "agenttrace.request.id"
PROVIDER_REQUEST_ID: Final = "agenttrace.provider.request.id"
RESPONSE_ID: Final = "agenttrace.response.id"
