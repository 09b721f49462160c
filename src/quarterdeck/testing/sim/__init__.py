"""A ``claude`` without a model: accepts the CLI's flags, speaks its whole protocol and plays a scenario.

Use ``executable()`` for any SDK's ``cli_path``, ``SimulatedCli`` in a test without a process, ``Scenario`` with its
steps for a script, and ``load`` for a scenario file. Names are imported on first use, so the simulator starts fast.
"""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from .launch import executable
    from .positions import ScenarioFileError
    from .scenario import Ask, Brain, PromptRule, Scenario
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

__all__: list[str] = []
_names = LazyNames(globals())
_names.of(".launch")
__all__ += ["executable"]
_names.of(".positions")
__all__ += ["ScenarioFileError"]
_names.of(".scenario")
__all__ += ["Ask", "Brain", "PromptRule", "Scenario"]
_names.of(".scenario_file")
__all__ += ["load"]
_names.of(".simulator")
__all__ += ["SimulatedCli"]
_names.of(".steps")
__all__ += ["Agent", "Compact", "Emit", "End", "Error", "Exit", "Next", "Pause", "Plan", "RateLimit", "RawBlock"]
__all__ += ["RedactedThinking", "Reply", "Stop", "Suggest", "Text", "Thinking", "Tool", "ToolUse", "Usage", "WaitFor"]
