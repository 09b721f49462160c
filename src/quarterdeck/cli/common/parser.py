"""The argument parser of every command: one style of help and errors."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, cast

from .exits import USAGE_ERROR
from .look import Look

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

WIDEST = 100
"""Longer lines are hard to read, even on a wide terminal."""
HELP_COLUMN = 30

_HEADING = re.compile(r"^(usage:|[a-z ]+:$)")
_NAMES = re.compile(r"^( {2,4})(\S+(?: \S+)*)(?=  |$)")
"""The left column of the argument list."""


class Parser(argparse.ArgumentParser):
    """An ``ArgumentParser`` with examples and exit codes in its help.

    ``examples`` are (command line, purpose); ``exits`` are exit codes and their meaning. Long options cannot be
    abbreviated: a script that abbreviates them would break when we add another option.
    """

    def __init__(
        self,
        prog: str | None = None,
        *,
        examples: Iterable[tuple[str, str]] = (),
        exits: Mapping[int, str] | None = None,
        **settings: Any,
    ) -> None:
        settings.setdefault("allow_abbrev", False)
        settings.setdefault("formatter_class", _Formatter)
        settings.setdefault("add_help", True)
        wants_help = settings.pop("add_help")
        super().__init__(prog, add_help=False, **settings)
        self.color = False  # as in the formatter below
        self.examples = list(examples)
        self.exits = dict(exits or {})
        self._positionals.title = "arguments"
        self._optionals.title = "options"
        if wants_help:
            self.add_argument("-h", "--help", action="help", help="show this help")

    def add_commands(self, **settings: Any) -> argparse._SubParsersAction[Parser]:
        """``add_subparsers`` in our style: listed under "commands", and one is required."""
        settings.setdefault("required", True)
        return self.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser, **settings)

    def commands(self) -> Mapping[str, Parser]:
        """The commands below this one, by name."""
        found = (action.choices for action in self._actions if isinstance(action, argparse._SubParsersAction))
        return next(found, {})

    def call(self) -> str:
        """The usage line. Shorter than argparse's, which repeats every option."""
        if self.usage:
            return self.usage.strip()
        needed = [action for action in self._actions if action.option_strings and action.required]
        words = [
            self.prog,
            *(f"{action.option_strings[-1]} {action.metavar or action.dest.upper()}" for action in needed),
            "[options]",
            *(_value_shape(action) for action in self._actions if not action.option_strings),
        ]
        return " ".join(words)

    def format_usage(self) -> str:
        """``parse_intermixed_args`` needs this."""
        return f"usage: {self.call()}\n"

    def format_help(self) -> str:
        """Without colour; ``print_help`` adds it."""
        return self.help_for(Look(width=Look.of(sys.stdout).width))

    def help_for(self, look: Look) -> str:
        formatter = _Formatter(self.prog, look=look)
        formatter.add_usage(self.call().replace("%", "%%"), (), ())
        formatter.add_text(self.description)
        for group in self._ordered_groups():
            formatter.start_section(group.title)
            formatter.add_text(group.description)
            formatter.add_arguments(group._group_actions)
            formatter.end_section()
        parts = ["\n".join(_painted(line, look) for line in formatter.format_help().rstrip().splitlines())]
        parts += filter(None, (self._examples(look), self._exits(look)))
        if self.epilog:
            parts.append("\n".join(_wrapped(self.epilog, min(look.width, WIDEST))))
        return "\n\n".join(parts) + "\n"

    def _ordered_groups(self) -> list[argparse._ArgumentGroup]:
        """Arguments and commands, then ``options``, then the command's own groups."""
        own = [self._positionals, *(group for group in self._action_groups if group.title == "commands")]
        rest = [group for group in self._action_groups if group not in own and group is not self._optionals]
        return [*own, self._optionals, *rest]

    def _examples(self, look: Look) -> str:
        if not self.examples:
            return ""
        lines = [look.paint("bold", "examples:")]
        for command, purpose in self.examples:
            lines += [look.paint("dim", f"  # {line}") for line in _wrapped(purpose, min(look.width, WIDEST) - 4)]
            lines.append(f"  {command}")  # not wrapped, so that it can be copied
        return "\n".join(lines)

    def _exits(self, look: Look) -> str:
        if not self.exits:
            return ""
        lines = [look.paint("bold", "exit codes:")]
        column = max(len(str(code)) for code in self.exits)
        for code, meaning in self.exits.items():
            first, *rest = _wrapped(meaning, min(look.width, WIDEST) - column - 4)
            lines.append(f"  {code:<{column}}  {first}")
            lines += [f"  {'':{column}}  {line}" for line in rest]
        return "\n".join(lines)

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        out = cast("TextIO", sys.stdout if file is None else file)
        out.write(self.help_for(Look.of(out)))

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE_ERROR, f"{self.prog}: {message}\n  Run {self.prog} --help for usage.\n")


def _value_shape(action: argparse.Action) -> str:
    if isinstance(action, argparse._SubParsersAction):
        return f"{action.metavar} …" if action.required else f"[{action.metavar} …]"
    name = str(action.metavar or action.dest.upper())
    if action.nargs in ("?", "*"):
        return f"[{name}]" if action.nargs == "?" else f"[{name} …]"
    return f"{name} …" if action.nargs in ("+", argparse.REMAINDER) else name


class _Formatter(argparse.HelpFormatter):
    def __init__(self, prog: str, look: Look | None = None, **settings: Any) -> None:
        width = min((look or Look.of(sys.stdout)).width, WIDEST)
        settings.setdefault("max_help_position", min(HELP_COLUMN, max(width * 2 // 5, 12)))
        settings.setdefault("width", width)
        super().__init__(prog, **settings)
        if set_colour := getattr(self, "_set_color", None):  # Python 3.14 adds colours of its own
            set_colour(False)

    def _format_action(self, action: argparse.Action) -> str:
        """Omit argparse's line for the group of commands; the heading is enough."""
        if isinstance(action, argparse._SubParsersAction):
            return self._join_parts([self._format_action(one) for one in action._get_subactions()])
        return super()._format_action(action)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """``-o, --out FILE``: the value once, and choices by their metavar."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Keep paragraphs, and leave indented lines alone."""
        return "\n".join(f"{indent}{line}".rstrip() for line in _wrapped(text, width - len(indent)))


def _wrapped(text: str, width: int) -> list[str]:
    from textwrap import wrap

    lines: list[str] = []
    for paragraph in re.split(r"\n{2,}", text.strip("\n")):
        if lines:
            lines.append("")
        if any(line.startswith(" ") for line in paragraph.split("\n")):
            lines += paragraph.split("\n")
        else:
            lines += wrap(paragraph, max(width, 20), break_long_words=False, break_on_hyphens=False)
    return lines


def _painted(line: str, look: Look) -> str:
    if not look.colour:
        return line
    if _HEADING.match(line):
        return _HEADING.sub(lambda found: look.paint("bold", found.group()), line)
    return _NAMES.sub(lambda found: found[1] + look.paint("cyan", found[2]), line)


def absolute(text: str) -> str:
    """The type of an argument that is a path: ``~`` and relative paths become absolute; links stay."""
    return str(Path(text).expanduser().absolute())
