"""What all events have."""

from __future__ import annotations

import msgspec

from quarterdeck.timeline._words import tag


class EventBase(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag=tag):
    """Something that happened."""

    at: float
    """The time that was handed in with the message."""
