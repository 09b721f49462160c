"""``quarterdeck tap``: be a CLI, and record it."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # argparse, re and typing are a third of the tap's start-up time
    from .common import Parser

USAGE_ERROR = 2
OUT_VARIABLE = "QUARTERDECK_TAP_OUT"
CLI_VARIABLE = "QUARTERDECK_TAP_CLI"
DESCRIPTION = f"""\
Stands in front of a CLI as if it were the CLI, and records all that is said, byte for byte. With --install-launcher it
writes an executable that does this, for programs that can only be given a path. {OUT_VARIABLE} and
{CLI_VARIABLE} count instead of --out and of the program when they are set."""


def parser() -> Parser:
    from .common import Parser

    built = Parser(
        "quarterdeck tap",
        usage="quarterdeck tap [options] --out FILE -- COMMAND …",
        description=DESCRIPTION,
        examples=[
            ("quarterdeck tap --out talk.ndjson -- claude -p --output-format stream-json 'hello'", "record one run"),
            (
                "quarterdeck tap --install-launcher ./claude-tap --out 'talk-{pid}.ndjson' -- claude",
                "write ./claude-tap, to be given to an SDK or editor as its claude",
            ),
            ("quarterdeck trace talk.ndjson", "read what was recorded"),
        ],
        exits={0: "as the recorded command; its other codes are passed on, too", 2: "the command line is wrong"},
    )
    built.add_argument("--out", metavar="FILE", help="where to record; {pid} and {time} are replaced")
    built.add_argument("--redact", action="store_true", help="replace keys, tokens and passwords in the recording")
    built.add_argument(
        "--redact-pattern", metavar="REGEX", action="append", default=[], help="replace this, too (implies --redact)"
    )
    built.add_argument("--install-launcher", metavar="FILE", help="write an executable that does this, and stop")
    return built


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    border = words.index("--") if "--" in words else len(words)
    options, command = words[:border], words[border + 1 :]
    if command and len(options) == 2 and options[0] == "--out":
        return _run(command, options[1], redact=False, patterns=())
    return _main(options, command)


def _main(words: list[str], command: list[str]) -> int:
    """Everything but the plain case."""
    import re

    reader = parser()
    arguments = reader.parse_args(words)
    out = arguments.out or os.environ.get(OUT_VARIABLE)
    command = command or list(filter(None, [os.environ.get(CLI_VARIABLE)]))
    if not out:
        reader.error(f"expected --out FILE (or {OUT_VARIABLE}): where to record")
    if not command:
        reader.error(f"expected -- and the command to record (or {CLI_VARIABLE}), e.g. -- claude -p")
    for pattern in arguments.redact_pattern:
        try:
            re.compile(pattern.encode())
        except re.error as error:
            reader.error(f"--redact-pattern {pattern!r}: expected a regular expression: {error}")
    redact = arguments.redact or bool(arguments.redact_pattern)
    if arguments.install_launcher:
        return _install(arguments.install_launcher, out, command, redact, arguments.redact_pattern)
    return _run(command, out, redact=redact, patterns=tuple(arguments.redact_pattern))


def _run(command: list[str], out: str, *, redact: bool, patterns: tuple[str, ...]) -> int:
    if not hasattr(os, "posix_spawn"):
        print("quarterdeck tap: this needs a POSIX system", file=sys.stderr)
        return USAGE_ERROR
    from quarterdeck.testing.tap import run

    return run(command, out=out, redact=redact, patterns=patterns)


def _install(path: str, out: str, command: list[str], redact: bool, patterns: list[str]) -> int:
    from pathlib import Path

    from quarterdeck.testing.launcher import write_launcher

    out = str(Path(out).absolute())
    options = [*(["--redact"] if redact else []), *(f"--redact-pattern={pattern}" for pattern in patterns)]
    arguments = [*options, "--out", out, "--", *command]
    try:
        write_launcher(
            Path(path), "quarterdeck.cli.tap", arguments, environment={out: OUT_VARIABLE, command[0]: CLI_VARIABLE}
        )
    except OSError as error:
        print(f"quarterdeck tap: cannot write {path}: {error.strerror}", file=sys.stderr)
        print("  choose a new file in a folder that is yours", file=sys.stderr)
        return USAGE_ERROR
    print(f"{path}: records into {out}")
    return 0
