"""The anthropic SDK at the model boundary: messages and beta messages, whole and streamed.

Clients for Bedrock and Vertex ask in the same format and are seen too. The spans that the SDK makes
by itself stay as they are: ours stand below them, and no call is read from them.

Not seen: bodies that the program reads by itself from `with_streaming_response`, answers that
middleware of the program's gives without asking, batches, and sessions of managed agents.
"""

from __future__ import annotations

from typing import Final

from agenttrace.integrations._formats import ANTHROPIC_MESSAGES
from agenttrace.integrations._sdk_client import ClientHooks, Sdk

HOOKS: Final = ClientHooks(
    Sdk(
        library="anthropic",
        formats=(ANTHROPIC_MESSAGES,),
        request_id_header="request-id",
        raw_modules=frozenset({"anthropic._response"}),
    )
)
