"""`agenttrace case-schema`: print the JSON Schema of case files, for editors."""

from __future__ import annotations

import argparse
import json

from agenttrace.cli._output import put
from agenttrace.contracts import case_file_schema


def add_options(_parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes: nothing."""


def run(_options: argparse.Namespace) -> int:
    """Print the schema."""
    put(json.dumps(case_file_schema(), indent=2))
    return 0
