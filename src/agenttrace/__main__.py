"""`python -m agenttrace` is the command `agenttrace`."""

from __future__ import annotations

import sys

from agenttrace.cli import main

sys.exit(main())
