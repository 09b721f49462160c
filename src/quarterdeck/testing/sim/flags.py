"""The command line, as the real CLI 2.1.325 reads it: which flags there are, and which take a value.

Flags that mean nothing to a simulator are taken all the same, so that any SDK can start it with any option.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

SWITCHES = frozenset(
    [
        "--print",
        "--verbose",
        "--include-partial-messages",
        "--include-hook-events",
        "--replay-user-messages",
        "--continue",
        "--fork-session",
        "--no-session-persistence",
        "--session-mirror",
        "--await-initialize",
        "--enable-auth-status",
        "--strict-mcp-config",
        "--dangerously-skip-permissions",
        "--allow-dangerously-skip-permissions",
        "--forward-subagent-text",
        "--prompt-suggestions",
        "--bare",
        "--bg",
        "--brief",
        "--chrome",
        "--no-chrome",
        "--desktop",
        "--disable-slash-commands",
        "--ide",
        "--restricted",
        "--safe-mode",
        "--exclude-dynamic-system-prompt-sections",
        "--system-prompt-snapshot",
        "--ax-screen-reader",
        "--mcp-debug",
        "--init",
        "--init-only",
        "--maintenance",
        "--await-claim",
        "--managed-settings-in-initialize",
        "--fast-mode",
        "--debug-to-stderr",
        "--version",
        "--help",
    ]
)
VALUES = frozenset(
    [
        "--output-format",
        "--input-format",
        "--permission-prompt-tool",
        "--permission-prompts",
        "--permission-mode",
        "--model",
        "--fallback-model",
        "--max-turns",
        "--max-budget-usd",
        "--max-thinking-tokens",
        "--task-budget",
        "--thinking",
        "--thinking-display",
        "--effort",
        "--session-id",
        "--resume-session-at",
        "--resume-drops-turn",
        "--settings",
        "--managed-settings",
        "--setting-sources",
        "--json-schema",
        "--system-prompt",
        "--system-prompt-file",
        "--append-system-prompt",
        "--append-system-prompt-file",
        "--append-subagent-system-prompt",
        "--append-subagent-system-prompt-file",
        "--agent",
        "--agents",
        "--name",
        "--plugin-dir",
        "--plugin-dir-no-mcp",
        "--plugin-url",
        "--project-config-root",
        "--debug-file",
        "--sdk-url",
        "--autocompact",
        "--cloud",
        "--environment",
        "--file",
        "--remote-control-session-name-prefix",
        "--teleport",
        "--plan-mode-instructions",
        "--rewind-files",
        "--advisor",
        "--proactivity",
        "--teammate-mode",
        "--messaging-socket-path",
        "--parent-session-id",
        "--prefill",
        "--channels",
        "--scenario",
    ]
)
OPTIONAL = frozenset(["--resume", "--debug", "--from-pr", "--worktree", "--tmux", "--remote-control"])
"""A value may follow."""
MANY = frozenset(["--allowedTools", "--disallowedTools", "--tools", "--add-dir", "--mcp-config", "--betas"])
"""All that follows, up to the next flag."""
OTHER_NAMES = {
    "-p": "--print",
    "-c": "--continue",
    "-r": "--resume",
    "-n": "--name",
    "-w": "--worktree",
    "-d": "--debug",
    "-h": "--help",
    "-v": "--version",
    "--allowed-tools": "--allowedTools",
    "--disallowed-tools": "--disallowedTools",
}


class FlagError(Exception):
    """A command line that the CLI refuses; the message is what it writes to stderr, with exit code 1."""


class Flags:
    """The parsed command line: ``flags.get("--model")``, ``"--verbose" in flags``."""

    def __init__(self) -> None:
        self.values: dict[str, list[str]] = {}
        self.prompt = ""
        """What is no flag: with ``--print``, the prompt."""

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def get(self, name: str) -> str | None:
        """The last value given, ``""`` if the flag had none."""
        given = self.values.get(name)
        return None if given is None else (given[-1] if given else "")

    def number(self, name: str) -> float | None:
        text = self.get(name)
        try:
            return None if text is None else float(text)
        except ValueError:
            raise FlagError(f"error: option '{name} <n>' argument '{text}' is invalid.") from None

    def names(self, name: str) -> list[str]:
        """A list of tools, however it was cut: ``A,B``, ``A B``, or the flag twice; ``Bash(a, b)`` stays whole."""
        return [word for value in self.values.get(name, []) for word in _split_names(value)]

    def objects(self, name: str) -> list[dict[str, Any]]:
        """JSON objects given as text or as the path of a file."""
        return [self._object(name, value) for value in self.values.get(name, []) if value]

    def _object(self, name: str, value: str) -> dict[str, Any]:
        try:
            if value.lstrip().startswith("{"):
                found = json.loads(value)
            else:
                with open(value, encoding="utf-8") as file:  # noqa: PTH123  # pathlib is not needed for one file at start
                    found = json.load(file)
        except (OSError, ValueError) as error:
            raise FlagError(f"Error: {name}: {value!r} is neither a JSON object nor a file with one: {error}") from None
        if not isinstance(found, dict):
            raise FlagError(f"Error: {name}: expected a JSON object, found {type(found).__name__}")
        return found


def parse(argv: Sequence[str]) -> Flags:
    flags, words = Flags(), list(argv)
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if not word.startswith("-") or word == "-":
            flags.prompt = flags.prompt or word
            continue
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        name = OTHER_NAMES.get(name, name)
        taken = flags.values.setdefault(name, [])
        if equals:
            taken.append(value)
        position = _take_values(name, words, position, taken, has_value=bool(equals))
    return flags


def _take_values(name: str, words: list[str], position: int, taken: list[str], *, has_value: bool) -> int:
    if name in SWITCHES or (has_value and name in VALUES | OPTIONAL | MANY):
        return position
    if name in VALUES:
        if position >= len(words):
            raise FlagError(f"error: option '{name} <value>' argument missing")
        taken.append(words[position])
        return position + 1
    if name in OPTIONAL:
        if position < len(words) and not words[position].startswith("-"):
            taken.append(words[position])
            return position + 1
        return position
    if name in MANY:
        while position < len(words) and not words[position].startswith("-"):
            taken.append(words[position])
            position += 1
        return position
    raise FlagError(f"error: unknown option '{name}'")


def _split_names(text: str) -> list[str]:
    words, depth, start = [], 0, 0
    for index, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and char in ", ":
            words.append(text[start:index])
            start = index + 1
    return [word.strip() for word in (*words, text[start:]) if word.strip()]


HELP = """Usage: claude [options] [prompt]

A Claude Code CLI that is not a model: quarterdeck's simulator. It takes the flags of Claude Code 2.1.325.

Options of the simulator:
  --scenario <file>   what to play: YAML or JSON (also: QUARTERDECK_SIM_SCENARIO=<file>);
                      without one, a friendly assistant that reads and edits files of the working directory

Options of Claude Code that it honours:
"""


def help_text() -> str:
    named = sorted((SWITCHES | VALUES | OPTIONAL | MANY) - {"--scenario"})
    return HELP + "".join(f"  {name}{_shape(name)}\n" for name in named)


def _shape(name: str) -> str:
    if name in VALUES:
        return " <value>"
    return " [value]" if name in OPTIONAL else " <values...>" if name in MANY else ""
