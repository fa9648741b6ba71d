"""Questions whose answer needs a value that the evidence does not hold.

A row is judged twice: with every such question answered one way, and with every one answered the
other way. Where both give one verdict the questions did not matter; where they do not, the row is
inconclusive and says which they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar, Token

from agenttrace._dataclass import replace
from agenttrace.domain import Cause, First, Owner, Status, Verdict


class Questions:
    """What could not be decided, and the answer that is taken for it while it is open."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.asked: dict[str, None] = {}
        self._before: Token[Questions | None] | None = None

    def __enter__(self) -> Questions:
        self._before = _questions.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            _questions.reset(self._before)


_questions: ContextVar[Questions | None] = ContextVar("agenttrace_questions", default=None)


def assuming(answer: bool) -> Questions:
    """Answer every undecidable question so, and note it."""
    return Questions(answer)


def undecided(question: str) -> bool:
    """The answer that is taken for a question that cannot be decided; true speaks for the run."""
    questions = _questions.get()
    if questions is None:
        return False
    questions.asked[question] = None
    return questions.answer


def settled(one: Verdict, other: Verdict, questions: Sequence[str]) -> Verdict:
    """The verdict that stands however the questions are answered, or that there is none."""
    listed = "; ".join(dict.fromkeys(questions))
    cause = Cause(code="undecidable", detail=f"the records do not say: {listed:.400}")
    shown = [(v.status, v.first, v.owner, v.divergences[:1], v.policy) for v in (one, other)]
    if shown[0] == shown[1]:
        return replace(one, findings=(*one.findings, cause))
    if Status.INCONCLUSIVE in (one.status, other.status):
        return one if one.status is Status.INCONCLUSIVE else other
    proven = tuple(found for found in one.divergences if found in other.divergences)
    return replace(
        one,
        status=Status.INCONCLUSIVE,
        first=First.INSTRUMENTATION,
        owner=Owner.INSTRUMENTATION,
        divergences=proven,
        also=(),
        recovered=False,
        policy=tuple(rule for rule in one.policy if rule in other.policy),
        causes=(cause,),
    )
