"""Where the simulator keeps its sessions: as the CLI does, or beside the CLI's folder, so that nobody mixes them up."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from quarterdeck.testing.simulated import APART_VARIABLE

from .flags import Flags


def config_dir(env: Mapping[str, str], flags: Flags) -> Path:
    """The folder of a simulator that is started with this environment and these flags."""
    # Whoever mirrors transcripts into a store works out their keys from the CLI's folder.
    apart = env.get(APART_VARIABLE) and "--session-mirror" not in flags
    return simulator_home(env) if apart else _cli_home(env)


def simulator_home(env: Mapping[str, str]) -> Path:
    """``~/.claude-simulator``, or what ``CLAUDE_CONFIG_DIR`` names, with ``-simulator`` appended."""
    own = _cli_home(env)
    return own.with_name(f"{own.name}-simulator")


def _cli_home(env: Mapping[str, str]) -> Path:
    given = env.get("CLAUDE_CONFIG_DIR")
    return Path(given) if given else Path(env.get("HOME") or Path.home()) / ".claude"
