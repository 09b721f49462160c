"""Hooks that are callbacks of the host."""

from __future__ import annotations

import asyncio
from typing import Any

from conformance.scenario import scenario
from conformance.stage import (
    Stage,
    bash,
    expect,
    expect_that,
    result_of,
    text_of,
    told,
    tool_results,
)
from quarterdeck.client import HookMatcher
from quarterdeck.testing.model import ToolUse

COMMON = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact", "SessionStart", "SessionEnd")
"""Registered wherever that is enough, so that scenarios can share a session."""


class Hooks:
    """Callbacks that note what they are called with and answer what the scenario says."""

    def __init__(self, stage: Stage, *events: str, answer: Any = None, **matcher: Any) -> None:
        self.calls: list[Any] = []
        self._answer = answer
        self._events = events
        stage.hook = self._call
        registered = COMMON if not matcher and set(events) <= set(COMMON) else events
        self.option = {event: [HookMatcher(hooks=[stage.run_hook], **matcher)] for event in registered}

    async def _call(self, given: Any, tool_use_id: str | None, _: Any) -> Any:
        if given["hook_event_name"] not in self._events:
            return None
        self.calls.append(given)
        answer = self._answer(given) if callable(self._answer) else self._answer
        return await answer if asyncio.iscoroutine(answer) else answer

    @property
    def events(self) -> list[str]:
        return [call["hook_event_name"] for call in self.calls]


def _decision(decision: str, **more: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}}


async def _tool_turn(stage: Stage, hooks: Hooks, *tools: ToolUse, **options: Any) -> list[Any]:
    for one in tools or (bash("touch made.txt"),):
        stage.reply(one)
    stage.reply("Done.")
    async with stage.session(hooks=hooks.option, can_use_tool=stage.allow, **options) as session:
        return await told(session.prompt("run it"))


