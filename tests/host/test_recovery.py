"""The host is killed in the middle of a turn: restarted, the turn goes on; nothing is lost, nothing happens twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from client.real_cli import place as real_place
from host.kit import (
    LIMIT_S,
    STAYS_DOWN,
    Place,
    all_frames,
    decide,
    end_keeper,
    frames_until,
    kill,
    kinds,
    lives,
    next_turn,
    pending,
    pid_of,
    states_of,
    told,
)
from host.staged import BOTH, host_over, stage_in
from inside import in_memory
from quarterdeck.host import Host
from quarterdeck.host.actor import SessionActor
from quarterdeck.host.bodies import decode_body
from quarterdeck.host.events import StatusChange
from quarterdeck.host.folding import Preview
from quarterdeck.host.requests import CreateSession, OfSession, SendPrompt, WatchSession
from quarterdeck.host.resources import Frame
from quarterdeck.keeper import KeeperClient, KeptSession, find_keepers
from quarterdeck.testing.model import ToolUse
from quarterdeck.timeline.events import TextAdded, TextCompleted, ToolEnded
from transport.support import process_is_gone, until

RUNS = {"command": "echo ran >> log.txt; sleep 1", "description": "Note it"}
MOMENTS = ["text", "hook", "permission", "decided", "tool"]


def killed_at(moment: str, folder: Path, cwd: Path, cli: Any, env: dict[str, str], *, keeper: bool = True) -> str:
    """The id of the session whose host was killed."""
    script = str(Path(__file__).with_name("dying_host.py"))
    done = subprocess.run(
        [sys.executable, script, moment, folder, cwd, json.dumps(cli), "keeper" if keeper else "alone"],
        input=json.dumps(env),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    return done.stdout.split()[0]


async def gone_on(host: Host, session: str) -> list[Frame]:
    """Answer what is asked, until the turn is over; all frames."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            now = await host.get_session(OfSession(session_id=session))
            if now.state == "waiting":
                for approval in await pending(host, session):
                    await decide(host, approval)
            frames = await all_frames(host, session)
            if "TurnEnded" in kinds(frames) and now.state == "idle":
                return frames
            await asyncio.sleep(0.02)


def check(frames: list[Frame], cwd: Path, text: str) -> None:
    assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
    for kind in ("PromptSent", "PermissionAsked", "TurnEnded"):
        assert kinds(frames).count(kind) == 1
    assert states_of(frames) == ["pending", "decided", "delivered", "applied"]
    assert (cwd / "log.txt").read_text() == "ran\n"
    said = [event.text for frame in frames for event in frame.events if isinstance(event, TextCompleted)]
    assert said == [text, "Done."]


TEXT = "I will note it, and say so at some length. " * 20


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_turn_survives_the_death_of_its_host(moment: str, tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=True)
    place.claude.play([TEXT, {"tool": "Bash", "input": RUNS}, "Done."])
    session = killed_at(moment, place.folder, place.cwd, str(place.claude.path), place.claude.env)
    async with place.opened() as host:
        frames = await gone_on(host, session)
        check(frames, place.cwd, TEXT)
        again = await all_frames(host, session)
        assert msgspec.json.encode(again[: len(frames)]) == msgspec.json.encode(frames)


@pytest.mark.real
@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_turn_of_the_real_cli_survives_the_death_of_its_host(moment: str, tmp_path: Path) -> None:
    with real_place(tmp_path) as stage:
        stage.model.reply(TEXT, ToolUse("Bash", RUNS), delta_size=20)
        stage.model.reply("Done.")
        options = stage.options()
        env = {**options.env, "PATH": os.environ["PATH"]}
        session = killed_at(moment, tmp_path / "state", stage.cwd, str(options.cli_path), env)
        place = Place(tmp_path / "unused", keeper=True)
        place.folder = tmp_path / "state"
        host = Host(place.folder, agents={"claude": str(options.cli_path)}, env=env)
        async with host:
            frames = await gone_on(host, session)
            check(frames, stage.cwd, TEXT)
            await host.stop(OfSession(session_id=session))
        await place.end_keeper()
        assert stage.model.queued == 0


