"""What people decide, through the host alone, on the real CLI with a scripted model and on the simulator.

Each test asserts on the frames and on the effect: the file that is there, the request that the model got.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conformance.scenarios.questions import QUESTION
from conformance.stage import bash
from e2e.server import server_config
from host.kit import kinds, states_of, told
from host.staged import EVERYWHERE, Staged, Talk, staged_in
from quarterdeck.host.events import ApprovalChanged, PolicyDecided, StatusChange
from quarterdeck.host.folding import Preview
from quarterdeck.host.requests import ListApprovals, Nothing, OfGrant, Remember, UpdateSession, WatchSession
from quarterdeck.host.resources import Frame
from quarterdeck.testing.model import Stall, ToolUse
from quarterdeck.timeline.events import (
    ElicitationAsked,
    ModeChanged,
    PlanReviewAsked,
    QuestionsAsked,
    TextAdded,
    TextCompleted,
    ToolEnded,
    TurnEnded,
)

ALLOWED = ["pending", "decided", "delivered", "applied"]


@pytest.fixture(scope="module", params=EVERYWHERE)
def staged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staged]:
    with staged_in(tmp_path_factory.mktemp("conversations"), request.param) as staged:
        yield staged


@pytest.fixture(scope="module")
def shared(staged: Staged) -> Talk:
    """A session that the tests share: the real CLI takes a second to start."""
    return staged.run(staged.talk(options={"mcp_servers": {"st": server_config(staged.stage.folder)}}))


@pytest.fixture
def talk(shared: Talk) -> Talk:
    assert shared.staged.stage.share(), "an earlier test left a part of its script"
    return shared


def ends(frames: list[Frame]) -> list[str]:
    return [event.status for event in told(frames, ToolEnded)]


def texts(frames: list[Frame]) -> list[str]:
    return [event.text for event in told(frames, TextCompleted)]


async def test_a_prompt_is_answered_in_pieces_then_in_whole(talk: Talk) -> None:
    stage = talk.staged.stage
    gate = stage.gate()
    stage.reply("A sentence that comes in pieces.", Stall(after=1, until=gate), delta_size=5)
    await talk.say("say something")
    await stage.reached(gate)
    last = (await talk.now()).seq
    pieces, whole = "", ""
    async for one in talk.host.watch_session(WatchSession(session_id=talk.id, after=talk.cursor)):
        if isinstance(one, Frame) and one.seq == last:
            gate.open()  # pieces of the time before somebody watches are not kept
        for event in one.events:
            if isinstance(one, Preview) and isinstance(event, TextAdded):
                pieces += event.text
            elif isinstance(event, TextCompleted):
                whole = event.text
        if any(isinstance(event, StatusChange) and event.state == "idle" for event in one.events):
            break
    assert pieces == whole == "A sentence that comes in pieces."
    (heard,) = talk.staged.heard
    assert "say something" in heard.text.splitlines()
    if talk.staged.real:  # of Claude Code's own prompt, which a program's own session does not have
        assert len(stage.system_prompt) > 1_000


async def test_a_call_that_is_allowed_runs(talk: Talk) -> None:
    stage = talk.staged.stage
    stage.reply(bash("touch allowed.txt && echo made it"))
    stage.reply("Done.")
    await talk.say()
    asked = await talk.asked()
    assert (asked.tool, asked.input["command"]) == ("Bash", "touch allowed.txt && echo made it")
    assert asked.agent_id is None
    if talk.staged.real:
        assert asked.blocked_path == str(stage.cwd / "allowed.txt")
    assert (await talk.now()).state == "waiting"
    await talk.decide()
    frames = await talk.until("idle")
    assert states_of(frames) == ALLOWED
    assert ends(frames) == ["finished"]
    assert (stage.cwd / "allowed.txt").exists()
    assert "made it" in stage.heard[-1].text


async def test_an_edited_input_is_what_runs(talk: Talk) -> None:
    stage = talk.staged.stage
    stage.reply(bash("touch planned.txt"))
    stage.reply("Done.")
    await talk.say()
    await talk.decide(updated_input={"command": "touch other.txt", "description": "changed"})
    frames = await talk.until("idle")
    assert states_of(frames) == ALLOWED
    assert (stage.cwd / "other.txt").exists()
    assert not (stage.cwd / "planned.txt").exists()


async def test_a_remembered_rule_allows_until_it_is_revoked(talk: Talk) -> None:
    stage = talk.staged.stage
    for command in ("mkdir first", "mkdir second"):
        stage.reply(bash(command))
    stage.reply("Both are there.")
    await talk.say()
    await talk.decide(remember=Remember(rule="Bash(mkdir:*)"))
    frames = await talk.until("idle")
    assert states_of(frames) == ALLOWED
    (grant,) = (await talk.host.list_grants(Nothing())).grants
    (judged,) = told(frames, PolicyDecided)
    assert (judged.decision, judged.grant_id) == ("allow", grant.id)
    assert {"first", "second"} <= {path.name for path in stage.cwd.iterdir()}
    await talk.host.revoke_grant(OfGrant(grant_id=grant.id))
    stage.reply(bash("mkdir third"))
    stage.reply("Then not.")
    await talk.say()
    await talk.decide("deny")
    frames = await talk.until("idle")
    assert told(frames, PolicyDecided) == []
    assert not (stage.cwd / "third").exists()


async def test_a_denied_call_does_not_run_and_the_model_is_told_why(talk: Talk) -> None:
    stage = talk.staged.stage
    stage.reply(bash("touch denied.txt"))
    stage.reply("I respect that.")
    await talk.say()
    await talk.decide("deny", message="Not on a Sunday.")
    frames = await talk.until("idle")
    assert states_of(frames) == ALLOWED
    assert ends(frames) == ["denied"]
    assert texts(frames) == ["I respect that."]
    assert not (stage.cwd / "denied.txt").exists()
    assert "Not on a Sunday." in stage.heard[-1].text


async def test_a_denial_can_stop_the_turn(talk: Talk) -> None:
    stage = talk.staged.stage
    stage.reply(bash("rm -rf precious"))
    await talk.say()
    await talk.decide("deny", message="Stop.", interrupt=True)
    frames = await talk.until("idle")
    assert states_of(frames) == ALLOWED
    assert [event.turn.outcome for event in told(frames, TurnEnded)] == ["interrupted"]
    assert len(stage.heard) == 1
    stage.reply("Still here.")
    assert texts(await talk.turn("there?")) == ["Still here."]


async def test_a_question_is_answered(talk: Talk) -> None:
    stage = talk.staged.stage
    stage.reply(ToolUse("AskUserQuestion", {"questions": [QUESTION]}))
    stage.reply("Corn it is.")
    await talk.say()
    asked = await talk.asked()
    assert (asked.kind, asked.questions[0]["text"]) == ("questions", "Which topping?")
    await talk.decide(answers={"Which topping?": "Corn"})
    frames = await talk.until("idle")
    assert len(told(frames, QuestionsAsked)) == 1
    assert states_of(frames) == ALLOWED
    assert "Corn" in stage.heard[-1].text


async def test_a_question_is_skipped(talk: Talk) -> None:
    stage = talk.staged.stage
    stage.reply(ToolUse("AskUserQuestion", {"questions": [QUESTION]}))
    stage.reply("Never mind.")
    await talk.say()
    await talk.decide("deny")
    frames = await talk.until("idle")
    assert states_of(frames) == ALLOWED
    assert "The user skipped the question." in stage.heard[-1].text


async def test_a_plan_is_revised_then_approved_with_a_mode(talk: Talk) -> None:
    stage = talk.staged.stage
    await talk.host.update_session(UpdateSession(session_id=talk.id, permission_mode="plan"))
    stage.reply(ToolUse("ExitPlanMode", {"plan": "1. Look"}))
    stage.reply(ToolUse("ExitPlanMode", {"plan": "1. Look 2. Leap"}))
    stage.reply(ToolUse("Write", {"file_path": str(stage.cwd / "leap.md"), "content": "leapt"}))
    stage.reply("Leapt.")
    await talk.say("plan it")
    first = await talk.asked()
    assert first.kind == "plan_review"
    await talk.decide("deny", plan="revise", message="Add a second step.")
    second = await other_than(talk, first.id)
    assert "Add a second step." in stage.heard[-1].text
    await talk.decide(plan="approve", mode="acceptEdits")
    frames = await talk.until("idle")
    assert second.id != first.id
    assert states_of(frames) == [*ALLOWED, *ALLOWED]
    assert len(told(frames, PlanReviewAsked)) == 2
    assert (stage.cwd / "leap.md").read_text() == "leapt"
    assert (await talk.now()).permission_mode == "acceptEdits"
    await talk.host.update_session(UpdateSession(session_id=talk.id, permission_mode="default"))
    assert (await talk.now()).permission_mode == "default"


async def test_a_plan_is_edited_and_the_model_gets_the_edited_one(talk: Talk) -> None:
    stage = talk.staged.stage
    await talk.host.update_session(UpdateSession(session_id=talk.id, permission_mode="plan"))
    stage.reply(ToolUse("ExitPlanMode", {"plan": "1. Look"}))
    stage.reply("As you wish.")
    await talk.say("plan it")
    asked = await talk.asked()
    await talk.decide(plan="approve", updated_input={**asked.input, "plan": "1. Look twice"})
    frames = await talk.until("idle")
    assert states_of(frames) == ALLOWED
    assert [event.mode for event in told(frames, ModeChanged)][-1:] == ["default"]
    assert "1. Look twice" in stage.heard[-1].text


async def other_than(talk: Talk, approval_id: str) -> Any:
    """The next thing that is asked."""
    while (asked := await talk.asked()).id == approval_id:
        pass
    return asked


async def test_an_elicitation_of_a_tool_server_is_accepted_or_declined(talk: Talk) -> None:
    stage = talk.staged.stage
    for decision, expected in (("allow", "Bob"), ("deny", "decline")):
        stage.reply(ToolUse("mcp__st__ask", {}))
        stage.reply("Thank you.")
        await talk.say()
        permission = await talk.asked()
        assert (permission.kind, permission.tool) == ("permission", "mcp__st__ask")
        await talk.decide()
        asked = await other_than(talk, permission.id)
        assert (asked.kind, asked.summary) == ("elicitation", "Your name?")
        await talk.decide(decision, **({"answers": {"name": "Bob"}} if decision == "allow" else {}))
        frames = await talk.until("idle")
        assert len(told(frames, ElicitationAsked)) == 1
        final = {event.approval.id: event.approval.state for event in told(frames, ApprovalChanged)}
        assert final == {permission.id: "applied", asked.id: "applied"}
        assert expected in stage.heard[-1].text
    assert (await talk.host.list_approvals(ListApprovals(session=talk.id))).approvals == []
    assert "TurnEnded" in kinds(frames)
