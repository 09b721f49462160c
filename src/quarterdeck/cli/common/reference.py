"""Generates ``docs/commands.md``::

python -m quarterdeck.cli.common.reference > docs/commands.md
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from quarterdeck.cli import GROUPS

from .exits import COMMON
from .parser import Parser
from .tree import CommandSpec, ValueSpec, tree

_HEAD = """\
# Commands

Everything under `quarterdeck`, as shown by `quarterdeck <command> --help`. This page is generated
(`python -m quarterdeck.cli.common.reference > docs/commands.md`); a test checks that it is complete.

{overview}

## Common to all commands

- **Help.** `quarterdeck <command> --help` shows arguments, options, examples and exit codes.
- **Colour** appears only on a terminal. `NO_COLOR=1` turns it off, `FORCE_COLOR=1` turns it on everywhere.
- **Width.** Output fits the terminal, or `COLUMNS`.
- **Scripts.** `--json` prints JSON: one document, or one object per line for lists. In commands with `--output`, it is
  short for `--output json`.
- **Errors** say what happened and, on the next line, what to do.
- **Untrusted text** (transcripts, tool results) cannot affect your terminal: escape sequences are shown, not executed.
- **Completion.** `quarterdeck completion bash|zsh|fish` prints a script for your shell.

| exit code | meaning |
|---|---|
{exits}

Exceptions are listed with each command.
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


def _command(command: CommandSpec, level: int) -> Iterator[str]:
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


def _parser(command: CommandSpec) -> Parser:
    found: Parser = import_module(f"quarterdeck.cli.{command.path[1]}").parser()
    for word in command.path[2:]:
        found = found.commands()[word]
    return found


def _description(parser: Parser) -> str:
    return (parser.description or "").strip()


def _shape(value: ValueSpec) -> str:
    return "|".join(value.choices) if value.choices else value.name


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(reference(), end="")
