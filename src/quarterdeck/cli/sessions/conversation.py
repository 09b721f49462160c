"""A stored conversation as timeline items.

They come straight from the transcript, complete and one by one, so that exporting a gigabyte neither shortens text nor
fills memory. Only calls that wait for their results are held back, with what follows them, up to a limit.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from quarterdeck.client.transcripts import (
    SessionMessage,
    get_subagent_messages,
    iter_session_messages,
    list_subagents,
)
from quarterdeck.timeline.diffs import proposed
from quarterdeck.timeline.items import Item, Notice, Prompt, Text, Thinking, ToolCall
from quarterdeck.timeline.naming import about, label
from quarterdeck.timeline.parts import FileDiff, Kept

HELD_ITEMS = 200
"""Parallel calls, and items between them and their results. Results that come even later are shown on their own."""
DEEPEST = 8
"""Nested sub-agents. No CLI nests this deep, but a transcript that is its own parent would."""

_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_OUTPUT = re.compile(r"\A\s*<local-command-(?:stdout|stderr)>(.*?)</local-command-(?:stdout|stderr)>\s*\Z", re.DOTALL)


def conversation_items(session_id: str, directory: str | None = None) -> Iterator[Item]:
    """Calls come with their results, and are followed by the work of their sub-agents."""
    agents = _Agents(session_id, directory)
    for item in _with_results(iter_session_messages(session_id, directory)):
        yield item
        if isinstance(item, ToolCall):
            yield from agents.items(item.id, 1)


class _Agents:
    """The sub-agents of a session, loaded on first use."""

    def __init__(self, session_id: str, directory: str | None) -> None:
        self._session_id, self._directory = session_id, directory
        self._by_call: dict[str, list[str]] | None = None

    def items(self, call_id: str, depth: int) -> Iterator[Item]:
        for agent_id in self._agents_of(call_id) if depth <= DEEPEST else ():
            for item in _with_results(iter(self._messages(agent_id)), parent_id=call_id):
                yield item
                if isinstance(item, ToolCall):
                    yield from self.items(item.id, depth + 1)

    def _agents_of(self, call_id: str) -> list[str]:
        if self._by_call is None:
            self._by_call = {}
            for agent_id in list_subagents(self._session_id, self._directory):
                first = self._messages(agent_id, limit=1)
                if first and first[0].parent_tool_use_id:
                    self._by_call.setdefault(first[0].parent_tool_use_id, []).append(agent_id)
        return self._by_call.get(call_id, [])

    def _messages(self, agent_id: str, limit: int | None = None) -> list[SessionMessage]:
        return get_subagent_messages(self._session_id, agent_id, self._directory, limit)


def _with_results(messages: Iterator[SessionMessage], parent_id: str | None = None) -> Iterator[Item]:
    """Items in order; each call is held back until its result is known."""
    held: list[Item] = []
    waiting: dict[str, ToolCall] = {}
    for message in messages:
        for block, index in _blocks(message):
            if block.get("type") in ("tool_result", "web_search_tool_result", "mcp_tool_result"):
                call = waiting.pop(str(block.get("tool_use_id")), None)
                if call is not None:
                    _add_result(call, block)
                    continue
            item = _item(message, block, f"{message.uuid}-{index}", parent_id)
            if item is None:
                continue
            held.append(item)
            if isinstance(item, ToolCall):
                waiting[item.id] = item
        if not waiting or len(held) > HELD_ITEMS:
            yield from held
            held.clear()
            waiting.clear()
    yield from held


def _blocks(message: SessionMessage) -> Iterator[tuple[dict[str, Any], int]]:
    content = message.message.get("content") if isinstance(message.message, dict) else None
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for index, block in enumerate(blocks if isinstance(blocks, list) else ()):
        if isinstance(block, dict):
            yield block, index


def _item(message: SessionMessage, block: dict[str, Any], item_id: str, parent_id: str | None) -> Item | None:
    match block:
        case {"type": "text", "text": str(text)}:
            if message.type == "user":
                return _prompt(text, item_id, parent_id)
            return Text(id=item_id, parent_id=parent_id, text=Kept(text), done=True, uuid=message.uuid)
        case {"type": "thinking", "thinking": str(text)}:
            return Thinking(id=item_id, parent_id=parent_id, text=Kept(text), done=True, uuid=message.uuid)
        case {"type": "redacted_thinking"}:
            return Thinking(id=item_id, parent_id=parent_id, done=True, hidden=True, uuid=message.uuid)
        case {"type": "tool_use" | "server_tool_use" | "mcp_tool_use", "name": str(name), "id": str(call_id)}:
            given = block.get("input")
            tool_input = given if isinstance(given, dict) else {}
            call = ToolCall(id=call_id, parent_id=parent_id, name=name, input=tool_input, status="interrupted")
            call.label, call.about = label(name), about(name, tool_input)
            call.diffs = proposed(name, tool_input, sys.maxsize)
            return call
        case {"type": "tool_result"}:
            return Notice(id=item_id, parent_id=parent_id, kind="tool_result", text=result_text(block.get("content")))
        case {"type": "image" | "document" as kind}:
            source = block.get("source")
            media = source.get("media_type") if isinstance(source, dict) else None
            return Prompt(id=item_id, parent_id=parent_id, attachments=[str(media or kind)])
        case {"type": str(kind)}:
            return Notice(id=item_id, parent_id=parent_id, kind=kind)
    return None


def _prompt(text: str, item_id: str, parent_id: str | None) -> Item:
    """A prompt; transcripts keep commands of the CLI as tags."""
    if output := _OUTPUT.match(text):
        return Notice(id=item_id, parent_id=parent_id, kind="command_output", text=output[1].strip())
    if command := _COMMAND.search(text):
        arguments = _ARGUMENTS.search(text)
        text = f"{command[1].strip()} {arguments[1].strip() if arguments else ''}".strip()
    return Prompt(id=item_id, parent_id=parent_id, text=Kept(text), source="agent" if parent_id else "us")


def _add_result(call: ToolCall, block: dict[str, Any]) -> None:
    content = block.get("content")
    call.output = Kept(result_text(content))
    call.status = "failed" if block.get("is_error") else "finished"
    parts = content if isinstance(content, list) else []
    call.output_images = sum(isinstance(part, dict) and part.get("type") == "image" for part in parts)


def result_text(content: Any) -> str:
    """The text of a tool's result."""
    if isinstance(content, str):
        return content
    parts = (part for part in (content if isinstance(content, list) else ()) if isinstance(part, dict))
    return "\n".join(str(part["text"]) if "text" in part else f"[{part.get('type')}]" for part in parts)


def diff_text(diff: FileDiff) -> str:
    """Like ``diff -u``, without the header that names the file."""
    parts = []
    for hunk in diff.hunks:
        if diff.numbered or len(diff.hunks) > 1:
            parts.append(f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@")
        parts += hunk.lines
    return "\n".join(parts)


def input_text(call: ToolCall) -> tuple[str, str]:
    """The input of a call that changes no file, and the language of that text."""
    command = call.input.get("command")
    if call.name == "Bash" and isinstance(command, str):
        return command, "sh"
    return json.dumps(call.input, indent=2, ensure_ascii=False), "json"
