"""Where the simulator keeps its sessions: like the CLI, or next to the CLI's folder, to avoid confusion."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from quarterdeck.testing.simulated import APART_VARIABLE

from .flags import Flags


def config_dir(env: Mapping[str, str], flags: Flags) -> Path:
    """The folder of a simulator that is started with this environment and these flags."""
    # Programs that mirror transcripts into a store derive the keys from the CLI's folder.
    apart = env.get(APART_VARIABLE) and "--session-mirror" not in flags
    return simulator_home(env) if apart else _cli_home(env)


def simulator_home(env: Mapping[str, str]) -> Path:
    """``~/.claude-simulator``, or what ``CLAUDE_CONFIG_DIR`` names, with ``-simulator`` appended."""
    own = _cli_home(env)
    return own.with_name(f"{own.name}-simulator")


def _cli_home(env: Mapping[str, str]) -> Path:
    given = env.get("CLAUDE_CONFIG_DIR")
    return Path(given) if given else Path(env.get("HOME") or Path.home()) / ".claude"
