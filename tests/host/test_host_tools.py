"""A session that starts sessions of its own, through tools of the host."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from conformance.real import RealStage
from host.kit import LIMIT_S, Place, all_frames, decide, frames_until, lives, next_turn, pending, pid_of, told
from host.staged import host_over, stage_in
from quarterdeck.host import Host, HostError
from quarterdeck.host.events import BudgetChanged
from quarterdeck.host.requests import (
    CreateSession,
    HostTools,
    ListAudit,
    ListSessions,
    OfSession,
    SendPrompt,
    UpdateSession,
)
from quarterdeck.host.resources import Session
from quarterdeck.testing.model import ApiRequest, ToolUse
from quarterdeck.timeline.events import ToolEnded

TOOLS = "mcp__quarterdeck__"
ALL_TOOLS = ("start_session", "prompt_session", "wait_for_session", "read_session", "list_sessions", "stop_session")


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
        assert child.budget_usd is not None
        assert Decimal("0.4") < child.budget_usd <= Decimal("0.5")  # the turn that starts it has cost something


def plays(place: Place, **steps: list[Any]) -> None:
    """What a session does, by its prompt."""
    place.claude.play(rules=[{"when": f"^{prompt}$", "steps": given} for prompt, given in steps.items()])


async def leader(place: Place, host: Host, **more: Any) -> Session:
    """A session that may call all tools of the host without being asked, and is told to lead."""
    options = {"allowed_tools": [TOOLS + name for name in ALL_TOOLS]}
    return await place.created(host, "lead", host_tools=HostTools(**more.pop("tools", {})), options=options, **more)


@pytest.mark.parametrize("depth", [1, 2, 3])
async def test_children_of_children_are_bounded_in_depth(place: Place, depth: int) -> None:
    down = [call("start_session", prompt="lead", name="below"), call("wait_for_session", session="below"), "Done."]
    plays(place, lead=down)
    async with place.opened() as host:
        session = await leader(place, host, tools={"depth": depth})
        await frames_until(host, session.id, "idle")
        for _ in range(depth):
            (session,) = await children(host, session)
            assert session.state == "idle"
        assert await children(host, session) == []
        refused = [str(end.output) for end in told(await all_frames(host, session.id), ToolEnded)]
        assert len(refused) == 2
        assert all("No such tool available" in said for said in refused)


async def test_children_are_bounded_in_number_whether_they_are_started_or_prompted_again(place: Place) -> None:
    def start(name: str) -> dict[str, Any]:
        return call("start_session", prompt="work", name=name)

    steps = [start("a"), start("b"), start("c")]
    steps += [call("stop_session", session="a"), start("d"), call("prompt_session", session="a", prompt="work")]
    steps += [call("stop_session", session="b"), call("prompt_session", session="a", prompt="work")]
    steps += [call("wait_for_session", session="a"), call("prompt_session", session="a", prompt="work")]
    plays(place, lead=[*steps, "Done."], work=["Worked."])
    async with place.opened() as host:
        session = await leader(place, host, tools={"sessions": 2})
        await frames_until(host, session.id, "idle")
        refused = [number for number, said in enumerate(await results(host, session)) if "At most 2 sessions" in said]
        assert refused == [2, 5]
        found = {one.name: one.state for one in await children(host, session)}
        assert set(found) == {"a", "b", "d"}
        assert found["b"] == "stopped"


async def test_the_number_counts_for_all_below(place: Place) -> None:
    """Two generations of two: without it there could be six."""
    start = [call("start_session", prompt=text, name=text) for text in ("pair", "work")]
    plays(
        place, lead=[start[0], call("wait_for_session", session="pair"), start[1], "."], pair=[*start, "."], work=["."]
    )
    async with place.opened() as host:
        session = await leader(place, host, tools={"sessions": 2, "depth": 2})
        await frames_until(host, session.id, "idle")
        (pair,) = await children(host, session)
        assert [one.name for one in await children(host, pair)] == ["pair"]
        assert ["At most 2" in said for said in await results(host, pair)] == [False, True]
        assert ["At most 2" in said for said in await results(host, session)] == [False, False, True]


async def test_what_a_session_does_to_its_children_is_done_in_its_name(place: Place) -> None:
    steps = [call("start_session", prompt="work", name="a"), call("wait_for_session", session="a")]
    steps += [call("prompt_session", session="a", prompt="work"), call("wait_for_session", session="a")]
    plays(place, lead=[*steps, call("stop_session", session="a"), "Done."], work=["Worked."])
    async with place.opened() as host:
        session = await leader(place, host)
        await frames_until(host, session.id, "idle")
        (child,) = await children(host, session)
        name = f"session {session.id}"
        audit = (await host.list_audit(ListAudit(session=child.id))).audit
        assert [(one.operation, one.who, one.via) for one in reversed(audit)] == [
            ("create_session", name, "host_tools"),
            ("stop", name, "host_tools"),
        ]
        rows = (await host.store.read(child.id)).rows
        assert [one.sender for one in rows if one.origin == "user"] == [name, name]


async def test_a_parent_that_may_do_less_by_now_prompts_a_child_that_may_do_no_more(place: Place) -> None:
    plays(
        place,
        lead=[call("start_session", prompt="work", name="a"), call("wait_for_session", session="a"), "Started."],
        again=[call("prompt_session", session="a", prompt="work"), call("wait_for_session", session="a"), "Prompted."],
        work=["Worked."],
    )
    async with place.opened() as host:
        session = await leader(place, host, permission_mode="acceptEdits")
        await frames_until(host, session.id, "idle")
        (child,) = await children(host, session)
        assert child.permission_mode == "acceptEdits"
        await host.update_session(UpdateSession(session_id=session.id, permission_mode="default"))
        await next_turn(host, session.id, "again")
        assert "sent" in (await results(host, session))[2]
        (child,) = await children(host, session)
        assert child.permission_mode == "default"


async def test_a_family_spends_no_more_than_its_parent_may(place: Place) -> None:
    plays(
        place,
        lead=[call("start_session", prompt="work", name="a"), call("wait_for_session", session="a"), "Started."],
        work=["Worked."],
    )
    async with place.host() as host:
        session = await leader(place, host, budget_usd=Decimal(1))
        await frames_until(host, session.id, "idle")
        (child,) = await children(host, session)
        own = (await host.get_session(OfSession(session_id=session.id))).cost_usd
        assert 0 < own < 1
        assert 0 < child.cost_usd < 1
        limit = UpdateSession(session_id=session.id, budget_usd=own + child.cost_usd * Decimal("1.5"))
        await host.update_session(limit)
        await next_turn(host, child.id, "work")
        for one in (child, session):
            with pytest.raises(HostError, match="used up") as refused:
                await host.send_prompt(SendPrompt(session_id=one.id, content="work"))
            assert refused.value.code == "budget_reached"
    async with place.opened() as host:  # the next host knows it, too
        with pytest.raises(HostError, match="budget of the session that started it"):
            await host.send_prompt(SendPrompt(session_id=child.id, content="work"))
        await host.update_session(UpdateSession(session_id=session.id, budget_usd=None))
        await host.resume(OfSession(session_id=session.id))  # otherwise its children are ended
        await next_turn(host, child.id, "work")


async def test_a_child_is_interrupted_when_its_parents_budget_is_used_up(place: Place, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    plays(
        place,
        lead=[call("start_session", prompt="work", name="a"), "Started."],
        work=[{"tool": "TodoWrite", "input": {"todos": []}}, {"wait_for": str(gate)}, "Never said."],
    )
    async with place.opened() as host:
        session = await leader(place, host, budget_usd=Decimal(1))
        await frames_until(host, session.id, "idle")
        while not gate.with_name("gate.reached").exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        (child,) = await children(host, session)
        own = (await host.get_session(OfSession(session_id=session.id))).cost_usd
        await host.update_session(UpdateSession(session_id=session.id, budget_usd=own))
        frames = await frames_until(host, child.id, "idle")
        assert [(one.state, one.scope) for one in told(frames, BudgetChanged)] == [
            ("set", "session"),
            ("interrupted", "parent"),
        ]
        assert "Never said." not in str(frames)
        seen = told(await all_frames(host, session.id), BudgetChanged)
        assert [one.state for one in seen][:2] == ["set", "set"]
        assert seen[-1].state == "reached"


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


@pytest.mark.parametrize("away", [False, True], ids=["the host is there", "the host is away"])
async def test_a_parent_that_is_killed_takes_ten_children_along(tmp_path: Path, away: bool) -> None:
    place = Place(tmp_path, keeper=True)
    starts = [call("start_session", prompt="go", name=f"child {number}") for number in range(10)]
    place.claude.play([*starts, "All started."])
    allowed = {"allowed_tools": [TOOLS + "start_session"]}
    async with asyncio.timeout(LIMIT_S), place.host() as host:
        session = await place.created(host, host_tools=HostTools(sessions=10), options=allowed)
        await frames_until(host, session.id, "idle")
        pids = [await pid_of(host, one) for one in await children(host, session)]
        parent_pid = await pid_of(host, session)
        if not away:
            os.kill(parent_pid, signal.SIGKILL)
            await until_all_stopped(host, session)
    if away:
        os.kill(parent_pid, signal.SIGKILL)
        while lives(parent_pid):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert len([pid for pid in pids if lives(pid)]) == 10
    async with place.opened() as host:
        await until_all_stopped(host, session)
        assert (await host.get_session(OfSession(session_id=session.id))).state == "crashed"
        assert [pid for pid in pids if lives(pid)] == []


async def until_all_stopped(host: Host, of: Session) -> None:
    while [one.state for one in await children(host, of)] != ["stopped"] * 10:  # noqa: ASYNC110
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


@pytest.mark.real
async def test_on_the_real_cli_a_child_is_prompted_again_read_listed_and_stopped(tmp_path: Path) -> None:
    def use(name: str, /, **given: Any) -> ToolUse:
        return ToolUse(TOOLS + name, given)

    def to_child(prompt: str) -> Callable[[ApiRequest], bool]:
        return lambda request: prompt in request.text and not request.tool_results

    with stage_in(tmp_path / "stage", "real") as stage:
        assert isinstance(stage, RealStage)
        stage.model.on(to_child("And the bees?"), "Nine bees.")
        stage.model.on(to_child("Count the birds."), "Seven birds.")
        stage.reply(use("start_session", prompt="Count the birds.", name="counter"))
        for step in (
            use("wait_for_session", session="counter"),
            use("start_session", prompt="Count the birds.", name="one too many"),
            use("prompt_session", session="counter", prompt="And the bees?"),
            use("wait_for_session", session="counter"),
            use("read_session", session="counter"),
            use("stop_session", session="counter"),
            use("list_sessions"),
            use("prompt_session", session="counter", prompt="And the bees?"),
            use("wait_for_session", session="counter"),
        ):
            stage.reply(step)
        stage.reply("Counted.")
        async with asyncio.timeout(LIMIT_S), host_over(stage, keeper=False) as host:
            options = {"allowed_tools": [TOOLS + name for name in ALL_TOOLS]}
            given = HostTools(sessions=1)
            session = await host.create_session(CreateSession(cwd=str(stage.cwd), host_tools=given, options=options))
            await host.send_prompt(SendPrompt(session_id=session.id, content="go"))
            await frames_until(host, session.id, "idle")
            (child,) = await children(host, session)
            started, birds, refused, sent, bees, read, stopped, listed, again, more = await results(host, session)
            assert child.id in started
            assert "Seven birds." in birds
            assert "At most 1 sessions" in refused
            assert "sent" in sent
            assert "sent" in again
            assert all("Nine bees." in said for said in (bees, read, more))
            assert "stopped" in stopped
            assert child.id in listed
            assert "stopped" in listed
            for one in (session, child):
                await host.stop(OfSession(session_id=one.id))
