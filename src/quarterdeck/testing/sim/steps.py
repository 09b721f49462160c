"""The steps of a scenario.

Model output uses the classes of ``quarterdeck.testing.model``, so a script for the model server also runs here.
``Tool`` is a ``ToolUse`` with a scripted outcome; the other steps are what the CLI itself does in a turn. If possible
they are structs, not dataclasses: their classes are created ten times faster, and the simulator has to start fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from quarterdeck.testing.model.script import (
    Error,
    Fault,
    RawBlock,
    RedactedThinking,
    Reply,
    Text,
    Thinking,
    ToolUse,
    Usage,
)

__all__ = [
    "Action",
    "Agent",
    "Compact",
    "Emit",
    "End",
    "Error",
    "Exit",
    "Move",
    "Next",
    "Pause",
    "Plan",
    "RateLimit",
    "RawBlock",
    "RedactedThinking",
    "Reply",
    "Step",
    "Stop",
    "Suggest",
    "Text",
    "Thinking",
    "Tool",
    "ToolUse",
    "Usage",
    "WaitFor",
    "moves_of",
]


@dataclass(frozen=True, slots=True)
class Tool(ToolUse):
    """A tool call. Without ``result`` the simulator runs the tool itself, as far as it knows it."""

    result: Any = None
    """What the tool returned: a text, or content blocks. The tool is not run then, but permission is still asked."""
    is_error: bool = False
    takes_s: float = 0.0
    elicit: Mapping[str, Any] | None = None
    """Only for MCP tools: ask the person first, with this ``message`` and ``schema``; the answer becomes the result."""


@dataclass(frozen=True, slots=True)
class Agent(ToolUse):
    """A sub-agent: a ``Task`` call whose own conversation is ``steps``. Made by ``Agent.of``."""

    steps: tuple[Step, ...] = ()

    @classmethod
    def of(
        cls, prompt: str, *steps: Step, description: str = "an errand", kind: str = "general-purpose", **more: Any
    ) -> Agent:
        """``background=False`` makes the turn wait for it; by default it runs in the background (as in 2.1.325)."""
        task = {"description": description, "prompt": prompt, "subagent_type": kind}
        if "background" in more:
            task["run_in_background"] = more.pop("background")
        return cls("Task", task | more, None, tuple(steps))


@dataclass(frozen=True, slots=True)
class Plan(ToolUse):
    """``ExitPlanMode`` with a plan that is shown: it is put into the plan file first. Made by ``Plan.of``."""

    text: str = ""

    @classmethod
    def of(cls, text: str) -> Plan:
        return cls("ExitPlanMode", {"plan": text}, None, text)


class Next(msgspec.Struct, frozen=True):
    """End the model's reply here; the next step starts another one. (Text after a tool starts one implicitly.)"""


class Stop(msgspec.Struct, frozen=True):
    """How the model's reply ends, e.g. ``max_tokens`` or ``refusal``."""

    reason: str
    details: Mapping[str, Any] | None = None


class Pause(msgspec.Struct, frozen=True):
    seconds: float


class WaitFor(msgspec.Struct, frozen=True):
    """Hold the turn until this file exists; ``<file>.reached`` is created when it is held. Replaces sleeping."""

    path: str
    limit_s: float = 60.0


class Emit(msgspec.Struct, frozen=True):
    """A raw message, for anything that has no step; ``uuid`` and ``session_id`` are added."""

    message: Mapping[str, Any]


class RateLimit(msgspec.Struct, frozen=True):
    info: Mapping[str, Any]
    """``rate_limit_info``, e.g. ``{"status": "allowed_warning", "rateLimitType": "five_hour"}``."""


class Compact(msgspec.Struct, frozen=True):
    """The conversation is compacted in the middle of the turn, as when the context is full."""

    summary: str = "A summary by the simulator."


class Suggest(msgspec.Struct, frozen=True):
    """A ``prompt_suggestion`` after the result, if the host asked for them."""

    text: str


class End(msgspec.Struct, frozen=True):
    """End the turn with an error result: ``error_max_turns``, ``error_during_execution`` …"""

    subtype: str
    errors: tuple[str, ...] = ()


class Exit(msgspec.Struct, frozen=True):
    """The process exits at once; as the last step, after the result."""

    code: int = 1
    stderr: str = ""


Action: TypeAlias = Pause | WaitFor | Emit | RateLimit | Compact | Suggest | End | Exit
Move: TypeAlias = Reply | Error | Action
Step: TypeAlias = "str | Text | Thinking | RedactedThinking | RawBlock | ToolUse | Usage | Stop | Next | Fault | Move"

_BLOCKS = (Text, Thinking, RedactedThinking, RawBlock, ToolUse)
_MOVES = (Reply, Error, Pause, WaitFor, Emit, RateLimit, Compact, Suggest, End, Exit)


def moves_of(steps: tuple[Step, ...] | list[Step], **options: Any) -> list[Move]:
    """Steps as a sequence of moves: blocks are combined into replies. ``options``: fields of ``Reply``."""
    moves: list[Move] = []
    reply: dict[str, Any] = {}

    def flush() -> None:
        if reply:
            moves.append(Reply(**(options | reply)))
            reply.clear()

    for step in steps:
        block = Text(step) if isinstance(step, str) else step
        if isinstance(block, _BLOCKS):
            blocks = reply.get("blocks", ())
            if blocks and isinstance(blocks[-1], ToolUse) and not isinstance(block, ToolUse):
                flush()
            reply["blocks"] = (*reply.get("blocks", ()), block)
        elif isinstance(block, Usage):
            reply["usage"] = block
        elif isinstance(block, Stop):
            reply |= {"stop_reason": block.reason, "stop_details": block.details}
        elif isinstance(block, Next):
            flush()
        elif isinstance(block, _MOVES):
            flush()
            moves.append(block)
        else:
            reply["faults"] = (*reply.get("faults", ()), block)
    flush()
    return moves
