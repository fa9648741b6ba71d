"""The closed sets of words that records and verdicts are made of."""

from __future__ import annotations

from enum import StrEnum

from agenttrace._late import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


class Boundary(StrEnum):
    """Where a call was seen, in pipeline order."""

    MODEL = "model"
    ADAPTER = "adapter"
    EXECUTOR = "executor"

    @property
    def position(self) -> int:
        """0, 1 or 2 along the pipeline."""
        return BOUNDARIES.index(self)


BOUNDARIES: Final = (Boundary.MODEL, Boundary.ADAPTER, Boundary.EXECUTOR)


class Phase(StrEnum):
    """What a part of a run is for; only `run` is the agent's."""

    SETUP = "setup"
    RUN = "run"
    EVALUATION = "evaluation"


class Ending(StrEnum):
    """How an execution ended."""

    RETURNED = "returned"
    RAISED = "raised"
    CANCELLED = "cancelled"
    NEVER_FINISHED = "never_finished"


class Decision(StrEnum):
    """What a person or a policy answered when a call was held up for approval."""

    APPROVE = "approve"
    REJECT = "reject"


class Status(StrEnum):
    """The outcome of a row. `inconclusive` counts neither way."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class First(StrEnum):
    """Where the first divergence stands, or what must be repaired before that can be said."""

    NONE = "none"
    MODEL = "model"
    ADAPTER = "adapter"
    EXECUTOR = "executor"
    JOIN = "join"
    INSTRUMENTATION = "instrumentation"
    LABEL = "label"


class Owner(StrEnum):
    """Who has to act on a row."""

    NONE = "none"
    AGENT = "agent"
    PROVIDER = "provider"
    ADAPTER = "adapter"
    EXECUTOR = "executor"
    EXECUTOR_RETRIES = "executor-retries"
    TOOL_OWNER = "tool-owner"
    EVALUATION_PLATFORM = "evaluation-platform"
    INSTRUMENTATION = "instrumentation"
    LABEL_OWNER = "label-owner"
    PRODUCT_OWNER = "product-owner"


class Kind(StrEnum):
    """What kind of change a divergence is; the reference page has the rule of each."""

    MASKED = "masked"
    TRUNCATED = "truncated"
    REPAIRED = "repaired"
    PRECISION_LOST = "precision_lost"
    SCALED = "scaled"
    TIME_SHIFTED = "time_shifted"
    UNICODE_NORMALIZED = "unicode_normalized"
    CASE_CHANGED = "case_changed"
    WHITESPACE_CHANGED = "whitespace_changed"
    REORDERED = "reordered"
    NESTED = "nested"
    TYPE_COERCED = "type_coerced"
    VALUE_CHANGED = "value_changed"
    RENAMED = "renamed"
    DROPPED = "dropped"
    ADDED = "added"
    DEFAULT_APPLIED = "default_applied"
    NAME_CHANGED = "name_changed"
    MALFORMED = "malformed"
    REJECTED = "rejected"
    NOT_EXECUTED = "not_executed"
    NOT_REQUESTED = "not_requested"
    DUPLICATED = "duplicated"
    MUTATED = "mutated"
    RESULT_CHANGED = "result_changed"
    RESULT_SWAPPED = "result_swapped"
    ERROR_HIDDEN = "error_hidden"


class LinkedBy(StrEnum):
    """How two records of one logical call were found to belong together, strongest first."""

    SPAN = "span"
    CALL_ID = "call_id"
    POSITION = "position"
    PAYLOAD = "payload"
    ONLY_ONE_LEFT = "only_one_left"
