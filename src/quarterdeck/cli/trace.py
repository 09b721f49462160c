"""``quarterdeck trace``: show a recording."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from . import silence_stdout
from .common import USAGE_ERROR, Parser, ReportedError

NEXT_STEP = "Make a recording: quarterdeck tap --out FILE -- claude …"


def parser() -> Parser:
    built = Parser(
        "quarterdeck trace",
        description="Show a recording: messages, requests with their response times, turns, tools, costs and anomalies "
        "(unanswered requests, unexpected answers, unknown types, bad lines, slow answers).",
        examples=[
            ("quarterdeck trace talk.ndjson", "the whole conversation, one line per message"),
            ("quarterdeck trace --follow talk.ndjson", "follow a recording in progress"),
            (
                "quarterdeck trace --type assistant --turn 2 --full talk.ndjson",
                "what the model said in the second turn",
            ),
            ("quarterdeck trace --errors talk.ndjson", "only errors and anomalies"),
        ],
        exits={0: "success, or the output pipe was closed", 2: "invalid arguments or recording"},
    )
    built.add_argument("file", metavar="FILE", help="the recording")
    built.add_argument("--follow", action="store_true", help="keep reading as the recording grows, until it ends")
    built.add_argument("--json", action="store_true", help="print one JSON object per row, and one for the summary")
    built.add_argument("--full", action="store_true", help="wrap long text instead of cutting it")
    built.add_argument(
        "--type", metavar="T", action="append", default=[], help="only this type, e.g. assistant or system/init"
    )
    built.add_argument("--turn", type=int, metavar="N", help="only this turn")
    built.add_argument("--only", choices=("in", "out"), help="only messages to the CLI (in) or from it (out)")
    built.add_argument("--grep", metavar="REGEX", help="only matching lines")
    built.add_argument("--errors", action="store_true", help="only errors and anomalies")
    built.add_argument(
        "--slow", type=float, default=5.0, metavar="S", help="answers after more than S seconds are slow (default: 5)"
    )
    return built


def main(argv: list[str] | None = None) -> int:
    reader = parser()
    arguments = reader.parse_args(sys.argv[1:] if argv is None else argv)
    if arguments.grep is not None:
        try:
            re.compile(arguments.grep)
        except re.error as error:
            reader.error(f"--grep {arguments.grep!r} is not a regular expression: {error}")
    from quarterdeck.testing.recording import RecordingError
    from quarterdeck.testing.trace import Filter, show

    path = Path(arguments.file)
    if arguments.follow and path.suffix == ".gz":
        reader.error("--follow cannot follow a .gz file, which is complete")
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
        what = str(error)
    except BrokenPipeError:  # as with head: no failure
        silence_stdout()
        return 0
    except OSError as error:
        what = f"{path}: {error.strerror or error}"
    return ReportedError(what, NEXT_STEP, code=USAGE_ERROR).print("trace")
