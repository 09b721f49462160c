"""Prompts, and the model's text and thinking."""

from __future__ import annotations

from typing import Literal

import msgspec

from quarterdeck.timeline._words import EventBase, PromptStatus


class PromptSent(EventBase, frozen=True):
    """A prompt was sent to the model; see ``items.Prompt``."""

    id: str
    text: str
    source: str = "us"
    attachments: list[str] = msgspec.field(default_factory=list)
    parent_id: str | None = None


class PromptChanged(EventBase, frozen=True):
    """The status of a prompt that was sent with an id: queued, started, completed, cancelled."""

    id: str
    status: PromptStatus


class BlockStarted(EventBase, frozen=True):
    """The model starts a block of text or thinking."""

    id: str
    kind: Literal["text", "thinking"]
    parent_id: str | None = None


class TextAdded(EventBase, frozen=True, gc=False):
    """A piece of text."""

    id: str
    text: str


class TextCompleted(EventBase, frozen=True):
    """A block of text is complete; ``rest`` is the part that no ``TextAdded`` contained."""

    id: str
    text: str
    rest: str
    parent_id: str | None = None
    error: str | None = None
    """The text is from the CLI itself and reports this API error."""
    synthetic: bool = False
    """The text is from the CLI itself: an error, or the output of a local command."""
    stopped: bool = False
    """The model was interrupted here."""


class ThinkingAdded(EventBase, frozen=True, gc=False):
    """A piece of thinking."""

    id: str
    text: str


class ThinkingCounted(EventBase, frozen=True):
    """The approximate amount of thinking so far, if the thinking itself is not shown."""

    tokens: int


class ThinkingCompleted(EventBase, frozen=True):
    """Thinking is complete; ``rest`` is the part no ``ThinkingAdded`` had. ``hidden``: only the API can read it."""

    id: str
    text: str
    rest: str
    parent_id: str | None = None
    hidden: bool = False
    duration_s: float | None = None
    stopped: bool = False


class Retracted(EventBase, frozen=True):
    """These items are discarded: the model was replaced, and the new one starts over."""

    ids: list[str]
