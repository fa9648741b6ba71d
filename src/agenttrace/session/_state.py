"""What was configured in this process."""

from __future__ import annotations

import threading
from typing import Any, Final

from agenttrace.session._cases import CaseBook
from agenttrace.settings import Resolution


class Session:
    """The values given to `configure()`, and what was made of them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.given: dict[str, Any] | None = None
        """None: nobody configured anything yet."""
        self.is_implicit = False
        """Recording began before anybody called `configure()`."""
        self.resolved: Resolution | None = None
        """Every setting that is in force, and where it came from."""
        self.cases = CaseBook(None)


session: Final = Session()
