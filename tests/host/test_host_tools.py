"""A session that starts sessions of its own, through tools of the host."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from host.kit import LIMIT_S, Place, all_frames, decide, frames_until, pending, told
from quarterdeck.host import Host
from quarterdeck.host.requests import HostTools, ListSessions, OfSession
from quarterdeck.host.resources import Session
from quarterdeck.timeline.events import ToolEnded

TOOLS = "mcp__quarterdeck__"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


def call(name: str, **given: Any) -> dict[str, Any]:
    return {"tool": TOOLS + name, "input": given}


async def parent(place: Place, host: Host, **more: Any) -> Session:
    """A session that may call the host's tools without being asked, but for starting others."""
    allowed = [TOOLS + name for name in ("wait_for_session", "read_session", "list_sessions", "stop_session")]
    options = {"allowed_tools": allowed}
    return await place.created(host, host_tools=HostTools(**more.pop("tools", {})), options=options, **more)


async def started(place: Place, host: Host, *script: list[Any]) -> None:
    """Allow the session that is asked for; it plays ``script``."""
    (asked,) = await pending(host)
    assert asked.tool == TOOLS + "start_session"
    place.claude.play(*script)
    await decide(host, asked)


async def children(host: Host, of: Session) -> list[Session]:
    sessions = (await host.list_sessions(ListSessions(limit=1_000))).sessions
    return [one for one in sessions if one.parent_id == of.id]


async def results(host: Host, session: Session) -> list[str]:
    """What the tools of the host have said to the session."""
    return [str(end.result) for end in told(await all_frames(host, session.id), ToolEnded) if end.name.startswith(TOOLS)]


async def test_a_session_starts_another_waits_for_it_and_reads_its_answer(place: Place) -> None:
    steps = [
        call("start_session", prompt="Count the birds.", name="birds", cwd="below"),
        call("wait_for_session", session="birds"),
        "Counted.",
    ]
    (place.cwd / "below").mkdir()
    place.claude.play(steps)
    async with place.opened() as host:
        session = await parent(place, host)
        await started(place, host, ["Seven birds."])
        await frames_until(host, session.id, "idle")
        (child,) = await children(host, session)
        assert (child.name, child.cwd) == ("birds", str(place.cwd / "below"))
        said = await results(host, session)
        assert child.id in said[0]
        assert "Seven birds." in said[1]


@pytest.mark.parametrize(
    ("given", "own", "why"),
    [
        ({"cwd": ".."}, {}, "outside"),
        ({"cwd": "/"}, {}, "outside"),
        ({"permission_mode": "bypassPermissions"}, {}, "allows more"),
        ({"permission_mode": "acceptEdits"}, {}, "allows more"),
        ({"permission_mode": "nonsense"}, {}, "allows more"),
        ({}, {"tools": {"sessions": 0}}, "the limit"),
    ],
    ids=str,
)
async def test_a_child_never_has_more_than_its_parent(
    place: Place, given: dict[str, Any], own: dict[str, Any], why: str
) -> None:
    place.claude.play([call("start_session", prompt="go", **given), "So be it."])
    async with place.opened() as host:
        session = await parent(place, host, **own)
        await started(place, host, ["Never."])
        await frames_until(host, session.id, "idle")
        assert why in (await results(host, session))[0]
        assert await children(host, session) == []


async def test_the_budget_of_a_child_comes_out_of_its_parents(place: Place) -> None:
    wanted = call("start_session", prompt="go", name="a", budget_usd="100")
    place.claude.play([wanted, call("wait_for_session", session="a"), "Good."])
    async with place.opened() as host:
        session = await parent(place, host, budget_usd=Decimal("0.5"))
        await started(place, host, ["Cheap."])
        await frames_until(host, session.id, "idle")
        (child,) = await children(host, session)
        assert child.budget_usd == Decimal("0.5")


async def test_children_of_children_are_bounded_in_depth(place: Place) -> None:
    place.claude.play([call("start_session", prompt="go", name="a"), "Good."])
    async with place.opened() as host:
        session = await parent(place, host, tools={"depth": 1})
        await started(place, host, [call("start_session", prompt="deeper"), "No."])
        await frames_until(host, session.id, "idle")
        (child,) = await children(host, session)
        await frames_until(host, child.id, "idle", "waiting")
        assert await children(host, child) == []


async def test_a_session_cannot_touch_sessions_that_it_did_not_start(place: Place) -> None:
    place.claude.play(["Mine alone."])
    async with place.opened() as host:
        other = await place.created(host, name="other")
        await frames_until(host, other.id, "idle")
        place.claude.play(
            [
                call("stop_session", session=other.id),
                call("read_session", session="other"),
                call("list_sessions"),
                "Nothing there.",
            ]
        )
        session = await parent(place, host)
        await frames_until(host, session.id, "idle")
        stopped, read, listed = await results(host, session)
        assert "None of your sessions" in stopped
        assert "None of your sessions" in read
        assert other.id not in listed
        assert (await host.get_session(OfSession(session_id=other.id))).state == "idle"


@pytest.mark.parametrize("keep", [False, True], ids=["end with it", "outlive it"])
async def test_children_end_with_their_parent_unless_told_otherwise(place: Place, keep: bool) -> None:
    place.claude.play([call("start_session", prompt="go", name="a"), "Started."])
    async with place.opened() as host:
        session = await parent(place, host, tools={"children_outlive": keep})
        await started(place, host, ["Ready."])
        await frames_until(host, session.id, "idle")
        (child,) = await children(host, session)
        await frames_until(host, child.id, "idle")
        await host.stop(OfSession(session_id=session.id))
        host.tend()
        if keep:
            await asyncio.sleep(0)
            assert (await host.get_session(OfSession(session_id=child.id))).state == "idle"
            return
        async with asyncio.timeout(LIMIT_S):
            while (await host.get_session(OfSession(session_id=child.id))).state != "stopped":
                await asyncio.sleep(0.01)
