"""Tool calls, and to-do lists."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from quarterdeck.timeline._words import EventBase, ToolStatus
from quarterdeck.timeline.parts import FileDiff, Kept, PlanEntry


class ToolStarted(EventBase, frozen=True):
    """The model starts a tool call; its input follows."""

    id: str
    name: str
    label: str
    parent_id: str | None = None


class ToolInputAdded(EventBase, frozen=True, gc=False):
    """A piece of the input JSON."""

    id: str
    json: str


class ToolCalled(EventBase, frozen=True):
    """The input is complete; unless permission is needed, the tool runs now. ``diffs`` are the proposed changes."""

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
    """The tool is still running; ``elapsed_s`` is from the CLI. ``retry``: a sub-agent's API call is being retried."""

    id: str
    elapsed_s: float
    retry: str | None = None


class ToolOutputAdded(EventBase, frozen=True):
    """All output of a running call so far, if the CLI reports it."""

    id: str
    output: Kept
    task_id: str | None = None


class ToolBackgrounded(EventBase, frozen=True):
    """The model continues without waiting; ``output`` is what it received. ``ToolEnded`` follows later."""

    id: str
    name: str
    output: Kept
    task_id: str | None = None
    parent_id: str | None = None


class ToolEnded(EventBase, frozen=True):
    """The call ended: ``status`` is finished, failed, denied or interrupted. Once per call."""

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
    """A one-sentence summary of the preceding calls."""

    text: str
    tool_ids: list[str]


class PlanChanged(EventBase, frozen=True):
    """The whole to-do or task list. ``parent_id`` names the sub-agent it belongs to."""

    entries: list[PlanEntry]
    source: Literal["todo", "tasks"]
    parent_id: str | None = None
