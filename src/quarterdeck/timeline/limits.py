"""How much is kept. Long texts keep their two ends, and the oldest items go when there are too many.

Streaming text is kept as a list of pieces; joining them each time would be quadratic.
"""

from __future__ import annotations

from typing import Any

from .items import Item, Said
from .parts import Kept
from .state import State

_HEAD = 0.75
"""The share of a shortened text that its beginning gets."""


def clip(text: str, limit_chars: int) -> Kept:
    """The text, or its two ends."""
    if len(text) <= limit_chars:
        return Kept(text)
    head = int(limit_chars * _HEAD)
    tail = limit_chars - head
    return Kept(text[:head], text[len(text) - tail :], len(text) - limit_chars)


def clip_value(value: Any, limit_chars: int) -> Any:
    """A JSON value with the long texts in it shortened; itself if there are none."""
    if isinstance(value, str):
        return value if len(value) <= limit_chars else str(clip(value, limit_chars))
    if isinstance(value, dict):
        return {
            key: item if type(item) is str and len(item) <= limit_chars else clip_value(item, limit_chars)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [clip_value(item, limit_chars) for item in value]
    return value


def shorten_pieces(item: Said, limit_chars: int) -> None:
    """Join the pieces of a long text that is being streamed; called only when they exceed the limit."""
    told = "".join(item.pieces)
    kept = item.text
    if not kept.left_out:
        item.text = clip(kept.text + told, limit_chars)
    else:
        end = kept.tail + told
        tail = limit_chars - len(kept.text)
        item.text = Kept(kept.text, end[len(end) - tail :], kept.left_out + len(end) - tail)
    item.pieces = []
    item.pieces_size = 0


def add_item(state: State, item: Item) -> None:
    """Append an item; if there are too many, drop the oldest finished one."""
    items = state.items
    items[item.id] = item
    if len(items) <= state.limits.items:
        return
    running, waiting, begun = state.running, state.waiting, state.begun
    for oldest in items:
        if oldest not in running and oldest not in waiting and oldest not in begun and oldest != item.id:
            del items[oldest]
            if state.plans:
                state.plans.pop(oldest, None)
            state.dropped_items += 1
            return


def new_id(state: State, word: str) -> str:
    """An id for items without one on the wire. A counter, because the same conversation must give the same ids."""
    state.counter += 1
    return f"{word}-{state.counter}"


def text_or_none(value: Any) -> str | None:
    """The value, if it is a string: the shape of this dict has not been checked."""
    return value if isinstance(value, str) else None


def texts(value: Any) -> list[str]:
    """The texts in what should be a list of them."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def first_line(text: str, limit_chars: int = 200) -> str:
    """One line that summarizes it."""
    line = text.strip().partition("\n")[0].rstrip()
    more = len(line) < len(text.strip())
    return line[: limit_chars - 1] + "…" if len(line) > limit_chars else f"{line} …" if more else line
