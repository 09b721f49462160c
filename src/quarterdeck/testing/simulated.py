"""Which sessions cost nothing: those of the simulator, and those of the real CLI on a scripted model.

The simulator keeps its sessions where the CLI does, or in a folder beside the CLI's, to avoid confusion.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .sim.flags import Flags

APART_VARIABLE = "QUARTERDECK_SIM_APART"
"""Set by everything a user starts: ``executable()``, ``quarterdeck sim``, ``--agent sim``. Without it the
simulator uses the CLI's own folder, which a test points elsewhere."""
SCRIPTED_VARIABLE = "QUARTERDECK_SCRIPTED_MODEL"
"""Set by ``quarterdeck model`` for the command that it runs."""
VARIABLES = (APART_VARIABLE, SCRIPTED_VARIABLE)


def is_simulator(env: Mapping[str, str]) -> bool:
    """Whether a session with this environment runs on the simulator, with a folder of its own."""
    return bool(env.get(APART_VARIABLE))


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


def is_simulated(env: Mapping[str, str]) -> bool:
    """Whether a session with this environment has simulated costs."""
    return any(env.get(name) for name in VARIABLES)


def dollars(amount_usd: float, *, simulated: bool) -> str:
    """The amount, marked if it is simulated."""
    return f"${amount_usd:.4f}{' (simulated)' * simulated}"
