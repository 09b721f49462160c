"""A session on a host is a ``Session``: the same promises, the same errors, one argument more."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from host.kit import ASKS, LIMIT_S
from quarterdeck import (
    PermissionResultAllow,
    connect,
)
from quarterdeck.host.requests import ListSessions
from quarterdeck.testing.kit import FakeClaude
from remote.kit import Elsewhere, elsewhere


@pytest.fixture
def fake(tmp_path: Path) -> FakeClaude:
    return FakeClaude(tmp_path / "claude")


async def test_a_program_switches_to_a_host_by_one_argument(fake: FakeClaude, tmp_path: Path) -> None:
    asked: list[str] = []

    async def program(**where: Any) -> list[Any]:
        def may_run(tool: str, tool_input: dict[str, Any], context: Any) -> PermissionResultAllow:
            asked.append(tool)
            return PermissionResultAllow()

        options = fake.options(can_use_tool=may_run)
        if where:
            options = Elsewhere.there(options)
        said: list[Any] = []
        async with asyncio.timeout(LIMIT_S), connect(options, **where) as session:
            async for message in session.prompt("go"):
                said += [type(message).__name__]
            said += [session.turn_cost is not None, session.last_result is not None, bool(session.server_info.commands)]
            said += [str((await session.prompt("and again")).subtype), session.costs.total_usd > 0]
        return said

    fake.play([ASKS, "Done."], ["Again."])
    here = await program()
    async with elsewhere(fake.options(), tmp_path / "state") as there:
        assert await program(host=there.url, token=there.token) == here
        (session,) = (await there.host.list_sessions(ListSessions())).sessions
        assert session.state == "stopped"  # the session was closed
    assert asked == ["Bash", "Bash"]
