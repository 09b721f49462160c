"""Detects messages from Claude Code that this version doesn't know: reports each kind once and counts it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from quarterdeck.store import EventStore
from quarterdeck.store.commits import PutSetting
from quarterdeck.wire import BadLine, ControlRequest, Message, SystemMessage, UnknownMessage, UnknownRequest
from quarterdeck.wire.untyped import untyped_keys
from quarterdeck.wire.versions import MEASURED, parse_version

from .events import DriftNoticed

SETTING = "drift"
FIRST = 20
"""Of each kind of message, this many are checked in full; after that ..."""
EVERY = 200
"""... one in so many: checking every key of every line would cost more than all other processing."""

What: TypeAlias = Literal["message", "subtype", "field", "request", "version"]


class Drift:
    """What a host has seen in all its sessions, kept in its store across restarts."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """``what name`` → how often it was seen."""
        self._seen: defaultdict[str | None, dict[type[Message], int]] = defaultdict(dict)
        """Version of the CLI → kind of message → how many lines."""

    async def load(self, store: EventStore) -> None:
        kept = await store.setting(SETTING)
        self.counts = Counter({} if kept is None else msgspec.json.decode(kept, type=dict[str, int]))

    def setting(self) -> PutSetting:
        """The setting to write with the event, so that it is reported only once."""
        return PutSetting(SETTING, msgspec.json.encode(dict(self.counts)))

    def look(self, message: Message, at: float, cli_version: str | None) -> list[DriftNoticed]:
        """Return what is new in a line from the CLI."""
        kind = type(message)
        if kind not in _MAY_BE_UNKNOWN or (kind is ControlRequest and type(message.request) is not UnknownRequest):  # type: ignore[attr-defined]
            seen = self._seen[cli_version]
            count = seen[kind] = seen.get(kind, 0) + 1
            if count > FIRST and count % EVERY:
                return _NOTHING  # of a kind of which enough have been looked at
        return [
            DriftNoticed(at, what, name, cli_version) for what, name in self._odd(message) if self._is_new(what, name)
        ]

    def version(self, cli_version: str, at: float) -> list[DriftNoticed]:
        """Note a process's version."""
        if parse_version(cli_version) in MEASURED or not self._is_new("version", cli_version):
            return []
        return [DriftNoticed(at, "version", cli_version, cli_version)]

    def _is_new(self, what: What, name: str) -> bool:
        key = f"{what} {name}"
        self.counts[key] += 1
        return self.counts[key] == 1

    def _odd(self, message: Message) -> Iterator[tuple[What, str]]:
        kind = type(message)
        if kind is UnknownMessage or kind is BadLine:
            yield "message", str(getattr(message, "type", None) or getattr(message, "reason", ""))
            return
        if kind is SystemMessage:
            yield "subtype", f"system/{getattr(message, 'subtype', '')}"
            return
        if isinstance(message, ControlRequest) and isinstance(message.request, UnknownRequest):
            yield "request", message.request.subtype
            return
        said = message.data
        name = "/".join(str(said[part]) for part in ("type", "subtype") if part in said)
        yield from (("field", f"{name}{path}") for path in set(untyped_keys(message)))


_MAY_BE_UNKNOWN = frozenset({UnknownMessage, BadLine, SystemMessage, ControlRequest})
_NOTHING: list[DriftNoticed] = []
