"""The tools that the simulator runs itself, for real but harmlessly: files of the working directory, a tiny shell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from quarterdeck.testing.sim.calls import SimulatedCall

CONCURRENT = frozenset(["Read", "Task", "Agent", "Glob", "Grep", "WebFetch", "WebSearch", "ToolSearch", "ListAgents"])
"""These run in parallel; all others run one at a time, and so do their permission requests (2.1.325)."""

REQUIRED = {
    "Bash": ("command",),
    "Read": ("file_path",),
    "Write": ("file_path", "content"),
    "Edit": ("file_path", "old_string", "new_string"),
    "AskUserQuestion": ("questions",),
    "Task": ("description", "prompt"),
    "Agent": ("description", "prompt"),
    "TodoWrite": ("todos",),
}


class Outcome(msgspec.Struct):
    """What a tool gave back."""

    content: Any
    """For the model: a text or content blocks."""
    result: Any = None
    """For the host: ``tool_use_result``."""
    is_error: bool | None = None
    """None: the tool says nothing about it, as file tools do."""

    @classmethod
    def failed(cls, message: str) -> Outcome:
        return cls(message, f"Error: {message}", is_error=True)


def missing_parameters(tool: str, tool_input: dict[str, Any]) -> list[str]:
    return [f"The required parameter `{name}` is missing" for name in REQUIRED.get(tool, ()) if name not in tool_input]


async def run(call: SimulatedCall) -> Outcome:
    """Run a tool by its name. Each kind is imported when it is first needed."""
    if call.scripted is not None and getattr(call.scripted, "result", None) is not None:
        return await _scripted(call)
    match call.name:
        case "Read" | "Write" | "Edit":
            from . import files

            return files.run(call)
        case "Bash":
            from . import shell

            return await shell.run(call)
        case "AskUserQuestion" | "ExitPlanMode" | "EnterPlanMode":
            from . import requests

            return requests.run(call)
        case "Task" | "Agent":
            from . import agents

            return await agents.run(call)
        case "TodoWrite":
            todos = call.input["todos"]
            return Outcome("Todos have been modified.", {"oldTodos": call.cli.swap_todos(todos), "newTodos": todos})
        case "StructuredOutput":
            from . import structured

            return structured.run(call)
    if call.name.startswith("mcp__"):
        return await call.cli.mcp.call_tool(call)
    return Outcome.failed(f"The simulator does not run {call.name}: give the step a `result`.")


async def _scripted(call: SimulatedCall) -> Outcome:
    step: Any = call.scripted
    await call.cli.sleep(step.takes_s)
    if step.is_error:
        return Outcome.failed(str(step.result))
    return Outcome(step.result, step.result, is_error=False)
