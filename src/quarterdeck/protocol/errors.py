"""Faults of the caller. What the peer does wrong is never raised: it comes out as an event (``Unexpected``)."""

from __future__ import annotations

from quarterdeck._errors import QuarterdeckError


class LocalProtocolError(QuarterdeckError):
    """This side asked for something the conversation does not allow now; nothing was sent."""
