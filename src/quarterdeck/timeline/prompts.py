"""Prompts, and everything else that comes as ``user`` messages: results, echoes, remarks."""

from __future__ import annotations

import re

from quarterdeck.wire import (
    CommandLifecycleMessage,
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ToolResultBlock,
    UserMessage,
)

from ._words import PromptStatus
from .activity import settle
from .events import Event, PromptChanged, PromptSent
from .items import Prompt
from .limits import add_item, clip, new_id
from .notices import show
from .requests import close_requests_of
from .state import State
from .toolcalls import fold_result

_LOCAL_OUTPUT = re.compile(r"<local-command-(stdout|stderr)>(.*)</local-command-\1>", re.DOTALL)
_INTERRUPTED = "[Request interrupted by user"
_CONTINUED = "This session is being continued from a previous conversation"

_STATUSES: dict[str, PromptStatus] = {
    "queued": "queued",
    "started": "started",
    "completed": "completed",
    "cancelled": "cancelled",
}


def fold_sent_prompt(state: State, message: UserMessage, at: float, out: list[Event]) -> None:
    """We say something."""
    if message.parent_tool_use_id is None and message.should_query is not False and state.turn_started_at is None:
        state.phase = "requesting"
    state.suggestion = None
    _prompt(state, message, message.uuid, "us", at, out)
    settle(state, at, out)


def _prompt(state: State, message: UserMessage, key: str | None, source: str, at: float, out: list[Event]) -> None:
    text, attachments = _said(message.content)
    prompt = Prompt(
        id=key or new_id(state, "prompt"),
        at=at,
        parent_id=message.parent_tool_use_id,
        text=clip(text, state.limits.text_chars),
        attachments=attachments,
        source=source,
    )
    add_item(state, prompt)
    out.append(PromptSent(at, prompt.id, text, source, attachments, prompt.parent_id))


def _said(content: str | list[ContentBlock]) -> tuple[str, list[str]]:
    if isinstance(content, str):
        return content, []
    texts = [block.text for block in content if isinstance(block, TextBlock)]
    media = [
        str(block.source.get("media_type") or block.type)
        for block in content
        if isinstance(block, ImageBlock | DocumentBlock)
    ]
    return "\n".join(texts), media


def fold_user(state: State, message: UserMessage, at: float, out: list[Event]) -> None:
    """From the CLI: a tool's result, or a message to the model that is not (only) ours."""
    content = message.content
    results = [] if isinstance(content, str) else _results(content)
    if results:
        metas = message.tool_result_meta
        refusals = {meta.id: meta.non_execution_kind for meta in metas} if metas else {}
        for block in results:
            facts = message.tool_use_result if len(results) == 1 else None
            key = block.tool_use_id
            close_requests_of(state, key, at, out)
            fold_result(state, block, facts, refusals.get(key), message.parent_tool_use_id, at, out)
        if message.parent_tool_use_id is None and state.turn_started_at is not None:
            state.phase = "requesting"  # up to 2.1.52 the CLI does not say so itself
    else:
        _remark(state, message, at, out)
    settle(state, at, out)


def _results(content: list[ContentBlock]) -> list[ToolResultBlock]:
    return [block for block in content if isinstance(block, ToolResultBlock)]


def _remark(state: State, message: UserMessage, at: float, out: list[Event]) -> None:
    text, _ = _said(message.content)
    parent_id = message.parent_tool_use_id
    local = _LOCAL_OUTPUT.search(text)
    if local is not None:
        level = "error" if local[1] == "stderr" else "info"
        show(state, at, out, kind="command_output", text=local[2].strip(), level=level, parent_id=parent_id)
    elif text.startswith(_INTERRUPTED):
        state.interrupting = state.interrupting or parent_id is None
        show(state, at, out, kind="interrupted", text=text.strip("[]"), level="warning", parent_id=parent_id)
    elif text.startswith(_CONTINUED):
        show(state, at, out, kind="compaction_summary", text=text, parent_id=parent_id)
    elif parent_id is not None:
        _prompt(state, message, message.uuid, "agent", at, out)
    elif message.is_replay:
        _echo(state, message, text, at, out)
    elif message.is_synthetic:
        show(state, at, out, kind="told_model", text=text)
    else:
        origin = str(message.origin.get("kind", "")) if message.origin is not None else ""
        _prompt(state, message, message.uuid, origin or "cli", at, out)


def _echo(state: State, message: UserMessage, text: str, at: float, out: list[Event]) -> None:
    """With ``--replay-user-messages``. Our own prompt comes back, under a new id if we gave it none."""
    if message.uuid in state.items:
        return
    kept = clip(text, state.limits.text_chars)
    ours = any(
        isinstance(item, Prompt) and item.source == "us" and item.id.startswith("prompt-") and item.text == kept
        for item in state.items.values()
    )
    if not ours:
        _prompt(state, message, message.uuid, "us", at, out)


def fold_lifecycle(state: State, message: CommandLifecycleMessage, at: float, out: list[Event]) -> None:
    status = _STATUSES.get(message.state)
    if status is None:
        show(state, at, out, kind="prompt", text=f"{message.command_uuid}: {message.state}")
        return
    prompt = state.items.get(message.command_uuid)
    if isinstance(prompt, Prompt):
        prompt.status = status
    out.append(PromptChanged(at, message.command_uuid, status))
