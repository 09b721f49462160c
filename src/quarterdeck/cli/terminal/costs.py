"""What a turn cost, for people. The simulator and a scripted model make their costs up, and then we say so."""

from __future__ import annotations

import os

from quarterdeck.cli.model import SCRIPTED_VARIABLE
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.testing.sim.home import APART_VARIABLE


def is_simulated(options: ClaudeAgentOptions) -> bool:
    """Whether a session with these options costs nothing: ``--agent sim``, or below ``quarterdeck model``."""
    return APART_VARIABLE in options.env or SCRIPTED_VARIABLE in os.environ


def dollars(amount_usd: float, *, simulated: bool) -> str:
    return f"${amount_usd:.4f}{' (simulated)' * simulated}"
