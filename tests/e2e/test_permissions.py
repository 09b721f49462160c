"""Permissions, questions and plans, in one session with the newest CLI: every answer that a program can give."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from e2e.conftest import running_in
from e2e.kit import Running, next_of, until
from e2e.test_core import QUESTION
from quarterdeck import (
    LATER,
    Approve,
    LocalProtocolError,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionRuleValue,
    PermissionUpdate,
    Reject,
    ResultMessage,
    StatusMessage,
)
from quarterdeck.testing.model import ToolUse

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_in(tmp_path_factory.mktemp("permissions")) as running:
        yield running


@pytest.fixture
def running(shared: Running) -> Running:
    shared.reset()
    return shared


def bash(command: str) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": "do it"})


def made(running: Running) -> set[str]:
    return {path.name for path in running.stage.cwd.iterdir()}


async def test_the_input_can_be_changed(running: Running) -> None:
    changed = {"command": "touch other.txt", "description": "changed"}
    running.decide = lambda *_: PermissionResultAllow(updated_input=changed)
    running.model.reply(bash("touch planned.txt"))
    running.model.reply("done")
    await running.session.prompt("make it")
    assert "other.txt" in made(running)
    assert "planned.txt" not in made(running)


async def add_rule(running: Running, program: str, destination: Any) -> None:
    """A turn that runs the program twice; asked about the first, its user says not to ask again."""
    rule = PermissionRuleValue(tool_name="Bash", rule_content=f"{program}:*")
    update = PermissionUpdate(type="addRules", rules=[rule], behavior="allow", destination=destination)

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> PermissionResultAllow:
        await running.stage.allow(name, tool_input, context)
        return PermissionResultAllow(updated_permissions=[update])

    running.decide = decide
    for number in (1, 2):
        running.model.reply(bash(f"{program} {destination}{number}"))
    running.model.reply("done")
    await running.session.prompt("twice")
    assert [tool_input["command"] for _, tool_input in running.stage.asked] == [f"{program} {destination}1"]
    assert {f"{destination}1", f"{destination}2"} <= made(running)


@pytest.mark.parametrize("destination", ["session", "localSettings"])
async def test_a_rule_can_be_added_so_that_the_same_is_not_asked_again(running: Running, destination: str) -> None:
    await add_rule(running, {"session": "mkdir", "localSettings": "touch"}[destination], destination)


@pytest.mark.parametrize("destination", ["session", "localSettings"])
async def test_a_rule_that_is_added_is_one_of_the_clis_own(running: Running, destination: str) -> None:
    program = {"session": "mkfifo", "localSettings": "truncate -s 1"}[destination]
    await add_rule(running, program, destination)
    rules = await running.session.permission_rules()
    assert f"{program}:*" in json.dumps(rules.to_dict())
    settings = running.stage.cwd / ".claude" / "settings.local.json"
    written = json.loads(settings.read_text())["permissions"]["allow"] if settings.exists() else []
    assert (f"Bash({program}:*)" in written) is (destination == "localSettings")


async def test_the_clis_own_suggestions_can_be_taken(running: Running) -> None:
    async def decide(_: str, __: Any, context: Any) -> PermissionResultAllow:
        assert context.suggestions
        return PermissionResultAllow(updated_permissions=context.suggestions)

    running.decide = decide
    running.model.reply(ToolUse("Write", {"file_path": str(running.stage.cwd / "w.txt"), "content": "x"}))
    running.model.reply("done")
    messages = [message async for message in running.session.prompt("write")]
    modes = [message.permission_mode for message in messages if isinstance(message, StatusMessage)]
    assert "acceptEdits" in modes
    await running.session.set_permission_mode("default")


async def test_a_denial_can_end_the_turn(running: Running) -> None:
    running.decide = lambda *_: PermissionResultDeny(message="Stop", interrupt=True)
    running.model.reply(bash("rm -rf precious"))
    result = await running.session.prompt("remove")
    assert result.subtype == "error_during_execution"
    running.model.reply("still here")
    assert (await running.session.prompt("there?")).result == "still here"


async def test_a_callback_that_raises_denies_and_is_logged(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    def explode(*_: Any) -> None:
        raise RuntimeError("host exploded")

    running.decide = explode
    running.model.reply(bash("cp a b"))
    running.model.reply("denied")
    await running.session.prompt("copy")
    assert "host exploded" in running.stage.tool_results()[0]
    assert caplog.messages == ["The callback for can_use_tool failed: host exploded"]


async def test_a_decision_can_come_later_by_the_requests_id(running: Running) -> None:
    session = running.session
    running.decide = lambda *_: LATER
    running.model.reply(bash("ln -s a linked"))
    running.model.reply("done")
    await session.send("link")
    await until(session.pending)
    (request_id,) = session.pending()
    session.answer(request_id, PermissionResultAllow())
    assert (await next_of(session, ResultMessage)).result == "done"
    with pytest.raises(LocalProtocolError, match="already answered"):
        session.answer(request_id, PermissionResultAllow())


async def test_requests_side_by_side_are_answered_in_any_order(running: Running) -> None:
    outside = [running.stage.folder / name for name in ("one.txt", "two.txt", "three.txt")]
    for path in outside:
        path.write_text(path.name)
    waiting: dict[str, asyncio.Event] = {}

    async def decide(_: str, tool_input: dict[str, Any], __: Any) -> PermissionResultAllow:
        event = waiting[tool_input["file_path"]] = asyncio.Event()
        await event.wait()
        return PermissionResultAllow()

    running.decide = decide
    running.model.reply(*(ToolUse("Read", {"file_path": str(path)}) for path in outside))
    running.model.reply("all read")
    turn = asyncio.create_task(running.session.prompt("read them").checked())
    await until(lambda: len(waiting) == 3)
    for path in reversed(outside):
        waiting[str(path)].set()
    assert (await turn).result == "all read"
    assert {text.split("\t")[-1] for text in running.stage.tool_results()} == {path.name for path in outside}


# Questions


@pytest.mark.parametrize("answer", [["Olives", "Corn"], "Olives, Corn"])
async def test_several_options_can_be_chosen(running: Running, answer: Any) -> None:
    running.answer = lambda asked, _: {asked.questions[0].question: answer}
    running.model.reply(ToolUse("AskUserQuestion", {"questions": [QUESTION | {"multiSelect": True}]}))
    running.model.reply("both")
    await running.session.prompt("ask")
    (told,) = running.stage.tool_results()
    assert "Olives" in told
    assert "Corn" in told


async def test_a_question_can_be_skipped(running: Running) -> None:
    running.model.reply(ToolUse("AskUserQuestion", {"questions": [QUESTION]}))
    running.model.reply("never mind")
    await running.session.prompt("ask")
    assert "The user skipped the question." in running.stage.tool_results()[0]


# Plans


async def test_an_approved_plan_can_set_the_mode_it_is_carried_out_in(running: Running) -> None:
    running.review = lambda *_: Approve(mode="acceptEdits")
    await running.session.set_permission_mode("plan")
    running.model.reply(ToolUse("ExitPlanMode", {"plan": "1. Write"}))
    running.model.reply(ToolUse("Write", {"file_path": str(running.stage.cwd / "planned.md"), "content": "x"}))
    running.model.reply("done")
    await running.session.prompt("plan")
    assert running.stage.asked == []
    assert "planned.md" in made(running)
    await running.session.set_permission_mode("default")


async def test_a_rejected_plan_can_end_the_turn(running: Running) -> None:
    running.review = lambda *_: Reject("No plan at all", stop=True)
    await running.session.set_permission_mode("plan")
    running.model.reply(ToolUse("ExitPlanMode", {"plan": "1. Write"}))
    result = await running.session.prompt("plan")
    assert result.failed
    await running.session.set_permission_mode("default")
