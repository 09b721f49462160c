"""``quarterdeck run``: run one prompt in the terminal."""

from __future__ import annotations

from quarterdeck.cli.common import Parser
from quarterdeck.cli.terminal.arguments import EXITS, add_session_options

OUTPUTS = ("pretty", "text", "json", "stream-json", "raw")


def parser() -> Parser:
    built = Parser(
        "quarterdeck run",
        description="Run one prompt in Claude Code and follow it. You answer permission requests, questions and plans "
        "here. Ctrl-C interrupts the turn; press it again to exit.",
        examples=[
            ('quarterdeck run "what is in this folder?"', "ask about the current folder"),
            ("git diff | quarterdeck run - 'review this change'", "append standard input to the prompt"),
            ("quarterdeck run --allow 'Bash(make test)' 'make the tests pass'", "allow one command without asking"),
            ("quarterdeck run --json --deny Bash 'summarise README.md' | jq .result", "in a script"),
            ("quarterdeck run --agent sim 'edit a to b in notes.txt'", "with the simulator: no model, no cost"),
        ],
        exits=EXITS,
    )
    built.add_argument("prompt", nargs="*", metavar="PROMPT", help="the prompt; - or nothing reads standard input")
    built.add_argument("--prompt-file", metavar="FILE", help="read the prompt from a file")
    built.add_argument("--image", action="append", default=[], metavar="FILE", help="attach an image (repeatable)")
    out = built.add_argument_group("output")
    out.add_argument(
        "--output",
        choices=OUTPUTS,
        default="pretty",
        help="pretty: for people (default); text: only the answer; json: the result; stream-json: every message; "
        "raw: every line the CLI writes, unchanged",
    )
    out.add_argument("--json", dest="output", action="store_const", const="json", help="the same as --output json")
    out.add_argument("--partial", action="store_true", help="with stream-json or raw: include partial messages")
    add_session_options(built)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_intermixed_args(argv)
    if given.host is not None:
        from quarterdeck.cli.hosted.starting import run as run_on_host

        return run_on_host(given)
    from quarterdeck.cli.terminal.run import run

    return run(given)
