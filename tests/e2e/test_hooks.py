"""Hooks on the newest CLI: which events fire, and what a callback can do about them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from e2e.kit import Stage, until
from e2e.server import server_config
from quarterdeck import HookMatcher, PreToolUseHookSpecificOutput
from quarterdeck.client.options_types import HookEvent
from quarterdeck.testing.model import Error, ToolUse

pytestmark = pytest.mark.real

FIRED: list[HookEvent] = [
    "ConfigChange",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "InstructionsLoaded",
    "MessageDisplay",
    "Notification",
    "PermissionRequest",
    "PostCompact",
    "PostModelSwitch",
    "PostToolBatch",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PreModelSwitch",
    "PreToolUse",
    "SessionEnd",
    "SessionStart",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "UserPromptExpansion",
    "UserPromptSubmit",
]
"""The other nine could not be made to fire by any run against 2.1.325: PermissionDenied, Setup, TeammateIdle,
TaskCreated, TaskCompleted, WorktreeCreate, WorktreeRemove, CwdChanged and FileChanged."""


class Seen:
    """A hook callback that has no opinion, and remembers what it was told."""

    def __init__(self) -> None:
        self.inputs: dict[str, Any] = {}

    async def __call__(self, hook_input: Any, tool_use_id: str | None, context: Any) -> None:
        assert context["signal"] is not None
        self.inputs.setdefault(hook_input.hook_event_name, hook_input)


async def test_every_event_that_can_fire_reaches_its_callback_typed(stage: Stage) -> None:
    (stage.cwd / "CLAUDE.md").write_text("# Instructions\n")
    commands = stage.cwd / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "greet.md").write_text("Greet the user.\n")
    (stage.cwd / "sub").mkdir()
    settings = stage.cwd / ".claude" / "settings.json"
    settings.write_text("{}")
    seen = Seen()
    stage.model.on(lambda request: request.kind == "subagent", "The helper is done.")
    helper = {"description": "help", "prompt": "Help", "subagent_type": "general-purpose", "run_in_background": False}
    async with stage.session(
        hooks={event: [HookMatcher(hooks=[seen])] for event in FIRED},
        can_use_tool=stage.allow,
        mcp_servers={"st": server_config(stage.folder)},
        on_elicitation=lambda *_: {"action": "accept", "content": {"name": "Bob"}},
        env={"CLAUDE_CODE_MAX_RETRIES": "0"},
    ) as session:
        for call in (
            ToolUse("Bash", {"command": "touch a.txt"}),
            ToolUse("Bash", {"command": "exit 3"}),
            ToolUse("Task", helper),
            ToolUse("mcp__st__ask", {}),
        ):
            stage.model.reply(call)
        stage.model.reply("done")
        await session.prompt("do it all")
        stage.model.reply("Greetings.")
        await session.prompt("/greet")
        await session.set_model("sonnet")
        stage.model.reply("as sonnet")
        await session.prompt("and now?")
        await session.register_repo_root(stage.cwd / "sub")
        settings.write_text('{"env": {"SHIP": "Quarterdeck"}}')
        await session.prompt("/compact")
        rule = stage.model.on(lambda request: request.kind == "main", Error(400, "no"))
        await session.prompt("fail")
        rule.times = 0
        await session.prompt("/clear")
        await until(lambda: "ConfigChange" in seen.inputs)
        assert sorted(seen.inputs) == FIRED
    for event, hook_input in seen.inputs.items():
        assert type(hook_input).__name__ == f"{event}HookInput"
        assert hook_input.session_id
        assert Path(hook_input.cwd) == stage.cwd
    assert seen.inputs["PostToolUse"].tool_name == "Bash"
    assert seen.inputs["UserPromptSubmit"].prompt == "do it all"
    assert seen.inputs["SessionStart"].source in {"compact", "clear"}


def deciding(decision: Any, **more: Any) -> Any:
    specific = PreToolUseHookSpecificOutput(
        hookEventName="PreToolUse", permissionDecision=decision, permissionDecisionReason="the hook says so", **more
    )
    return {"hookSpecificOutput": specific}


async def test_a_hook_allows_asks_denies_changes_and_explains(stage: Stage) -> None:
    async def guard(hook_input: Any, _: str | None, __: Any) -> Any:
        match hook_input.tool_input["command"].split()[1]:
            case "allowed":
                return deciding("allow")
            case "asked":
                return deciding("ask")
            case "changed":
                return deciding("allow", updatedInput={"command": "touch other"})
            case _:
                return deciding("deny")

    async def explain(*_: Any) -> Any:
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "It rains today."}}

    hooks: dict[HookEvent, list[HookMatcher]] = {
        "PreToolUse": [HookMatcher(matcher="Bash", hooks=[guard])],
        "UserPromptSubmit": [HookMatcher(hooks=[explain])],
    }
    async with stage.session(hooks=hooks, can_use_tool=stage.allow) as session:
        for name in ("allowed", "asked", "changed", "denied"):
            stage.model.reply(ToolUse("Bash", {"command": f"touch {name}"}))
        path = stage.cwd / "unmatched"
        stage.model.reply(ToolUse("Write", {"file_path": str(path), "content": "x"}))
        stage.model.reply("done")
        await session.prompt("four ways")
    assert {file.name for file in stage.cwd.iterdir()} == {"allowed", "asked", "other", "unmatched"}
    assert [tool_input.get("command", "-") for _, tool_input in stage.asked] == ["touch asked", "-"]
    assert "It rains today." in stage.model.conversation[0].text
    assert "the hook says so" in stage.model.conversation[-1].text


async def test_a_hook_can_stop_a_prompt_hold_up_the_end_and_work_on_by_itself(stage: Stage) -> None:
    stops: list[bool] = []

    async def judge(hook_input: Any, _: str | None, __: Any) -> Any:
        return {"decision": "block", "reason": "not this one"} if "forbidden" in hook_input.prompt else None

    async def hold(hook_input: Any, _: str | None, __: Any) -> Any:
        stops.append(hook_input.stop_hook_active)
        return {"decision": "block", "reason": "not yet"} if len(stops) == 1 else None

    async def go_on(*_: Any) -> Any:
        return {"async_": True, "asyncTimeout": 5000}

    hooks: dict[HookEvent, list[HookMatcher]] = {
        "UserPromptSubmit": [HookMatcher(hooks=[judge])],
        "Stop": [HookMatcher(hooks=[hold])],
        "PostToolUse": [HookMatcher(hooks=[go_on])],
    }
    async with stage.session(hooks=hooks, allowed_tools=["Bash"]) as session:
        await session.prompt("something forbidden")
        assert stage.model.conversation == []
        stage.model.reply(ToolUse("Bash", {"command": "echo x"}))
        stage.model.reply("I am finished.")
        stage.model.reply("Now really.")
        assert (await session.prompt("finish")).result == "Now really."
    assert stops == [False, True]
    assert "not yet" in stage.model.conversation[-1].text


async def test_no_tool_runs_when_its_hook_is_too_slow_or_fails_and_the_failure_is_logged(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    cancelled = asyncio.Event()
    signals: list[Any] = []

    async def sleep(_: Any, __: str | None, context: Any) -> Any:
        signals.append(context["signal"])
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def explode(*_: Any) -> Any:
        raise RuntimeError("hook exploded")

    hooks: dict[HookEvent, list[HookMatcher]] = {
        "PreToolUse": [HookMatcher(matcher="Bash", hooks=[sleep], timeout=1), HookMatcher("Write", hooks=[explode])]
    }
    async with stage.session(hooks=hooks, can_use_tool=stage.allow) as session:
        stage.model.reply(ToolUse("Bash", {"command": "touch slept"}))
        path = stage.cwd / "written"
        stage.model.reply(ToolUse("Write", {"file_path": str(path), "content": "x"}))
        stage.model.reply("done")
        await session.prompt("go")
        assert cancelled.is_set()
    assert signals[0].aborted
    assert list(stage.cwd.iterdir()) == []
    assert caplog.messages == ["The PreToolUse hook failed, so the call was refused: hook exploded"]


async def test_a_hook_that_must_hold_blocks_when_it_fails(stage: Stage) -> None:
    async def explode(*_: Any) -> Any:
        raise RuntimeError("hook exploded")

    hooks: dict[HookEvent, list[HookMatcher]] = {"PreToolUse": [HookMatcher(hooks=[explode], on_failure="block")]}
    async with stage.session(hooks=hooks, can_use_tool=stage.allow) as session:
        stage.model.reply(ToolUse("Bash", {"command": "touch never"}))
        stage.model.reply("blocked")
        await session.prompt("go")
    assert list(stage.cwd.iterdir()) == []
    assert stage.asked == []
