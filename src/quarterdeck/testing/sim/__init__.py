"""A ``claude`` that is not a model: takes the CLI's flags, speaks its whole protocol, plays a scenario.

``executable()`` for any SDK's ``cli_path``; ``SimulatedCli`` in a test without a process; ``Scenario`` and the steps
to say what happens; ``load`` for a scenario file. All is imported when first asked for: the simulator starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .launch import executable
    from .positions import ScenarioFileError
    from .scenario import Ask, Brain, Rule, Scenario
    from .scenario_file import load
    from .simulator import SimulatedCli
    from .steps import (
        Agent,
        Compact,
        Emit,
        End,
        Error,
        Exit,
        Next,
        Pause,
        Plan,
        RateLimit,
        RawBlock,
        RedactedThinking,
        Reply,
        Stop,
        Suggest,
        Text,
        Thinking,
        Tool,
        ToolUse,
        Usage,
        WaitFor,
    )

__all__ = [
    "Agent",
    "Ask",
    "Brain",
    "Compact",
    "Emit",
    "End",
    "Error",
    "Exit",
    "Next",
    "Pause",
    "Plan",
    "RateLimit",
    "RawBlock",
    "RedactedThinking",
    "Reply",
    "Rule",
    "Scenario",
    "ScenarioFileError",
    "SimulatedCli",
    "Stop",
    "Suggest",
    "Text",
    "Thinking",
    "Tool",
    "ToolUse",
    "Usage",
    "WaitFor",
    "executable",
    "load",
]

_HOMES = {
    "Ask": "scenario",
    "Brain": "scenario",
    "Rule": "scenario",
    "Scenario": "scenario",
    "ScenarioFileError": "positions",
    "SimulatedCli": "simulator",
    "executable": "launch",
    "load": "scenario_file",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'steps')}"), name)
