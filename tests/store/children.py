"""Programs that tests start as processes of their own: ``python -m store.children NAME FOLDER …``."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from quarterdeck.store import SqliteStore, StoreError
from quarterdeck.store.commits import AddEffect, PutSession
from quarterdeck.store.errors import ApprovalConflict, StorageFull
from store.making import add, bodies, decided, row, session, start

TESTS = Path(__file__).parents[1]
FILLER = "filler"


def child(*arguments: str, before: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
    """Start one of these programs; ``before`` is a command that runs it."""
    command = [*before, sys.executable, "-m", "store.children", *arguments]
    environment = {**os.environ, "PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)


def tell(text: str) -> None:
    """At once: the next moment this process may be killed."""
    os.write(1, f"{text}\n".encode())


async def append(folder: str) -> None:
    """Write to three sessions until killed, and tell each commit that has returned.

    A commit is one to five rows; the first says how many, and the session's record has the number of all rows.
    """
    async with await SqliteStore.open(folder) as store:
        await asyncio.gather(*(_append(store, f"s{number}") for number in range(3)))


async def _append(store: SqliteStore, name: str) -> None:
    head = await store.head(name)
    if head is None:
        await start(store, name, body=b"0")
        head = await store.head(name)
    assert head is not None
    fence = (await store.claim([name], owner=str(os.getpid())))[name]
    last = head.last_seq
    while True:
        count = last % 5 + 1
        rows = [row(f"{index} of {count}" + "x" * (last * 37 % 3_000)) for index in range(count)]
        record = PutSession(session(name, body=str(last + count).encode()))
        done = await add(store, name, *rows, changes=[record, AddEffect("send", b"")], fence=fence)
        last = done.last_seq
        tell(f"{name} {last}")


async def race(folder: str, by: str, names: str) -> None:
    """Decide these approvals, ten at a time, after a line on stdin; tell those that were won and who won the others."""
    async with await SqliteStore.open(folder, shared=True, sync="normal", busy_s=60.0) as store:
        tell("ready")
        await asyncio.to_thread(sys.stdin.readline)
        turns = asyncio.Semaphore(10)
        won: list[str] = []
        lost: dict[str, str] = {}

        async def decide(name: str) -> None:
            async with turns:
                try:
                    await add(store, "s", b"decided", changes=[decided(name, by=by)])
                except ApprovalConflict as conflict:
                    assert conflict.approval.decision is not None
                    lost[name] = conflict.approval.decision.by
                else:
                    won.append(name)

        await asyncio.gather(*(decide(name) for name in names.split(",")))
        tell(json.dumps({"won": won, "lost": lost}))


async def fill(folder: str) -> None:
    """On a disk that gets full: nothing that was committed is lost, and the store goes on when there is room."""
    filler = Path(folder, FILLER)
    filler.write_bytes(bytes(1024 * 1024))  # noqa: ASYNC240  # nothing else runs
    async with await SqliteStore.open(Path(folder, "store")) as store:
        await start(store)
        written = []
        try:
            for number in range(10_000):
                await add(store, "s", body := f"{number} ".encode() * 500)
                written.append(body)
        except StorageFull as full:
            assert "Free some space" in str(full), full
        else:
            raise AssertionError("the disk never was full")
        assert len(written) > 10
        assert await bodies(store) == written
        for _ in range(3):
            try:
                await add(store, "s", bytes(2_000_000))
            except StorageFull:
                continue
            raise AssertionError("there was room")
        filler.unlink()  # noqa: ASYNC240  # nothing else runs
        await add(store, "s", b"there is room again")
        assert await bodies(store) == [*written, b"there is room again"]
        assert await store.check() == []
    tell("survived")


async def hold(folder: str) -> None:
    """Have the store until stdin ends."""
    try:
        async with await SqliteStore.open(folder):
            tell("holding")
            await asyncio.to_thread(sys.stdin.read)
    except StoreError as refused:
        tell(str(refused))


if __name__ == "__main__":
    programs = {"append": append, "race": race, "fill": fill, "hold": hold}
    asyncio.run(programs[sys.argv[1]](*sys.argv[2:]))
