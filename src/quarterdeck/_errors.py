"""The root of the error tree, below every room so that each can hang its own errors on it."""

from __future__ import annotations


class QuarterdeckError(Exception):
    """The base of every error this package raises on purpose."""
