"""What the doctor finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Level = Literal["ok", "warning", "problem"]
Area = Literal["Claude Code", "login", "environment", "machine", "Python"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. Whatever is not ok says what to ``do``."""

    area: Area
    id: str
    """Stable, for machines: ``cli-found``, ``login`` …"""
    level: Level
    what: str
    do: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.level == "ok") == bool(self.do):
            raise ValueError(f"{self.id}: a finding says what to do exactly if it is not ok")
