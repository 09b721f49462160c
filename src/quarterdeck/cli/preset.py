"""``quarterdeck preset``: named sets of options."""

from __future__ import annotations

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck preset",
        description="Show or replace the presets of a host. A preset is a named set of options for new sessions: "
        "model, mode, options, policy, budget. Use one with quarterdeck run --preset NAME --host URL.",
        examples=[
            ("quarterdeck preset show > presets.json", "save them as JSON to edit"),
            ("quarterdeck preset set presets.json", "replace all presets"),
        ],
        exits=EXITS,
    )
    commands = built.add_commands()
    show = commands.add_parser(
        "show",
        help="print the presets",
        description="Print the presets as JSON.",
        examples=[("quarterdeck preset show", "all of them")],
        exits=EXITS,
    )
    replace = commands.add_parser(
        "set",
        help="replace the presets",
        description="Replace all presets with those in a file, in the format that show prints. Requires the scope "
        "admin.",
        examples=[("quarterdeck preset set presets.json", "from a file")],
        exits=EXITS,
    )
    replace.add_argument("file", metavar="FILE", help="a JSON file; - reads standard input")
    for command, run in ((show, "show_presets"), (replace, "set_presets")):
        add_host_options(command, json=None)
        command.set_defaults(run=run)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted import presets

    return on_host(given, lambda host: getattr(presets, given.run)(host, given))