@scenario("hooks", "Hook events of a turn with a tool, in order", "000-hook-callback", "003-hook-callback")
async def hook_events(stage: Stage) -> None:
    hooks = Hooks(stage, "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
    await _tool_turn(stage, hooks, allowed_tools=["Bash"])
    expect("the events", hooks.events, ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"])


@scenario(
    "hooks", "Hook inputs have prompt, tool, input and response", "003-hook-PostToolUse", "003-hook-UserPromptSubmit"
)
async def hook_inputs(stage: Stage) -> None:
    hooks = Hooks(stage, "UserPromptSubmit", "PreToolUse", "PostToolUse")
    await _tool_turn(stage, hooks, bash("echo one"), allowed_tools=["Bash"])
    submitted, before, after = hooks.calls
    expect("the prompt", submitted["prompt"], "run it")
    expect("the tool", (before["tool_name"], before["tool_input"]["command"]), ("Bash", "echo one"))
    expect("the response", after["tool_response"]["stdout"], "one")
    missing = {"session_id", "transcript_path", "cwd", "permission_mode"} - set(before)
    expect("keys that are missing", missing, set())


@scenario("hooks", "PreToolUse can require approval for a call that is allowed")
async def hook_asks(stage: Stage) -> None:
    await _tool_turn(stage, Hooks(stage, "PreToolUse", answer=_decision("ask")), allowed_tools=["Bash"])
    expect("asked about", [name for name, _ in stage.asked], ["Bash"])


@scenario("hooks", "PostToolUseFailure is called when a tool fails", "003-hook-PostToolUseFailure")
async def hook_failure(stage: Stage) -> None:
    hooks = Hooks(stage, "PostToolUse", "PostToolUseFailure")
    await _tool_turn(stage, hooks, bash("exit 3"), allowed_tools=["Bash"])
    expect("the events", hooks.events, ["PostToolUseFailure"])
    expect_that("3" in hooks.calls[0]["error"], "the error does not tell the exit code")


@scenario("hooks", "continue: false ends the turn after the tool")
async def hook_ends_turn(stage: Stage) -> None:
    hooks = Hooks(stage, "PostToolUse", answer={"continue_": False, "stopReason": "the hook stops here"})
    messages = await _tool_turn(stage, hooks, bash("echo one"), allowed_tools=["Bash"])
    expect("requests to the model", len(stage.heard), 1)
    expect("the result", result_of(messages).is_error, False)


@scenario("hooks", "A failing hook denies the call it guards", "000-hook-output")
async def hook_fails(stage: Stage) -> None:
    def explode(_: Any) -> Any:
        raise RuntimeError("hook exploded")

    messages = await _tool_turn(stage, Hooks(stage, "PreToolUse", answer=explode), allowed_tools=["Bash"])
    expect("the result", result_of(messages).result, "Done.")
    expect_that(not (stage.cwd / "made.txt").exists(), "the tool ran")


@scenario("hooks", "A hook that exceeds its timeout is cancelled", "000-cancel-from-cli")
async def hook_timeout(stage: Stage) -> None:
    async def for_ever() -> None:
        await asyncio.Event().wait()

    messages = await _tool_turn(
        stage, Hooks(stage, "PreToolUse", answer=lambda _: for_ever(), timeout=1), allowed_tools=["Bash"]
    )
    expect("the result", result_of(messages).result, "Done.")


@scenario("hooks", "PreToolUse can deny, with a reason for the model", "003-hook-PreToolUse")
async def hook_denies(stage: Stage) -> None:
    hooks = Hooks(stage, "PreToolUse", answer=_decision("deny", permissionDecisionReason="house rule"))
    (result,) = tool_results(await _tool_turn(stage, hooks))
    expect("asked about", stage.asked, [])
    expect_that("house rule" in text_of(result), "the model was not told the reason")
    expect_that(not (stage.cwd / "made.txt").exists(), "the tool ran")


@scenario("hooks", "PreToolUse can allow without asking", "003-hook-PreToolUse")
async def hook_allows(stage: Stage) -> None:
    await _tool_turn(stage, Hooks(stage, "PreToolUse", answer=_decision("allow")))
    expect("asked about", stage.asked, [])
    expect_that((stage.cwd / "made.txt").exists(), "the tool did not run")


@scenario("hooks", "PreToolUse can change the input", "003-hook-PreToolUse")
async def hook_changes_input(stage: Stage) -> None:
    changed = {"command": "touch other.txt", "description": "x"}
    await _tool_turn(stage, Hooks(stage, "PreToolUse", answer=_decision("allow", updatedInput=changed)))
    expect_that((stage.cwd / "other.txt").exists(), "the changed command did not run")
    expect_that(not (stage.cwd / "made.txt").exists(), "the first command ran")


@scenario("hooks", "A matcher selects the tools", "003-initialize-fields")
async def hook_matcher(stage: Stage) -> None:
    (stage.cwd / "a.txt").write_text("alpha\n")
    hooks = Hooks(stage, "PreToolUse", matcher="Read")
    await _tool_turn(stage, hooks, bash("echo one"), ToolUse("Read", {"file_path": str(stage.cwd / "a.txt")}))
    expect("called for", [call["tool_name"] for call in hooks.calls], ["Read"])


@scenario("hooks", "UserPromptSubmit can block a prompt before it reaches the model", "003-hook-UserPromptSubmit")
async def hook_blocks_prompt(stage: Stage) -> None:
    hooks = Hooks(stage, "UserPromptSubmit", answer={"decision": "block", "reason": "not this prompt"})
    async with stage.session(hooks=hooks.option) as session:
        await session.prompt("blocked?")
    expect("requests to the model", len(stage.heard), 0)


@scenario(
    "hooks",
    "UserPromptSubmit can add context for the model",
    "003-hook-UserPromptSubmit",
    simulator="the simulated model ignores context from hooks",
)
async def hook_adds_context(stage: Stage) -> None:
    context = {"hookEventName": "UserPromptSubmit", "additionalContext": "It rains."}
    hooks = Hooks(stage, "UserPromptSubmit", answer={"hookSpecificOutput": context})
    stage.reply("I know the weather.")
    async with stage.session(hooks=hooks.option) as session:
        await session.prompt("weather?")
    expect_that("It rains." in stage.heard[-1].text, "the model was not told the context")


@scenario("hooks", "Stop can make the model continue", "003-hook-Stop")
async def hook_stop_blocks(stage: Stage) -> None:
    answers = iter([{"decision": "block", "reason": "not yet"}])
    hooks = Hooks(stage, "Stop", answer=lambda _: next(answers, {}))
    stage.reply("I am finished.")
    stage.reply("Now really.")
    async with stage.session(hooks=hooks.option) as session:
        expect("the result", (await session.prompt("finish")).result, "Now really.")
    expect("second time round", [call["stop_hook_active"] for call in hooks.calls], [False, True])


@scenario("hooks", "SessionStart callbacks run for /clear, not at startup", "003-hook-SessionStart")
async def hook_session_start(stage: Stage) -> None:
    hooks = Hooks(stage, "SessionStart", "SessionEnd")
    stage.reply("hi")
    async with stage.session(hooks=hooks.option) as session:
        await session.prompt("hi")
        expect("before /clear", hooks.events, [])
        await session.prompt("/clear")
    told_of = [(call["hook_event_name"], call.get("source") or call.get("reason")) for call in hooks.calls]
    expect("hooks for /clear", sorted(told_of), [("SessionEnd", "clear"), ("SessionStart", "clear")])


@scenario("hooks", "PreCompact has the trigger of the compaction", "003-hook-PreCompact")
async def hook_compact(stage: Stage) -> None:
    hooks = Hooks(stage, "PreCompact")
    stage.reply("words")
    async with stage.session(hooks=hooks.option) as session:
        await session.prompt("hi")
        await session.prompt("/compact")
    expect("the trigger", [call["trigger"] for call in hooks.calls], ["manual"])


@scenario("hooks", "Hooks report when a sub-agent starts and stops", "003-hook-SubagentStart", "003-hook-SubagentStop")
async def hook_subagent(stage: Stage) -> None:
    hooks = Hooks(stage, "SubagentStart", "SubagentStop")
    errand = {
        "description": "an errand",
        "prompt": "go",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    stage.reply(ToolUse("Task", errand))
    stage.reply("The errand is done.")
    stage.reply("It is back.")
    async with stage.session(hooks=hooks.option) as session:
        await session.prompt("delegate")
    expect("the events", hooks.events, ["SubagentStart", "SubagentStop"])
    expect("the agent", {call["agent_type"] for call in hooks.calls}, {"general-purpose"})
