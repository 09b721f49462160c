"""One fold from wire messages to events and a state that any user interface can draw.

A user interface (terminal, page, gRPC, ACP) passes in every message of a conversation, in both directions, and gets
events back; it never reads a wire message itself::

    timeline = Timeline()
    events = timeline.received(message, at=seconds)    # what the CLI wrote, control messages too
    events = timeline.sent(message, at=seconds)        # what we wrote: prompts, requests, answers
    timeline.state                                     # everything so far, to draw from nothing
    Timeline.restore(timeline.snapshot())              # continues exactly where this one is

Live viewers use the ``events``; viewers that join later or redraw use the ``state``. Both use the same ids. The design:

- Everything to draw is in one ordered dict of items by id, not in a list per kind: viewers draw it from top to bottom,
  an event finds its item directly, and the oldest items can be dropped when a session lasts for days.
- A completed block has the text that its pieces did not (``rest``), so no viewer has to know whether the CLI streams.
- Requests that people answer are items too. One event has the whole request, so a face need not collect its parts.
- All memory is in the state, and ids and times are counted or passed in: a restored timeline continues exactly.
- Each topic is a module of plain functions ``(state, message, at, out)``; ``folding`` maps message types to them.

Modules: ``events`` what happened · ``items`` what there is to draw · ``state`` all of it as one tree · ``parts`` what
these consist of. ``docs/timeline.md`` is the guide.
"""

from __future__ import annotations

from . import events, items, parts, state
from .events import Event, EventBase
from .folding import SnapshotError, Timeline, decode_event, encode, fold
from .items import Item, ItemBase, Request
from .state import Limits, State

__all__ = [
    "Event",
    "EventBase",
    "Item",
    "ItemBase",
    "Limits",
    "Request",
    "SnapshotError",
    "State",
    "Timeline",
    "decode_event",
    "encode",
    "events",
    "fold",
    "items",
    "parts",
    "state",
]
