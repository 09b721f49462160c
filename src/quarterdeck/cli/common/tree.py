"""All commands with their arguments, as data: what shell completion and the reference are made from."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Literal

from .parser import Parser

Kind = Literal["file", "folder", "session", "choice", "other"]
_KINDS: dict[str, Kind] = {"FILE": "file", "DIR": "folder", "ID": "session"}
_MANY = ("*", "+", argparse.REMAINDER)


@dataclass(frozen=True, slots=True)
class Value:
    """What an option or an argument takes."""

    name: str
    kind: Kind
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    names: tuple[str, ...]
    help: str
    value: Value | None
    repeatable: bool
    hidden: bool
    """Known, but not listed in the help: the flags of ``claude`` that ``sim`` takes."""


@dataclass(frozen=True, slots=True)
class Argument:
    value: Value
    help: str
    many: bool


@dataclass(frozen=True, slots=True)
class Command:
    """One command, by the words that call it: ``("quarterdeck", "sessions", "list")``."""

    path: tuple[str, ...]
    help: str
    options: list[Option] = field(default_factory=list)
    arguments: list[Argument] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.path[-1]

    def walk(self) -> Iterator[Command]:
        """Itself and all below it."""
        yield self
        for command in self.commands:
            yield from command.walk()


def tree() -> Command:
    """``quarterdeck`` and all its commands. Imports every command's module, so it is not for the way to a command."""
    from quarterdeck.cli import COMMANDS

    top = [
        Option(("-h", "--help"), "show this help", None, repeatable=False, hidden=False),
        Option(("-V", "--version"), "print the version", None, repeatable=False, hidden=False),
    ]
    parsers = {name: import_module(f"quarterdeck.cli.{name}").parser() for name in COMMANDS}
    commands = [_read(("quarterdeck", name), COMMANDS[name], parser) for name, parser in parsers.items()]
    return Command(("quarterdeck",), "the control plane for Claude Code sessions", top, commands=commands)


def _read(path: tuple[str, ...], purpose: str, parser: Parser) -> Command:
    command = Command(path, purpose)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {one.dest: one.help or "" for one in action._get_subactions()}
            command.commands.extend(
                _read((*path, name), helps.get(name, ""), below) for name, below in action.choices.items()
            )
        elif action.option_strings:
            command.options.append(_option(action))
        else:
            command.arguments.append(Argument(_value(action), action.help or "", action.nargs in _MANY))
    return command


def _option(action: argparse.Action) -> Option:
    hidden = action.help == argparse.SUPPRESS
    return Option(
        names=tuple(action.option_strings),
        help="" if hidden else (action.help or "").replace("%%", "%"),
        value=None if action.nargs == 0 else _value(action),
        repeatable=isinstance(action, argparse._AppendAction),
        hidden=hidden,
    )


def _value(action: argparse.Action) -> Value:
    choices = tuple(map(str, action.choices or ()))
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return Value(name, "choice" if choices else _KINDS.get(name.rsplit("|", 1)[-1], "other"), choices)
