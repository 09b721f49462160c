"""Steering a session through the host alone, on the real CLI with a scripted model and on the simulator.

Interrupt, queue, model, mode, thinking, tool servers, sub-agents, background tasks, compaction, raw control: each with
what the frames say and what the model got.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.real import RealStage
from conformance.stage import bash
from e2e.server import server_config
from host.kit import states_of, told
from host.staged import EVERYWHERE, Staged, Talk, staged_in
from quarterdeck.host import HostError
from quarterdeck.host.events import ApprovalChanged, PolicyDecided, ProcessChanged, QueueChanged
from quarterdeck.host.requests import (
    Decide,
    Decision,
    OfMcpServer,
    OfPrompt,
    OfSubagent,
    OfTask,
    ReadEvents,
    SendControl,
    SetMcpServers,
    UpdateSession,
    Wait,
)
from quarterdeck.host.resources import Frame
from quarterdeck.testing.model import Stall, ToolUse
from quarterdeck.timeline.events import (
    CompactionEnded,
    InterruptSent,
    ModelChanged,
    TaskStarted,
    TextCompleted,
    ToolEnded,
    TurnEnded,
)


@pytest.fixture(scope="module", params=EVERYWHERE)
def staged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staged]:
    with staged_in(tmp_path_factory.mktemp("steering"), request.param) as staged:
        yield staged


@pytest.fixture(scope="module")
def shared(staged: Staged) -> Talk:
    servers = {"st": server_config(staged.stage.folder)}
    return staged.run(staged.talk(options={"mcp_servers": servers, "allowed_tools": ["Bash(echo:*)"]}))


@pytest.fixture
def talk(shared: Talk) -> Talk:
    assert shared.staged.stage.share(), "an earlier test left a part of its script"
    return shared


def texts(frames: list[Frame]) -> list[str]:
    return [event.text for event in told(frames, TextCompleted)]


async def idle(talk: Talk) -> None:
    await talk.host.wait(Wait(session_id=talk.id, for_=["idle"]))


async def test_an_interrupt_ends_the_turn_and_what_was_said_stays(talk: Talk) -> None:
    stage = talk.staged.stage
    gate = stage.gate()
    stage.reply("This is going to take a while, so ", Stall(after=3, until=gate), delta_size=8)
    await talk.say()
    await stage.reached(gate)
    await talk.host.interrupt(talk.of)
    frames = await talk.until("idle")
    gate.open()
    assert len(told(frames, InterruptSent)) == 1
    assert [event.turn.outcome for event in told(frames, TurnEnded)] == ["interrupted"]
    stage.reply("Still here.")
    assert texts(await talk.turn("there?"))[-1:] == ["Still here."]


async def test_an_interrupt_withdraws_what_waits_for_a_decision(talk: Talk) -> None:
    stage = talk.staged.stage
    stage.reply(bash("touch interrupted.txt"))
    await talk.say()
    asked = await talk.asked()
    await talk.host.interrupt(talk.of)
    frames = await talk.until("idle")
    assert states_of(frames) == ["pending", "withdrawn"]
    with pytest.raises(HostError) as late:
        await talk.host.decide(Decide(approval_id=asked.id, decision=Decision(decision="allow")))
    assert late.value.code == "withdrawn"
    assert not (stage.cwd / "interrupted.txt").exists()


async def test_a_prompt_during_a_turn_is_folded_in_between_two_steps(talk: Talk) -> None:
    stage = talk.staged.stage
    gate = stage.gate()
    stage.reply("I look.", bash("echo one"), Stall(after=3, until=gate))
    stage.reply("Both answered.")
    await talk.say("first")
    await stage.reached(gate)
    steering = await talk.send("second, while you work")
    waiting = (await talk.host.list_prompts(talk.of)).prompts
    assert [(one.id, one.state) for one in waiting] == [(steering, "sent")]
    await talk.host.list_mcp_servers(talk.of)  # once it answers this, it has read the prompt
    gate.open()
    frames = await talk.until("idle")
    assert texts(frames) == ["I look.", "Both answered."]
    assert len(told(frames, TurnEnded)) == 1
    assert "second, while you work" in stage.heard[-1].text
    assert (await talk.host.list_prompts(talk.of)).prompts == []


async def test_prompts_for_later_wait_for_turns_of_their_own_and_can_be_taken_back(talk: Talk) -> None:
    stage = talk.staged.stage
    gate = stage.gate()
    stage.reply("I look.", bash("echo one"), Stall(after=3, until=gate))
    stage.reply("The first.")
    stage.reply("The later one.")
    await talk.say("first")
    await stage.reached(gate)
    later = await talk.send("for later", "later")
    unwanted = [await talk.send("not wanted", "later"), await talk.send("nor this", "next")]
    waiting = [one.id for one in (await talk.host.list_prompts(talk.of)).prompts]
    assert set(waiting) == {later, *unwanted}
    for prompt_id in unwanted:
        await talk.host.withdraw_prompt(OfPrompt(session_id=talk.id, prompt_id=prompt_id))
    gate.open()
    await idle(talk)
    frames = (await talk.host.read_events(ReadEvents(session_id=talk.id, after=talk.cursor))).frames
    assert texts(frames) == ["I look.", "The first.", "The later one."]
    assert len(told(frames, TurnEnded)) == 2
    assert [[one.id for one in event.prompts] for event in told(frames, QueueChanged)][-2:] == [[later], []]
    heard = [one.text for one in stage.heard]
    assert [("for later" in text, "not wanted" in text, "nor this" in text) for text in heard] == [
        (False, False, False),
        (False, False, False),
        (True, False, False),
    ]


async def test_a_prompt_for_now_interrupts_what_runs(talk: Talk) -> None:
    stage = talk.staged.stage
    gate = stage.gate()
    stage.reply("A long answer that nobody waits for.", Stall(after=3, until=gate))
    stage.reply("At once.")
    await talk.say("first")
    await stage.reached(gate)
    await talk.send("drop that", "now")
    frames = await talk.until("idle")
    gate.open()
    await idle(talk)
    assert "drop that" in stage.heard[-1].text
    assert texts(frames)[-1] == "At once."


async def test_the_model_is_changed_for_the_next_request(talk: Talk) -> None:
    stage = talk.staged.stage
    before = (await talk.now()).model
    await talk.mark()
    await talk.host.update_session(UpdateSession(session_id=talk.id, model="claude-haiku-4-5"))
    stage.reply("Small.")
    await talk.send("go")
    frames = await talk.until("idle")
    assert [event.model for event in told(frames, ModelChanged)] == ["claude-haiku-4-5"]
    assert stage.heard[-1].model == "claude-haiku-4-5" == (await talk.now()).model
    await talk.host.update_session(UpdateSession(session_id=talk.id, model=None))
    stage.reply("Large.")
    await talk.turn()
    assert "haiku" not in stage.heard[-1].model
    assert before in (None, (await talk.now()).model)  # None: no turn has told it yet


async def test_the_mode_is_changed_and_edits_pass_without_asking(talk: Talk) -> None:
    stage = talk.staged.stage
    await talk.host.update_session(UpdateSession(session_id=talk.id, permission_mode="acceptEdits"))
    assert (await talk.now()).permission_mode == "acceptEdits"
    stage.reply(ToolUse("Write", {"file_path": str(stage.cwd / "made.txt"), "content": "x"}))
    stage.reply("Written.")
    frames = await talk.turn()
    assert told(frames, ApprovalChanged) == []
    assert (stage.cwd / "made.txt").exists()
    await talk.host.update_session(UpdateSession(session_id=talk.id, permission_mode="default"))
    assert (await talk.now()).permission_mode == "default"


async def test_how_much_the_model_may_think_is_changed(talk: Talk) -> None:
    stage, thinking = talk.staged.stage, []
    await talk.host.update_session(UpdateSession(session_id=talk.id, model="claude-haiku-4-5"))
    for tokens in (5_000, 0):
        await talk.host.update_session(UpdateSession(session_id=talk.id, max_thinking_tokens=tokens))
        stage.reply("Thought about it.")
        assert texts(await talk.turn()) == ["Thought about it."]
        if isinstance(stage, RealStage):
            thinking.append(stage.thinking)
    if isinstance(stage, RealStage):  # the simulator's model does not think
        assert thinking == [{"type": "enabled", "budget_tokens": 5_000, "display": "updates"}, {"type": "disabled"}]
    await talk.host.update_session(UpdateSession(session_id=talk.id, max_thinking_tokens=None, model=None))


async def test_tool_servers_are_listed_disabled_enabled_reconnected_and_replaced(talk: Talk) -> None:
    host, server = talk.host, OfMcpServer(session_id=talk.id, server="st")

    async def states() -> dict[str, str]:
        listed = (await host.list_mcp_servers(talk.of)).details
        assert listed["live"]
        return {one["name"]: one["status"] for one in listed["servers"]}

    assert await states() == {"st": "connected"}
    await host.disable_mcp_server(server)
    assert await states() == {"st": "disabled"}
    await host.enable_mcp_server(server)
    assert await states() == {"st": "connected"}
    await host.reconnect_mcp_server(server)
    assert await states() == {"st": "connected"}
    with pytest.raises(HostError) as unknown:
        await host.reconnect_mcp_server(OfMcpServer(session_id=talk.id, server="nobody"))
    assert unknown.value.code == "cli_failed"
    more = {"more": server_config(talk.staged.stage.folder)}
    await host.set_mcp_servers(SetMcpServers(session_id=talk.id, servers=more))
    assert (await states()).get("more") == "connected"
    await host.set_mcp_servers(SetMcpServers(session_id=talk.id, servers={}))
    assert "more" not in await states()


async def test_a_sub_agent_asks_like_everybody_else_and_its_transcript_can_be_read(talk: Talk) -> None:
    stage = talk.staged.stage
    task = {"description": "an errand", "prompt": "ERRAND please", "subagent_type": "general-purpose"}
    stage.reply(ToolUse("Task", {**task, "run_in_background": False}, id="toolu_01errand"))
    stage.reply(bash("touch errand.txt"))
    stage.reply("The errand is done.")
    stage.reply("The helper is back.")
    await talk.say("delegate")
    asked = await talk.asked()
    assert asked.input["command"] == "touch errand.txt"
    await talk.decide()
    frames = await talk.until("idle")
    assert (stage.cwd / "errand.txt").exists()
    assert [one.kind for one in stage.heard] == ["main", "subagent", "subagent", "main"]
    assert texts(frames)[-1] == "The helper is back."
    found = (await talk.host.get_subagent(OfSubagent(session_id=talk.id, subagent_id="toolu_01errand"))).details
    calls = [item for item in found["items"] if item["type"] == "tool_call"]
    assert [call["input"]["command"] for call in calls] == ["touch errand.txt"]
    assert found["call"]["status"] == "finished"
    agent_id = found["call"]["agent_id"]
    assert (asked.agent_id, asked.tool_id) == (agent_id, calls[0]["id"])
    by_agent = await talk.host.get_subagent(OfSubagent(session_id=talk.id, subagent_id=agent_id))
    assert by_agent.details == found
    inner = [event for event in told(frames, ToolEnded) if event.parent_id == "toolu_01errand"]
    assert [event.status for event in inner] == ["finished"]
    (errand,) = [one for one in (await talk.host.list_tasks(talk.of)).details["tasks"] if one["id"] == agent_id]
    assert (errand["status"], errand["tool_uses"], errand["last_tool"]) == ("completed", 1, "Bash")
    assert errand["tokens"] > 0
    assert errand["summary"] == "The errand is done."


async def test_a_policy_holds_for_sub_agents_too(talk: Talk) -> None:
    """Also where Claude Code's own rules allow the call, so that nobody would be asked."""
    stage = talk.staged.stage
    guarded = await talk.staged.talk(policy={"deny": ["Bash(echo:*)"]}, options={"allowed_tools": ["Bash(echo:*)"]})
    task = {"description": "an errand", "prompt": "ERRAND please", "subagent_type": "general-purpose"}
    stage.reply(ToolUse("Task", {**task, "run_in_background": False}, id="toolu_01guarded"))
    stage.reply(bash("echo secret > guarded.txt"))
    stage.reply("It was denied.")
    stage.reply("The helper is back.")
    await guarded.say("delegate")
    frames = await guarded.until("idle")
    (verdict,) = told(frames, PolicyDecided)
    assert (verdict.decision, verdict.rule, verdict.asked_in) == ("deny", "Bash(echo:*)", "PreToolUse")
    inner = [event for event in told(frames, ToolEnded) if event.parent_id == "toolu_01guarded"]
    assert [event.status for event in inner] == ["denied"]
    assert not (stage.cwd / "guarded.txt").exists()
    await talk.host.stop(guarded.of)


