"""Describes one line of a conversation in a sentence.

Unlike the timeline, which folds a conversation, this has a sentence for every line, even if it is only protocol. What a
tool call is about, what it returned, what the CLI wants shown and what a turn cost come from the timeline.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from quarterdeck.timeline.events import Event, NoticeShown, TurnEnded
from quarterdeck.timeline.naming import subject
from quarterdeck.timeline.tool_output import output_of
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

from .simulated import dollars

ENVELOPE = frozenset({"type", "subtype", "uuid", "session_id", "parent_tool_use_id"})
"""Keys that say nothing about what a notice is about."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Who says what; ``oddities`` are things that should not happen."""

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


def describe(message: Message, direction: str, events: Sequence[Event], *, simulated: bool = False) -> Sentence:
    """``events`` are what the timeline makes of the message. ``simulated``: costs are made up."""
    who = "host" if direction == "in" else "cli"
    if isinstance(message, ResultMessage):
        cost = turn_cost(message, events)
        return _result(message, who, "" if cost is None else dollars(cost, simulated=simulated))
    for cls, sentence in _SENTENCES:
        if isinstance(message, cls):
            return sentence(message, who)
    odd = (f"unknown system message {message.subtype!r}",) if type(message) is SystemMessage else ()
    for event in events:
        if isinstance(event, NoticeShown):
            return Sentence(who, f"{_name(message)}: {event.text}", event.level == "error", odd)
    return Sentence(who, _notice(message), False, odd)


def turn_cost(message: ResultMessage, events: Sequence[Event]) -> float | None:
    """Of the turn: the message only has the sum so far, if that."""
    ended = [event.turn.cost_usd for event in events if isinstance(event, TurnEnded)]
    return ended[0] if ended and message.total_cost_usd is not None else None


def _bad_line(message: BadLine, who: str) -> Sentence:
    return Sentence(who, message.raw[:500].decode(errors="replace"), True, (f"bad line: {message.reason}",))


def _unknown(message: UnknownMessage, who: str) -> Sentence:
    return Sentence(who, _notice(message), False, (f"unknown message: {message.reason}",))


def _request(message: ControlRequest, who: str) -> Sentence:
    request = message.request
    if isinstance(request, CanUseToolRequest):
        return Sentence(who, f"asks for permission for {request.tool_name}: {_input(request.tool_name, request.input)}")
    if isinstance(request, HookCallbackRequest):
        event = request.input.get("hook_event_name") if hasattr(request.input, "get") else None
        tool = request.input.get("tool_name") if hasattr(request.input, "get") else None
        return Sentence(
            who, f"calls hook {request.callback_id}" + (f" ({event}{f' {tool}' if tool else ''})" if event else "")
        )
    fields = {key: value for key, value in dict(request.items()).items() if key != "subtype"}
    odd = (f"unknown request: {request.reason}",) if isinstance(request, UnknownRequest) else ()
    return Sentence(who, f"asks {message.subtype}" + (f" {_outline(fields)}" if fields else ""), False, odd)


def _answer(message: ControlResponse, who: str) -> Sentence:
    response = message.response
    if not isinstance(response, ControlSuccess):
        return Sentence(who, f"refuses: {response.error}", True)
    payload = response.response
    if isinstance(payload, dict) and payload.get("behavior") == "deny":
        return Sentence(who, f"denies: {payload.get('message', '')}")
    if isinstance(payload, dict) and payload.get("behavior") == "allow":
        return Sentence(who, "allows")
    return Sentence(who, "answers" + (f" {_outline(payload)}" if payload else ""))


def _init(message: InitMessage, who: str) -> Sentence:
    parts = [message.model, message.permission_mode, f"{len(message.tools or [])} tools"]
    servers = [f"{server.name} {server.status}" for server in message.mcp_servers or []]
    session = f"session {(message.session_id or '')[:8]}"
    return Sentence(who, "starts a turn: " + ", ".join([*(str(part) for part in parts if part), *servers, session]))


