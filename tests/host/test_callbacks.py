"""A program brings its own hooks, tools and permission callback to a session of a host.

On the real CLI with a scripted model, and on the simulator.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.stage import bash
from host.kit import Place, all_frames, decide, frames_until, pending, told
from host.program import NAME, attached, decides, text
from host.staged import BOTH, Staged, staged_in
from looping import for_each
from quarterdeck.host import Caller, Host, HostError
from quarterdeck.host.events import PolicyDecided
from quarterdeck.host.requests import (
    AnswerCallback,
    AttachCallbacks,
    Callbacks,
    Fork,
    HookCallback,
    OfApproval,
    OfSession,
    ToolCallback,
)
from quarterdeck.testing.model import ToolUse
from quarterdeck.timeline.events import ToolEnded

GUARD = HookCallback(event="PreToolUse", matcher="Bash")
AFTER = HookCallback(event="PostToolUse", matcher="Bash")
ADD = ToolCallback(
    server="sums",
    name="add",
    description="Adds two numbers",
    input_schema={"properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]},
)
ADDS = ToolUse("mcp__sums__add", {"a": 20, "b": 22})


@pytest.fixture(scope="module", params=BOTH)
def staged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staged]:
    with staged_in(tmp_path_factory.mktemp("callbacks"), request.param) as staged:
        yield staged


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


def ends(frames: list[Any]) -> list[tuple[str, str]]:
    return [(event.status, str(event.output)) for event in told(frames, ToolEnded)]


async def test_hooks_and_tools_of_a_program_are_asked_and_answered(staged: Staged) -> None:
    stage = staged.stage
    assert stage.share()
    stage.reply(bash("touch refused.txt"))
    stage.reply(bash("touch made.txt"))
    stage.reply(ADDS)
    stage.reply("It is 42.")
    talk = await staged.talk(
        callbacks=Callbacks(hooks=[GUARD, AFTER], tools=[ADD], permission=True, instructions={"sums": "For sums."})
    )
    async with attached(staged.host, talk.id) as program:
        await talk.say()
        asked = await program.asked("hook")
        assert (asked.hook, asked.input["tool_input"]["command"]) == (0, "touch refused.txt")
        assert asked.tool_use_id == asked.input["tool_use_id"]
        assert asked.deadline_s is not None
        assert 0 < asked.deadline_s <= 60
        accepted = await program.answer(asked, decides("deny", permissionDecisionReason="Not today."))
        assert accepted.seq is not None
        with pytest.raises(HostError) as twice:
            await program.answer(asked, decides("allow"))
        assert twice.value.code == "withdrawn"

        await program.answer(await program.asked("hook"), {})
        wants = await program.asked("permission")
        assert wants.approval is not None
        assert (wants.approval.tool, wants.deadline_s) == ("Bash", None)
        await program.answer(wants, {"decision": "allow"})
        after = await program.asked("hook")
        assert after.hook == 1
        await program.answer(after, {})

        asked_tool = await program.asked("permission")
        await program.answer(asked_tool, {"decision": "allow"})
        call = await program.asked("tool")
        assert (call.server, call.tool, call.input) == ("sums", "add", {"a": 20, "b": 22})
        await program.answer(call, text("42"))
        frames = await talk.until("idle")
        assert program.told.empty(), "it is told of nothing that it has answered"

    (refused, reason), (made, _), (added, result) = ends(frames)
    assert (refused, made, added) == ("denied", "finished", "finished")
    assert "Not today." in reason
    assert result == "42"
    assert not (stage.cwd / "refused.txt").exists()
    assert (stage.cwd / "made.txt").exists()
    assert "42" in stage.heard[-1].text
    decided = await staged.host.get_approval(OfApproval(approval_id=wants.call_id))
    assert decided.decided_by is not None
    assert decided.decided_by.name == NAME


async def test_without_a_program_hooks_refuse_and_tools_fail_and_people_decide(staged: Staged) -> None:
    stage = staged.stage
    assert stage.share()
    stage.reply(bash("touch unguarded.txt"))
    stage.reply(ADDS)
    stage.reply("I could do nothing.")
    guard = HookCallback(event="PreToolUse", matcher="Bash", timeout_s=3)
    talk = await staged.talk(callbacks=Callbacks(hooks=[guard], tools=[ADD], permission=True, deadline_s=0.5))
    await talk.say()
    await talk.decide()
    frames = await talk.until("idle")
    (guarded, why), (called, failure) = ends(frames)
    assert (guarded, called) == ("denied", "failed")
    late = "did not respond before its timeout"  # on a machine too busy to say it in time, Claude Code does
    assert "no program was attached within" in why or late in why
    assert "no program was attached within" in failure
    assert not (stage.cwd / "unguarded.txt").exists()


async def test_an_open_call_is_offered_to_the_program_that_comes_back(staged: Staged) -> None:
    stage = staged.stage
    assert stage.share()
    stage.reply(ADDS)
    stage.reply("It is 42.")
    talk = await staged.talk(callbacks=Callbacks(tools=[ADD]), options={"allowed_tools": ["mcp__sums__add"]})
    await talk.say()
    async with attached(staged.host, talk.id) as first:
        call = await first.asked("tool")
    async with attached(staged.host, talk.id) as second:
        again = await second.asked("tool")
        assert again.call_id == call.call_id
        async with attached(staged.host, talk.id) as newest:
            assert await second.told.get() is None, "the newest program is asked, and the stream of the former ends"
            assert (await newest.asked("tool")).call_id == call.call_id
            await first.answer(call, text("42"))
            assert ends(await talk.until("idle")) == [("finished", "42")]
            assert newest.told.empty() or (await newest.asked("cancelled")).call_id == call.call_id


async def test_what_a_person_has_decided_need_not_be_answered(staged: Staged) -> None:
    stage = staged.stage
    assert stage.share()
    stage.reply(bash("touch by_person.txt"))
    stage.reply(bash("touch passed_on.txt"))
    stage.reply("Done.")
    talk = await staged.talk(callbacks=Callbacks(permission=True))
    async with attached(staged.host, talk.id) as program:
        await talk.say()
        call = await program.asked("permission")
        await talk.decide()
        cancelled = await program.asked("cancelled")
        assert cancelled.call_id == call.call_id
        with pytest.raises(HostError) as late:
            await program.answer(call, {"decision": "deny"})
        assert late.value.code == "already_decided"
        second = await program.asked("permission")
        await program.fail(second, "I cannot tell.")
        assert (await talk.asked()).id == second.call_id, "it stays for a person"
        await talk.decide()
        await talk.until("idle")
    assert (stage.cwd / "by_person.txt").exists()
    assert (stage.cwd / "passed_on.txt").exists()


async def test_a_hook_cannot_widen_the_policy(staged: Staged) -> None:
    stage = staged.stage
    assert stage.share()
    stage.reply(bash("touch harmless.txt"))
    stage.reply("I was refused.")
    talk = await staged.talk(callbacks=Callbacks(hooks=[GUARD]), policy={"deny": ["Bash(touch forbidden*)"]})
    async with attached(staged.host, talk.id) as program:
        await talk.say()
        changed = {"command": "touch forbidden.txt", "description": "Make a file"}
        await program.answer(await program.asked("hook"), decides("allow", updatedInput=changed))
        frames = await talk.until("idle")
    ((status, why),) = ends(frames)
    assert status == "denied"
    assert "policy" in why
    assert any(event.decision == "deny" for event in told(frames, PolicyDecided))
    assert not (stage.cwd / "forbidden.txt").exists()


async def test_a_hook_may_change_what_the_policy_lets_through(staged: Staged) -> None:
    stage = staged.stage
    assert stage.share()
    stage.reply(bash("touch planned.txt"))
    stage.reply("Done.")
    talk = await staged.talk(callbacks=Callbacks(hooks=[GUARD]))
    async with attached(staged.host, talk.id) as program:
        await talk.say()
        changed = {"command": "touch changed.txt", "description": "Make a file"}
        await program.answer(await program.asked("hook"), decides("allow", updatedInput=changed))
        await talk.until("idle")
    assert (stage.cwd / "changed.txt").exists()
    assert not (stage.cwd / "planned.txt").exists()


# On the simulator alone


SIM_ADDS = {"tool": "mcp__sums__add", "input": {"a": 20, "b": 22}}


async def created(place: Place, host: Host, callbacks: Callbacks, **more: Any) -> Any:
    return await place.created(host, callbacks=callbacks, options={"allowed_tools": ["mcp__sums__add"]}, **more)


async def test_an_answer_that_does_not_fit_leaves_the_call_open(place: Place) -> None:
    place.claude.play([{"tool": "Bash", "input": {"command": "touch made.txt"}}, SIM_ADDS, "Done."])
    async with place.opened() as host:
        session = await created(place, host, Callbacks(hooks=[GUARD], tools=[ADD], permission=True))
        async with attached(host, session.id) as program:
            hook = await program.asked("hook")
            for wrong in ({"decision": "maybe"}, decides("perhaps"), {"permissionDecision": "allow"}):
                with pytest.raises(HostError) as refused:
                    await program.answer(hook, wrong)
                assert refused.value.code == "invalid"
            await program.answer(hook, {})
            asked = await program.asked("permission")
            with pytest.raises(HostError) as no_decision:
                await program.answer(asked, {"decision": "perhaps"})
            assert no_decision.value.code == "invalid"
            with pytest.raises(HostError) as bypass:
                await program.answer(asked, {"decision": "allow", "mode": "bypassPermissions"})
            assert bypass.value.code == "forbidden"
            await program.answer(asked, {"decision": "allow"})
            call = await program.asked("tool")
            for wrong in ({}, {"content": "42"}, {"content": ["42"]}, {"content": [{"text": "42"}]}):
                with pytest.raises(HostError) as unfit:
                    await program.answer(call, wrong)
                assert unfit.value.code == "invalid"
            with pytest.raises(HostError, match="either a result or an error"):
                await program.answer(call)
            await program.fail(call, "The abacus is broken.")
            frames = await frames_until(host, session.id, "idle")
        assert ends(frames)[-1][0] == "failed"
        assert "The abacus is broken." in ends(frames)[-1][1]


async def test_an_answer_with_a_key_is_given_once(place: Place) -> None:
    place.claude.play([SIM_ADDS, "Done."])
    async with place.opened() as host:
        session = await created(place, host, Callbacks(tools=[ADD]))
        async with attached(host, session.id) as program:
            call = await program.asked("tool")
            first = await program.answer(call, text("42"), key="k")
            await frames_until(host, session.id, "idle")
            assert await program.answer(call, text("42"), key="k") == first
            (frame,) = [one for one in await all_frames(host, session.id) if one.seq == first.seq]
            assert frame.session == session.id
        with pytest.raises(HostError) as unknown:
            await program.answer(call, text("43"))
        assert unknown.value.code == "withdrawn"


async def test_the_calls_of_a_process_that_ends_are_cancelled(place: Place) -> None:
    place.claude.play([SIM_ADDS, "Done."])
    async with place.opened() as host:
        session = await created(place, host, Callbacks(tools=[ADD]))
        async with attached(host, session.id) as program:
            call = await program.asked("tool")
            await host.stop(OfSession(session_id=session.id))
            assert (await program.asked("cancelled")).call_id == call.call_id


async def test_the_next_process_and_a_fork_have_the_callbacks_too(place: Place) -> None:
    place.claude.play(["Hello."], [SIM_ADDS, "Done."])
    async with place.opened() as host:
        session = await created(place, host, Callbacks(tools=[ADD]))
        await frames_until(host, session.id, "idle")
        await host.stop(OfSession(session_id=session.id))
        await host.resume(OfSession(session_id=session.id))
        fork = await host.fork(Fork(session_id=session.id))
        for one in (session, fork):
            info = (await host.get_info(OfSession(session_id=one.id))).details
            async with attached(host, one.id):
                servers = (await host.list_mcp_servers(OfSession(session_id=one.id))).details["servers"]
            assert [server["name"] for server in servers] == ["sums"], info


async def test_a_program_that_has_left_is_waited_for_as_long_as_it_said(place: Place) -> None:
    place.claude.play([{"tool": "mcp__sums__add", "input": {"a": 20, "b": 22}}, "Without it."])
    async with place.opened() as host:
        callbacks = Callbacks(tools=[ADD], deadline_s=3600, detached_s=0.05)
        options = {"allowed_tools": ["mcp__sums__add"]}
        session = await place.created(host, callbacks=callbacks, options=options)
        ((status, output),) = ends(await frames_until(host, session.id, "idle"))
        assert status == "failed"
        assert "no program was attached for 0.05 s" in output


async def test_a_session_without_callbacks_has_none_to_attach_to(place: Place) -> None:
    async with place.opened() as host:
        session = await place.created(host, None)
        with pytest.raises(HostError) as refused:
            await anext(host.attach_callbacks(AttachCallbacks(session_id=session.id)))
        assert refused.value.code == "conflict"
        reader = Caller(name="reader", scope="approve")
        with pytest.raises(HostError) as forbidden:
            await anext(host.attach_callbacks(AttachCallbacks(session_id=session.id), reader))
        assert forbidden.value.code == "forbidden"
        answer = AnswerCallback(session_id=session.id, call_id="1-nothing", result={})
        with pytest.raises(HostError) as nothing:
            await host.answer_callback(answer)
        assert nothing.value.code == "withdrawn"


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "event": ({"hooks": [HookCallback(event="BeforeLunch")]}, "callbacks.hooks[0].event"),
    "timeout": ({"hooks": [HookCallback(event="Stop", timeout_s=0)]}, "callbacks.hooks[0].timeout_s"),
    "deadline": ({"deadline_s": float("inf")}, "callbacks.deadline_s"),
    "nameless": ({"tools": [ToolCallback(server="", name="x")]}, "callbacks.tools[0]"),
    "schema": (
        {"tools": [ToolCallback(server="sums", name="x", input_schema={"type": "array"})]},
        "callbacks.tools[0].input_schema",
    ),
    "twice": ({"tools": [ADD, ADD]}, "callbacks.tools[1].name"),
    "instructions": ({"instructions": {"sums": "?"}}, "callbacks.instructions"),
}


@for_each("name", BAD)
async def test_callbacks_that_cannot_be_are_refused(name: str, place: Place) -> None:
    given, field = BAD[name]
    async with place.opened() as host:
        with pytest.raises(HostError) as refused:
            await place.created(host, None, callbacks=Callbacks(**given))
        assert (refused.value.code, refused.value.details["field"]) == ("invalid", field)


async def test_a_server_of_the_program_may_not_hide_another_one(place: Place) -> None:
    async with place.opened() as host:
        options = {"mcp_servers": {"sums": {"type": "http", "url": "http://127.0.0.1:9/"}}}
        with pytest.raises(HostError) as refused:
            await place.created(host, None, callbacks=Callbacks(tools=[ADD]), options=options)
        assert refused.value.code == "invalid"


async def test_an_attached_program_that_decides_stops_the_clock_of_approvals(place: Place) -> None:
    place.claude.play([{"tool": "Bash", "input": {"command": "touch made.txt"}}, "Done."])
    async with place.opened() as host:
        session = await place.created(host, callbacks=Callbacks(permission=True), policy={"unattended_s": 0.01})
        async with attached(host, session.id) as program:
            call = await program.asked("permission")
            assert await host.check_deadlines() == []
            assert await host.check_deadlines() == []
            await program.answer(call, {"decision": "allow"})
            await frames_until(host, session.id, "idle")


@pytest.mark.parametrize("keeper", [True])
async def test_calls_outlive_a_host_that_closes(tmp_path: Path, keeper: bool) -> None:
    place = Place(tmp_path, keeper=keeper)
    place.claude.play([{"tool": "Bash", "input": {"command": "touch made.txt"}}, SIM_ADDS, "Done."])
    callbacks = Callbacks(hooks=[GUARD], tools=[ADD])
    async with place.host() as host:
        session = await created(place, host, callbacks)
        async with attached(host, session.id) as program:
            hook = await program.asked("hook")
    async with place.host() as host, attached(host, session.id) as program:
        again = await program.asked("hook")
        assert (again.call_id, again.input) == (hook.call_id, hook.input)
        await program.answer(again, {})
        for approval in await pending(host, session.id):
            await decide(host, approval)
        tool = await program.asked("tool")
    async with place.opened() as host:
        async with attached(host, session.id) as program:
            await program.answer(tool, text("42"))  # it had run when the host went away
            frames = await frames_until(host, session.id, "idle")
        assert [status for status, _ in ends(frames)] == ["finished", "finished"]
        assert ends(frames)[-1] == ("finished", "42")