async def test_a_background_task_is_listed_with_its_output_and_stopped(talk: Talk) -> None:
    stage, host = talk.staged.stage, talk.host
    stage.reply(bash("echo begun; sleep 50", run_in_background=True))
    stage.reply("It runs.")
    (started,) = told(await talk.turn(), TaskStarted)

    async def task() -> dict[str, Any]:
        tasks = (await host.list_tasks(talk.of)).details["tasks"]
        return next(one for one in tasks if one["id"] == started.id)

    while "begun" not in str(await task()):  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    assert (await task())["status"] == "running"
    await host.stop_task(OfTask(session_id=talk.id, task_id=started.id))
    while (await task())["status"] == "running":  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    assert (await task())["status"] in ("stopped", "killed")
    await idle(talk)
    with pytest.raises(HostError) as unknown:
        await host.stop_task(OfTask(session_id=talk.id, task_id="nope"))
    assert unknown.value.code == "not_found"


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}, "required": ["name"]}


async def test_structured_output_is_in_the_result_also_after_the_process(talk: Talk) -> None:
    stage, host = talk.staged.stage, talk.host
    formed = await talk.staged.talk(options={"output_format": {"type": "json_schema", "schema": SCHEMA}})
    stage.reply(ToolUse("StructuredOutput", {"name": 7}))
    stage.reply(ToolUse("StructuredOutput", {"name": "Bob", "n": 3}))
    (ended,) = told(await formed.turn("who?"), TurnEnded)
    assert ended.turn.structured_output == {"name": "Bob", "n": 3}
    live = (await host.get_result(formed.of)).details
    assert live["structured_output"] == {"name": "Bob", "n": 3}
    await host.stop(formed.of)
    assert (await host.get_result(formed.of)).details == live


