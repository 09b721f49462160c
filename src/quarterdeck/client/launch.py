"""Options → everything needed to start a session, as data.

``plan_launch`` decides; nothing is started, written or looked up, but for a settings file that must be merged with the
sandbox, which is read through a function handed in. The transport then writes the private files and starts the process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec

from quarterdeck._version import RELEASE
from quarterdeck.wire._json import dumps, loads
from quarterdeck.wire.requests.session import InitializeRequest
from quarterdeck.wire.versions import Version, parse_version

from .errors import CLIConnectionError
from .launch_argv import BASE, CommandLine, build_flags, runtime_argv
from .launch_initialize import RegisteredHook, build_initialize, ignored_fields, register_hooks, sdk_server_configs
from .launch_versions import (
    NAMED_AGENT_FROM_INITIALIZE_IGNORED,
    VERBATIM_PROMPTS_IGNORED,
    UnsupportedOptionError,
    lacks,
)
from .options import ClaudeAgentOptions
from .validate import validate_options

READS_SESSION_STATE = "CLAUDE_CODE_SDK_READS_SESSION_STATE"
"""Makes the CLI (2.1.325; older ones ignore it) report when it is idle."""
QUESTION_PREVIEW = "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT"


class ScratchFile(msgspec.Struct, frozen=True):
    """A private file whose path goes on the command line as ``flag=path``."""

    flag: str
    name: str
    content: bytes

    def __repr__(self) -> str:
        return f"ScratchFile({self.flag}, {self.name}, {len(self.content)} bytes)"


class LaunchPlan(msgspec.Struct, frozen=True):
    """How to start the CLI, and what to send it first."""

    argv: tuple[str, ...]
    """Without the flags of ``files``."""
    env: dict[str, str]
    """On top of the inherited environment; not shown, as it may hold keys."""
    initialize: InitializeRequest
    files: tuple[ScratchFile, ...] = ()
    cwd: Path | None = None
    user: str | None = None
    env_allow: tuple[str, ...] | None = None
    """The names to inherit; None for all."""
    sdk_version: str = RELEASE
    hooks: dict[str, RegisteredHook] | None = None
    """Callback id → what to call."""
    sdk_servers: dict[str, Any] | None = None
    """Name → the server object in this process."""
    client_composed: bool = False
    """Mark each user message as composed by the program, so that its text is only text."""
    must_block_on_hook_failure: bool = False
    """A hook is set to block when it fails: an answer to ``initialize`` without ``hook_on_failure_supported``, or with
    ``hooks_applied`` false, must end the start with an error, otherwise the guard would fail open."""
    ignored: tuple[str, ...] = ()
    """Options that this version of the CLI is known to ignore: worth a warning in the log."""

    def __repr__(self) -> str:
        return f"LaunchPlan({' '.join(self.argv)}, files={list(self.files)}, cwd={self.cwd})"

    def command(self, write: Callable[[str, bytes], str | Path]) -> list[str]:
        """The whole command line. ``write`` makes a private file and returns its path."""
        return [*self.argv, *(f"{file.flag}={write(file.name, file.content)}" for file in self.files)]


def _read_settings(path: Path) -> bytes:
    return path.read_bytes()


def plan_launch(
    options: ClaudeAgentOptions,
    *,
    cli: Sequence[str],
    version: str | None = None,
    read_bytes: Callable[[Path], bytes] = _read_settings,
) -> LaunchPlan:
    """Check the options and work out the launch. ``cli`` is how the found CLI is started, ``version`` what it says.

    Raises ``TypeError`` or ``ValueError`` for options that cannot be, ``UnsupportedOptionError`` (a ``ValueError``) for
    one that this CLI is too old for, and ``CLIConnectionError`` if settings to be merged cannot be read.
    """
    options = validate_options(options)
    known = parse_version(version)
    _check_agent(options, version, known)
    line = CommandLine(version, known)
    hooks = register_hooks(options)
    initialize = build_initialize(options, hooks, known)
    argv = [*runtime_argv(options, cli), *BASE, *build_flags(options, line)]
    files = [*_mcp_config(options, argv), *_settings(options, argv, read_bytes)]
    ignored = ignored_fields(initialize, known)
    if options.verbatim_prompts and lacks(known, VERBATIM_PROMPTS_IGNORED):
        ignored.append("verbatim_prompts")
    return LaunchPlan(
        argv=tuple(argv),
        env=_environment(options),
        initialize=initialize,
        files=tuple(files),
        cwd=None if options.cwd is None or options.cwd == "" else Path(options.cwd),
        user=options.user,
        env_allow=None if options.env_allow is None else tuple(options.env_allow),
        hooks=hooks,
        sdk_servers={name: config["instance"] for name, config in sdk_server_configs(options).items()},
        client_composed=options.verbatim_prompts,
        must_block_on_hook_failure=any(hook.on_failure == "block" for hook in hooks.values()),
        ignored=tuple(ignored),
    )


def _check_agent(options: ClaudeAgentOptions, version: str | None, known: Version | None) -> None:
    if options.agent in (options.agents or {}) and lacks(known, NAMED_AGENT_FROM_INITIALIZE_IGNORED):
        raise UnsupportedOptionError(
            "agent (for one that is defined in agents)",
            version or "",
            missing_in=NAMED_AGENT_FROM_INITIALIZE_IGNORED,
        )


def _mcp_config(options: ClaudeAgentOptions, argv: list[str]) -> list[ScratchFile]:
    """Servers carry tokens in their environment and headers, so they go into a file; a path is passed as it is."""
    servers = options.mcp_servers
    if not isinstance(servers, dict):
        text = str(servers)
        if _is_json_text(text):
            return [ScratchFile("--mcp-config", "mcp.json", text.encode())]
        if text:
            argv.append(f"--mcp-config={text}")
        return []
    external = {name: config for name, config in servers.items() if config.get("type") != "sdk"}
    return [ScratchFile("--mcp-config", "mcp.json", dumps({"mcpServers": external}))] if external else []


def _settings(options: ClaudeAgentOptions, argv: list[str], read_bytes: Callable[[Path], bytes]) -> list[ScratchFile]:
    settings = options.settings
    if options.sandbox is not None:
        content = dumps({**_loaded_settings(options, read_bytes), "sandbox": options.sandbox})
    elif settings is None or settings == "":
        return []
    elif isinstance(settings, dict):
        content = dumps(settings)
    elif isinstance(settings, str) and _is_json_text(settings):
        content = settings.encode()
    else:
        argv.append(f"--settings={settings}")
        return []
    return [ScratchFile("--settings", "settings.json", content)]


def _loaded_settings(options: ClaudeAgentOptions, read_bytes: Callable[[Path], bytes]) -> Mapping[str, Any]:
    settings = options.settings
    if not settings:
        return {}
    if isinstance(settings, dict):
        return settings
    try:
        if isinstance(settings, str) and _is_json_text(settings):
            text = settings.encode()
        else:
            # As the CLI would: relative to its directory, and with or without a byte order mark.
            text = read_bytes(Path(options.cwd or "") / settings).removeprefix(b"\xef\xbb\xbf")
        loaded = loads(text)
        if not isinstance(loaded, dict):
            raise ValueError("settings must be a JSON object to be merged with sandbox")
    except (OSError, ValueError) as error:
        raise CLIConnectionError(f"Failed to load settings: {error}") from error
    return loaded


def _is_json_text(text: str) -> bool:
    stripped = text.strip()
    return stripped.startswith("{") and stripped.endswith("}")


_VARIABLES = {field.name: field.metadata["env"] for field in fields(ClaudeAgentOptions) if field.metadata["env"]}


def _environment(options: ClaudeAgentOptions) -> dict[str, str]:
    env = dict(options.env)
    if not any(name.upper() == READS_SESSION_STATE for name in env):
        env[READS_SESSION_STATE] = "1"
    for name, variable in _VARIABLES.items():
        value = getattr(options, name)
        if value is not None and value is not False:
            env[variable] = "true" if value is True else value
    preview = ((options.tool_config or {}).get("askUserQuestion") or {}).get("previewFormat")
    if preview is not None:
        env[QUESTION_PREVIEW] = preview
    return env
