"""One question to the real provider, recorded and judged as the scripted runs are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agenttrace.contracts import parse_case
from agenttrace.demo._record import Recorded, load_sdk, record_agent
from agenttrace.errors import ConfigurationError

DEFAULT_MODEL: Final = "gpt-5-mini"
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


def record_live(environment: Mapping[str, str], *, api: str, mode: str) -> Recorded:
    """Ask the provider that the environment names.

    Args:
        environment: OPENAI_API_KEY must be in it; OPENAI_MODEL may be. The SDK itself reads what
            else it knows, OPENAI_BASE_URL among it.

    Raises:
        ConfigurationError: There is no key, or the provider did not answer.
        MissingExtraError: The openai SDK is not installed.
    """
    key = environment.get("OPENAI_API_KEY")
    if not key:
        raise ConfigurationError(
            "--live asks the real provider, and OPENAI_API_KEY is not set. Nothing was asked. "
            "Set it, or run the demo without --live: it then needs no network."
        )
    model = environment.get("OPENAI_MODEL") or DEFAULT_MODEL
    try:
        return record_agent(
            "live",
            parse_case(live_case_document(), "the live demo"),
            prompt=_PROMPT,
            model=model,
            api=api,
            mode=mode,
            client={"api_key": key},
        )
    except load_sdk().OpenAIError as error:
        raise ConfigurationError(
            f"The provider did not answer {model!r:.80} by the {api} API: "
            f"{type(error).__name__}: {error!s:.300}. The demo stopped and nothing was judged. "
            f"Check OPENAI_API_KEY, OPENAI_MODEL and OPENAI_BASE_URL."
        ) from error
