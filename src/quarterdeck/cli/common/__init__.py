"""What all ``quarterdeck`` commands share: help, colours, errors and exit codes.

A command is a module ``quarterdeck.cli.NAME`` with two functions:

``parser() -> Parser``
    its arguments. Must be cheap: help, shell completion and the reference are generated from it.
``main(argv) -> int``
    does the work and returns an exit code. Heavy imports go here, never at the top of the module.

::

    from quarterdeck.cli.common import FAILED, OK, ReportedError, Look, Parser

    def parser() -> Parser:
        built = Parser(
            "quarterdeck greet",
            description="Say hello.",
            examples=[("quarterdeck greet Ada", "by name"), ("quarterdeck greet --json Ada", "in a script")],
            exits={FAILED: "no one answered"},
        )
        built.add_argument("name", metavar="NAME", help="who to greet")
        built.add_argument("--json", action="store_true", help="print JSON")
        return built

    def main(argv: list[str] | None = None) -> int:
        given = parser().parse_args(argv)
        look = Look.of(sys.stdout)
        if not given.name:
            raise ReportedError("the name is empty", "Example: quarterdeck greet Ada")
        print(look.paint("bold", f"Hello {sanitize(given.name)}"))
        return OK

- ``Parser``: one style of help (usage, description, arguments, options, examples, exit codes), as wide as the terminal
  and coloured only on one. Wrong arguments exit with code 2. Shell completion uses the metavars ``FILE``, ``DIR`` and
  ``ID`` (of a session) and ``choices``.
- ``Look.of(stream)``: colour and width of a stream. ``NO_COLOR`` turns colour off; otherwise ``FORCE_COLOR`` turns it
  on; otherwise only terminals get it (except ``TERM=dumb``). The width is ``COLUMNS``, the terminal's, or 80.
- ``cells``, ``cut``, ``padded``: text measured in terminal cells, as wide and combining characters are drawn.
- ``sanitize``: makes untrusted text safe for a terminal: escape sequences and control characters become visible.
- ``ReportedError(what, next_step)``: ends the command with both lines on stderr and exit code 1 (or ``code=``).
- ``quarterdeck.cli.main`` turns Ctrl-C into exit code 130 and a closed pipe into 141, for every command.
"""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from .exits import BROKEN_PIPE, FAILED, INTERRUPTED, OK, USAGE_ERROR, ReportedError
    from .look import Look
    from .parser import Parser
    from .text import cells, cut, padded, sanitize

__all__: list[str] = []
_names = LazyNames(globals())
_names.of(".exits")
__all__ += ["BROKEN_PIPE", "FAILED", "INTERRUPTED", "OK", "USAGE_ERROR", "ReportedError"]
_names.of(".look")
__all__ += ["Look"]
_names.of(".parser")
__all__ += ["Parser"]
_names.of(".text")
__all__ += ["cells", "cut", "padded", "sanitize"]
