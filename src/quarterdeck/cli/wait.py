"""``quarterdeck wait``: wait until a session has done its work; for scripts and CI."""

from __future__ import annotations

import argparse

from .common import OK, Parser
from .hosted.connecting import EXITS, add_host_options, on_host

ASKS, ENDED, TIMED_OUT = 4, 5, 124
"""The last is that of ``timeout``."""


def parser() -> Parser:
    built = Parser(
        "quarterdeck wait",
        description="Wait until a session is idle: it has answered every prompt. The exit code says what happened. "
        "SESSION is an id, a unique prefix of it, or a name.",
        examples=[
            ("quarterdeck wait review --timeout 600", "at most ten minutes"),
            ("quarterdeck wait review --for stopped", "until the session's process has ended"),
            ("quarterdeck wait review --ignore-approvals", "somebody else answers its requests"),
        ],
        exits={
            **EXITS,
            OK: "the session is in that state",
            ASKS: "it is waiting for an answer",
            ENDED: "the session's process has ended or crashed",
            TIMED_OUT: "the timeout expired",
        },
    )
    built.add_argument("session", metavar="SESSION", help="the session")
    built.add_argument(
        "--for",
        dest="states",
        metavar="STATE",
        action="append",
        choices=("idle", "waiting", "stopped"),
        help="idle (default), waiting for an answer, or stopped (repeatable)",
    )
    built.add_argument("--timeout", metavar="S", type=_seconds, help="give up after S seconds")
    built.add_argument(
        "--ignore-approvals",
        dest="asks",
        action="store_false",
        help="keep waiting while it needs an answer",
    )
    add_host_options(built)
    return built


def _seconds(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of seconds, not {text!r}")
    return amount


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted.steering import wait_for

    return on_host(given, lambda host: wait_for(host, given))
