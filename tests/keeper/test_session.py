"""A session of the client over the keeper, with the simulator."""

from __future__ import annotations

import asyncio
from pathlib import Path

from keeper.cli_command import cli_command
from keeper.support import Home
from quarterdeck import PermissionResultAllow, PermissionResultDeny, Session
from quarterdeck.testing.kit import FakeClaude
from simulated import ASKS


async def test_turns_permissions_and_an_interrupt_are_as_without_a_keeper(home: Home, tmp_path: Path) -> None:
    claude = FakeClaude(tmp_path)
    claude.play([ASKS, "made"], [ASKS, "not made"], ["third"])
    answers = iter([PermissionResultAllow(), PermissionResultDeny(message="no")])

    async def decide(*_: object) -> PermissionResultAllow | PermissionResultDeny:
        return next(answers)

    options = claude.options(can_use_tool=decide)
    command, files = cli_command(options)
    async with asyncio.timeout(60), home.client() as client:
        async with Session(options, transport=client.start("one", command, files=files)) as session:
            assert (await session.prompt("first")).result == "made"
            assert (await session.prompt("second")).result == "not made"
            await session.interrupt()
            assert (await session.prompt("third")).result == "third"
        assert await client.list() == []


async def test_twenty_sessions_share_one_keeper(home: Home, tmp_path: Path) -> None:
    claude = FakeClaude(tmp_path)
    claude.play(["hello"])
    options = claude.options()
    command, files = cli_command(options)

    async with asyncio.timeout(120), home.client() as client:

        async def one(number: int) -> str | None:
            transport = client.start(f"s{number}", command, files=files)
            async with Session(options, transport=transport) as session:
                return (await session.prompt("hi")).result

        assert await asyncio.gather(*map(one, range(20))) == ["hello"] * 20
        assert await client.list() == []
