"""The store refuses while sessions run: nothing new is taken, nothing is allowed unwritten, all goes on by itself."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from host.kit import (
    ASKS,
    LIMIT_S,
    Clock,
    Place,
    all_frames,
    decide,
    frames_until,
    kinds,
    pending,
    pid_of,
    states_of,
    told,
)
from quarterdeck.host import Host, HostError
from quarterdeck.host.events import ProcessChanged
from quarterdeck.host.requests import (
    AddEvent,
    CreateToken,
    ListApprovals,
    ListSessions,
    Nothing,
    OfSession,
    ReadEvents,
    SendPrompt,
    UpdateSession,
)
from quarterdeck.policy import Policy
from quarterdeck.store import Commit, Committed, SqliteStore
from quarterdeck.store.errors import (
    StorageBusy,
    StorageCorrupt,
    StorageFailed,
    StorageFull,
    StorageReadOnly,
    StoreError,
    StoreInUse,
    StoreTooNew,
)
from quarterdeck.store.queries import LoadedSession
from quarterdeck.store.records import Snapshot
from quarterdeck.timeline.events import PromptSent, TurnEnded

FAULTS = [StorageFull, StorageReadOnly, StorageBusy, StorageCorrupt]
PAGE_BYTES = 4096
HOLD = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


class Disk:
    """Refuses commits while ``error`` is set."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.error: StorageFailed | None = None
        self._commit, self._submit = store.commit, store.submit
        store.commit, store.submit = self.commit, self.submit  # type: ignore[method-assign]

    async def commit(self, commit: Commit) -> Committed:
        if self.error is not None:
            raise self.error
        return await self._commit(commit)

    def submit(self, commit: Commit, answered: Callable[[Committed | StoreError], None]) -> None:
        if self.error is None:
            self._submit(commit, answered)
        else:
            asyncio.get_running_loop().call_soon(answered, self.error)


@asynccontextmanager
async def on_a_disk(place: Place, **more: Any) -> AsyncIterator[tuple[Host, Disk]]:
    disk = Disk(await SqliteStore.open(place.folder, sync="normal"))
    async with place.opened(store=disk.store, **more) as host:
        yield host, disk


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    while not await holds():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def ready(host: Host) -> bool:
    return not any("Session" in problem for problem in (await host.get_health(Nothing())).problems)


def of(session: Any) -> OfSession:
    return OfSession(session_id=session.id)


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_decision_that_cannot_be_written_does_not_count(place: Place, fault: type[StorageFailed]) -> None:
    place.claude.play([ASKS, "Done."])
    async with on_a_disk(place) as (host, disk):
        session = await place.created(host)
        (approval,) = await pending(host)
        disk.error = fault("There is no room.")
        with pytest.raises(HostError, match="no room") as refused:
            await decide(host, approval)
        assert refused.value.code == "storage"
        assert [one.state for one in (await host.list_approvals(ListApprovals())).approvals] == ["pending"]
        disk.error = None
        await decide(host, approval, "deny", message="No.")
        frames = await frames_until(host, session.id, "idle")
        assert states_of(frames) == ["pending", "decided", "delivered", "applied"]
        assert not (place.cwd / "made.txt").exists()


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_session_that_cannot_be_written_takes_no_new_work_and_goes_on_by_itself(
    place: Place, fault: type[StorageFailed]
) -> None:
    place.claude.play(["First."], ["Second."], ["Third."])
    async with on_a_disk(place) as (host, disk):
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
        disk.error = fault("There is no room.")
        with pytest.raises(HostError) as first:
            await host.send_prompt(SendPrompt(session_id=session.id, content="second"))
        assert (first.value.code, first.value.details) == ("storage", {"pending": True})
        for work in (
            host.send_prompt(SendPrompt(session_id=session.id, content="refused")),
            host.update_session(UpdateSession(session_id=session.id, name="refused")),
            host.interrupt(of(session)),
            host.delete_session(of(session)),
        ):
            with pytest.raises(HostError, match="accepts no new work") as refused:
                await work
            assert refused.value.code == "storage"
        assert "no room" in (await host.get_session(of(session))).state_reason
        (listed,) = (await host.list_sessions(ListSessions())).sessions
        assert "no room" in listed.state_reason
        health = await host.get_health(Nothing())
        assert not health.ready
        assert any("no room" in problem for problem in health.problems)
        disk.error = None
        await until(lambda: ready(host))
        seen = await all_frames(host, session.id)
        while len(told(seen, TurnEnded)) < 2:
            seen = await all_frames(host, session.id)
        assert [event.text for event in told(seen, PromptSent)] == ["go", "second"]
        assert [frame.seq for frame in seen] == list(range(1, len(seen) + 1))


