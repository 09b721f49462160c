"""``quarterdeck tap``: run a CLI and record its traffic."""

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
Runs a CLI and records its input and output byte for byte. With --install-launcher it writes an executable that does
this, for programs that accept only a path. {OUT_VARIABLE} and {CLI_VARIABLE}, if set, override --out and
the command."""


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
                "write ./claude-tap, to be used as claude by an SDK or an editor",
            ),
            ("quarterdeck trace talk.ndjson", "read the recording"),
        ],
        exits={0: "success; other codes of the recorded command are passed on", 2: "invalid arguments"},
    )
    built.add_argument("--out", metavar="FILE", help="the recording; {pid} and {time} are replaced")
    built.add_argument("--redact", action="store_true", help="mask keys, tokens and passwords in the recording")
    built.add_argument(
        "--redact-pattern", metavar="REGEX", action="append", default=[], help="also mask this (implies --redact)"
    )
    built.add_argument("--install-launcher", metavar="FILE", help="write an executable that does this, and exit")
    return built


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    border = words.index("--") if "--" in words else len(words)
    options, command = words[:border], words[border + 1 :]
    if command and len(options) == 2 and options[0] == "--out":
        return _run(command, options[1], redact=False, patterns=())
    return _main(options, command)


def _main(words: list[str], command: list[str]) -> int:
    """Everything except the simple case."""
    import re

    reader = parser()
    arguments = reader.parse_args(words)
    out = arguments.out or os.environ.get(OUT_VARIABLE)
    command = command or list(filter(None, [os.environ.get(CLI_VARIABLE)]))
    if not out:
        reader.error(f"--out FILE is missing (or set {OUT_VARIABLE})")
    if not command:
        reader.error(f"the command to record is missing, e.g. -- claude -p (or set {CLI_VARIABLE})")
    for pattern in arguments.redact_pattern:
        try:
            re.compile(pattern.encode())
        except re.error as error:
            reader.error(f"--redact-pattern {pattern!r} is not a regular expression: {error}")
    redact = arguments.redact or bool(arguments.redact_pattern)
    if arguments.install_launcher:
        return _install(arguments.install_launcher, out, command, redact, arguments.redact_pattern)
    return _run(command, out, redact=redact, patterns=tuple(arguments.redact_pattern))


def _run(command: list[str], out: str, *, redact: bool, patterns: tuple[str, ...]) -> int:
    if not hasattr(os, "posix_spawn"):
        print("quarterdeck tap: needs a POSIX system", file=sys.stderr)
        return USAGE_ERROR
    from quarterdeck.testing.tap import run

    return run(command, out=out, redact=redact, patterns=patterns)


def _install(path: str, out: str, command: list[str], redact: bool, patterns: list[str]) -> int:
    from pathlib import Path

    out = str(Path(out).absolute())
    options = [*(["--redact"] if redact else []), *(f"--redact-pattern={pattern}" for pattern in patterns)]
    variables = {out: OUT_VARIABLE, command[0]: CLI_VARIABLE}
    return install_launcher("tap", path, [*options, "--out", out, "--", *command], variables, f"records to {out}")


def install_launcher(command: str, path: str, arguments: list[str], variables: dict[str, str], purpose: str) -> int:
    """Write an executable that calls ``quarterdeck COMMAND``; the exit code. ``variables``: argument → its override."""
    from pathlib import Path

    from quarterdeck.testing.launcher import write_launcher

    try:
        write_launcher(Path(path), f"quarterdeck.cli.{command}", arguments, environment=variables)
    except OSError as error:
        from .common import ReportedError

        what = f"cannot write {path}: {error.strerror}"
        return ReportedError(what, "Choose a new file in a folder you can write to.", code=USAGE_ERROR).print(command)
    print(f"{path}: {purpose}")
    return 0
