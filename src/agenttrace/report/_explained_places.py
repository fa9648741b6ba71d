"""What lineage and its places mean; `docs/reference/explain.md` has the same.

Two places are boundaries, which are explained as those.
"""

from __future__ import annotations

from typing import Final

from agenttrace.report._explanation import Explanation, Group

_PART: Final = "not possible; lineage decides nothing."

PLACES: Final = (
    Explanation(
        code="lineage",
        group=Group.LINEAGE,
        means="Where the wrong value of the first divergence stood first in the run, where the "
        "expected one did, and which calls carried the wrong one on.",
        causes="stale context, a correction that was overlooked, the wrong row of a result, a "
        "value that the model made up.",
        look="the message or result at that turn; `unseen` says what was not recorded, so that an "
        "earlier place may be missing.",
        declare=_PART,
    ),
    Explanation(
        code="system",
        group=Group.LINEAGE,
        means="The value stands in a system message.",
        causes="an example or a default in the prompt that was taken for the user's.",
        look="the prompt, and the version of it that the run used.",
        declare=_PART,
    ),
    Explanation(
        code="user",
        group=Group.LINEAGE,
        means="The value stands in a user message; its turn is the response that it led to.",
        causes="a figure that was corrected later, or one that meant something else.",
        look="that message beside the one in which the expected value stands.",
        declare=_PART,
    ),
    Explanation(
        code="assistant",
        group=Group.LINEAGE,
        means="The value stands in a text of the model's, and in nothing it had been shown.",
        causes="a value that the model made up, or a history that the program wrote for it.",
        look="that response, and whether the program put words into the history.",
        declare=_PART,
    ),
    Explanation(
        code="tool_result",
        group=Group.LINEAGE,
        means="The value stands in a tool's result, at `path`; its turn is that of the call.",
        causes="the wrong row or field of a result, or a tool that returned wrong data.",
        look="the result at `path`, and the row in which the expected value stands.",
        declare=_PART,
    ),
    Explanation(
        code="arguments",
        group=Group.LINEAGE,
        means="The value stands in no message: the model made it up in this call's arguments.",
        causes="an id, amount or address that nobody had given; arithmetic of the model's.",
        look="`observed_earlier`, which has another rendering of the value if there is one.",
        declare=_PART,
    ),
)
