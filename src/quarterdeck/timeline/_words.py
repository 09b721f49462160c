"""The base of events, and the vocabulary that events and state share.

Our own words are closed lists; the CLI's words stay plain ``str``.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

import msgspec

ToolStatus: TypeAlias = Literal[
    "writing", "waiting", "running", "background", "finished", "failed", "denied", "interrupted"
]
"""``writing``: the model is still writing the input. ``waiting``: for a person. The last four are final.
``background``: the call itself has ended, its task continues."""

FINAL_TOOL_STATUSES: frozenset[str] = frozenset({"finished", "failed", "denied", "interrupted"})

RequestStatus: TypeAlias = Literal["open", "answered", "cancelled"]
"""What became of a request to a person; ``cancelled``: the CLI no longer wants an answer."""

TaskStatus: TypeAlias = Literal["running", "paused", "completed", "failed", "stopped"]
TurnOutcome: TypeAlias = Literal["done", "failed", "interrupted", "limit"]
"""``limit``: the allowed turns, budget or retries are used up."""

By: TypeAlias = Literal["us", "cli"]
PromptStatus: TypeAlias = Literal["sent", "queued", "started", "completed", "cancelled"]
Activity: TypeAlias = Literal["idle", "requesting", "compacting", "responding", "working", "waiting"]
"""Waiting for the model, compacting, answering, running tools, waiting for a person … or idle."""

PlanStatus: TypeAlias = Literal["pending", "in_progress", "completed"]
DiffKind: TypeAlias = Literal["create", "update", "delete", "write"]
"""``write``: the whole file; only the result says whether it existed before."""
HookSource: TypeAlias = Literal["command", "callback"]

CANNOT_TYPE = (msgspec.ValidationError, UnicodeEncodeError)
"""What ``msgspec`` raises for a value of another shape: the second when that is a text with a lone surrogate, which it
cannot name in its message (0.20)."""

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def tag(name: str) -> str:
    """The ``type`` of a class in JSON: ``ToolStarted`` is ``tool_started``."""
    return _HUMP.sub("_", name).lower()


class EventBase(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag=tag, gc=False):
    """Something that happened."""

    at: float
    """The time that was passed in with the message."""
