"""Set-up that every test shares."""

from __future__ import annotations

import os

from hypothesis import settings

# No deadline: two workers on two cores make single examples slow. In CI the examples are fixed, so
# that a failure there is one everybody can repeat.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
