"""A session that starts sessions of its own, through tools of the host."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from conformance.real import RealStage
from host.kit import LIMIT_S, Place, all_frames, decide, frames_until, pending, told
from host.staged import host_over, stage_in
from quarterdeck.host import Host
from quarterdeck.host.requests import CreateSession, HostTools, ListSessions, OfSession, SendPrompt
from quarterdeck.host.resources import Session
from quarterdeck.testing.model import ToolUse
from quarterdeck.timeline.events import ToolEnded

TOOLS = "mcp__quarterdeck__"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


def call(name: str, /, **given: Any) -> dict[str, Any]:
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
    return [
        str(end.output) for end in told(await all_frames(host, session.id), ToolEnded) if end.name.startswith(TOOLS)
    ]


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
        ({"budget_usd": "NaN"}, {}, "A budget must be between"),
        ({"budget_usd": "a lot"}, {}, "not an amount"),
        ({}, {"tools": {"sessions": 0}}, "At most 0 sessions"),
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
            while (await host.get_session(OfSession(session_id=child.id))).state != "stopped":  # noqa: ASYNC110
                await asyncio.sleep(0.01)


async def test_a_parent_that_is_killed_takes_ten_children_along_also_after_a_restart(tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=True)
    starts = [call("start_session", prompt="go", name=f"child {number}") for number in range(10)]
    place.claude.play([*starts, "All started."])
    allowed = {"allowed_tools": [TOOLS + "start_session"]}
    async with asyncio.timeout(LIMIT_S), place.host() as host:
        session = await place.created(host, host_tools=HostTools(sessions=10), options=allowed)
        await frames_until(host, session.id, "idle")
        found = await children(host, session)
        assert len(found) == 10
        await host.stop(OfSession(session_id=session.id))
    async with place.opened() as host:
        while any(one.state != "stopped" for one in await children(host, session)):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_start_that_is_asked_for_twice_happens_once(tmp_path: Path) -> None:
    """The host ends while the tool runs; the next one serves the call again."""
    place = Place(tmp_path, keeper=True)
    slow = [call("start_session", prompt="go", name="one"), call("wait_for_session", session="one"), "Done."]
    place.claude.play(slow)
    async with asyncio.timeout(LIMIT_S), place.host() as host:
        session = await parent(place, host)
        await started(place, host, [{"wait_for": "go.txt"}, "At last."])
        while [one.state for one in await children(host, session)] != ["running"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    async with place.opened() as host:
        (place.cwd / "go.txt").touch()
        await frames_until(host, session.id, "idle")
        assert len(await children(host, session)) == 1
        assert "At last." in (await results(host, session))[-1]


@pytest.mark.real
async def test_on_the_real_cli_a_child_is_started_and_its_answer_read(tmp_path: Path) -> None:
    with stage_in(tmp_path / "stage", "real") as stage:
        stage.reply(ToolUse(TOOLS + "start_session", {"prompt": "Count the birds.", "name": "birds"}))
        assert isinstance(stage, RealStage)
        stage.model.on(lambda request: "Count the birds." in request.text and not request.tool_results, "Seven birds.")
        stage.reply(ToolUse(TOOLS + "wait_for_session", {"session": "birds"}))
        stage.reply("Counted.")
        async with asyncio.timeout(LIMIT_S), host_over(stage, keeper=False) as host:
            tools = [TOOLS + "start_session", TOOLS + "wait_for_session"]
            request = CreateSession(cwd=str(stage.cwd), host_tools=HostTools(), options={"allowed_tools": tools})
            session = await host.create_session(request)
            await host.send_prompt(SendPrompt(session_id=session.id, content="go"))
            await frames_until(host, session.id, "idle")
            (child,) = await children(host, session)
            assert child.id in (await results(host, session))[0]
            assert "Seven birds." in (await results(host, session))[1]
            for one in (session, child):
                await host.stop(OfSession(session_id=one.id))
