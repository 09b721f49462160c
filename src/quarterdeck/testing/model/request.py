"""Requests that the model server has received."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from .kinds import kind_of


@dataclass(slots=True)
class ApiRequest:
    """One HTTP request. ``answered_by`` and ``outcome`` are filled in while it is served."""

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    json: dict[str, Any] = field(default_factory=dict)
    kind: str = "probe"
    """``main``, ``subagent``, an errand of the CLI (see ``kinds``), ``count_tokens``, or ``probe`` for other paths."""
    answered_by: str = "pending"
    """``queue`` or ``rule``; ``errand`` when answered beside the script; ``unscripted`` when the queue was empty."""
    outcome: str = "pending"
    """``complete``; ``cut`` by the script; ``client_gone`` when the other end hung up."""

    @property
    def model(self) -> str:
        return str(self.json.get("model", ""))

    @property
    def stream(self) -> bool:
        return self.json.get("stream") is True

    @property
    def messages(self) -> list[dict[str, Any]]:
        found = self.json.get("messages")
        return found if isinstance(found, list) else []

    @property
    def tools(self) -> list[dict[str, Any]]:
        found = self.json.get("tools")
        return found if isinstance(found, list) else []

    @property
    def tool_names(self) -> list[str]:
        return [str(tool.get("name", "")) for tool in self.tools]

    @property
    def system(self) -> str:
        """The system prompt as one text."""
        return content_text(self.json.get("system"))

    @property
    def text(self) -> str:
        """All text of all messages, tool results included."""
        return "\n".join(content_text(message.get("content")) for message in self.messages)

    @property
    def last_user_text(self) -> str:
        """The text of the last user message, tool results included; empty when there is none."""
        for message in reversed(self.messages):
            if message.get("role") == "user":
                return content_text(message.get("content"))
        return ""

    @property
    def tool_results(self) -> dict[str, str]:
        """Tool use id → text, for the results in the last message."""
        last = self.messages[-1].get("content") if self.messages else None
        blocks = last if isinstance(last, list) else []
        return {
            str(block.get("tool_use_id")): content_text(block.get("content"))
            for block in blocks
            if isinstance(block, dict) and block.get("type") == "tool_result"
        }

    @property
    def agent_id(self) -> str:
        """The CLI's id of the sub-agent (2.1.325); empty for the main conversation and older CLIs."""
        return self.headers.get("x-claude-code-agent-id", "")


def content_text(content: Any) -> str:
    """The text in a ``content`` or ``system`` value: a string, or a list of blocks, nested ones included."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(filter(None, map(_block_text, content)))


def _block_text(block: Any) -> str:
    if not isinstance(block, dict):
        return ""
    if block.get("type") == "tool_result":
        return content_text(block.get("content"))
    text = block.get("text", "")
    return text if isinstance(text, str) else ""


def read_request(number: int, method: str, path: str, headers: Mapping[str, str], body: bytes) -> ApiRequest:
    """The request with its kind; ``json`` is empty if the body is not a JSON object."""
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    request = ApiRequest(number, method, path, headers, body, value if isinstance(value, dict) else {})
    match method, urlsplit(path).path:
        case "POST", "/v1/messages":
            request.kind = kind_of(request)
        case "POST", "/v1/messages/count_tokens":
            request.kind = "count_tokens"
    return request
