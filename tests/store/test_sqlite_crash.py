"""A process that is killed while it writes: what it was told is there, and nothing is half there."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import soak
from quarterdeck.store import SqliteStore
from store.children import child
from store.making import everything

ROUNDS = soak.cases(8, in_soak=200)


def killed_while_it_writes(folder: Path, lines: int) -> dict[str, int]:
    """The last row of each session that the process was told of before it was killed after so many commits."""
    process = child("append", str(folder))
    told: dict[str, int] = {}
    assert process.stdout is not None
    try:
        for _ in range(lines):
            name, last = process.stdout.readline().split()
            told[name.decode()] = int(last)
        process.kill()
        for line in process.stdout:  # it was told these before it died
            if line.endswith(b"\n"):
                name, last = line.split()
                told[name.decode()] = int(last)
    finally:
        process.kill()
        process.communicate()
    return told


async def look(folder: Path, told: dict[str, int]) -> None:
    async with await SqliteStore.open(folder) as store:
        assert await store.check() == []
        effects = await store.effects()
        for head in await store.heads():
            name = head.session
            rows = await everything(store, name)
            assert head.last_seq >= told.get(name, 0)
            assert [row.seq for row in rows] == list(range(1, head.last_seq + 1))
            record = await store.session(name)
            assert record is not None
            assert int(record.body) == head.last_seq
            assert len([effect for effect in effects if effect.session == name]) == whole_commits(
                [row.body.rstrip(b"x") for row in rows]
            )


def whole_commits(bodies: list[bytes]) -> int:
    """How many commits these rows are; fails if one is not complete."""
    commits = at = 0
    while at < len(bodies):
        count = int(bodies[at].split()[-1])
        assert bodies[at : at + count] == [f"{index} of {count}".encode() for index in range(count)]
        at += count
        commits += 1
    return commits


def test_what_was_committed_survives_each_kill_and_nothing_is_torn(tmp_path: Path) -> None:
    chance = random.Random(soak.SEED)
    told: dict[str, int] = {}
    for _ in range(ROUNDS):
        told |= killed_while_it_writes(tmp_path, chance.randrange(1, 120))
        asyncio.run(look(tmp_path, told))
