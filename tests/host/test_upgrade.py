"""The host is replaced by another version while its sessions run, kept by a keeper of the former one."""

from __future__ import annotations

from pathlib import Path

import pytest

from host.kit import (
    ASKS,
    Place,
    all_frames,
    decide,
    frames_until,
    kinds,
    next_turn,
    pending,
    pid_of,
    processes,
    states_of,
    told,
)
from quarterdeck.host import Host
from quarterdeck.host.requests import CreateSession, OfSession
from quarterdeck.host.resources import Session
from quarterdeck.keeper import find_keepers, launch
from quarterdeck.keeper.places import KeeperPlace
from quarterdeck.timeline.events import TextCompleted
from transport.support import process_is_gone, until


def keepers(place: Place) -> list[KeeperPlace]:
    return [one for one in find_keepers(place.folder / "keeper") if one.alive]


async def left_waiting(place: Place, monkeypatch: pytest.MonkeyPatch, **options: object) -> tuple[Session, int]:
    """A session that waits for a permission under a former keeper, and its process. Its host has left."""
    with monkeypatch.context() as before:
        before.setattr(launch, "_PROGRAM", Path(__file__).with_name("former_keeper.py"))
        async with place.host() as host:
            request = CreateSession(cwd=str(place.cwd), prompt="go", options=dict(options))
            session = await host.create_session(request)
            await pending(host)
            return session, await pid_of(host, session)


async def said(host: Host, session: Session) -> list[str]:
    return [event.text for event in told(await all_frames(host, session.id), TextCompleted)]


async def test_a_turn_goes_on_under_the_keeper_of_the_former_version_which_then_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path, keeper=True)
    place.claude.play(["First.", ASKS, "Done."])
    session, pid = await left_waiting(place, monkeypatch)
    (former,) = keepers(place)
    assert former.version == "0.0.1"
    async with place.opened() as host:
        assert len(keepers(place)) == 2
        (approval,) = await pending(host)
        await decide(host, approval)
        frames = await frames_until(host, session.id, "idle")
        assert states_of(frames) == ["pending", "decided", "delivered", "applied"]
        assert await said(host, session) == ["First.", "Done."]
        assert [one.pid for one in await processes(host, session) if one.pid] == [pid]
        await host.stop(OfSession(session_id=session.id))
        await until(lambda: former.pid not in [one.pid for one in keepers(place)], "the former keeper to leave")
        place.claude.play(["Second."])
        await host.resume(OfSession(session_id=session.id))
        await next_turn(host, session.id)
        assert await said(host, session) == ["First.", "Done.", "Second."]


async def test_a_process_whose_keeper_speaks_another_protocol_is_ended_and_the_session_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path, keeper=True)
    place.claude.play(["First.", ASKS, "Done."])
    (place.folder / "keeper").mkdir(parents=True)
    (place.folder / "keeper" / "protocol").write_text("0")
    with monkeypatch.context() as before:
        before.setattr("quarterdeck.keeper.frames.PROTOCOL", 0)
        before.setattr("quarterdeck.keeper.places.PROTOCOL", 0)
        session, pid = await left_waiting(place, monkeypatch)
    (former,) = keepers(place)
    async with place.opened() as host:
        await until(lambda: process_is_gone(pid), "the process to end")
        now = await host.get_session(OfSession(session_id=session.id))
        assert now.state == "crashed"
        assert "could not continue with this process" in now.state_reason
        assert "another protocol version" in now.state_reason
        frames = await all_frames(host, session.id)
        assert states_of(frames) == ["pending", "withdrawn"]  # by Claude Code, as it ended
        assert await said(host, session) == ["First.", "Done."]  # it says so as its input ends
        assert kinds(frames).count("PermissionAsked") == 1
        await until(lambda: former.pid not in [one.pid for one in keepers(place)], "the former keeper to leave")
        place.claude.play(["Second."])
        await host.resume(OfSession(session_id=session.id))
        await next_turn(host, session.id)
        assert await said(host, session) == ["First.", "Done.", "Second."]


async def test_a_process_whose_private_options_are_gone_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path, keeper=True)
    place.claude.play(["First.", ASKS, "Done."])
    session, pid = await left_waiting(place, monkeypatch, env={"EXTRA": "1"})
    (private,) = place.folder.rglob(f"{session.id}.json")
    private.unlink()
    async with place.opened() as host:
        await until(lambda: process_is_gone(pid), "the process to end")
        now = await host.get_session(OfSession(session_id=session.id))
        assert now.state == "crashed"
        assert "they are missing: env" in now.state_reason
        assert await said(host, session) == ["First.", "Done."]