@pytest.mark.parametrize("kind", BOTH)
async def test_a_session_whose_keeper_is_killed_is_crashed_without_orphans_and_can_be_resumed(
    kind: str, tmp_path: Path
) -> None:
    endless = {"command": "echo $$ > pid.txt; " + ("tail -f /dev/null" if kind == "real" else "sleep 600")}
    with stage_in(tmp_path / "stage", kind) as stage:
        stage.reply("Before. ", ToolUse("Bash", endless))
        async with asyncio.timeout(LIMIT_S), host_over(stage, lifecycle=STAYS_DOWN) as host:
            session = await host.create_session(CreateSession(cwd=str(stage.cwd), prompt="wait"))
            await decide(host, (await pending(host))[0])
            noted = stage.cwd / "pid.txt"
            await until(lambda: noted.exists() and noted.read_text().endswith("\n"), "the tool to run")
            pids = [await pid_of(host, session)]
            if kind == "real":  # the simulator is its own shell
                pids.append(int(noted.read_text()))
            assert not any(map(process_is_gone, pids))
            (keeper,) = find_keepers(tmp_path / "stage" / "state" / "keeper")
            os.kill(keeper.pid, signal.SIGKILL)
            frames = await frames_until(host, session.id, "crashed")
            assert "resume" in told(frames, StatusChange)[-1].remedies
            assert states_of(frames) == ["pending", "decided", "delivered"]
            assert [event.status for event in told(frames, ToolEnded)] == ["interrupted"]
            await until(lambda: all(map(process_is_gone, pids)), "the orphans to end")
            stage.reply("After.")
            after = await next_turn(host, session.id)
            assert [event.text for event in told(after, TextCompleted)] == ["After."]
            await host.stop(OfSession(session_id=session.id))
        await end_keeper(tmp_path / "stage" / "state")


async def test_what_is_committed_is_not_read_again_from_the_keeper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path, keeper=True)
    place.claude.play([TEXT], ["Second."])
    offsets: list[int] = []
    read = KeeperClient.read

    async def counted(self: KeeperClient, session: str, offset: int, *arguments: Any, **named: Any) -> bytes:
        offsets.append(offset)
        return await read(self, session, offset, *arguments, **named)

    async with place.host() as host:
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
        before = await all_frames(host, session.id)
    (keeper,) = find_keepers(place.folder / "keeper")
    async with await KeeperClient.connect(keeper, take_over=True) as client:
        (kept,) = await client.list()
        await client.acknowledge(session.id, kept.end)  # the host may have left before it said so
    monkeypatch.setattr(KeeperClient, "read", counted)
    async with place.opened() as host:
        assert [offset for offset in offsets if offset < kept.end] == []
        assert (await all_frames(host, session.id))[: len(before)] == before
        assert "Second." in repr(await next_turn(host, session.id))


