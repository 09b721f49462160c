"""Which sessions cost nothing: those of the simulator, and those of the real CLI on a scripted model."""

from __future__ import annotations

from collections.abc import Mapping

APART_VARIABLE = "QUARTERDECK_SIM_APART"
"""Set by everything that a person starts: ``executable()``, ``quarterdeck sim``, ``--agent sim``. Without it the
simulator uses the CLI's own folder, which a test points elsewhere."""
SCRIPTED_VARIABLE = "QUARTERDECK_SCRIPTED_MODEL"
"""Set by ``quarterdeck model`` for the command that it runs."""
VARIABLES = (APART_VARIABLE, SCRIPTED_VARIABLE)


def is_simulator(env: Mapping[str, str]) -> bool:
    """Whether a session with this environment runs on the simulator, with a folder of its own."""
    return bool(env.get(APART_VARIABLE))


def is_simulated(env: Mapping[str, str]) -> bool:
    """Whether the costs of a session with this environment are made up."""
    return any(env.get(name) for name in VARIABLES)


def dollars(amount_usd: float, *, simulated: bool) -> str:
    """The amount, marked if it is made up."""
    return f"${amount_usd:.4f}{' (simulated)' * simulated}"
