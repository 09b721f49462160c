"""Two real ends joined by a fake wire, with a clock that only moves when told."""

from __future__ import annotations

from collections.abc import Callable, Container
from itertools import count
from typing import Any

from quarterdeck.protocol import CliSide, Event, HostSide
from quarterdeck.protocol.host_side import SERVED
from quarterdeck.wire import Message


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Pair:
    """``host`` and ``cli``; ``carry`` moves what each has to say to the other, cut into pieces of ``cut`` bytes."""

    def __init__(
        self,
        *,
        cut: int | None = None,
        new_id: Callable[[], str] | None = None,
        serves: Container[str] = SERVED,
        **cli_options: Any,
    ) -> None:
        self.clock = Clock()
        self.cut = cut
        self.host = HostSide(new_id=new_id or ids("h"), clock=self.clock, serves=serves)
        self.cli = CliSide(new_id=new_id or ids("c"), clock=self.clock, **cli_options)
        self.wire: list[tuple[str, bytes]] = []
        """What was said, ``in`` to the CLI or ``out`` of it."""

    def carry(self) -> tuple[list[Event], list[Event]]:
        """Everything said so far arrives; the events of the host and of the CLI."""
        host_events, cli_events = self.host.events(), self.cli.events()
        while True:
            to_cli, to_host = self.host.outgoing(), self.cli.outgoing()
            if not to_cli and not to_host:
                return host_events, cli_events
            self.wire += [("in", line) for line in to_cli.splitlines()]
            self.wire += [("out", line) for line in to_host.splitlines()]
            for piece in self._pieces(to_cli):
                self.cli.receive(piece)
            for piece in self._pieces(to_host):
                self.host.receive(piece)
            host_events += self.host.events()
            cli_events += self.cli.events()

    def to_host(self) -> list[Event]:
        return self.carry()[0]

    def to_cli(self) -> list[Event]:
        return self.carry()[1]

    def advance(self, seconds: float) -> None:
        self.clock.now += seconds
        self.host.tick()
        self.cli.tick()

    def _pieces(self, data: bytes) -> list[bytes]:
        size = self.cut or max(len(data), 1)
        return [data[at : at + size] for at in range(0, len(data), size)]


def ids(prefix: str) -> Any:
    numbers = count(1)
    return lambda: f"{prefix}{next(numbers)}"


def kinds(events: list[Event]) -> list[str]:
    """Names only, for asserting an order."""
    return [type(event).__name__ for event in events]


def init(**more: Any) -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "init",
        "session_id": "s1",
        "cwd": "/tmp",
        "tools": ["Bash"],
        "mcp_servers": [],
        "model": "m",
        "permissionMode": "default",
        "slash_commands": [],
        "output_style": "default",
        "skills": [],
        "plugins": [],
        "apiKeySource": "none",
        "claude_code_version": "2.1.325",
        "uuid": "u-init",
        **more,
    }


def result(**more: Any) -> dict[str, Any]:
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 1,
        "duration_api_ms": 1,
        "num_turns": 1,
        "result": "ok",
        "stop_reason": "end_turn",
        "session_id": "s1",
        "total_cost_usd": 0.0,
        "usage": {"input_tokens": 1, "output_tokens": 1},
        "modelUsage": {},
        "permission_denials": [],
        "uuid": "u-result",
        **more,
    }


def system(subtype: str, **more: Any) -> dict[str, Any]:
    return {"type": "system", "subtype": subtype, "session_id": "s1", "uuid": f"u-{subtype}", **more}


def lifecycle(uuid: str, state: str) -> dict[str, Any]:
    return {"type": "command_lifecycle", "command_uuid": uuid, "state": state, "session_id": "s1", "uuid": "u-life"}


def content(events: list[Event]) -> list[Message]:
    return [event for event in events if isinstance(event, Message)]
