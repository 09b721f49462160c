"""What every ``quarterdeck`` command stands under, so that all of them look, fail and end alike.

A command is a module ``quarterdeck.cli.NAME`` (the hyphens of its name are underscores) with two functions:

``parser() -> Parser``
    its arguments. Building it must be cheap: help, shell completion and the reference are made from it.
``main(argv) -> int``
    does the work and returns an exit code. Heavy things are imported here, never at the top of the module.

::

    from quarterdeck.cli.common import FAILED, OK, Look, Parser, Trouble

    def parser() -> Parser:
        built = Parser(
            "quarterdeck greet",
            description="Says hello.",
            examples=[("quarterdeck greet Ada", "by name"), ("quarterdeck greet --json Ada", "for machines")],
            exits={FAILED: "nobody was there"},
        )
        built.add_argument("name", metavar="NAME", help="who to greet")
        built.add_argument("--json", action="store_true", help="write JSON")
        return built

    def main(argv: list[str] | None = None) -> int:
        given = parser().parse_args(argv)
        look = Look.of(sys.stdout)
        if not given.name:
            raise Trouble("the name is empty", "give one, e.g. quarterdeck greet Ada")
        print(look.paint("bold", f"Hello {plain(given.name)}"))
        return OK

What the pieces promise:

- ``Parser``: one style of help (usage, description, arguments, options, examples, exit codes), as wide as the terminal,
  coloured only on one; a wrong call says what is wrong and where to read on, with exit code 2. The metavars ``FILE``,
  ``DIR`` and ``ID`` (of a session) and ``choices`` are what shell completion goes by.
- ``Look.of(stream)``: colour and width of one stream. ``NO_COLOR`` turns colour off, else ``FORCE_COLOR`` turns it on,
  else a terminal decides (``TERM=dumb`` is none). ``width`` is that of the terminal or of ``COLUMNS``, 80 elsewhere.
- ``cells``, ``cut``, ``padded``: text measured in terminal cells; wide and combining characters count as drawn.
- ``plain``: text of others made harmless for a terminal: no escape sequence, no control character, no reversed text.
- ``Trouble(what, next_step)``: raised anywhere, it ends the command with both on stderr and exit code 1 (or ``code=``).
- ``main`` of ``common`` turns Ctrl-C into 130 and a reader that went away into 141, for every command.
"""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from .exits import BROKEN_PIPE, FAILED, INTERRUPTED, OK, USAGE_ERROR
    from .look import Look
    from .parser import Parser
    from .sanitize import plain
    from .trouble import Trouble
    from .width import cells, cut, padded

__all__: list[str] = []
_names = LazyNames(globals())
_names.of(".exits")
__all__ += ["BROKEN_PIPE", "FAILED", "INTERRUPTED", "OK", "USAGE_ERROR"]
_names.of(".look")
__all__ += ["Look"]
_names.of(".parser")
__all__ += ["Parser"]
_names.of(".sanitize")
__all__ += ["plain"]
_names.of(".trouble")
__all__ += ["Trouble"]
_names.of(".width")
__all__ += ["cells", "cut", "padded"]
