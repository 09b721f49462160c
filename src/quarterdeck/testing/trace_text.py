"""One line of a conversation as a sentence for a person: who says it, and what."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from quarterdeck.wire import (
    ApiRetryMessage,
    AssistantMessage,
    BadLine,
    CanUseToolRequest,
    CommandLifecycleMessage,
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    ControlSuccess,
    HookCallbackRequest,
    InitMessage,
    Message,
    RateLimitEvent,
    ResultMessage,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    UnknownMessage,
    UnknownRequest,
    UserMessage,
)

ENVELOPE = frozenset({"type", "subtype", "uuid", "session_id", "parent_tool_use_id"})
"""Keys that say nothing about what a notice is about."""


@dataclass(frozen=True, slots=True)
class Said:
    who: str
    text: str
    error: bool = False
    oddities: tuple[str, ...] = ()


def kind_of(message: Message) -> str:
    """``type``, or ``type/subtype``: what ``--type`` filters on."""
    if isinstance(message, BadLine):
        return "bad_line"
    if isinstance(message, ControlRequest):
        return f"control_request/{message.subtype}"
    if isinstance(message, UnknownMessage):
        return message.type or "unknown"
    tag = str(message.__struct_config__.tag)
    return f"{tag}/{message.subtype}" if isinstance(message, SystemMessage | ResultMessage) else tag


def describe(message: Message, direction: str) -> Said:
    who = "host" if direction == "in" else "cli"
    for cls, sentence in _SENTENCES:
        if isinstance(message, cls):
            return sentence(message, who)
    return Said(who, _notice(message))


def _bad_line(message: BadLine, who: str) -> Said:
    return Said(who, message.raw[:500].decode(errors="replace"), True, (f"bad line: {message.reason}",))


def _unknown(message: UnknownMessage, who: str) -> Said:
    return Said(who, _notice(message), False, (f"unknown message: {message.reason}",))


def _request(message: ControlRequest, who: str) -> Said:
    request = message.request
    if isinstance(request, CanUseToolRequest):
        return Said(who, f"asks whether {request.tool_name} may run: {brief(request.input)}")
    if isinstance(request, HookCallbackRequest):
        event = request.input.get("hook_event_name") if hasattr(request.input, "get") else None
        tool = request.input.get("tool_name") if hasattr(request.input, "get") else None
        return Said(
            who, f"calls hook {request.callback_id}" + (f" ({event}{f' {tool}' if tool else ''})" if event else "")
        )
    fields = {key: value for key, value in dict(request.items()).items() if key != "subtype"}
    odd = (f"unknown request: {request.reason}",) if isinstance(request, UnknownRequest) else ()
    return Said(who, f"asks {message.subtype}" + (f" {outline(fields)}" if fields else ""), False, odd)


def _answer(message: ControlResponse, who: str) -> Said:
    response = message.response
    if not isinstance(response, ControlSuccess):
        return Said(who, f"refuses: {response.error}", True)
    payload = response.response
    if isinstance(payload, dict) and payload.get("behavior") == "deny":
        return Said(who, f"denies: {payload.get('message', '')}")
    if isinstance(payload, dict) and payload.get("behavior") == "allow":
        return Said(who, "allows")
    return Said(who, "answers" + (f" {outline(payload)}" if payload else ""))


def _init(message: InitMessage, who: str) -> Said:
    parts = [message.model, message.permission_mode, f"{len(message.tools or [])} tools"]
    servers = [f"{server.name} {server.status}" for server in message.mcp_servers or []]
    session = f"session {(message.session_id or '')[:8]}"
    return Said(who, "begins a turn: " + ", ".join([*(str(part) for part in parts if part), *servers, session]))


def _result(message: ResultMessage, who: str) -> Said:
    return describe_result(message, who, None)


def describe_result(message: ResultMessage, who: str, cost_usd: float | None) -> Said:
    """``cost_usd`` is that of the turn; the message only has the sum so far."""
    cost = [] if cost_usd is None else [f"${cost_usd:.4f}"]
    seconds = f"{message.duration_ms / 1000:.1f} s"
    steps = f"{message.num_turns} step{'' if message.num_turns == 1 else 's'}"
    usage = message.usage
    tokens = [] if usage is None else [f"tokens {usage.input_tokens or 0} in {usage.output_tokens or 0} out"]
    reasons = [message.result] if message.is_error and message.result else [*(message.errors or [])]
    verb = "fails the turn" if message.is_error else "ends the turn"
    text = ", ".join([f"{verb}: {message.subtype}", *reasons, seconds, *cost, steps, *tokens])
    return Said(who, text, message.is_error)


def _assistant(message: AssistantMessage, who: str) -> Said:
    speaker = "cli" if message.model == "<synthetic>" else "model"
    said = [_block(block) for block in message.content]
    error = message.error is not None
    text = " · ".join(text for text, _ in said) or "(nothing)"
    odd = tuple(oddity for _, oddity in said if oddity)
    return Said(speaker, f"[{message.error}] {text}" if error else text, error, odd)


def _user(message: UserMessage, who: str) -> Said:
    content = message.content
    if isinstance(content, str):
        return Said(who, f"says: {content}")
    failed = any(isinstance(block, ToolResultBlock) and block.is_error for block in content)
    is_result = any(isinstance(block, ToolResultBlock) for block in content)
    said = [_block(block) for block in content]
    text = " · ".join(text for text, _ in said)
    odd = tuple(oddity for _, oddity in said if oddity)
    return Said("tool" if is_result else who, text if is_result else f"says: {text}", failed, odd)


def _block(block: Any) -> tuple[str, str]:
    """What a block says, and what is odd about it."""
    if isinstance(block, TextBlock):
        return block.text, ""
    if isinstance(block, ThinkingBlock):
        return f"thinks: {block.thinking}", ""
    if isinstance(block, ToolUseBlock):
        return f"calls {block.name} {brief(block.input)}", ""
    if isinstance(block, ToolResultBlock):
        content = block.content
        text = content if isinstance(content, str) else " · ".join(_block(part)[0] for part in content or [])
        return f"{'fails' if block.is_error else 'returns'}: {text}", ""
    if isinstance(block, UnknownBlock):
        return f"[{block.type}]", f"unknown block: {block.reason}"
    return f"[{block.type}] {brief(block.to_dict())}", ""


def _cancel(message: ControlCancelRequest, who: str) -> Said:
    return Said(who, "takes back its request")


def _retry(message: ApiRetryMessage, who: str) -> Said:
    return Said(who, f"retries the API: {_fields(message)}", True)


def _notice(message: Message) -> str:
    name = message.subtype if isinstance(message, SystemMessage) else kind_of(message)
    return f"{name}: {_fields(message)}".removesuffix(": ")


def _system(message: SystemMessage, who: str) -> Said:
    odd = (f"unknown system message {message.subtype!r}",) if type(message) is SystemMessage else ()
    return Said(who, _notice(message), False, odd)


def _fields(message: Message) -> str:
    fields = {key: value for key, value in message.data.items() if key not in ENVELOPE and value is not None}
    fields = {key: value for key, value in fields.items() if not key.endswith("_id")} or fields
    if len(fields) == 1:
        (value,) = fields.values()
        return value if isinstance(value, str) else brief(value)
    return ", ".join(f"{key} {value if isinstance(value, str) else brief(value)}" for key, value in fields.items())


def brief(value: Any) -> str:
    """JSON, or the one string that matters: the command, the file, the question."""
    if isinstance(value, dict):
        for key in ("command", "file_path", "pattern", "url", "query"):
            if isinstance(value.get(key), str):
                return str(value[key])
    return json.dumps(value, ensure_ascii=False, default=str)


def outline(value: Any) -> str:
    """JSON while it is short, else what is in it."""
    text = brief(value)
    if len(text) <= _OUTLINED_FROM or not isinstance(value, dict):
        return text
    return ", ".join(f"{len(item)} {key}" if isinstance(item, list) else key for key, item in value.items())


_OUTLINED_FROM = 100
_SENTENCES: tuple[tuple[type[Message], Callable[[Any, str], Said]], ...] = (
    (BadLine, _bad_line),
    (UnknownMessage, _unknown),
    (ControlRequest, _request),
    (ControlResponse, _answer),
    (ControlCancelRequest, _cancel),
    (InitMessage, _init),
    (ApiRetryMessage, _retry),
    (SystemMessage, _system),
    (ResultMessage, _result),
    (AssistantMessage, _assistant),
    (UserMessage, _user),
    (CommandLifecycleMessage, lambda message, who: Said(who, f"prompt {message.state}")),
    (RateLimitEvent, lambda message, who: Said(who, _notice(message))),
)
