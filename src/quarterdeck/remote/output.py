"""Claude Code's output as a session reads it: complete messages and complete text.

Deltas are sent live only, so a reconnect misses some. When their message is complete, one more delta carries the
missing text, and a program that prints deltas prints everything once.
"""

from __future__ import annotations

import uuid
from typing import Any

import msgspec

NOT_MESSAGES = frozenset({"control_request", "control_response", "control_cancel_request", "keep_alive"})
"""Lines exchanged between Claude Code and the host only."""


class _Line(msgspec.Struct):
    type: str = ""
    parent_tool_use_id: str | None = None
    request_id: str | None = None
    session_id: str | None = None
    status: Any = None
    event: dict[str, Any] | None = None
    message: msgspec.Raw = msgspec.Raw(b"null")


class _Said(msgspec.Struct):
    content: list[dict[str, Any]] | str = ""


class OutputLines:
    """Filters lines for the session."""

    def __init__(self, *, deltas: bool) -> None:
        """``deltas``: whether the session wants them."""
        self._deltas = deltas
        self._streamed = ""
        """The text of the current block that was streamed so far."""
        self._is_cut = False
        """Deltas of this block were missed, so later ones don't fit."""
        self.requests: dict[str, bytes] = {}
        """Claude Code's requests by ID."""

    def cut(self) -> None:
        """Note that deltas may have been missed."""
        self._is_cut = True

    def lines(self, line: str) -> list[bytes]:
        """Return what the session should read of this line."""
        written = line.encode()
        try:
            head = _decoder.decode(written)
        except msgspec.MsgspecError:
            return [written]
        if head.type == "stream_event":
            fits = self._stream(head)
            return [written] if self._deltas and fits else []
        if head.type == "control_request" and head.request_id is not None:
            self.requests[head.request_id] = written
        if head.type in NOT_MESSAGES or (head.status == "requesting" and not self._deltas):
            return []  # the CLI sends this only because the host asked for deltas
        if head.type == "assistant" and head.parent_tool_use_id is None and (self._streamed or self._is_cut):
            return [*self._rest(head), written]
        return [written]

    def _stream(self, head: _Line) -> bool:
        """Whether the event continues the streamed text."""
        if head.parent_tool_use_id is not None or head.event is None:
            return True
        match head.event:
            case {"type": "content_block_start" | "message_start"}:
                self._streamed, self._is_cut = "", False
            case {"type": "content_block_delta"} if self._is_cut:
                return False
            case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": str(text)}}:
                self._streamed += text
        return True

    def _rest(self, head: _Line) -> list[bytes]:
        """Return the delta that completes the block's text."""
        said = msgspec.json.decode(head.message, type=_Said | None)
        content = [] if said is None or isinstance(said.content, str) else said.content
        whole = "".join(str(block.get("text", "")) for block in content if block.get("type") == "text")
        if not whole:
            return []
        shown, self._streamed, self._is_cut = self._streamed, "", False
        if not self._deltas or not whole.startswith(shown) or whole == shown:
            return []
        delta = {"type": "text_delta", "text": whole[len(shown) :]}
        event = {"type": "content_block_delta", "index": 0, "delta": delta}
        line = {
            "type": "stream_event",
            "event": event,
            "session_id": head.session_id,
            "parent_tool_use_id": None,
            "uuid": str(uuid.uuid4()),
        }
        return [msgspec.json.encode(line)]


_decoder = msgspec.json.Decoder(_Line)
