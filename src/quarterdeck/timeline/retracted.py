"""Things that were started and will not be finished, or were said and no longer count."""

from __future__ import annotations

from .events import Event, Retracted, TextCompleted, ThinkingCompleted
from .items import Said, Text, ToolCall
from .limits import clip
from .state import ModelOutput, State
from .toolcalls import call_stopped


def abandon_others(state: State, message_id: str, parent_id: str | None, at: float, out: list[Event]) -> None:
    """Another message of the same voice begins: what an earlier one left unsaid will never come.

    Up to 2.1.52, another message repeats a broken stream's content without mentioning the first.
    """
    if not state.begun:
        return
    for other in state.outputs.values():
        if other.blocks and other.parent_id == parent_id and other.message_id != message_id:
            ids = list(other.blocks.values())
            stop_blocks(state, other, at, out)
            for key in ids:
                if isinstance(item := state.items.get(key), Said):
                    item.retracted = True
            out.append(Retracted(at, ids))


def stop_blocks(state: State, output: ModelOutput, at: float, out: list[Event]) -> None:
    """The blocks that were begun and not completed are as they are."""
    for key in output.blocks.values():
        item = state.items.get(key)
        if isinstance(item, ToolCall):
            call_stopped(state, item, at, out)
        elif isinstance(item, Said) and not item.done:
            item.done = True
            item.text = clip(str(item), state.limits.text_chars) if not item.text.left_out else item.text
            item.pieces, item.pieces_size = [], 0
            done = TextCompleted if isinstance(item, Text) else ThinkingCompleted
            out.append(done(at, item.id, str(item), "", item.parent_id, stopped=True))
    state.begun = [key for key in state.begun if key not in output.blocks.values()]
    output.blocks = {}


def stop_all(state: State, at: float, out: list[Event]) -> None:
    """The turn is over: the main agent says nothing any more."""
    if state.begun:
        for output in state.outputs.values():
            if output.blocks and output.parent_id is None:
                stop_blocks(state, output, at, out)
    state.streams.pop("", None)
    state.thinking_tokens = 0


def retract(state: State, uuids: list[str], at: float, out: list[Event]) -> None:
    """Messages that no longer count."""
    wanted = set(uuids)
    ids = [item.id for item in state.items.values() if isinstance(item, Said) and item.uuid in wanted]
    for key in ids:
        state.items[key].retracted = True  # type: ignore[union-attr]
    if ids:
        out.append(Retracted(at, ids))
