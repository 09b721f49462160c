"""What a person follows: one fold from wire messages to events and a state that any face can draw.

A face (terminal, page, gRPC, ACP) hands over every message of a conversation, in both directions, and gets back what
happened; it never looks at a wire message itself::

    timeline = Timeline()
    events = timeline.received(message, at=seconds)    # what the CLI wrote, control messages too
    events = timeline.sent(message, at=seconds)        # what we wrote: prompts, requests, answers
    timeline.state                                     # everything so far, to draw from nothing
    Timeline.restore(timeline.snapshot())              # goes on exactly as this one would

``events`` are for who follows live, the ``state`` for who comes later or redraws. Both speak of the same things by the
same ids. Why it is as it is:

- All that is drawn is one ordered dict of items by id, not a list for each kind: a face draws it from top to bottom, an
  event finds its item at once, and the oldest can go when a session lasts for days.
- A completed block tells what its pieces have not (``rest``), so no face has to know whether the CLI streams.
- Requests that people answer are items too, told whole by one event each, for a face must not look for their parts.
- Nothing is remembered outside the state, and ids and time are counted or handed in: a saved timeline goes on exactly.
- Each topic is a module of plain functions ``(state, message, at, out)``; ``folding`` has the table of who gets what.

The rooms: ``events`` what happened · ``items`` what there is to draw · ``state`` the tree of it · ``parts`` what these
are made of. ``docs/timeline.md`` is the guide.
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
