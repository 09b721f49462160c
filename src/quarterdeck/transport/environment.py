"""The CLI's environment.

It is inherited, except for what would mislead the CLI: variables that Claude Code sets for its own children, and
switches meant for the calling program (``NODE_OPTIONS`` with a debugger would stop the CLI at its first line).
Variables the caller sets explicitly are always kept.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

ENTRYPOINT = "CLAUDE_CODE_ENTRYPOINT"
SDK_VERSION = "CLAUDE_AGENT_SDK_VERSION"
DEBUG_SWITCH = "DEBUG_CLAUDE_AGENT_SDK"
DEFAULT_ENTRYPOINT = "sdk-py"

NESTING_VARIABLES = frozenset(
    {
        # Seen in the environment of a Bash tool call (2.1.325; only the first, on 2.1.52 and older).
        "CLAUDECODE",
        "AI_AGENT",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_EXECPATH",
        "CLAUDE_CODE_MESSAGING_SOCKET",
        "CLAUDE_CODE_MESSAGING_TOKEN",
        "CLAUDE_CODE_SESSION_ATTENDED",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_EFFORT",
        "CLAUDE_PID",
        # Set for hooks, plugins and MCP servers.
        "CLAUDE_CODE_CHROME_MCP_ORG_DENIED",
        "CLAUDE_CODE_INVOKED_SKILLS",
        "CLAUDE_ENV_FILE",
        "CLAUDE_PLUGIN_DATA",
        "CLAUDE_PLUGIN_ROOT",
        "CLAUDE_PROJECT_DIR",
        # The outer session's connection to its own host: an IDE, a bridge, a background job, another SDK.
        "CLAUDE_AGENT_SDK_DERIVED_CLIENT_APP",
        "CLAUDE_CODE_BRIDGE_SESSION_ID",
        "CLAUDE_CODE_HOST_WORKTREE",
        "CLAUDE_CODE_HOST_WORKTREE_FENCE",
        "CLAUDE_CODE_RESUME_INTERRUPTED_TURN",
        "CLAUDE_CODE_RESUME_PROMPT",
        "CLAUDE_CODE_RESUME_REASON",
        "CLAUDE_CODE_SDK_HAS_OAUTH_REFRESH",
        "CLAUDE_CODE_SDK_READS_SESSION_STATE",
        "CLAUDE_CODE_SDK_READS_STARTUP_MARKS",
        "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
        "CLAUDE_CODE_SESSION_KIND",
        "CLAUDE_CODE_SKIP_PROMPT_HISTORY",
        "CLAUDE_CODE_SSE_PORT",
        "CLAUDE_JOB_DIR",
    }
)
"""Never inherited. (The official Python SDK drops only ``CLAUDECODE``: its children still join the outer session.)"""

FOREIGN_SWITCHES = frozenset({"NODE_OPTIONS", "DEBUG", ENTRYPOINT, SDK_VERSION})
"""Also never inherited: meant for other programs, or set by us."""

ALWAYS_INHERITED = frozenset({"SYSTEMROOT"})
"""Kept even with an allow-list: no program starts on Windows without it."""


def child_environment(
    overlay: Mapping[str, str | None] | None = None,
    *,
    sdk_version: str,
    inherited: Mapping[str, str] | None = None,
    allow: Collection[str] | None = None,
    entrypoint: str = DEFAULT_ENTRYPOINT,
    cwd: str | os.PathLike[str] | None = None,
) -> dict[str, str]:
    """Build the environment of a new CLI.

    ``overlay`` adds to the inherited variables; ``None`` removes one. ``allow`` limits what is inherited to these
    names, where ``*`` matches any characters.
    """
    source = os.environ if inherited is None else inherited
    built = {name: value for name, value in source.items() if _is_inherited(name, allow)}
    built[ENTRYPOINT] = entrypoint
    for name, value in (overlay or {}).items():
        if value is None:
            built.pop(name, None)
        else:
            built[name] = value
    built[SDK_VERSION] = sdk_version
    if _is_on(built.get(DEBUG_SWITCH)):
        built.setdefault("DEBUG", "1")
    if cwd is not None:
        # Shells and node trust PWD over getcwd() where both name the same place, and keep its symbolic links.
        built["PWD"] = os.path.abspath(cwd)  # noqa: PTH100  # Path.absolute() leaves ".." in
    return built


def _is_inherited(name: str, allow: Collection[str] | None) -> bool:
    if name in NESTING_VARIABLES or name in FOREIGN_SWITCHES:
        return False
    return allow is None or name in ALWAYS_INHERITED or any(fnmatchcase(name, pattern) for pattern in allow)


def _is_on(value: str | None) -> bool:
    return value is not None and value.strip().lower() in {"1", "true", "yes", "on"}
