"""Whether a run that is about to begin is recorded, and if not, what its verdict says instead."""

from __future__ import annotations

from dataclasses import replace

from agenttrace.capture import KEPT, LEFT_OUT, is_sampled, recorder, source
from agenttrace.domain import Run
from agenttrace.session._state import session


def opened(run: Run, wish: bool | None, *, has_case: bool) -> tuple[Run, str | None]:
    """The run with its id, and why nothing of it is recorded; None: it is.

    What is said of one run comes first; a run of a case is recorded, because somebody means to
    judge it; any other is asked by its id. Where a run is recorded although its share would not
    have it, or the other way round, its new id says so to other processes.

    Args:
        wish: What `run(sample=...)` said.
        has_case: Whether it is to be judged by a case.
    """
    settings = recorder.settings
    if wish is None and has_case:
        wish = True
    prefix = "run"
    if wish is False:
        prefix = LEFT_OUT
    elif wish and settings.sample < 1:
        prefix = KEPT
    named = run if run.run_id else replace(run, run_id=source().new_id(prefix))
    if not settings.enabled:
        return named, _off(named)
    if is_sampled(named.run_id, settings.sample) if wish is None else wish:
        return named, None
    return named, _left_out(named, settings.sample, wish)


def _off(run: Run) -> str:
    resolved = session.resolved
    origin = "argument" if resolved is None else resolved.origin("enabled")
    by = "configure(enabled=False)" if origin == "argument" else origin
    return (
        f"Recording is switched off in this process ({by}), so nothing was recorded of the run "
        f"{run.run_id} and there is no verdict. Switch it on and run again."
    )


def _left_out(run: Run, share: float, wish: bool | None) -> str:
    why = "sample=False" if wish is False else f"sample is {share:g}"
    return (
        f"The run {run.run_id} was left out by sampling ({why}), so nothing was recorded of it and "
        "there is no verdict. Pass run(sample=True), or a case, to record a run in any event."
    )
