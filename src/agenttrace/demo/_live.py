"""One question to the real provider, recorded and judged as the scripted runs are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agenttrace.contracts import parse_case
from agenttrace.demo._record import Recorded, record_agent
from agenttrace.demo._ways import Way
from agenttrace.errors import ConfigurationError

_PROMPT: Final = "Refund order A-104 in full. Do not send a receipt."


def live_case_document() -> dict[str, Any]:
    """What the live model should do."""
    return {
        "id": "live",
        "intent": _PROMPT,
        "required": [
            {"name": "get_order", "args": {"order_id": "A-104"}},
            {"name": "issue_refund", "args": {"order_id": "A-104", "amount_cents": 9800}},
        ],
    }


def record_live(environment: Mapping[str, str], way: Way) -> Recorded:
    """Ask the provider that the environment names.

    Args:
        environment: The SDK's key must be in it (OPENAI_API_KEY, ANTHROPIC_API_KEY); a model may be
            (OPENAI_MODEL, ANTHROPIC_MODEL). The SDK itself reads what else it knows, its base URL
            among it.
        way: How to ask.

    Raises:
        ConfigurationError: There is no key, or the provider did not answer.
        MissingExtraError: The SDK is not installed.
    """
    sdk = way.sdk
    key = environment.get(sdk.key_variable)
    if not key:
        raise ConfigurationError(
            f"--live asks the real provider, and {sdk.key_variable} is not set. Nothing was asked. "
            "Set it, or run the demo without --live: it then needs no network."
        )
    model = environment.get(sdk.model_variable) or sdk.live_model
    try:
        return record_agent(
            "live",
            parse_case(live_case_document(), "the live demo"),
            prompt=_PROMPT,
            model=model,
            way=way,
            client={"api_key": key},
        )
    except getattr(sdk.load(), sdk.error) as error:
        raise ConfigurationError(
            f"The provider did not answer {model!r:.80} by the {way.api} API: "
            f"{type(error).__name__}: {error!s:.300}. The demo stopped and nothing was judged. "
            f"Check {sdk.key_variable}, {sdk.model_variable} and {sdk.name.upper()}_BASE_URL."
        ) from error
