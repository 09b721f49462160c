"""The Messages API's message, as the CLI passes it on.

``ApiMessage`` is what the model says (in an ``assistant`` line and a ``message_start`` event), ``MessageParam`` what
the user says (in a ``user`` line, both directions).
"""

from __future__ import annotations

from typing import Any, Literal

from ._base import WireObject
from ._shapes import constant
from .blocks import ContentBlock

StopReason = Literal[
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "compaction",
    "refusal",
    "model_context_window_exceeded",
]


class StopDetails(WireObject):
    """Why the model refused; ``type`` is ``refusal``."""

    type: str | None = None
    category: str | None = None
    explanation: str | None = None
    recommended_model: str | None = None
    fallback_credit_token: str | None = None
    fallback_has_prefill_claim: bool | None = None


class Container(WireObject):
    """The API's code execution container; each of ``skills`` has skill_id, type and version."""

    id: str | None = None
    expires_at: str | None = None
    skills: list[dict[str, Any]] | None = None


class ContextManagement(WireObject):
    """What the API removed from the context; each edit has a ``type`` and counts."""

    applied_edits: list[dict[str, Any]] | None = None


class Diagnostics(WireObject):
    """Why the prompt cache was missed: a dict with a ``type`` and perhaps a token count."""

    cache_miss_reason: dict[str, Any] | None = None


class ApiMessage(WireObject, tag="message"):
    """A message of the model.

    The CLI (2.0.77 to 2.1.325) writes one ``assistant`` line for each content block, all with the same ``id``;
    ``stop_reason`` is then null and ``usage`` not final.
    """

    content: list[ContentBlock]
    model: str = constant("")
    id: str | None = None
    role: str = constant("assistant")
    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: StopDetails | None = None
    usage: dict[str, Any] | None = None
    container: Container | None = None
    context_management: ContextManagement | None = None
    diagnostics: Diagnostics | None = None
    input_transformations: list[dict[str, Any]] | None = None


class MessageParam(WireObject):
    """A message of the user. The CLI ends itself when ``role`` is missing on stdin, so it is always written."""

    content: str | list[ContentBlock]
    role: str = constant("user")


class ApiError(WireObject):
    """An error of the API; ``type`` is e.g. ``overloaded_error``."""

    type: str | None = None
    message: str | None = None
