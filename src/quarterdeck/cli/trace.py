"""``quarterdeck trace``: show a recording to a person."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

USAGE_ERROR = 2
SUMMARY = "show a recording: who said what, how long it took, what is odd"
DESCRIPTION = """\
Shows a recording: who said what, requests with the time their answers took, turns, tools, costs, and anomalies
(requests without an answer, answers to nothing, unknown types, bad lines, slow answers)."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    return _add_arguments(subparsers.add_parser("trace", help=SUMMARY, description=DESCRIPTION))


def main(argv: list[str] | None = None) -> int:
    parser = _add_arguments(argparse.ArgumentParser("quarterdeck trace", description=DESCRIPTION))
    arguments = parser.parse_args(sys.argv[1:] if argv is None else argv)
    if arguments.grep is not None:
        try:
            re.compile(arguments.grep)
        except re.error as error:
            parser.error(f"--grep {arguments.grep!r}: expected a regular expression: {error}")
    from quarterdeck.testing.recording import RecordingError
    from quarterdeck.testing.trace import Filter, show

    path = Path(arguments.file)
    if arguments.follow and path.suffix == ".gz":
        parser.error("--follow: expected a file that is being written; a .gz file is complete")
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
        print(f"quarterdeck trace: {error}", file=sys.stderr)
        return USAGE_ERROR
    except BrokenPipeError:  # as when piped into head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"quarterdeck trace: {path}: {error.strerror or error}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        return 130


def _add_arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("file", metavar="FILE", help="the recording")
    parser.add_argument("--follow", action="store_true", help="go on as the recording grows, until it ends")
    parser.add_argument("--json", action="store_true", help="one JSON object for each row, and one for the summary")
    parser.add_argument("--full", action="store_true", help="wrap long texts instead of cutting them")
    parser.add_argument(
        "--type", metavar="T", action="append", default=[], help="only this type, e.g. assistant or system/init"
    )
    parser.add_argument("--turn", type=int, metavar="N", help="only this turn")
    parser.add_argument("--only", choices=("in", "out"), help="only what goes to the CLI (in) or comes from it (out)")
    parser.add_argument("--grep", metavar="REGEX", help="only lines that contain this")
    parser.add_argument("--errors", action="store_true", help="only errors and anomalies")
    parser.add_argument("--slow", type=float, default=5.0, metavar="S", help="answers after S seconds are slow (5)")
    return parser
