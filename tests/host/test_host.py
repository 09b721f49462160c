"""A host on the simulator: sessions, approvals, one log; with a keeper and without."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from host.kit import ASKS, Place, all_frames, decide, frames_until, kill, kinds, pending, states_of
from quarterdeck.host import Caller, HostError
from quarterdeck.host.events import UsageReport
from quarterdeck.host.folding import Preview
from quarterdeck.host.requests import CreateSession, Decide, Decision, ListSessions, OfSession, SendPrompt, WatchSession
from quarterdeck.timeline.events import TextCompleted, ToolEnded


@pytest.fixture(params=[True, False], ids=["keeper", "no keeper"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=request.param)


async def test_a_prompt_becomes_frames_in_one_gap_free_sequence(place: Place) -> None:
    place.claude.play(["Hello there."])
    async with place.opened() as host:
        session = await place.created(host)
        frames = await frames_until(host, session.id, "idle")
        assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
        said = [event.text for frame in frames for event in frame.events if isinstance(event, TextCompleted)]
        assert said == ["Hello there."]
        told = kinds(frames)
        assert told.index("TurnEnded") < told.index("UsageReport") < len(told) - 1
        assert told[-1] == "StatusChange"
        assert frames == (await all_frames(host, session.id))[: len(frames)]


async def test_frames_read_again_are_byte_for_byte_those_that_were_shown(place: Place) -> None:
    place.claude.play(["One. " * 50, ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        await decide(host, approval)
        shown = await frames_until(host, session.id, "idle")
        again = await all_frames(host, session.id)
        assert msgspec.json.encode(again[: len(shown)]) == msgspec.json.encode(shown)


async def test_previews_come_between_the_frames_they_belong_to(place: Place) -> None:
    place.claude.play(["A sentence that comes in pieces, as a model writes it."])
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        seen: list[Any] = []
        watching = asyncio.ensure_future(_watch(host, session.id, seen))
        await host.send_prompt(SendPrompt(session_id=session.id, content="go"))
        await watching
    last = 0
    pieces = ""
    for one in seen:
        if isinstance(one, Preview):
            assert one.after_seq == last
            pieces += "".join(getattr(event, "text", "") for event in one.events)
        else:
            assert one.seq == last + 1
            last = one.seq
    assert pieces == "A sentence that comes in pieces, as a model writes it."


async def _watch(host: Any, session: str, seen: list[Any]) -> None:
    async for one in host.watch_session(WatchSession(session_id=session)):
        seen.append(one)
        if any(isinstance(event, UsageReport) for event in one.events):
            return


async def test_an_approval_is_asked_decided_delivered_and_applied(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        assert (approval.kind, approval.tool, approval.input["command"]) == ("permission", "Bash", "touch made.txt")
        assert (await host.get_session(OfSession(session_id=session.id))).state == "waiting"
        decided = await decide(host, approval)
        assert decided.decided_by is not None
        frames = await frames_until(host, session.id, "idle")
        assert states_of(frames) == ["pending", "decided", "delivered", "applied"]
        assert (place.cwd / "made.txt").exists()


async def test_a_denied_call_does_not_run(place: Place) -> None:
    place.claude.play([ASKS, "Then not."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        await decide(host, approval, "deny", message="Not now.")
        frames = await frames_until(host, session.id, "idle")
        ended = [event for frame in frames for event in frame.events if isinstance(event, ToolEnded)]
        assert [event.status for event in ended] == ["denied"]
        assert not (place.cwd / "made.txt").exists()


async def test_an_edited_input_is_what_runs(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        await decide(host, approval, updated_input={**approval.input, "command": "touch other.txt"})
        await frames_until(host, session.id, "idle")
        assert (place.cwd / "other.txt").exists()
        assert not (place.cwd / "made.txt").exists()


async def test_one_decision_counts_and_the_others_learn_of_it(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)

        async def one(number: int) -> str:
            request = Decide(approval_id=approval.id, decision=Decision(decision="allow"))
            try:
                await host.decide(request, Caller(name=f"person {number}"))
            except HostError as error:
                assert error.code == "already_decided"
                return str(error.details["decided_by"])
            return f"person {number}"

        said = await asyncio.gather(*(one(number) for number in range(20)))
        assert len(set(said)) == 1
        frames = await frames_until(host, session.id, "idle")
        assert states_of(frames).count("decided") == 1


async def test_a_decision_that_does_not_fit_is_refused_and_nothing_is_decided(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        with pytest.raises(HostError, match="cannot have answers") as refused:
            await decide(host, approval, answers={"a": "b"})
        assert refused.value.code == "invalid"
        await decide(host, approval)
        await frames_until(host, session.id, "idle")


async def test_a_stopped_session_can_be_resumed_and_its_log_goes_on(place: Place) -> None:
    place.claude.play(["First."], ["Second."])
    async with place.opened() as host:
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
        await host.stop(OfSession(session_id=session.id))
        stopped = await host.get_session(OfSession(session_id=session.id))
        assert stopped.state == "stopped"
        resumed = await host.resume(OfSession(session_id=session.id))
        assert resumed.state in ("starting", "idle")
        await host.send_prompt(SendPrompt(session_id=session.id, content="again"))
        await frames_until(host, session.id, "idle", after=f"{stopped.epoch}-{stopped.seq}")
        frames = await all_frames(host, session.id)
        assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))


async def test_sessions_are_found_by_any_of_their_ids(place: Place) -> None:
    place.claude.play(["Hi."])
    async with place.opened() as host:
        session = await place.created(host, name="first")
        await frames_until(host, session.id, "idle")
        known = await host.get_session(OfSession(session_id=session.id))
        assert known.transcript_id is not None
        assert (await host.get_session(OfSession(session_id=known.transcript_id))).id == session.id
        assert [one.name for one in (await host.list_sessions(ListSessions())).sessions] == ["first"]
        with pytest.raises(HostError, match="no session") as missing:
            await host.get_session(OfSession(session_id="nope"))
        assert missing.value.code == "not_found"


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"cwd": "/does/not/exist"}, "invalid"),
        ({"options": {"no_such": 1}}, "invalid"),
        ({"agent": "/usr/bin/env"}, "option_not_allowed"),
        ({"options": {"env": {"A": "b"}}}, "option_not_allowed"),
        ({"options": {"mcp_servers": {}}}, "option_not_allowed"),
    ],
)
async def test_what_a_caller_may_not_ask_for_is_refused(place: Place, request_: dict[str, Any], code: str) -> None:
    async with place.opened() as host:
        with pytest.raises(HostError) as refused:
            await host.create_session(
                CreateSession(**{"cwd": str(place.cwd), **request_}), Caller(name="someone", scope="operate")
            )
        assert refused.value.code == code


async def test_a_process_that_dies_is_told_and_its_approvals_are_stranded(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        await kill(host, session)
        frames = await frames_until(host, session.id, "crashed")
        assert states_of(frames) == ["pending", "stranded"]
        with pytest.raises(HostError) as late:
            await decide(host, approval)
        assert late.value.code == "withdrawn"