async def test_what_a_process_says_meanwhile_is_written_later_in_its_order(place: Place) -> None:
    place.claude.play(["Some text. " * 50, "More of it. " * 50], delay_s=0.002)
    async with on_a_disk(place) as (host, disk):
        session = await place.created(host)
        disk.error = StorageFull("There is no room.")

        async def stalled() -> bool:
            return not await ready(host)

        await until(stalled)
        disk.error = None
        frames = await frames_until(host, session.id, "idle")
        assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
        assert kinds(frames).count("TextCompleted") == 2
        assert kinds(frames).count("TurnEnded") == 1


async def test_what_the_policy_would_allow_does_not_happen_before_it_is_written(place: Place) -> None:
    place.claude.play(["Some text. " * 20, ASKS, "Done."], delay_s=0.01)
    policy = Policy.from_rules(allow=["Bash(touch made.txt)"])
    async with on_a_disk(place, policy=policy) as (host, disk):
        session = await place.created(host)
        disk.error = StorageFull("There is no room.")

        async def stalled() -> bool:
            return not await ready(host)

        await until(stalled)
        await host.stop(of(session))
        disk.error = None
        await until(lambda: ready(host))
        assert not (place.cwd / "made.txt").exists()
        assert "PolicyDecided" not in kinds(await all_frames(host, session.id))


