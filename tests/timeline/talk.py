"""A conversation in few words: lines of the CLI and of ours, and what the timeline makes of them."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from quarterdeck.timeline import Event, Limits, Timeline
from quarterdeck.timeline.items import ItemBase
from quarterdeck.wire import decode

E = TypeVar("E")
I = TypeVar("I", bound=ItemBase)  # noqa: E741

Line = dict[str, Any]


class Talk:
    """Each line is one second after the one before."""

    def __init__(self, *, limits: Limits | None = None) -> None:
        self.timeline = Timeline(limits=limits)
        self.events: list[Event] = []
        self.now = 0.0

    def hear(self, *lines: Line) -> list[Event]:
        """The CLI writes these."""
        return self._add(lines, sent=False)

    def say(self, *lines: Line) -> list[Event]:
        """We write these."""
        return self._add(lines, sent=True)

    def _add(self, lines: tuple[Line, ...], *, sent: bool) -> list[Event]:
        made: list[Event] = []
        for line in lines:
            self.now += 1
            if sent:
                made += self.timeline.sent(line, at=self.now)
            else:
                made += self.timeline.received(decode(json.dumps(line).encode()), at=self.now)
        self.events += made
        return made

    def item(self, kind: type[I], key: str) -> I:
        item = self.timeline.state.items[key]
        assert isinstance(item, kind)
        return item

    @property
    def state(self) -> Any:
        return self.timeline.state


def only(kind: type[E], events: list[Event]) -> E:
    """The one event of this kind."""
    (found,) = [event for event in events if isinstance(event, kind)]
    return found


def kinds(events: list[Event]) -> list[str]:
    """The types of the events, without what changes with nearly each line."""
    left_out = ("activity_changed", "context_changed")
    return [tag for event in events if (tag := str(type(event).__struct_config__.tag)) not in left_out]


# Lines


def prompt(text: str = "Do it.", **more: Any) -> Line:
    return {"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": None, **more}


def init(**more: Any) -> Line:
    line = {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/w", "model": "opus", "tools": ["Bash"]}
    return {**line, "mcp_servers": [], "slash_commands": [], "permissionMode": "default", **more}


def assistant(*blocks: Line, message: str = "msg_1", **more: Any) -> Line:
    inner = {"id": message, "type": "message", "role": "assistant", "model": "opus", "content": list(blocks)}
    return {"type": "assistant", "message": inner, "parent_tool_use_id": None, "uuid": f"u-{message}", **more}


def text(words: str) -> Line:
    return {"type": "text", "text": words}


def call(key: str = "tool_1", name: str = "Bash", **arguments: Any) -> Line:
    return {"type": "tool_use", "id": key, "name": name, "input": arguments}


def result(key: str = "tool_1", output: Any = "ok", facts: Any = None, *, error: bool = False, **more: Any) -> Line:
    block = {"type": "tool_result", "tool_use_id": key, "content": output, "is_error": error}
    line = {"type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": None, **more}
    return line if facts is None else {**line, "tool_use_result": facts}


def system(subtype: str, **more: Any) -> Line:
    return {"type": "system", "subtype": subtype, "session_id": "s", "uuid": "u", **more}


def stream(event: Line, **more: Any) -> Line:
    return {"type": "stream_event", "event": event, "parent_tool_use_id": None, "session_id": "s", "uuid": "u", **more}


def message_start(message: str = "msg_1", **more: Any) -> Line:
    inner = {"id": message, "type": "message", "role": "assistant", "model": "opus", "content": []}
    return stream({"type": "message_start", "message": inner}, **more)


def block_start(block: Line, index: int = 0, **more: Any) -> Line:
    return stream({"type": "content_block_start", "index": index, "content_block": block}, **more)


def delta(kind: str, words: str, index: int = 0, **more: Any) -> Line:
    """``kind`` is text, thinking or json."""
    made = {"json": {"type": "input_json_delta", "partial_json": words}}.get(
        kind, {"type": f"{kind}_delta", kind: words}
    )
    return stream({"type": "content_block_delta", "index": index, "delta": made}, **more)


def turn_end(subtype: str = "success", **more: Any) -> Line:
    line = {"type": "result", "subtype": subtype, "is_error": False, "duration_ms": 1500, "duration_api_ms": 1000}
    return {**line, "num_turns": 1, "session_id": "s", **more}


def ask(key: str, subtype: str, **more: Any) -> Line:
    return {"type": "control_request", "request_id": key, "request": {"subtype": subtype, **more}}


def may(key: str = "ask_1", name: str = "Bash", tool: str = "tool_1", **more: Any) -> Line:
    arguments = more.pop("input", {"command": "ls"})
    return ask(key, "can_use_tool", tool_name=name, input=arguments, tool_use_id=tool, **more)


def answer(key: str, payload: Any = None) -> Line:
    response = {"subtype": "success", "request_id": key} | ({} if payload is None else {"response": payload})
    return {"type": "control_response", "response": response}


def failure(key: str, error: str, **more: Any) -> Line:
    return {"type": "control_response", "response": {"subtype": "error", "request_id": key, "error": error, **more}}


def cancel(key: str) -> Line:
    return {"type": "control_cancel_request", "request_id": key}