def _result(message: ResultMessage, who: str, cost: str) -> Sentence:
    seconds = f"{message.duration_ms / 1000:.1f} s"
    steps = f"{message.num_turns} step{'' if message.num_turns == 1 else 's'}"
    usage = message.typed_usage
    tokens = [] if usage is None else [f"tokens {usage.input_tokens or 0} in {usage.output_tokens or 0} out"]
    reasons = [message.result] if message.is_error and message.result else [*(message.errors or [])]
    verb = "fails the turn" if message.is_error else "ends the turn"
    text = ", ".join([f"{verb}: {message.subtype}", *reasons, seconds, *filter(None, [cost]), steps, *tokens])
    return Sentence(who, text, message.is_error)


def _assistant(message: AssistantMessage, who: str) -> Sentence:
    speaker = "cli" if message.model == "<synthetic>" else "model"
    said = [_block(block) for block in message.content]
    error = message.error is not None
    text = " · ".join(text for text, _ in said) or "(nothing)"
    odd = tuple(oddity for _, oddity in said if oddity)
    return Sentence(speaker, f"[{message.error}] {text}" if error else text, error, odd)


def _user(message: UserMessage, who: str) -> Sentence:
    content = message.content
    if isinstance(content, str):
        return Sentence(who, f"says: {content}")
    failed = any(isinstance(block, ToolResultBlock) and block.is_error for block in content)
    is_result = any(isinstance(block, ToolResultBlock) for block in content)
    said = [_block(block) for block in content]
    text = " · ".join(text for text, _ in said)
    odd = tuple(oddity for _, oddity in said if oddity)
    return Sentence("tool" if is_result else who, text if is_result else f"says: {text}", failed, odd)


def _block(block: Any) -> tuple[str, str]:
    """What a block says, and what is odd about it."""
    if isinstance(block, TextBlock):
        return block.text, ""
    if isinstance(block, ThinkingBlock):
        return f"thinks: {block.thinking}", ""
    if isinstance(block, ToolUseBlock):
        return f"calls {block.name} {_input(block.name, block.input)}", ""
    if isinstance(block, ToolResultBlock):
        text, pictures = output_of(block)
        seen = f"{pictures} picture{'' if pictures == 1 else 's'}" if pictures else ""
        return f"{'fails' if block.is_error else 'returns'}: {' · '.join(filter(None, [text, seen]))}", ""
    if isinstance(block, UnknownBlock):
        return f"[{block.type}]", f"unknown block: {block.reason}"
    return f"[{block.type}] {_json(block.to_dict())}", ""


def _cancel(message: ControlCancelRequest, who: str) -> Sentence:
    return Sentence(who, "withdraws its request")


def _retry(message: ApiRetryMessage, who: str) -> Sentence:
    return Sentence(who, f"retries the API: {_fields(message)}", True)


def _notice(message: Message) -> str:
    return f"{_name(message)}: {_fields(message)}".removesuffix(": ")


def _name(message: Message) -> str:
    return message.subtype if isinstance(message, SystemMessage) else kind_of(message)


def _fields(message: Message) -> str:
    fields = {key: value for key, value in message.data.items() if key not in ENVELOPE and value is not None}
    fields = {key: value for key, value in fields.items() if not key.endswith("_id")} or fields
    said = {key: value if isinstance(value, str) else _json(value) for key, value in fields.items()}
    if len(said) == 1:
        return next(iter(said.values()))
    return ", ".join(f"{key} {value}" for key, value in said.items())


def _input(tool: str, arguments: dict[str, Any]) -> str:
    """The one string that matters: the command, the file, the question. For tools that we do not know, all of it."""
    known = subject(tool, arguments)
    return _json(arguments) if known is None else known


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _outline(value: Any) -> str:
    """JSON if short, otherwise an outline of it."""
    text = _json(value)
    if len(text) <= _OUTLINED_FROM or not isinstance(value, dict):
        return text
    return ", ".join(f"{len(item)} {key}" if isinstance(item, list) else key for key, item in value.items())


_OUTLINED_FROM = 100
_SENTENCES: tuple[tuple[type[Message], Callable[[Any, str], Sentence]], ...] = (
    (BadLine, _bad_line),
    (UnknownMessage, _unknown),
    (ControlRequest, _request),
    (ControlResponse, _answer),
    (ControlCancelRequest, _cancel),
    (InitMessage, _init),
    (ApiRetryMessage, _retry),
    (AssistantMessage, _assistant),
    (UserMessage, _user),
    (CommandLifecycleMessage, lambda message, who: Sentence(who, f"prompt {message.state}")),
)
