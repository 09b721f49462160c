"""The model's output: the stream's deltas, and the completed blocks that follow (or come alone).

The CLI writes one ``assistant`` line for each content block, all with the message's id, before the block's
``content_block_stop`` (2.0.77 to 2.1.325). So the n-th line is the block with index n, and the item of a block has the
same id whether it was streamed or not. Tool calls have their own ids.

Each event says whose stream it belongs to, but reading that costs more than everything else. As long as only the main
agent streams (no CLI up to 2.1.325 has been seen to stream a sub-agent) it is read when a message starts, not for each
delta.
"""

from __future__ import annotations

from typing import Any

from quarterdeck.wire import (
    AssistantMessage,
    ContentBlock,
    ContentBlockStart,
    ErrorEvent,
    MessageDelta,
    MessageStart,
    MessageStop,
    RedactedThinkingBlock,
    StreamEvent,
    TextBlock,
    ThinkingBlock,
    UnknownEvent,
)

from .activity import begin_turn, settle
from .blocks import CALLS, fold_other_block
from .events import (
    BlockStarted,
    Event,
    TextAdded,
    TextCompleted,
    ThinkingAdded,
    ThinkingCompleted,
    ToolInputAdded,
)
from .items import Said, Text, Thinking, ToolCall
from .limits import add_item, clip, new_id, shorten_pieces
from .notices import show, unknown
from .retracted import abandon_others, retract
from .state import ModelOutput, State
from .toolcalls import call_started
from .usage import fold_context, fold_usage

_REMEMBERED = 64
"""Messages whose blocks are counted; a late line of an older one would only get another id."""


def fold_stream_event(state: State, message: StreamEvent, at: float, out: list[Event]) -> None:
    said = message.event
    if said.get("type") == "content_block_delta":
        index, delta = said.get("index"), said.get("delta")
        if type(index) is int and type(delta) is dict:
            _piece(state, message, index, delta, at, out)
            return
    event: Any = message.typed_event
    kind = type(event)
    if kind is MessageStart:
        _message_started(state, message, event, at, out)
    elif kind is ContentBlockStart:
        _block_started(state, message, event, at, out)
    elif kind is MessageDelta:
        output = _output(state, message)
        if output is not None and output.parent_id is None:
            fold_usage(state, event.usage, output.model, at, out)
    elif kind is MessageStop:
        state.streams.pop(_voice(state, message), None)
    elif kind is ErrorEvent:
        show(state, at, out, kind="api_error", text=event.error.message or event.error.type or "", level="error")
    elif kind is UnknownEvent:
        unknown(state, at, out, what=f"stream event {event.type}", raw=message.raw, reason=event.reason)
    settle(state, at, out)


def _voice(state: State, message: StreamEvent) -> str:
    streams = state.streams
    if len(streams) == 1 and "" in streams:
        return ""
    return message.parent_tool_use_id or ""


def _output(state: State, message: StreamEvent) -> ModelOutput | None:
    message_id = state.streams.get(_voice(state, message))
    return None if message_id is None else state.outputs.get(message_id)


def _piece(state: State, message: StreamEvent, index: int, delta: dict[str, Any], at: float, out: list[Event]) -> None:
    """The most frequent of all, so its dict is read as it is."""
    output = _output(state, message)
    key = None if output is None else output.blocks.get(index)
    if key is None:
        return  # from a message whose beginning was not seen: the completed block will have all of it
    item = state.items.get(key)
    kind, into = delta.get("type"), type(item)
    if kind == "text_delta" and into is Text and type(text := delta.get("text")) is str:
        _add(state, item, text)  # type: ignore[arg-type]
        out.append(TextAdded(at, key, text))
    elif kind == "thinking_delta" and into is Thinking and type(text := delta.get("thinking")) is str:
        _add(state, item, text)  # type: ignore[arg-type]
        out.append(ThinkingAdded(at, key, text))
    elif kind == "input_json_delta" and into is ToolCall and type(text := delta.get("partial_json")) is str:
        _add_input(state, item, text)  # type: ignore[arg-type]
        out.append(ToolInputAdded(at, key, text))


def _add(state: State, item: Said, text: str) -> None:
    if type(item.pieces) is list:
        item.pieces.append(text)
    else:
        item.pieces = [*item.pieces, text]
    item.pieces_size += len(text)
    if item.pieces_size > state.limits.text_chars:
        shorten_pieces(item, state.limits.text_chars)


def _add_input(state: State, call: ToolCall, text: str) -> None:
    """Kept as far as its beginning is useful: the whole input comes with the completed block."""
    call.input_size += len(text)
    if call.input_size <= state.limits.input_chars:
        if type(call.input_pieces) is list:
            call.input_pieces.append(text)
        else:
            call.input_pieces = [*call.input_pieces, text]


def _message_started(state: State, message: StreamEvent, event: MessageStart, at: float, out: list[Event]) -> None:
    parent_id = message.parent_tool_use_id
    if parent_id is None:
        begin_turn(state, at, out)
        state.retry = None
        state.phase = ""
    message_id = event.message.id or new_id(state, "message")
    abandon_others(state, message_id, parent_id, at, out)
    output = _output_of(state, message_id, parent_id)
    output.model = event.message.model or None
    state.streams[parent_id or ""] = message_id


