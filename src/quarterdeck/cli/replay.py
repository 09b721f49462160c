"""``quarterdeck replay``: be the CLI of a recording."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .common import Parser

USAGE_ERROR = 2
FILE_VARIABLE = "QUARTERDECK_REPLAY_FILE"
DESCRIPTION = f"""\
Plays the CLI's part of a recording on stdin and stdout, and ends as the recorded CLI did.

What the host says must be what was recorded (ids, uuids and times aside) unless --lenient is given. Flags of the CLI
may follow the file; they are not compared, but --version is answered with the recorded version.

With --install-launcher it writes an executable that does this, for programs that can only be given a path;
{FILE_VARIABLE}, when set, counts instead of its file."""


def parser() -> Parser:
    built = Parser(
        "quarterdeck replay",
        usage="quarterdeck replay [options] FILE [FLAG …]",
        description=DESCRIPTION,
        examples=[
            ("quarterdeck replay talk.ndjson", "be the CLI of that recording, at once"),
            ("quarterdeck replay --speed 1 talk.ndjson", "as slowly as it was recorded"),
            ("quarterdeck replay --install-launcher ./claude-replay talk.ndjson", "write ./claude-replay for an SDK"),
        ],
        exits={
            0: "as the recorded CLI; its other codes are passed on, too",
            2: "the recording or the command line is wrong",
            3: "the input is not the recorded one",
            4: "the input ended too early",
        },
    )
    built.add_argument("--lenient", action="store_true", help="take input by its kind alone")
    built.add_argument(
        "--speed", type=float, metavar="N", help="1: as recorded, 10: ten times as fast (default: at once)"
    )
    built.add_argument("--install-launcher", metavar="FILE", help="write an executable that does this, and stop")
    built.add_argument("file", metavar="FILE", help="the recording")
    built.add_argument("flags", nargs=argparse.REMAINDER, metavar="FLAG", help="flags for the CLI, not compared")
    return built


def main(argv: list[str] | None = None) -> int:
    reader = parser()
    arguments = reader.parse_args(sys.argv[1:] if argv is None else argv)
    if arguments.speed is not None and arguments.speed <= 0:
        reader.error(f"--speed {arguments.speed}: expected a number above 0, e.g. 1 for as recorded")
    from quarterdeck.testing.recording import RecordingError, load

    path = Path(arguments.file)
    try:
        recording = load(path)
    except (RecordingError, OSError) as error:
        print(f"quarterdeck replay: {_reason(path, error)}", file=sys.stderr)
        if isinstance(error, OSError):
            print("  give a recording; quarterdeck tap --out FILE -- claude … makes one", file=sys.stderr)
        return USAGE_ERROR
    if arguments.install_launcher:
        return _install(arguments)
    from quarterdeck.testing.install import NEWEST
    from quarterdeck.testing.replay import cli_version, run

    if {"-v", "--version"}.intersection(arguments.flags):
        print(f"{cli_version(recording) or NEWEST} (Claude Code)")
        return 0
    code = run(recording, strict=not arguments.lenient, speed=arguments.speed)
    sys.stderr.flush()
    os._exit(code)  # the thread that reads stdin may be blocked in it for ever


def _install(arguments: argparse.Namespace) -> int:
    from quarterdeck.testing.launcher import write_launcher

    path = str(Path(arguments.file).absolute())
    options = [
        *(["--lenient"] if arguments.lenient else []),
        *([f"--speed={arguments.speed}"] if arguments.speed else []),
    ]
    try:
        write_launcher(
            Path(arguments.install_launcher),
            "quarterdeck.cli.replay",
            [*options, path],
            environment={path: FILE_VARIABLE},
        )
    except OSError as error:
        print(f"quarterdeck replay: cannot write {arguments.install_launcher}: {error.strerror}", file=sys.stderr)
        print("  choose a new file in a folder that is yours", file=sys.stderr)
        return USAGE_ERROR
    print(f"{arguments.install_launcher}: replays {path}")
    return 0


def _reason(path: Path, error: Exception) -> str:
    return f"{path}: {error.strerror}" if isinstance(error, OSError) and error.strerror else str(error)