async def test_what_claude_code_knows_can_be_asked(talk: Talk) -> None:
    stage, host = talk.staged.stage, talk.host
    stage.reply("Looked at.")
    await talk.turn()
    info = (await host.get_info(talk.of)).details
    assert (info["cli_version"], info["model"]) == ((await talk.now()).cli_version, (await talk.now()).model)
    assert {"Bash", "Edit", "mcp__st__echo"} <= set(info["tools"])
    assert info["mcp_servers"]["st"]["status"] == "connected"
    for many in ("models", "commands", "skills", "agents", "capabilities"):
        assert info[many], many
    assert info["handshake"]["pid"] == (await pid_told(talk))
    context = (await host.get_context(talk.of)).details
    assert context["live"]
    assert 0 < context["context"]["totalTokens"] < context["context"]["maxTokens"]
    result = (await host.get_result(talk.of)).details
    assert (result["result"], result["outcome"]) == ({"text": "Looked at."}, "done")
    assert result["tokens"]["output"] > 0


async def pid_told(talk: Talk) -> int | None:
    """The process that the session's log names."""
    frames = (await talk.host.read_events(ReadEvents(session_id=talk.id))).frames
    return [event.pid for event in told(frames, ProcessChanged) if event.state == "running"][-1]


async def test_stderr_can_be_read_while_its_process_runs_and_after(talk: Talk) -> None:
    stage, host = talk.staged.stage, talk.host
    cli = stage.options().cli_path
    words = shlex.join([str(cli)] if isinstance(cli, str | Path) else map(str, cli or []))
    script = stage.folder / "careful"
    script.write_text(f'#!/bin/sh\necho careful >&2\nexec {words} "$@"\n')
    script.chmod(0o755)
    warned = await talk.staged.talk(agent=str(script))
    for _ in range(2):
        found = (await host.get_stderr(warned.of)).details
        assert found["generation"] == 1
        assert found["stderr"].startswith("careful\n")
        await host.stop(warned.of)


async def test_a_compaction_is_told_and_the_conversation_goes_on(talk: Talk) -> None:
    stage = talk.staged.stage
    stage.reply("A conversation worth compacting.")
    await talk.turn()
    await talk.mark()
    await talk.host.compact(talk.of)
    frames = await talk.until("idle")
    assert len(told(frames, CompactionEnded)) == 1
    stage.reply("After it.")
    assert texts(await talk.turn()) == ["After it."]


async def test_a_control_request_without_an_operation_is_passed_on(talk: Talk) -> None:
    send = lambda subtype, **fields: talk.host.send_control(  # noqa: E731
        SendControl(session_id=talk.id, subtype=subtype, fields=fields)
    )
    version = (await send("get_binary_version")).details
    assert version["version"] == (await talk.now()).cli_version
    with pytest.raises(HostError) as typed:
        await send("set_model", model="haiku")
    assert typed.value.code == "invalid"
    with pytest.raises(HostError) as unknown:
        await send("no_such_request")
    assert unknown.value.code == "cli_failed"
