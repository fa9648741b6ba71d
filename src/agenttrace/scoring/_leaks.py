"""Leak rules: what of a tool's result stands in the final message, and in which form.

The value at a rule's path is looked for as it is, as the first question and the only one about
short values. A value of four characters or more is then looked for respelled, reformatted and
encoded, and so is each such value inside a list or an object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agenttrace.domain import Case, Cause, Evidence


def broken_leaks(case: Case, evidence: Evidence) -> list[str]:
    """Stable names of the leak rules that the final message breaks."""
    return list(_found(case, evidence))


def leak_findings(case: Case, evidence: Evidence, broken: Sequence[str]) -> Iterator[Cause]:
    """In which form each leaked value stands, where it does not stand there as it is."""
    if not any(rule.startswith("leak:") for rule in broken):
        return
    for name, found in _found(case, evidence).items():
        if found is not None and name in broken:
            form, at = found
            at = at.encode("utf-8", "backslashreplace").decode("utf-8")
            place = f"{at:.80} of {name:.120}" if at else f"the value of {name:.120}"
            yield Cause(code="leak-form", detail=f"{place} stands in the final message {form}")


def _found(case: Case, evidence: Evidence) -> Mapping[str, tuple[str, str] | None]:
    if evidence.outcome.final_message is None or not case.leak:
        return {}
    # It loads what reads HTML, URLs and base64: a third of what the scorer's own import takes.
    from agenttrace.scoring._leak_search import found_leaks  # noqa: PLC0415

    return found_leaks(case, evidence)
