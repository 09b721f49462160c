"""Accounts and their rate limits: one gauge for all sessions of an account."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from quarterdeck.timeline.parts import RateLimitState

from .errors import HostError
from .times import moment

WITHOUT_RESET_S = 300.0
"""How long a limit without a known end applies before a prompt may try again."""


class Gauge:
    """The latest report on each limit of an account, from any of its sessions."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        """``changed`` is called when the account reaches a limit, and when the limit ends."""
        self._told: dict[str, tuple[RateLimitState, float]] = {}
        self._changed = changed
        self.email = ""

    def take(self, limit: RateLimitState, at: float) -> None:
        """Apply a session's report. Ignores anything older than what is known."""
        window = limit.kind or ""
        if window in self._told and self._told[window][1] > at:
            return
        before = self.until(at)
        self._told[window] = (limit, at)
        if self.until(at) != before:
            self._changed()

    def until(self, now: float) -> float | None:
        """When the account accepts prompts again; None if it does now."""
        if not self._told:
            return None
        ends = [end for limit, at in self._told.values() if (end := _ends_at(limit, at)) > now]
        return max(ends, default=None)

    def shown(self) -> dict[str, Any]:
        return {
            window: {**msgspec.to_builtins(limit), "told_at": moment(at).isoformat()}
            for window, (limit, at) in self._told.items()
        }


class Accounts:
    """Accounts by name, each with a configuration folder; the empty name is the default account."""

    def __init__(
        self, folders: Mapping[str, str | os.PathLike[str]] | None, changed: Callable[[str], None] = lambda _: None
    ) -> None:
        self._folders = {name: Path(folder).expanduser() for name, folder in (folders or {}).items()}
        self._changed = changed
        self._gauges: dict[str, Gauge] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._folders)

    def check(self, name: str) -> None:
        if name and name not in self._folders:
            raise HostError("not_found", f"There is no account {name}.", field="account")

    def env(self, name: str) -> dict[str, str]:
        """The environment variables of this account's processes."""
        self.check(name)
        return {"CLAUDE_CONFIG_DIR": str(self._folders[name])} if name else {}

    def gauge(self, name: str) -> Gauge:
        if name not in self._gauges:
            self._gauges[name] = Gauge(lambda: self._changed(name))
        return self._gauges[name]

    def shown(self) -> dict[str, Any]:
        """The account's name; for the default account its email address, if known."""
        names = [*self._folders, *(name for name in self._gauges if name not in self._folders)]
        return {name or self.gauge(name).email: self.gauge(name).shown() for name in names}


def _ends_at(limit: RateLimitState, at: float) -> float:
    if limit.status != "rejected" or limit.overage_status in ("allowed", "allowed_warning"):
        return 0.0
    return at + WITHOUT_RESET_S if limit.resets_at is None else limit.resets_at
