"""``quarterdeck replay``: play back the CLI's part of a recording."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .common import USAGE_ERROR, Parser, ReportedError
from .common.text import sanitize
from .tap import install_launcher
from .trace import NEXT_STEP

FILE_VARIABLE = "QUARTERDECK_REPLAY_FILE"
DESCRIPTION = f"""\
Plays the CLI's part of a recording on stdin and stdout, and exits as the recorded CLI did.

The input must match the recording (except for ids, uuids and times) unless --lenient is given. Flags of the CLI may
follow the file; they are ignored, except that --version prints the recorded version.

With --install-launcher it writes an executable that does this, for programs that accept only a path.
{FILE_VARIABLE}, if set, overrides its file."""


def parser() -> Parser:
    built = Parser(
        "quarterdeck replay",
        usage="quarterdeck replay [options] FILE [FLAG …]",
        description=DESCRIPTION,
        examples=[
            ("quarterdeck replay talk.ndjson", "play it back as fast as possible"),
            ("quarterdeck replay --speed 1 talk.ndjson", "at the recorded speed"),
            ("quarterdeck replay --install-launcher ./claude-replay talk.ndjson", "write ./claude-replay for an SDK"),
        ],
        exits={
            0: "success; other codes of the recorded CLI are passed on",
            2: "invalid arguments or recording",
            3: "the input differs from the recording",
            4: "the input ended too early",
        },
    )
    built.add_argument("--lenient", action="store_true", help="compare only the types of input messages")
    built.add_argument(
        "--speed", type=float, metavar="N", help="1: as recorded, 10: ten times as fast (default: no delays)"
    )
    built.add_argument("--install-launcher", metavar="FILE", help="write an executable that does this, and exit")
    built.add_argument("file", metavar="FILE", help="the recording")
    flags = built.add_argument("flags", nargs=argparse.REMAINDER, metavar="FLAG", help="flags of the CLI, ignored")
    flags.required = False  # argparse would report it as missing together with FILE
    return built


def main(argv: list[str] | None = None) -> int:
    reader = parser()
    arguments = reader.parse_args(sys.argv[1:] if argv is None else argv)
    if arguments.speed is not None and arguments.speed <= 0:
        reader.error(f"--speed must be above 0, not {arguments.speed}")
    from quarterdeck.testing.recording import RecordingError, load

    path = Path(arguments.file)
    try:
        recording = load(path)
    except (RecordingError, OSError) as error:
        what = f"{path}: {error.strerror}" if isinstance(error, OSError) and error.strerror else str(error)
        return ReportedError(what, NEXT_STEP, code=USAGE_ERROR).print("replay")
    if arguments.install_launcher:
        return _install(arguments)
    from quarterdeck.testing.install import NEWEST
    from quarterdeck.testing.replay import cli_version, run

    if {"-v", "--version"}.intersection(arguments.flags):
        print(f"{sanitize(cli_version(recording) or NEWEST)} (Claude Code)")
        return 0
    code = run(recording, strict=not arguments.lenient, speed=arguments.speed)
    sys.stderr.flush()
    os._exit(code)  # the thread that reads stdin may block forever


def _install(arguments: argparse.Namespace) -> int:
    path = str(Path(arguments.file).absolute())
    options = [
        *(["--lenient"] if arguments.lenient else []),
        *([f"--speed={arguments.speed}"] if arguments.speed else []),
    ]
    target = arguments.install_launcher
    return install_launcher("replay", target, [*options, path], {path: FILE_VARIABLE}, f"replays {path}")
