"""All commands and their arguments as data, for shell completion and the reference."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Literal

from .parser import Parser

Kind = Literal["file", "folder", "session", "of host", "choice", "other"]
_KINDS: dict[str, Kind] = {"FILE": "file", "DIR": "folder", "ID": "session"}
OF_HOST: dict[str, str] = {"SESSION": "ps --all", "APPROVAL": "approvals", "TOKEN": "token list"}
"""What a host has → the command that lists its ids, with ``--quiet``."""
_MANY = ("*", "+", argparse.REMAINDER)


@dataclass(frozen=True, slots=True)
class ValueSpec:
    """The value of an option or an argument."""

    name: str
    kind: Kind
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OptionSpec:
    names: tuple[str, ...]
    help: str
    value: ValueSpec | None = None
    repeatable: bool = False
    hidden: bool = False
    """Accepted but not listed in the help: flags of ``claude`` that ``sim`` takes."""


@dataclass(frozen=True, slots=True)
class ArgumentSpec:
    value: ValueSpec
    help: str
    many: bool


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command; ``path`` is how it is called: ``("quarterdeck", "sessions", "list")``."""

    path: tuple[str, ...]
    help: str
    options: list[OptionSpec] = field(default_factory=list)
    arguments: list[ArgumentSpec] = field(default_factory=list)
    commands: list[CommandSpec] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.path[-1]

    def walk(self) -> Iterator[CommandSpec]:
        """This command and all its subcommands."""
        yield self
        for command in self.commands:
            yield from command.walk()


def tree() -> CommandSpec:
    """``quarterdeck`` and all its commands. Slow: it imports every command's module."""
    from quarterdeck.cli import COMMANDS

    top = [
        OptionSpec(("-h", "--help"), "show this help"),
        OptionSpec(("-V", "--version"), "print the version"),
    ]
    parsers = {name: import_module(f"quarterdeck.cli.{name}").parser() for name in COMMANDS}
    commands = [_read(("quarterdeck", name), COMMANDS[name], parser) for name, parser in parsers.items()]
    return CommandSpec(("quarterdeck",), "the control plane for Claude Code sessions", top, commands=commands)


def _read(path: tuple[str, ...], purpose: str, parser: Parser) -> CommandSpec:
    command = CommandSpec(path, purpose)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {one.dest: one.help or "" for one in action._get_subactions()}
            command.commands.extend(
                _read((*path, name), helps.get(name, ""), below) for name, below in action.choices.items()
            )
        elif action.option_strings:
            command.options.append(_option(action))
        else:
            command.arguments.append(ArgumentSpec(_value(action), action.help or "", action.nargs in _MANY))
    return command


def _option(action: argparse.Action) -> OptionSpec:
    hidden = action.help == argparse.SUPPRESS
    return OptionSpec(
        names=tuple(action.option_strings),
        help="" if hidden else (action.help or "").replace("%%", "%"),
        value=None if action.nargs == 0 else _value(action),
        repeatable=isinstance(action, argparse._AppendAction),
        hidden=hidden,
    )


def _value(action: argparse.Action) -> ValueSpec:
    choices = tuple(map(str, action.choices or ()))
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if not choices and name in OF_HOST:
        return ValueSpec(name, "of host")
    return ValueSpec(name, "choice" if choices else _KINDS.get(name.rsplit("|", 1)[-1], "other"), choices)