async def test_a_process_can_be_stopped_although_nothing_can_be_written(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with on_a_disk(place) as (host, disk):
        session = await place.created(host)
        (approval,) = await pending(host)
        pid = await pid_of(host, session)
        disk.error = StorageFull("There is no room.")
        await host.stop(of(session))
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        disk.error = None
        await until(lambda: ready(host))
        assert (await host.get_session(of(session))).state == "stopped"
        (ended,) = [one for one in told(await all_frames(host, session.id), ProcessChanged) if one.state == "exited"]
        assert ended.generation == 1
        with pytest.raises(HostError) as late:
            await decide(host, approval)
        assert late.value.code == "withdrawn"


async def test_a_full_disk_locks_nobody_out(place: Place) -> None:
    async with on_a_disk(place) as (host, disk):
        token = await host.create_token(CreateToken(name="phone", scope="read"))
        disk.error = StorageFull("There is no room.")
        assert (await host.authenticate(token.secret or "")).name == "phone"


async def test_a_database_that_another_program_has_locked_is_used_again_when_it_lets_go(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    store = await SqliteStore.open(place.folder, busy_s=0.05)
    async with place.opened(store=store) as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        other = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", HOLD, str(place.folder / "store.db")),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert other.stdin is not None
        assert other.stdout is not None
        assert await other.stdout.readline() == b"held\n"
        with pytest.raises(HostError, match="Another program has locked") as refused:
            await decide(host, approval)
        assert refused.value.code == "storage"
        other.stdin.close()
        await other.wait()
        await decide(host, approval)
        frames = await frames_until(host, session.id, "idle")
        assert states_of(frames) == ["pending", "decided", "delivered", "applied"]


async def test_damaged_pages_of_one_session_leave_the_others_alone(tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=True)
    place.claude.play(["Hello."], ["Again."])
    async with asyncio.timeout(LIMIT_S):
        async with place.host() as host:
            whole, damaged = await place.created(host), await place.created(host)
            for session in (whole, damaged):
                await frames_until(host, session.id, "idle")
            filler = AddEvent(session_id=damaged.id, type="filler", data={"text": "x" * 500})
            await asyncio.gather(*(host.add_event(filler) for _ in range(2_000)))
        path = place.folder / "store.db"
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with path.open("rb+") as file:
            file.seek(path.stat().st_size // PAGE_BYTES // 2 * PAGE_BYTES)
            file.write(b"\xa5" * 5 * PAGE_BYTES)
    async with place.opened() as host:
        with pytest.raises(HostError, match="restore a backup") as refused:
            await host.read_events(ReadEvents(session_id=damaged.id, limit=100_000))
        assert refused.value.code == "storage"
        await host.send_prompt(SendPrompt(session_id=whole.id, content="again"))
        frames = await all_frames(host, whole.id)
        while len(told(frames, TurnEnded)) < 2:
            frames = await all_frames(host, whole.id)


def _damaged(found: LoadedSession) -> LoadedSession:
    raise StorageCorrupt("store.db is damaged. Restore a backup.")


def _with_snapshot(body: bytes) -> Callable[[LoadedSession], LoadedSession]:
    return lambda found: msgspec.structs.replace(found, snapshot=Snapshot(found.record.id, 1, body))


def _with_an_odd_row(found: LoadedSession) -> LoadedSession:
    row = msgspec.structs.replace(found.rows[-1], kind="event", body=b'{"type": "nothing known"}')
    return msgspec.structs.replace(found, rows=[*found.rows[:-1], row])


DAMAGES = {
    "pages": _damaged,
    "a snapshot of zeros": _with_snapshot(bytes(1_000)),
    "half a snapshot": _with_snapshot(b'{"timeline": {'),
    "an empty snapshot": _with_snapshot(b"{}"),
    "a row": _with_an_odd_row,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_a_session_that_cannot_be_read_does_not_keep_the_host_from_opening(
    tmp_path: Path, damage: Callable[[LoadedSession], LoadedSession]
) -> None:
    place = Place(tmp_path, keeper=True)
    place.claude.play(["Hello."], ["Again."])
    async with asyncio.timeout(LIMIT_S), place.host() as host:
        whole, damaged = await place.created(host), await place.created(host)
        for session in (whole, damaged):
            await frames_until(host, session.id, "idle")
    store = await SqliteStore.open(place.folder)
    load = store.load

    async def broken(session: str) -> LoadedSession | None:
        found = await load(session)
        return damage(found) if session == damaged.id and found is not None else found

    store.load = broken  # type: ignore[method-assign]
    async with asyncio.timeout(LIMIT_S), place.host(store=store) as host:
        assert (await host.get_session(of(whole))).state == "idle"
        problems = (await host.get_health(Nothing())).problems
        assert any(damaged.id in problem and "Restore a backup" in problem for problem in problems)
        with pytest.raises(HostError, match="Restore a backup") as refused:
            await host.send_prompt(SendPrompt(session_id=damaged.id, content="again"))
        assert refused.value.code == "storage"
    async with place.opened() as host:  # mended: its process is still there
        assert (await host.get_session(of(damaged))).state == "idle"


async def test_two_hosts_on_one_folder_are_one_too_many(place: Place) -> None:
    place.claude.play(["Hello."])
    async with place.opened() as host:
        with pytest.raises(StoreInUse, match=rf"process {os.getpid()} is using .*choose another folder"):
            await place.host().open()
        session = await place.created(host)
        assert "TurnEnded" in kinds(await frames_until(host, session.id, "idle"))


async def test_a_database_of_a_newer_version_is_left_as_it_is(tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=True)
    place.claude.play(["Hello."])
    async with asyncio.timeout(LIMIT_S), place.host() as host:
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
    path = place.folder / "store.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        database.execute(f"PRAGMA user_version = {version + 1}")
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match="Update Quarterdeck"):
        await place.host().open()
    assert path.read_bytes() == before
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(f"PRAGMA user_version = {version}")
    async with place.opened() as host:
        assert (await host.get_session(of(session))).state == "idle"


async def test_a_clock_that_is_set_back_loses_no_row_and_deadlines_go_on(place: Place) -> None:
    place.claude.play([ASKS, "Done."], ["More."])
    clock = Clock()
    async with place.opened(clock=clock) as host:
        session = await place.created(host, policy={"unattended_s": 600})
        (approval,) = await pending(host)
        await host.check_deadlines()
        clock.now -= 86_400
        assert await host.check_deadlines() == []
        clock.now += 601
        (denied,) = await host.check_deadlines()
        assert (denied.id, denied.state) == (approval.id, "decided")
        assert denied.waited_s == 0.0
        frames = await frames_until(host, session.id, "idle")
        assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
        assert [one.seq for one in await all_frames(host, session.id)][: len(frames)] == [one.seq for one in frames]


def can_mount() -> bool:
    return (
        shutil.which("unshare") is not None and subprocess.run(["unshare", "-Urm", "true"], check=False).returncode == 0
    )


def test_a_disk_that_gets_full_loses_no_turn_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    if not can_mount():
        pytest.skip("this user may not mount a small disk of its own")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = 'mount -t tmpfs -o size=6m none "$0" && exec "$@"'
    program = str(Path(__file__).with_name("full_disk.py"))
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", mount, str(disk), sys.executable, program, str(tmp_path / "rest"), str(disk)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    assert (done.stdout.split(), done.returncode) == (["refused", "held", "survived"], 0), done.stderr


def test_a_database_that_cannot_be_written_is_refused_with_its_name(tmp_path: Path) -> None:
    if not can_mount():
        pytest.skip("this user may not mount a disk of its own")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = 'mount -t tmpfs none "$0" && exec "$@"'
    program = str(Path(__file__).with_name("read_only_disk.py"))
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", mount, str(disk), sys.executable, program, str(tmp_path / "rest"), str(disk)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    assert done.returncode == 0, done.stderr
    kind, _, told = done.stdout.partition(" ")
    assert kind == "StorageReadOnly", done.stdout
    assert str(disk / "state" / "store.db") in told
