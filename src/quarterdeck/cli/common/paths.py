"""Paths on the command line."""

from __future__ import annotations

from pathlib import Path


def absolute(text: str) -> str:
    """``~`` and relative paths become absolute; links stay."""
    return str(Path(text).expanduser().absolute())
