"""`agenttrace demo`: record and judge an agent with known faults."""

from __future__ import annotations

import argparse
from pathlib import Path

from agenttrace import demo


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "--live", action="store_true", help="ask the real provider; needs its SDK's API key"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a row")
    parser.add_argument(
        "--api",
        choices=["chat", "responses", "messages", "all"],
        default="chat",
        help="how to ask: chat or responses by the openai SDK, messages by anthropic's "
        "(default: chat)",
    )
    parser.add_argument(
        "--mode",
        choices=["sync", "async", "all"],
        default="sync",
        help="which client of the SDK to use (default: sync)",
    )
    parser.add_argument(
        "--stream",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="have the answers streamed (default: whole)",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="every API, client and stream setting, with the plan and without",
    )
    parser.add_argument(
        "--plan",
        action=argparse.BooleanOptionalAction,
        help="judge only with the plan, or only without it (default: both)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help=f"keep the evidence and the cases here (default: {demo.DEFAULT_OUTPUT})",
    )


def run(options: argparse.Namespace) -> int:
    """Run the demo and return its exit code."""
    return demo.main(
        live=options.live,
        as_json=options.json,
        api="all" if options.all else options.api,
        mode="all" if options.all else options.mode,
        stream=None if options.all else options.stream,
        plan=None if options.all else options.plan,
        output=options.output,
    )
