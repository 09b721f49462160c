"""Where the simulator keeps its sessions: like the CLI, or next to the CLI's folder, to avoid confusion."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from quarterdeck.testing.simulated import is_simulator

from .flags import Flags


def config_dir(env: Mapping[str, str], flags: Flags) -> Path:
    """The folder of a simulator that is started with this environment and these flags."""
    return simulator_home(env) if is_apart(env, flags) else _cli_home(env)


def is_apart(env: Mapping[str, str], flags: Flags) -> bool:
    """Whether the simulator has a folder of its own."""
    # Programs that mirror transcripts into a store derive the keys from the CLI's folder.
    return is_simulator(env) and "--session-mirror" not in flags


def simulator_home(env: Mapping[str, str]) -> Path:
    """``~/.claude-simulator``, or what ``CLAUDE_CONFIG_DIR`` names, with ``-simulator`` appended."""
    own = _cli_home(env)
    return own.with_name(f"{own.name}-simulator")


def _cli_home(env: Mapping[str, str]) -> Path:
    given = env.get("CLAUDE_CONFIG_DIR")
    return Path(given) if given else Path(env.get("HOME") or Path.home()) / ".claude"
