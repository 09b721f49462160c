"""Every kind of approval and every way to decide it; deadlines, batches, watching."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from host.kit import ASKS, Clock, Place, all_frames, decide, frames_until, kill, pending, states_of, told
from quarterdeck.host import Caller, Host, HostError
from quarterdeck.host.events import ApprovalChanged
from quarterdeck.host.requests import (
    ApprovalFilter,
    CreateSession,
    Decide,
    DecideMany,
    Decision,
    ListApprovals,
    ListAudit,
    OfApproval,
    OfSession,
    SendPrompt,
)
from quarterdeck.host.resources import Approval
from quarterdeck.timeline.events import ToolEnded

QUESTION = {"ask": "Which one?", "header": "One", "options": ["Left", "Right"]}
PLAN = {"plan": "1. Write it"}
ELICITS = {
    "tool": "mcp__forms__ask",
    "input": {},
    "elicit": {
        "message": "Your name?",
        "schema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    },
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path, keeper=False)
    place.claude.play(["Nothing to do."])  # a host hands on where the scenario is, so there has to be one
    return place


async def told_model(host: Host, session: str) -> str:
    """How the tools ended, in one text."""
    return repr(told(await frames_until(host, session, "idle"), ToolEnded))


# One decision


async def test_a_denial_can_stop_the_turn(place: Place) -> None:
    place.claude.play([ASKS, "Never said."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        decided = await decide(host, approval, "deny", message="Stop here.", interrupt=True)
        frames = await frames_until(host, session.id, "idle")
        assert decided.decision == {"decision": "deny", "message": "Stop here.", "interrupt": True}
        assert "Never said." not in repr(frames)


async def test_questions_are_answered(place: Place) -> None:
    place.claude.play([QUESTION, "Fine."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        assert (approval.kind, approval.summary) == ("questions", "Which one?")
        for bad in ({"answers": {"Nobody asked": "x"}}, {}):
            with pytest.raises(HostError) as refused:
                await decide(host, approval, **bad)
            assert refused.value.code == "invalid"
        await decide(host, approval, answers={"Which one?": "Left"})
        assert "Left" in await told_model(host, session.id)


async def test_questions_are_skipped(place: Place) -> None:
    place.claude.play([QUESTION, "Fine."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        await decide(host, approval, "deny")
        frames = await frames_until(host, session.id, "idle")
        assert [event.status for event in told(frames, ToolEnded)] == ["denied"]


async def test_a_plan_is_revised_then_approved_with_a_mode(place: Place) -> None:
    place.claude.play([PLAN, {"plan": "1. Write it 2. Test it"}, "Now I do it."])
    async with place.opened() as host:
        session = await place.created(host, permission_mode="plan")
        (approval,) = await pending(host)
        assert (approval.kind, approval.plan) == ("plan_review", "1. Write it")
        with pytest.raises(HostError, match="contradicts"):
            await decide(host, approval, "allow", plan="revise")
        await decide(host, approval, "deny", plan="revise", message="Test it too.")
        second = await other_than(host, approval)
        assert second.plan == "1. Write it 2. Test it"
        await decide(host, second, plan="approve", mode="acceptEdits")
        await frames_until(host, session.id, "idle")
        assert (await host.get_session(OfSession(session_id=session.id))).permission_mode == "acceptEdits"


async def test_an_edited_plan_is_what_is_approved(place: Place) -> None:
    place.claude.play([PLAN, "Now I do it."])
    async with place.opened() as host:
        session = await place.created(host, permission_mode="plan")
        (approval,) = await pending(host)
        edited = {**approval.input, "plan": "1. Only look at it"}
        decided = await decide(host, approval, plan="approve", updated_input=edited)
        assert decided.decision is not None
        assert decided.decision["updated_input"]["plan"] == "1. Only look at it"
        assert "Only look at it" in await told_model(host, session.id)


async def test_a_plan_is_rejected(place: Place) -> None:
    place.claude.play([PLAN, "Then not."])
    async with place.opened() as host:
        session = await place.created(host, permission_mode="plan")
        (approval,) = await pending(host)
        await decide(host, approval, "deny", plan="reject", message="No plan at all.")
        assert "No plan at all." in repr(await frames_until(host, session.id, "idle"))


@pytest.mark.parametrize(
    ("decision", "told_server"),
    [({"decision": "allow", "answers": {"name": "Bob"}}, "Bob"), ({"decision": "deny"}, "decline")],
    ids=["accepted", "declined"],
)
async def test_an_elicitation_is_answered(place: Place, decision: dict[str, Any], told_server: str) -> None:
    place.claude.play([ELICITS, "Thanks."])
    async with place.opened() as host:
        session = await place.created(host, options={"allowed_tools": ["mcp__forms"]})
        (approval,) = await pending(host)
        assert (approval.kind, approval.summary) == ("elicitation", "Your name?")
        await host.decide(Decide(approval_id=approval.id, decision=Decision(**decision)))
        assert told_server in repr(await frames_until(host, session.id, "idle"))


async def test_a_decision_says_who_through_which_face_and_how_long_it_took(place: Place) -> None:
    clock = Clock()
    place.claude.play([ASKS, "Done."])
    async with place.opened(clock=clock) as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        record = (await host.store.approval(approval.id)) or pytest.fail("it is gone")
        clock.now = record.asked_at + 7
        ann = Caller(name="ann", via="http", scope="approve", token_id="t1", may_bypass=False)
        request = Decide(approval_id=approval.id, decision=Decision(decision="allow"))
        decided = await host.decide(request, ann)
        assert decided.decided_by is not None
        assert (decided.decided_by.kind, decided.decided_by.name, decided.via) == ("token", "ann", "http")
        assert decided.waited_s == 7
        await frames_until(host, session.id, "idle")
        entry = next(one for one in (await host.list_audit(ListAudit(who="ann"))).audit)
        assert (entry.operation, entry.via, entry.session_id) == ("decide", "http", session.id)
        assert entry.details == {
            "approval_id": approval.id,
            "decision": "allow",
            "tool": "Bash",
            "summary": "Bash touch made.txt",
        }


async def other_than(host: Host, *known: Approval) -> Approval:
    while True:
        found = [one for one in await pending(host) if one.id not in {old.id for old in known}]
        if found:
            return found[0]


async def test_what_a_resumed_session_asks_again_replaces_what_was_lost(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        (lost,) = await pending(host)
        await kill(host, session)
        await frames_until(host, session.id, "crashed")
        await host.resume(OfSession(session_id=session.id))
        await host.send_prompt(SendPrompt(session_id=session.id, content="again"))
        (again,) = await pending(host)
        assert (again.replaces, again.state) == (lost.id, "pending")
        assert (await host.get_approval(OfApproval(approval_id=lost.id))).state == "stranded"
        await decide(host, again)


@pytest.mark.parametrize("keeper", [True, False], ids=["keeper", "no keeper"])
async def test_what_is_delivered_to_a_process_that_dies_is_not_applied(tmp_path: Path, keeper: bool) -> None:
    place = Place(tmp_path, keeper=keeper)
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        await kill(host, session, signal.SIGSTOP)  # the answer stays in its pipe
        await decide(host, approval)
        request = OfApproval(approval_id=approval.id)
        while (await host.get_approval(request)).state == "decided":  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await kill(host, session)
        frames = await frames_until(host, session.id, "crashed")
        assert [event.status for event in told(frames, ToolEnded)] == ["interrupted"]
        assert states_of(frames) == ["pending", "decided", "delivered"]
        assert (await host.get_approval(request)).applied_at is None
        assert not (place.cwd / "made.txt").exists()


# Nobody is there


async def test_what_nobody_is_there_to_decide_is_denied_after_its_time(place: Place) -> None:
    clock = Clock()
    place.claude.play([ASKS, "Then not."])
    async with place.opened(clock=clock) as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        assert await host.check_deadlines() == []
        clock.now += 14 * 60
        assert await host.check_deadlines() == []
        clock.now += 61
        (denied,) = await host.check_deadlines()
        assert denied.id == approval.id
        assert denied.decided_by is not None
        assert (denied.decided_by.kind, denied.state) == ("deadline", "decided")
        frames = await frames_until(host, session.id, "idle")
        assert [event.status for event in told(frames, ToolEnded)] == ["denied"]
        with pytest.raises(HostError) as late:
            await decide(host, approval)
        assert (late.value.code, late.value.details["decided_by"]) == ("already_decided", "deadline")


async def test_the_clock_stands_still_while_somebody_who_may_decide_is_there(place: Place) -> None:
    clock = Clock()
    place.claude.play([ASKS, "Done."])
    elsewhere = Caller(name="bob", scope="approve", folders=("/elsewhere",))
    async with place.opened(clock=clock) as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        await host.check_deadlines()
        clock.now += 800
        with host.attend(Caller(name="ann", scope="approve")):
            clock.now += 10_000
            assert await host.check_deadlines() == []
        with host.attend(Caller(name="reader", scope="read")), host.attend(elsewhere):
            clock.now += 99
            assert await host.check_deadlines() == []
            clock.now += 2
            assert [one.id for one in await host.check_deadlines()] == [approval.id]
        await frames_until(host, session.id, "idle")


async def test_a_session_has_a_deadline_of_its_own_or_none(place: Place) -> None:
    clock = Clock()
    place.claude.play([ASKS, "Then not."])
    async with place.opened(clock=clock) as host:
        short = await place.created(host, policy={"unattended_s": 5})
        never = await place.created(host, policy={"unattended_s": "never"})
        (asked,) = await pending(host, short.id)
        (patient,) = await pending(host, never.id)
        await host.check_deadlines()
        clock.now += 1e6
        assert [one.id for one in await host.check_deadlines()] == [asked.id]
        assert [one.id for one in await pending(host)] == [patient.id]


@pytest.mark.parametrize("step", [QUESTION, PLAN, ELICITS], ids=["questions", "plan", "elicitation"])
async def test_a_deadline_never_allows(place: Place, step: dict[str, Any]) -> None:
    clock = Clock()
    place.claude.play([step, "Then not."])
    async with place.opened(clock=clock) as host:
        session = await place.created(host, options={"allowed_tools": ["mcp__forms"]})
        await pending(host)
        await host.check_deadlines()
        clock.now += 901
        (denied,) = await host.check_deadlines()
        assert denied.decision is not None
        assert denied.decision["decision"] == "deny"
        await frames_until(host, session.id, "idle")


# Many


async def three_sessions(place: Place, host: Host) -> list[Approval]:
    """Two in one folder, one below it with a question."""
    below = place.cwd / "below"
    below.mkdir()
    place.claude.play([ASKS, "Done."])
    sessions = [await place.created(host), await place.created(host)]
    place.claude.play([QUESTION, "Fine."])
    sessions.append(await host.create_session(CreateSession(cwd=str(below), prompt="go")))
    return [(await pending(host, session.id))[0] for session in sessions]


async def test_many_are_decided_by_a_filter_after_a_preview(place: Place) -> None:
    async with place.opened() as host:
        first, second, question = await three_sessions(place, host)
        everything = DecideMany(
            filter=ApprovalFilter(kind="permission"), decision=Decision(decision="allow"), dry_run=True
        )
        preview = await host.decide_many(everything)
        assert preview.dry_run
        assert {one.id for one in preview.approvals} == {first.id, second.id}
        assert len(await pending(host)) == 3
        done = await host.decide_many(
            DecideMany(filter=ApprovalFilter(kind="permission"), decision=Decision(decision="allow"))
        )
        assert {one.id for one in done.approvals} == {first.id, second.id}
        assert [one.id for one in await pending(host)] == [question.id]
        audit = (await host.list_audit(ListAudit())).audit
        assert [entry.operation for entry in audit].count("decide_many") == 2


@pytest.mark.parametrize(
    ("wanted", "covers"),
    [
        ({"tool": "Bash"}, {0, 1}),
        ({"cwd": "below"}, {2}),
        ({"cwd": "."}, {0, 1, 2}),
        ({"kind": "questions"}, {2}),
        ({"session": 0}, {0}),
        ({"session": 0, "kind": "questions"}, set()),
    ],
    ids=str,
)
async def test_a_filter_covers_what_it_says(place: Place, wanted: dict[str, Any], covers: set[int]) -> None:
    async with place.opened() as host:
        approvals = await three_sessions(place, host)
        fields = dict(wanted)
        if "cwd" in fields:
            fields["cwd"] = str((place.cwd / fields["cwd"]).resolve())
        if "session" in fields:
            fields["session"] = approvals[fields["session"]].session_id
        request = DecideMany(filter=ApprovalFilter(**fields), decision=Decision(decision="deny"), dry_run=True)
        found = (await host.decide_many(request)).approvals
        assert {one.id for one in found} == {approvals[number].id for number in covers}


@pytest.mark.parametrize(
    ("wanted", "decision"),
    [
        ({}, {"decision": "allow"}),
        ({"tool": "Bash"}, {"decision": "allow", "answers": {"a": "b"}}),
        ({"tool": "Bash"}, {"decision": "allow", "updated_input": {}}),
        ({"cwd": "/"}, {"decision": "allow"}),
    ],
    ids=["empty filter", "answers", "edited input", "one of them needs answers"],
)
async def test_a_batch_that_does_not_fit_decides_nothing(
    place: Place, wanted: dict[str, Any], decision: dict[str, Any]
) -> None:
    async with place.opened() as host:
        await three_sessions(place, host)
        with pytest.raises(HostError) as refused:
            await host.decide_many(DecideMany(filter=ApprovalFilter(**wanted), decision=Decision(**decision)))
        assert refused.value.code == "invalid"
        assert len(await pending(host)) == 3


# Watching


async def test_a_watcher_sees_what_waits_and_then_every_change(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        seen: list[str] = []

        async def watch() -> None:
            async for one in host.watch_approvals(ListApprovals()):
                assert one.id == approval.id
                seen.append(one.state)
                if one.state == "applied":
                    return

        watching = asyncio.ensure_future(watch())
        while not seen:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await decide(host, approval)
        await watching
        assert seen == ["pending", "decided", "delivered", "applied"]
        shown = told(await all_frames(host, session.id), ApprovalChanged)
        assert [event.approval.state for event in shown] == seen


# Racing


@pytest.mark.parametrize("keeper", [True, False], ids=["keeper", "no keeper"])
async def test_of_a_thousand_racing_decisions_on_two_hundred_approvals_one_each_wins(
    tmp_path: Path, keeper: bool
) -> None:
    place = Place(tmp_path, keeper=keeper)
    sessions, calls = 4, 50
    asks = [{"tool": "Bash", "input": {"command": f"touch {number}.txt"}} for number in range(calls)]
    place.claude.play([*asks, "Done."])
    async with place.opened() as host:
        winners: dict[str, str] = {}
        losers: list[tuple[str, str]] = []

        async def one(approval: Approval, number: int) -> None:
            request = Decide(approval_id=approval.id, decision=Decision(decision="deny" if number % 2 else "allow"))
            try:
                await host.decide(request, Caller(name=f"person {number}"))
            except HostError as error:
                assert error.code == "already_decided"
                losers.append((approval.id, str(error.details["decided_by"])))
            else:
                assert approval.id not in winners
                winners[approval.id] = f"person {number}"

        async def race(session_id: str) -> list[str]:
            async with asyncio.TaskGroup() as racing:
                async for approval in host.watch_approvals(ListApprovals(session=session_id)):
                    if approval.state == "pending":
                        for number in range(5):
                            racing.create_task(one(approval, number))
                    seen.setdefault(session_id, set()).add(approval.id)
                    if approval.state == "applied" and len(seen[session_id]) == calls:
                        break
            return states_of(await frames_until(host, session_id, "idle"))

        seen: dict[str, set[str]] = {}
        created = [await place.created(host, name=f"{number}") for number in range(sessions)]
        states = await asyncio.gather(*(race(session.id) for session in created))
        assert len(winners) == sessions * calls
        assert len(losers) == sessions * calls * 4
        assert all(winners[approval_id] == by for approval_id, by in losers)
        for one_session in states:
            assert all(one_session.count(state) == calls for state in ("decided", "delivered", "applied"))
