"""The openai SDK at the model boundary: chat completions and responses, whole and streamed.

Not seen: bodies that the program reads by itself from `with_streaming_response`, and websockets.
"""

from __future__ import annotations

from typing import Final

from agenttrace.integrations._formats import OPENAI_CHAT, OPENAI_RESPONSES
from agenttrace.integrations._sdk_client import ClientHooks, Sdk

HOOKS: Final = ClientHooks(
    Sdk(
        library="openai",
        formats=(OPENAI_CHAT, OPENAI_RESPONSES),
        request_id_header="x-request-id",
        raw_modules=frozenset({"openai._legacy_response", "openai._response"}),
    )
)
