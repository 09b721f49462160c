"""Options → command line.

A value is joined to its flag (``--flag=value``): a value that starts with ``-`` can then never be taken for a flag,
whatever the CLI's parser makes of the option. All five measured versions take this form, empty values included.

Nothing large or secret is written here: prompts, agents and schemas travel in ``initialize``, configuration in private
files. What the caller puts into ``extra_args`` is the caller's decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from quarterdeck.wire.versions import Version

from .launch_versions import UNKNOWN_FLAGS, UnsupportedOptionError, lacks
from .options import ClaudeAgentOptions

BASE = ("--output-format", "stream-json", "--verbose", "--input-format", "stream-json")
"""Without ``--verbose`` the CLI refuses to stream."""

SKILL_SOURCES = ["user", "project"]
"""Where skills are found: read if skills are enabled and no sources were given."""


class CommandLine:
    """The flags so far. Refuses flags that the CLI is known to lack, naming the option they come from."""

    def __init__(self, version_text: str | None, version: Version | None) -> None:
        self.flags: list[str] = []
        self._version_text = version_text or ""
        self._version = version

    def add(self, option: str, flag: str, value: object) -> None:
        """``True`` is the bare flag, a list its items with commas; ``None`` and ``False`` add nothing."""
        if value is None or value is False:
            return
        if isinstance(value, list):
            value = ",".join(value)
        written = flag if value is True else f"{flag}={value}"
        for name in (flag, written):
            if self.lacks(name):
                raise UnsupportedOptionError(option, self._version_text, missing_in=UNKNOWN_FLAGS[name])
        self.flags.append(written)

    def lacks(self, flag: str) -> bool:
        return flag in UNKNOWN_FLAGS and lacks(self._version, UNKNOWN_FLAGS[flag])


def build_flags(options: ClaudeAgentOptions, line: CommandLine) -> list[str]:
    """The flags of checked options; private files add theirs when they have a path."""
    for name, flag, unless in _FLAGS:
        value = getattr(options, name)
        if name in _OWN_WAY:
            _OWN_WAY[name](options, line)
        elif unless:
            line.add(name, unless, not value)
        elif value != [] or name == "tools":  # no tools at all is something to say, an empty list of rules is not
            line.add(name, flag, value)
    _extra(options, line)
    _thinking(options, line)
    line.add("effort", "--effort", options.effort)
    return line.flags


def _allowed_tools(options: ClaudeAgentOptions, line: CommandLine) -> None:
    """``allowed_tools`` and what ``skills`` adds to them."""
    if options.skills is None:
        wanted = []
    elif options.skills == "all":
        wanted = ["Skill"]
    else:
        wanted = [f"Skill({name})" for name in options.skills]
    line.add("allowed_tools", "--allowedTools", list(dict.fromkeys([*options.allowed_tools, *wanted])) or None)


def _setting_sources(options: ClaudeAgentOptions, line: CommandLine) -> None:
    sources: list[Any] | None = options.setting_sources
    line.add(
        "setting_sources",
        "--setting-sources",
        SKILL_SOURCES if sources is None and options.skills is not None else sources,
    )


def _continue(options: ClaudeAgentOptions, line: CommandLine) -> None:
    """Not together with ``resume``: every CLI we measured would then continue the latest session instead of the named
    one."""
    line.add("continue_conversation", "--continue", options.continue_conversation and not options.resume)


def _permission_prompts(options: ClaudeAgentOptions, line: CommandLine) -> None:
    asks_us = options.can_use_tool or options.on_question or options.on_plan
    tool = "stdio" if asks_us else options.permission_prompt_tool_name
    line.add("permission_prompt_tool_name", "--permission-prompt-tool", tool)


def _task_budget(options: ClaudeAgentOptions, line: CommandLine) -> None:
    line.add("task_budget", "--task-budget", options.task_budget and options.task_budget["total"])


def _session_store(options: ClaudeAgentOptions, line: CommandLine) -> None:
    line.add("session_store", "--session-mirror", options.session_store is not None)


def _prompt_file(options: ClaudeAgentOptions, line: CommandLine) -> None:
    prompt = options.system_prompt
    if isinstance(prompt, dict) and prompt["type"] == "file":
        line.add("system_prompt", "--system-prompt-file", prompt["path"])


def _add_dirs(options: ClaudeAgentOptions, line: CommandLine) -> None:
    for directory in options.add_dirs:
        line.add("add_dirs", "--add-dir", directory)


def _plugins(options: ClaudeAgentOptions, line: CommandLine) -> None:
    if options.plugin_delivery == "argv":
        for plugin in options.plugins:
            flag = "--plugin-dir-no-mcp" if plugin.get("skipMcpDiscovery") else "--plugin-dir"
            line.add("plugins", flag, plugin["path"])
    elif options.plugins and options.managed_settings is None:
        line.add("plugin_delivery", "--await-initialize", True)


def _managed_settings(options: ClaudeAgentOptions, line: CommandLine) -> None:
    for flag in ("--await-initialize", "--managed-settings-in-initialize"):
        line.add("managed_settings", flag, options.managed_settings is not None)


_OWN_WAY: dict[str, Callable[[ClaudeAgentOptions, CommandLine], None]] = {
    "allowed_tools": _allowed_tools,
    "system_prompt": _prompt_file,
    "continue_conversation": _continue,
    "permission_prompt_tool_name": _permission_prompts,
    "add_dirs": _add_dirs,
    "setting_sources": _setting_sources,
    "plugins": _plugins,
    "session_store": _session_store,
    "task_budget": _task_budget,
    "managed_settings": _managed_settings,
}
"""Options that depend on others, or become more or less than one flag."""
_AFTER_EXTRA_ARGS = ("max_thinking_tokens", "thinking", "effort")
"""The CLI takes the last of two values: as in the official SDK, ``extra_args`` wins over all options but these."""


_FLAGS = [
    (field.name, field.metadata["flag"], field.metadata["unless"])
    for field in fields(ClaudeAgentOptions)
    if field.name not in _AFTER_EXTRA_ARGS
    and (field.metadata["flag"] or field.metadata["unless"] or field.name in _OWN_WAY)
]


def _extra(options: ClaudeAgentOptions, line: CommandLine) -> None:
    # Not checked against the version: whoever names a flag knows the CLI it is for. In two words, because the CLI
    # refuses ``--switch=value`` and overlooks the value in ``--switch value``.
    for name, value in options.extra_args.items():
        if value is None:
            line.flags.append(f"--{name}")
        elif value.startswith("-"):
            line.flags.append(f"--{name}={value}")
        else:
            line.flags += [f"--{name}", value]


def _thinking(options: ClaudeAgentOptions, line: CommandLine) -> None:
    thinking: Any = options.thinking
    if thinking is None:
        line.add("max_thinking_tokens", "--max-thinking-tokens", options.max_thinking_tokens)
    elif thinking["type"] == "enabled":
        line.add("thinking", "--max-thinking-tokens", thinking["budget_tokens"])
    elif thinking["type"] == "disabled" and line.lacks("--thinking"):
        line.add("thinking", "--max-thinking-tokens", 0)  # the same in the terms of CLIs up to 2.1.25
    else:
        line.add("thinking", "--thinking", thinking["type"])
    line.add("thinking", "--thinking-display", (thinking or {}).get("display"))


def runtime_argv(options: ClaudeAgentOptions, cli: Iterable[str]) -> list[str]:
    """How the CLI is started: a script with the runtime that was asked for, a native program as it is."""
    prefix = list(cli)
    is_script = len(prefix) > 1 and Path(prefix[-1]).suffix in {".js", ".mjs", ".cjs"}
    if not is_script:
        return prefix
    runtime, *rest = prefix
    return [options.executable or runtime, *options.executable_args, *rest]
