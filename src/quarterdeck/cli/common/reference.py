"""``docs/commands.md`` from the commands themselves::

python -m quarterdeck.cli.common.reference > docs/commands.md
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from quarterdeck.cli import GROUPS

from .exits import COMMON
from .parser import Parser
from .tree import Command, Value, tree

_HEAD = """\
# Commands

Everything under `quarterdeck`, as `quarterdeck <command> --help` tells it. This page is made from the commands
(`python -m quarterdeck.cli.common.reference > docs/commands.md`); a test checks that it names them all.

{overview}

## Common to all

- **Help.** `quarterdeck <command> --help` shows arguments, options, examples and exit codes.
- **Colour** only on a terminal. `NO_COLOR=1` turns it off, `FORCE_COLOR=1` turns it on where there is no terminal.
- **Width.** Output fits the terminal, or `COLUMNS`.
- **Machines.** `--json` writes JSON: one document, or one object for each line where there may be many.
- **Errors** say what happened and, on the next line, what to do.
- **Text of others** (transcripts, tool results) does nothing to your terminal: escape sequences are not obeyed.
- **Completion.** `quarterdeck completion bash|zsh|fish` prints a script for your shell.

| exit code | meaning |
|---|---|
{exits}

A command that gives codes another meaning, or has more of them, says so below.
"""


def reference() -> str:
    """The whole page."""
    overview = "\n".join(
        f"| [`{name}`](#quarterdeck-{name}) | {purpose} |"
        for group in GROUPS.values()
        for name, purpose in group.items()
    )
    exits = "\n".join(f"| {code} | {meaning} |" for code, meaning in COMMON.items())
    head = _HEAD.format(overview=f"| command | |\n|---|---|\n{overview}", exits=exits)
    return head + "".join("".join(_command(command, 2)) for command in tree().commands)


def _command(command: Command, level: int) -> Iterator[str]:
    parser = _parser(command)
    yield f"\n{'#' * level} {' '.join(command.path)}\n\n{_description(parser)}\n"
    yield f"\n```\n{parser.call()}\n```\n"
    shown = [option for option in command.options if not option.hidden and "--help" not in option.names]
    if command.arguments or shown:
        yield "\n| argument or option | |\n|---|---|\n"
        for argument in command.arguments:
            yield f"| `{argument.value.name}` | {_cell(argument.help)} |\n"
        for option in shown:
            value = "" if option.value is None else f" {_shape(option.value)}"
            yield f"| `{_cell(', '.join(option.names) + value)}` | {_cell(option.help)} |\n"
    if parser.examples:
        rows = "\n".join(f"# {purpose}\n{line}" for line, purpose in parser.examples)
        yield f"\n```sh\n{rows}\n```\n"
    own = {code: meaning for code, meaning in parser.exits.items() if COMMON.get(code) != meaning}
    if own:
        yield f"\nExit codes: {'; '.join(f'{code} {_cell(meaning)}' for code, meaning in own.items())}.\n"
    for below in command.commands:
        yield from _command(below, level + 1)


def _parser(command: Command) -> Parser:
    found: Parser = import_module(f"quarterdeck.cli.{command.path[1]}").parser()
    for word in command.path[2:]:
        found = found.commands()[word]
    return found


def _description(parser: Parser) -> str:
    return (parser.description or "").strip()


def _shape(value: Value) -> str:
    return "|".join(value.choices) if value.choices else value.name


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(reference(), end="")
