"""A policy where it works: as permission callback and as hook of a session with the real CLI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import soak
from e2e.kit import Stage
from e2e.server import server_config
from quarterdeck import HookMatcher, PermissionResult, PermissionResultAllow, PermissionResultDeny
from quarterdeck.policy import Decision, Policy
from quarterdeck.testing.install import NEWEST, SUPPORTED
from quarterdeck.testing.model import ToolUse

pytestmark = pytest.mark.real
VERSIONS = SUPPORTED if soak.ON else (NEWEST,)
WITH_GREP = SUPPORTED[:-1] if soak.ON else SUPPORTED[-2:-1]
"""The newest has no such tool."""


async def refuse(*_: Any) -> PermissionResultDeny:
    return PermissionResultDeny(message="not now")


async def run(stage: Stage, *commands: str, **options: Any) -> list[str]:
    """One turn with these tool calls; what the model was told of each."""
    for command in commands:
        stage.model.reply(ToolUse("Bash", {"command": command, "description": "do it"}))
    stage.model.reply("done")
    async with stage.session(**options) as session:
        await session.prompt("go")
    told = {key: str(text) for request in stage.model.requests for key, text in request.tool_results.items()}
    return list(told.values())


async def test_as_a_permission_callback_it_allows_exactly_what_it_says(stage: Stage) -> None:
    policy = Policy.from_rules(allow=["Bash(touch ok.txt)"], cwd=stage.cwd)
    commands = ["touch ok.txt", "touch other.txt", "touch ok.txt; touch evil.txt"]
    _, second, third = await run(stage, *commands, can_use_tool=policy)
    assert sorted(path.name for path in stage.cwd.iterdir()) == ["ok.txt"]
    assert second == third == "Denied: no one to ask. No rule allows it."


async def test_as_a_hook_it_denies_what_the_cli_would_allow(any_stage: Stage) -> None:
    policy = Policy.from_rules(allow=["Bash(echo *)"], deny=["Bash(touch *)"], cwd=any_stage.cwd)
    hooks: dict[Any, Any] = {"PreToolUse": [HookMatcher(hooks=[policy.hook])]}
    fine, denied = await run(any_stage, "echo fine", "touch denied.txt", allowed_tools=["Bash"], hooks=hooks)
    assert "fine" in fine
    assert "Bash(touch *)" in denied
    assert not (any_stage.cwd / "denied.txt").exists()


@pytest.mark.parametrize("any_stage", VERSIONS, indirect=True)
@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions"])
async def test_as_a_permission_callback_alone_it_also_refuses_what_the_cli_would_allow(
    any_stage: Stage, mode: str
) -> None:
    policy = Policy.from_rules(allow=["Bash(touch ok)"], deny=["Bash(touch denied)"], cwd=any_stage.cwd)
    options: dict[str, Any] = {"permission_mode": mode, "allowed_tools": ["Bash"], "can_use_tool": policy}
    if mode == "bypassPermissions":
        options |= {"allow_dangerously_skip_permissions": True, "env": {"IS_SANDBOX": "1"}}
    _, denied, _ = await run(any_stage, "touch ok", "touch denied", "touch by_the_cli", **options)
    assert sorted(path.name for path in any_stage.cwd.iterdir()) == ["by_the_cli", "ok"]
    assert "Bash(touch denied)" in denied


async def test_a_hook_of_the_policy_for_one_tool_leaves_the_others_to_its_guard(stage: Stage) -> None:
    policy = Policy.from_rules(deny=["Read(.env)", "Edit(locked)", "Bash(touch denied)"], cwd=stage.cwd)
    (stage.cwd / ".env").write_text("s3cret")
    for number, call in enumerate(
        (
            ToolUse("Bash", {"command": "touch denied"}),
            ToolUse("Read", {"file_path": str(stage.cwd / ".env")}),
            ToolUse("Write", {"file_path": str(stage.cwd / "locked"), "content": "text"}),
            ToolUse("Write", {"file_path": str(stage.cwd / "open"), "content": "text"}),
        )
    ):
        stage.model.reply(ToolUse(call.name, call.input, id=f"toolu_{number}"))
    stage.model.reply("done")
    hooks: dict[Any, Any] = {"PreToolUse": [HookMatcher(matcher="Bash", hooks=[policy.hook])]}
    env = {"IS_SANDBOX": "1"}
    bypass: dict[str, Any] = {"permission_mode": "bypassPermissions", "allow_dangerously_skip_permissions": True}
    async with stage.session(hooks=hooks, can_use_tool=policy, env=env, **bypass) as session:
        await session.prompt("go")
    told = {key: str(text) for request in stage.model.requests for key, text in request.tool_results.items()}
    assert [rule in told[f"toolu_{at}"] for at, rule in enumerate(("touch denied", "Read(.env)", "Edit(locked)"))] == [
        True,
        True,
        True,
    ]
    assert sorted(path.name for path in stage.cwd.iterdir()) == [".env", "open"]


@pytest.mark.parametrize("any_stage", VERSIONS, indirect=True)
@pytest.mark.parametrize("how", ["hook", "can_use_tool"])
@pytest.mark.parametrize("mode", ["acceptEdits", "bypassPermissions"])
async def test_when_the_session_turns_stricter_the_policy_does_too(any_stage: Stage, how: str, mode: Any) -> None:
    stage = any_stage
    asked: list[str] = []

    def ask(_: Any, tool: str, given: Any, *__: Any) -> PermissionResultDeny:
        asked.append(Path(given["file_path"]).name)
        return PermissionResultDeny(message="not now")

    async def ask_as_callback(tool: str, given: Any, context: Any) -> PermissionResultDeny:
        return ask(None, tool, given)

    policy = Policy.from_rules(cwd=stage.cwd, mode=mode, on_ask=ask)
    options: dict[str, Any] = {"permission_mode": "acceptEdits", "can_use_tool": policy}
    if how == "hook":
        options |= {"hooks": {"PreToolUse": [HookMatcher(hooks=[policy.hook])]}, "can_use_tool": ask_as_callback}
    async with stage.session(**options) as session:
        for name, now in (("before", "acceptEdits"), ("after", "default")):
            await session.set_permission_mode(now)  # type: ignore[arg-type]
            stage.model.reply(ToolUse("Write", {"file_path": str(stage.cwd / name), "content": "text"}))
            stage.model.reply("done")
            await session.prompt("go")
    assert sorted(path.name for path in stage.cwd.iterdir()) == ["before"]
    assert asked == ["after"]


@pytest.mark.parametrize("how", ["can_use_tool", "hook"])
@pytest.mark.parametrize("bypassing", [False, True], ids=["allowed by rules", "bypassed"])
async def test_what_its_ask_rules_say_is_asked_although_the_cli_would_allow_it(
    any_stage: Stage, how: str, bypassing: bool
) -> None:
    stage = any_stage
    asked: list[str] = []

    def ask(_: Decision, __: str, tool_input: Any, ___: Any) -> PermissionResult:
        asked.append(tool_input["command"])
        return PermissionResultAllow() if "yes" in tool_input["command"] else PermissionResultDeny(message="not now")

    policy = Policy.from_rules(allow=["Bash"], ask=["Bash(touch asked:*)"], cwd=stage.cwd, on_ask=ask)
    options: dict[str, Any] = {"can_use_tool": policy, "allowed_tools": ["Bash"]}
    if bypassing:
        env = {"IS_SANDBOX": "1"}
        options |= {"permission_mode": "bypassPermissions", "allow_dangerously_skip_permissions": True, "env": env}
    if how == "hook":
        options["hooks"] = {"PreToolUse": [HookMatcher(hooks=[policy.hook])]}
    told = await run(stage, "touch asked", "touch asked yes", "touch other", **options)
    assert set(asked) == {"touch asked", "touch asked yes"}
    assert "not now" in told[0]
    assert sorted(path.name for path in stage.cwd.iterdir()) == ["asked", "other", "yes"]


async def test_what_a_slash_command_runs_by_itself_is_shown_to_no_hook(stage: Stage) -> None:
    """So ``docs/policy.md`` says that it is not covered."""
    policy = Policy.from_rules(deny=["Bash"], cwd=stage.cwd)
    command = stage.cwd / ".claude" / "commands" / "go.md"
    command.parent.mkdir(parents=True)
    command.write_text("---\nallowed-tools: Bash(touch:*)\n---\n!`touch ran`\nSay that it is done.\n")
    stage.model.reply("done")
    hooks: dict[Any, Any] = {"PreToolUse": [HookMatcher(hooks=[policy.hook])]}
    async with stage.session(hooks=hooks, can_use_tool=policy) as session:
        await session.prompt("/go")
    assert (stage.cwd / "ran").exists()


async def test_without_slash_commands_none_is_expanded_and_nothing_of_it_runs(stage: Stage) -> None:
    command = stage.cwd / ".claude" / "commands" / "go.md"
    command.parent.mkdir(parents=True)
    command.write_text("---\nallowed-tools: Bash(touch:*)\n---\n!`touch ran`\nSay that it is done.\n")
    stage.model.reply("done")
    async with stage.session(slash_commands=False) as session:
        await session.prompt("/go")
    assert not (stage.cwd / "ran").exists()


@pytest.mark.parametrize("any_stage", VERSIONS, indirect=True)
@pytest.mark.parametrize("how", ["hook", "can_use_tool"])
async def test_while_the_session_plans_no_rule_of_a_policy_allows_an_edit_or_an_mcp_tool(
    any_stage: Stage, how: str
) -> None:
    stage = any_stage
    policy = Policy.from_rules(allow=["Edit(**)", "Write", "mcp__st__*"], cwd=stage.cwd)
    stage.model.reply(ToolUse("Write", {"file_path": str(stage.cwd / "new"), "content": "text"}))
    stage.model.reply(ToolUse("mcp__st__echo", {"text": "heard"}))
    stage.model.reply("done")
    options: dict[str, Any] = {"permission_mode": "plan", "mcp_servers": {"st": server_config(stage.folder)}}
    if how == "hook":
        options |= {"hooks": {"PreToolUse": [HookMatcher(hooks=[policy.hook])]}, "can_use_tool": refuse}
    else:
        options["can_use_tool"] = policy
    async with stage.session(**options) as session:
        await session.prompt("go")
    assert list(stage.cwd.glob("new")) == []
    assert not any("heard" in text for request in stage.model.requests for text in request.tool_results.values())


async def test_no_rule_of_a_policy_overrides_a_hook_that_asks(stage: Stage) -> None:
    asked: list[str] = []

    def on_ask(decision: Decision, *_: Any) -> PermissionResultDeny:
        asked.append(decision.explanation)
        return PermissionResultDeny(message="not now")

    async def asks(*_: Any) -> dict[str, Any]:
        said = {"permissionDecision": "ask", "permissionDecisionReason": "a second look"}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}

    policy = Policy.from_rules(allow=["Bash(touch:*)"], cwd=stage.cwd, on_ask=on_ask)
    hooks: dict[Any, Any] = {"PreToolUse": [HookMatcher(hooks=[asks])]}
    await run(stage, "touch x", can_use_tool=policy, hooks=hooks)
    assert list(stage.cwd.iterdir()) == []
    assert asked == ["Claude Code asks despite the allow rules: a second look"]


@pytest.mark.parametrize("any_stage", WITH_GREP, indirect=True)
@pytest.mark.parametrize("reads_settings", [False, True])
async def test_a_search_reads_nothing_that_the_settings_deny_whether_or_not_the_cli_has_read_them(
    any_stage: Stage, reads_settings: bool
) -> None:
    stage = any_stage
    (stage.cwd / ".claude").mkdir()
    (stage.cwd / ".claude" / "settings.json").write_text(json.dumps({"permissions": {"deny": ["Read(.env)"]}}))
    for name in (".env", "plain"):
        (stage.cwd / name).write_text(f"needle in {name}\n")
    policy = Policy.from_settings(
        stage.cwd, home=str(stage.home), managed=str(stage.folder / "none"), cli_reads_settings=reads_settings
    )
    sources: dict[str, Any] = {} if reads_settings else {"setting_sources": []}
    search = ToolUse("Grep", {"pattern": "needle", "output_mode": "content"})

    async def found(**options: Any) -> str:
        stage.model.reply(search)
        stage.model.reply("done")
        async with stage.session(**sources, **options) as session:
            await session.prompt("go")
        return stage.tool_results()[-1]

    unguarded = await found()
    assert "needle in plain" in unguarded
    assert ("needle in .env" in unguarded) is not reads_settings
    guarded = await found(hooks={"PreToolUse": [HookMatcher(hooks=[policy.hook])]}, can_use_tool=refuse)
    assert "needle in .env" not in guarded
    assert ("needle in plain" in guarded) is reads_settings
