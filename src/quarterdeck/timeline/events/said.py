"""What is said: prompts, and the text and thinking of the model."""

from __future__ import annotations

from typing import Literal

import msgspec

from quarterdeck.timeline._words import EventBase, PromptStatus


class PromptSent(EventBase, frozen=True):
    """Something was said to the model; see ``items.Prompt``."""

    id: str
    text: str
    source: str = "us"
    attachments: list[str] = msgspec.field(default_factory=list)
    parent_id: str | None = None


class PromptChanged(EventBase, frozen=True):
    """What becomes of a prompt that was sent with an id of its own: queued, started, completed, cancelled."""

    id: str
    status: PromptStatus


class BlockStarted(EventBase, frozen=True):
    """The model begins to say or to think something."""

    id: str
    kind: Literal["text", "thinking"]
    parent_id: str | None = None


class TextAdded(EventBase, frozen=True, gc=False):
    """A piece of text."""

    id: str
    text: str


class TextCompleted(EventBase, frozen=True):
    """A block of text is complete; ``rest`` is what no ``TextAdded`` has told."""

    id: str
    text: str
    rest: str
    parent_id: str | None = None
    error: str | None = None
    """The CLI itself speaks, to report this API error."""
    synthetic: bool = False
    """The CLI itself speaks: an error, or the output of a local command."""
    stopped: bool = False
    """The model was interrupted here."""


class ThinkingAdded(EventBase, frozen=True, gc=False):
    """A piece of thinking."""

    id: str
    text: str


class ThinkingCounted(EventBase, frozen=True):
    """How much has been thought so far, about, where the thinking itself is not shown."""

    tokens: int


class ThinkingCompleted(EventBase, frozen=True):
    """A thought is complete; ``rest`` is what no ``ThinkingAdded`` has told. ``hidden``: only the API can read it."""

    id: str
    text: str
    rest: str
    parent_id: str | None = None
    hidden: bool = False
    duration_s: float | None = None
    stopped: bool = False


class Retracted(EventBase, frozen=True):
    """These items no longer count: the model was replaced, and the new one starts over."""

    ids: list[str]