async def test_what_a_killed_keeper_asked_is_stranded(tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=True)
    place.claude.play([{"tool": "Bash", "input": RUNS}, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        await pending(host)
        (keeper,) = find_keepers(place.folder / "keeper")
        os.kill(keeper.pid, signal.SIGKILL)
        assert states_of(await frames_until(host, session.id, "crashed")) == ["pending", "stranded"]


async def test_what_was_shown_of_a_text_is_kept_when_its_process_dies(tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=True)
    place.claude.play([TEXT, "Done."], delay_s=0.5)
    async with place.opened() as host:
        session = await place.created(host)
        shown = ""
        async for one in host.watch_session(WatchSession(session_id=session.id)):
            if isinstance(one, Preview):
                shown += "".join(event.text for event in one.events if isinstance(event, TextAdded))
                if shown:
                    break
        await kill(host, session)
        frames = await frames_until(host, session.id, "crashed")
        (kept,) = [event for frame in frames for event in frame.events if isinstance(event, TextCompleted)]
        assert kept.stopped
        assert kept.text.startswith(shown)
        assert len(kept.text) < len(TEXT)


async def spooled(client: KeeperClient, session: str) -> bytes:
    found = await client.find(session)
    return b"" if found is None else await client.read(session, found.first, size=1024 * 1024)


async def test_host_and_keeper_killed_leave_what_was_written(tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=True)
    place.claude.play([TEXT, {"tool": "Bash", "input": RUNS}, "Done."])
    session = killed_at("text", place.folder, place.cwd, str(place.claude.path), place.claude.env)
    (keeper,) = find_keepers(place.folder / "keeper")
    async with await KeeperClient.connect(keeper, take_over=True) as client:
        async with asyncio.timeout(LIMIT_S):
            # It waits for its hook then.
            while b"hook_callback" not in await spooled(client, session):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    os.kill(keeper.pid, signal.SIGKILL)
    async with place.opened() as host:
        frames = await all_frames(host, session)
        said = [event.text for frame in frames for event in frame.events if isinstance(event, TextCompleted)]
        assert said == [TEXT]
        assert states_of(frames) == []  # the process was still waiting for the hook that is asked before a person
        last = [event for frame in frames for event in frame.events if isinstance(event, StatusChange)][-1]
        assert last.state == "crashed"
        assert "resume" in last.remedies


async def test_without_a_keeper_the_session_ends_with_its_host_and_resumes(tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=False)
    place.claude.play(["First."], ["Second."])
    async with asyncio.timeout(LIMIT_S):
        async with place.host() as host:
            session = await place.created(host)
            await frames_until(host, session.id, "idle")
        async with place.opened() as host:
            found = await host.get_session(OfSession(session_id=session.id))
            assert found.state == "stopped"
            await host.send_prompt(SendPrompt(session_id=session.id, content="again"))
            frames = await frames_until(host, session.id, "idle", after=f"{found.epoch}-{found.seq}")
            assert "TurnEnded" in kinds(frames)


async def test_a_process_that_the_last_hosts_request_drops_meanwhile_does_not_keep_a_host_from_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path, keeper=True)
    place.claude.play(["Hello."])
    listed = KeeperClient.list

    async def before_it_was_dropped(client: KeeperClient) -> list[KeptSession]:
        known = await listed(client)
        return [*known, *(msgspec.structs.replace(one, session="dropped since") for one in known)]

    async with asyncio.timeout(LIMIT_S), place.host() as host:
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
    monkeypatch.setattr(KeeperClient, "list", before_it_was_dropped)
    async with place.opened() as host:
        assert (await host.get_session(OfSession(session_id=session.id))).state == "idle"


@pytest.mark.parametrize("state", ["stopped", "parked"])
async def test_a_process_is_ended_on_purpose_though_the_host_dies_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """It used to count as crashed then, and was restarted."""
    place = Place(tmp_path, keeper=True)
    place.claude.play(["Hello."])
    asked_to_end = asyncio.Event()

    async def never(actor: SessionActor) -> None:
        await actor.log.drained()
        asked_to_end.set()
        await asyncio.Event().wait()

    async with asyncio.timeout(LIMIT_S), place.host() as host:
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
        pid, actor = await pid_of(host, session), in_memory(host)[session.id]
        monkeypatch.setattr(SessionActor, "_close", never)
        ending = asyncio.create_task(actor.park() if state == "parked" else actor.stop())
        await asked_to_end.wait()
        ending.cancel()
        record = await host.store.session(session.id)
        assert record is not None
        assert not decode_body(record).wanted
    monkeypatch.undo()
    assert lives(pid)
    async with place.opened() as host:
        assert (await host.get_session(OfSession(session_id=session.id))).state == state
        assert not lives(pid)
