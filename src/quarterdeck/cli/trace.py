"""``quarterdeck trace``: show a recording to a person."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from .common import Parser

USAGE_ERROR = 2
NEXT_STEP = "give a recording; quarterdeck tap --out FILE -- claude … makes one"


def parser() -> Parser:
    built = Parser(
        "quarterdeck trace",
        description="Shows a recording: who said what, requests with the time their answers took, turns, tools, costs, "
        "and anomalies (requests without an answer, answers to nothing, unknown types, bad lines, slow answers).",
        examples=[
            ("quarterdeck trace talk.ndjson", "the whole conversation, a line for each message"),
            ("quarterdeck trace --follow talk.ndjson", "while it is being recorded"),
            (
                "quarterdeck trace --type assistant --turn 2 --full talk.ndjson",
                "what the model said in the second turn",
            ),
            ("quarterdeck trace --errors talk.ndjson", "only what is odd"),
        ],
        exits={0: "shown, or the reader went away", 2: "the command line or the recording is wrong"},
    )
    built.add_argument("file", metavar="FILE", help="the recording")
    built.add_argument("--follow", action="store_true", help="go on as the recording grows, until it ends")
    built.add_argument("--json", action="store_true", help="one JSON object for each row, and one for the summary")
    built.add_argument("--full", action="store_true", help="wrap long texts instead of cutting them")
    built.add_argument(
        "--type", metavar="T", action="append", default=[], help="only this type, e.g. assistant or system/init"
    )
    built.add_argument("--turn", type=int, metavar="N", help="only this turn")
    built.add_argument("--only", choices=("in", "out"), help="only what goes to the CLI (in) or comes from it (out)")
    built.add_argument("--grep", metavar="REGEX", help="only lines that contain this")
    built.add_argument("--errors", action="store_true", help="only errors and anomalies")
    built.add_argument("--slow", type=float, default=5.0, metavar="S", help="answers after S seconds are slow (5)")
    return built


def main(argv: list[str] | None = None) -> int:
    reader = parser()
    arguments = reader.parse_args(sys.argv[1:] if argv is None else argv)
    if arguments.grep is not None:
        try:
            re.compile(arguments.grep)
        except re.error as error:
            reader.error(f"--grep {arguments.grep!r}: expected a regular expression: {error}")
    from quarterdeck.testing.recording import RecordingError
    from quarterdeck.testing.trace import Filter, show

    path = Path(arguments.file)
    if arguments.follow and path.suffix == ".gz":
        reader.error("--follow: expected a file that is being written; a .gz file is complete")
    try:
        wanted = Filter(
            types=tuple(arguments.type),
            turn=arguments.turn,
            only=arguments.only,
            grep=arguments.grep,
            errors=arguments.errors,
        )
        show(path, wanted, follow=arguments.follow, as_json=arguments.json, full=arguments.full, slow_s=arguments.slow)
        return 0
    except RecordingError as error:
        print(f"quarterdeck trace: {error}\n  {NEXT_STEP}", file=sys.stderr)
        return USAGE_ERROR
    except BrokenPipeError:  # as when piped into head; nobody misses the rest of a view
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"quarterdeck trace: {path}: {error.strerror or error}\n  {NEXT_STEP}", file=sys.stderr)
        return USAGE_ERROR
