"""What can go wrong with a session store."""

from __future__ import annotations

from quarterdeck._errors import QuarterdeckError


class SessionStoreError(QuarterdeckError, RuntimeError):
    """A store failed or took too long. (The official SDK raises a plain ``RuntimeError`` for it.)"""
