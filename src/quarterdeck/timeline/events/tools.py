"""Tool calls, and the plan that an agent keeps."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from quarterdeck.timeline._words import EventBase, ToolStatus
from quarterdeck.timeline.parts import FileDiff, Kept, PlanEntry


class ToolStarted(EventBase, frozen=True):
    """The model begins to call a tool; its input is still to come."""

    id: str
    name: str
    label: str
    parent_id: str | None = None


class ToolInputAdded(EventBase, frozen=True, gc=False):
    """A piece of the input's JSON."""

    id: str
    json: str


class ToolCalled(EventBase, frozen=True):
    """The input is complete; unless someone has to be asked, the tool runs now. ``diffs`` are what it would change."""

    id: str
    name: str
    label: str
    about: str
    input: dict[str, Any]
    diffs: list[FileDiff] = msgspec.field(default_factory=list)
    agent_type: str | None = None
    parent_id: str | None = None
    run_by_api: bool = False


class ToolProgressed(EventBase, frozen=True):
    """It still runs; ``elapsed_s`` is what the CLI tells. ``retry``: a sub-agent's call of the API is made again."""

    id: str
    elapsed_s: float
    retry: str | None = None


class ToolOutputAdded(EventBase, frozen=True):
    """What a running call has written so far, where the CLI tells it: the whole of it, not what was added."""

    id: str
    output: Kept
    task_id: str | None = None


class ToolBackgrounded(EventBase, frozen=True):
    """The model goes on without waiting for it; ``output`` is what it was told. ``ToolEnded`` is still to come."""

    id: str
    name: str
    output: Kept
    task_id: str | None = None
    parent_id: str | None = None


class ToolEnded(EventBase, frozen=True):
    """The call is over: ``status`` is finished, failed, denied or interrupted. Once for each call."""

    id: str
    name: str
    status: ToolStatus
    output: Kept
    elapsed_s: float | None = None
    diffs: list[FileDiff] = msgspec.field(default_factory=list)
    images: int = 0
    output_path: str | None = None
    reason: str | None = None
    parent_id: str | None = None


class ToolsSummarised(EventBase, frozen=True):
    """One sentence about the calls before it."""

    text: str
    tool_ids: list[str]


class PlanChanged(EventBase, frozen=True):
    """The to-do list or the task list, all of it. ``parent_id`` names the sub-agent whose list it is."""

    entries: list[PlanEntry]
    source: Literal["todo", "tasks"]
    parent_id: str | None = None
