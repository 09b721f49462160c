"""Options → command line.

A value is always joined to its flag (``--flag=value``): a value that starts with ``-`` can then never be taken for a
flag, whatever the CLI's parser makes of the option. All five measured versions take this form, empty values included.

Nothing large or secret is written here: prompts, agents and schemas travel in ``initialize``, configuration in private
files. What the caller puts into ``extra_args`` is the caller's decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from quarterdeck.wire.versions import Version

from .launch_versions import UNKNOWN_FLAGS, UnsupportedOptionError, lacks
from .options import ClaudeAgentOptions

BASE = ("--output-format", "stream-json", "--verbose", "--input-format", "stream-json")
"""Without ``--verbose`` the CLI refuses to stream."""

SKILL_SOURCES = ["user", "project"]
"""Where skills live: read when skills are asked for and nothing else was said."""


class CommandLine:
    """The flags so far. Refuses those that the CLI is known not to have, by the name of the option they come from."""

    def __init__(self, version_text: str | None, version: Version | None) -> None:
        self.flags: list[str] = []
        self._version_text = version_text or ""
        self._version = version

    def switch(self, option: str, flag: str, on: bool) -> None:
        if on:
            self._add(option, flag, flag)

    def value(self, option: str, flag: str, value: object) -> None:
        """``None`` adds nothing; an empty string is a value."""
        if value is not None:
            self._add(option, flag, f"{flag}={value}")

    def text(self, option: str, flag: str, value: str | None) -> None:
        """Like ``value``, but an empty string means unset, as in the official SDK."""
        self.value(option, flag, value or None)

    def joined(self, option: str, flag: str, values: Iterable[str] | None) -> None:
        if values is not None:
            self.value(option, flag, ",".join(values))

    def lacks(self, flag: str) -> bool:
        return flag in UNKNOWN_FLAGS and lacks(self._version, UNKNOWN_FLAGS[flag])

    def require(self, option: str, flag: str) -> None:
        if self.lacks(flag):
            raise UnsupportedOptionError(option, self._version_text, missing_in=UNKNOWN_FLAGS[flag])

    def _add(self, option: str, flag: str, argument: str) -> None:
        self.require(option, flag)
        self.require(option, argument)
        self.flags.append(argument)


def build_flags(options: ClaudeAgentOptions, line: CommandLine) -> list[str]:
    """The flags of all options; private files add theirs when they have a path."""
    steps: tuple[Callable[[ClaudeAgentOptions, CommandLine], None], ...] = (
        _tools,
        _limits,
        _model,
        _permissions,
        _session,
        _places,
        _output,
        _modes,
        _extra,
    )
    for step in steps:
        step(options, line)
    return line.flags


def _tools(options: ClaudeAgentOptions, line: CommandLine) -> None:
    tools = options.tools
    line.joined("tools", "--tools", ["default"] if isinstance(tools, dict) else tools)
    line.joined("allowed_tools", "--allowedTools", effective_allowed_tools(options) or None)
    line.joined("disallowed_tools", "--disallowedTools", options.disallowed_tools or None)
    line.switch("slash_commands", "--disable-slash-commands", not options.slash_commands)


def effective_allowed_tools(options: ClaudeAgentOptions) -> list[str]:
    """``allowed_tools`` and what ``skills`` adds to them."""
    if options.skills is None:
        wanted = []
    elif options.skills == "all":
        wanted = ["Skill"]
    else:
        wanted = [f"Skill({name})" for name in options.skills]
    return list(dict.fromkeys([*options.allowed_tools, *wanted]))


def _limits(options: ClaudeAgentOptions, line: CommandLine) -> None:
    line.value("max_turns", "--max-turns", options.max_turns)
    line.value("max_budget_usd", "--max-budget-usd", options.max_budget_usd)
    line.value("task_budget", "--task-budget", options.task_budget and options.task_budget["total"])
    line.value("auto_compact", "--autocompact", options.auto_compact)


def _model(options: ClaudeAgentOptions, line: CommandLine) -> None:
    line.text("model", "--model", options.model)
    line.text("fallback_model", "--fallback-model", options.fallback_model)
    line.joined("betas", "--betas", options.betas or None)
    line.text("agent", "--agent", options.agent)
    line.value("effort", "--effort", options.effort)
    if options.thinking is None:
        line.value("max_thinking_tokens", "--max-thinking-tokens", options.max_thinking_tokens)
    else:
        _thinking(options.thinking, line)


def _thinking(thinking: Any, line: CommandLine) -> None:
    if thinking["type"] == "enabled":
        line.value("thinking", "--max-thinking-tokens", thinking["budget_tokens"])
    elif thinking["type"] == "disabled" and line.lacks("--thinking"):
        line.value("thinking", "--max-thinking-tokens", 0)  # the same thing in the words of CLIs up to 2.1.25
    else:
        line.value("thinking", "--thinking", thinking["type"])
    if thinking["type"] != "disabled":
        line.value("thinking", "--thinking-display", thinking.get("display"))


def _permissions(options: ClaudeAgentOptions, line: CommandLine) -> None:
    line.text("permission_mode", "--permission-mode", options.permission_mode)
    asks_us = options.can_use_tool or options.on_question or options.on_plan
    tool = "stdio" if asks_us else options.permission_prompt_tool_name
    line.text("permission_prompt_tool_name", "--permission-prompt-tool", tool)
    line.value("permission_prompts", "--permission-prompts", options.permission_prompts)
    line.switch(
        "allow_dangerously_skip_permissions",
        "--allow-dangerously-skip-permissions",
        options.allow_dangerously_skip_permissions,
    )
    line.switch("restricted", "--restricted", options.restricted)


def _session(options: ClaudeAgentOptions, line: CommandLine) -> None:
    line.switch("continue_conversation", "--continue", options.continue_conversation and not options.resume)
    line.text("resume", "--resume", options.resume)
    line.text("session_id", "--session-id", options.session_id)
    line.switch("fork_session", "--fork-session", options.fork_session)
    line.text("resume_session_at", "--resume-session-at", options.resume_session_at)
    line.value("resume_drops_turn", "--resume-drops-turn", options.resume_drops_turn)
    line.switch("persist_session", "--no-session-persistence", not options.persist_session)
    line.switch("session_store", "--session-mirror", options.session_store is not None)


def _places(options: ClaudeAgentOptions, line: CommandLine) -> None:
    for directory in options.add_dirs:
        line.value("add_dirs", "--add-dir", directory)
    line.value("project_config_root", "--project-config-root", options.project_config_root)
    line.switch("strict_mcp_config", "--strict-mcp-config", options.strict_mcp_config)
    sources: list[Any] | None = options.setting_sources
    if sources is None and options.skills is not None:
        sources = SKILL_SOURCES
    line.joined("setting_sources", "--setting-sources", sources)
    if options.plugin_delivery == "argv":
        for plugin in options.plugins:
            flag = "--plugin-dir-no-mcp" if plugin.get("skipMcpDiscovery") else "--plugin-dir"
            line.value("plugins", flag, plugin["path"])
    managed = options.managed_settings is not None
    by_initialize = bool(options.plugins) and options.plugin_delivery == "initialize"
    cause = "managed_settings" if managed else "plugin_delivery"
    line.switch(cause, "--await-initialize", managed or by_initialize)
    line.switch("managed_settings", "--managed-settings-in-initialize", managed)


def _output(options: ClaudeAgentOptions, line: CommandLine) -> None:
    line.switch("include_partial_messages", "--include-partial-messages", options.include_partial_messages)
    line.switch("include_hook_events", "--include-hook-events", options.include_hook_events)
    line.switch("replay_user_messages", "--replay-user-messages", options.replay_user_messages)
    line.switch("auth_status", "--enable-auth-status", options.auth_status)
    line.switch("debug", "--debug", options.debug)
    line.value("debug_file", "--debug-file", options.debug_file)
    prompt = options.system_prompt
    if isinstance(prompt, dict) and prompt["type"] == "file":
        line.value("system_prompt", "--system-prompt-file", prompt["path"])


def _modes(options: ClaudeAgentOptions, line: CommandLine) -> None:
    line.switch("bare", "--bare", options.bare)
    line.switch("safe_mode", "--safe-mode", options.safe_mode)


def _extra(options: ClaudeAgentOptions, line: CommandLine) -> None:
    # Not checked against the version: whoever names a flag knows the CLI it is for.
    for name, value in options.extra_args.items():
        line.flags.append(f"--{name}" if value is None else f"--{name}={value}")


def runtime_argv(options: ClaudeAgentOptions, cli: Iterable[str]) -> list[str]:
    """How the CLI is started: a script with the runtime that was asked for, a native program as it is."""
    prefix = list(cli)
    is_script = len(prefix) > 1 and Path(prefix[-1]).suffix in {".js", ".mjs", ".cjs"}
    if not is_script:
        return prefix
    runtime, *rest = prefix
    return [options.executable or runtime, *options.executable_args, *rest]