def _block_started(state: State, message: StreamEvent, event: ContentBlockStart, at: float, out: list[Event]) -> None:
    output = _output(state, message)
    if output is None:
        return
    block = event.content_block
    key = f"{output.message_id}:{event.index}"
    match block:
        case TextBlock():
            item: Said = Text(id=key, at=at, parent_id=output.parent_id, model=output.model, pieces=[])
            if block.text:
                _add(state, item, block.text)
        case ThinkingBlock() | RedactedThinkingBlock():
            hidden = isinstance(block, RedactedThinkingBlock)
            item = Thinking(id=key, at=at, parent_id=output.parent_id, model=output.model, pieces=[], hidden=hidden)
            state.thinking_tokens = 0
        case _ if isinstance(block, CALLS):
            _note_begun(state, output, event.index, block.id)
            call_started(state, block, output.parent_id, at, out)
            return
        case _:
            return  # nothing is reported about it before it is complete
    _begin(state, item, at, out)
    _note_begun(state, output, event.index, key)


def _note_begun(state: State, output: ModelOutput, index: int, key: str) -> None:
    _forget_begun(state, output, index)
    output.blocks[index] = key
    state.begun.append(key)


def _forget_begun(state: State, output: ModelOutput, index: int) -> None:
    if not output.blocks:
        return
    key = output.blocks.pop(index, None)
    if key in state.begun:
        state.begun.remove(key)


def _begin(state: State, item: Said, at: float, out: list[Event]) -> None:
    add_item(state, item)  # type: ignore[arg-type]
    out.append(BlockStarted(at, item.id, "text" if type(item) is Text else "thinking", item.parent_id))


def _output_of(state: State, message_id: str, parent_id: str | None) -> ModelOutput:
    outputs = state.outputs
    output = outputs.get(message_id)
    if output is None:
        outputs[message_id] = output = ModelOutput(message_id, parent_id)
        if len(outputs) > _REMEMBERED:
            oldest = outputs.pop(next(iter(outputs)))
            for index in list(oldest.blocks):
                _forget_begun(state, oldest, index)
    return output


def fold_assistant(state: State, message: AssistantMessage, at: float, out: list[Event]) -> None:
    parent_id, said = message.parent_tool_use_id, message.message
    if parent_id is None:
        if state.turn_started_at is None:
            begin_turn(state, at, out)
        state.retry = None
        state.phase = ""
    message_id = said.id or message.uuid or new_id(state, "message")
    if message.supersedes:
        retract(state, message.supersedes, at, out)
    model = said.model
    if state.begun and model != "<synthetic>":
        abandon_others(state, message_id, parent_id, at, out)
    output = _output_of(state, message_id, parent_id)
    for block in said.content:
        index = output.completed
        output.completed += 1
        _complete(state, message, block, output, index, at, out)
    if parent_id is None and model != "<synthetic>":
        fold_context(state, said.usage, model, at, out)
    settle(state, at, out)


def _complete(
    state: State,
    message: AssistantMessage,
    block: ContentBlock,
    output: ModelOutput,
    index: int,
    at: float,
    out: list[Event],
) -> None:
    kind = type(block)
    if kind is TextBlock:
        item: Said = _said(state, Text, output, index, at, out)
        text: str = block.text  # type: ignore[union-attr]
    elif kind is ThinkingBlock or kind is RedactedThinkingBlock:
        item = _said(state, Thinking, output, index, at, out)
        text = block.thinking if isinstance(block, ThinkingBlock) else ""
    else:
        _forget_begun(state, output, index)
        fold_other_block(state, message, block, at, out)
        return
    told = item.pieces_size + item.text.size if item.pieces_size or item.text.text else 0
    rest = text[told:] if told else text
    model, error = message.message.model, message.error
    if item.pieces_size:
        item.pieces, item.pieces_size = [], 0
    item.text = clip(text, state.limits.text_chars)
    item.done, item.uuid, item.model, item.error = True, message.uuid, model, error
    stopped = bool(message.aborted)
    if type(item) is Thinking:
        item.hidden = isinstance(block, RedactedThinkingBlock)
        if message.thinking_duration_ms is not None:
            item.duration_s = message.thinking_duration_ms / 1000
        state.thinking_tokens = 0
        out.append(
            ThinkingCompleted(at, item.id, text, rest, item.parent_id, item.hidden, item.duration_s, stopped=stopped)
        )
        return
    out.append(TextCompleted(at, item.id, text, rest, item.parent_id, error, model == "<synthetic>", stopped))


def _said(
    state: State, kind: type[Text] | type[Thinking], output: ModelOutput, index: int, at: float, out: list[Event]
) -> Said:
    """The item of a completed block: the one that the stream started, or a new one."""
    if output.blocks:
        for begun in (index, *output.blocks):
            item = state.items.get(output.blocks.get(begun, ""))
            if isinstance(item, kind) and not item.done:
                _forget_begun(state, output, begun)
                return item
    item = kind(id=f"{output.message_id}:{index}", at=at, parent_id=output.parent_id)
    _begin(state, item, at, out)
    return item
