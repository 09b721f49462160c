"""Hooks: callbacks through the protocol, and commands from settings."""

from __future__ import annotations

import json
from typing import Any

from conversations.driver import SILENT, Run
from conversations.scenarios._registry import every, newest
from conversations.scenarios.mcp import stdio_config
from conversations.stage import Stage
from quarterdeck.testing.model import Error, ToolUse
from quarterdeck.wire.hooks import HOOK_EVENTS

EVENTS = [event for event in HOOK_EVENTS if event not in {"TeammateIdle", "WorktreeCreate", "WorktreeRemove"}]
"""The others need a team or a worktree."""
OLD_EVENTS = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop")


def _hooks(*events: str, **extra: Any) -> dict[str, Any]:
    return {event: [{"hookCallbackIds": [f"hook_{event}"], **extra}] for event in events}


def _answers(run: Run, by_event: dict[str, Any]) -> None:
    run.on("hook_callback", lambda request: by_event.get(request["input"]["hook_event_name"], {}))


@every
def hooks_basic(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "echo hooked"}))
    stage.model.reply("Done.")
    with stage.claude("--allowedTools", "Bash") as run:
        _answers(run, {})
        run.initialize(hooks=_hooks(*OLD_EVENTS))
        run.turn("Run it")


@newest
def hooks_all(stage: Stage) -> None:
    (stage.cwd / "CLAUDE.md").write_text("# Instructions\n")
    stage.model.on(lambda request: request.kind == "subagent", "The helper is done.")
    stage.model.reply(ToolUse("Bash", {"command": "touch a.txt"}))
    stage.model.reply(ToolUse("Bash", {"command": "exit 3"}))
    helper = {"description": "help", "prompt": "Help", "subagent_type": "general-purpose", "run_in_background": False}
    stage.model.reply(ToolUse("Task", helper))
    stage.model.reply("One fine, one failed.")
    stage.model.reply("Hello again.")
    stage.model.reply("After compaction.")
    with stage.claude() as run:
        run.allow_tools()
        _answers(run, {})
        run.initialize(hooks=_hooks(*EVENTS))
        run.turn("Run")
        run.control("set_model", model="sonnet")
        run.turn("hello again")
        run.turn("/compact")
        run.turn("/clear")


@every
def hooks_pretooluse_deny(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "touch forbidden"}))
    stage.model.reply("The hook said no.")
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "house rule"}
    with stage.claude() as run:
        _answers(run, {"PreToolUse": {"hookSpecificOutput": decision}})
        run.initialize(hooks=_hooks("PreToolUse", matcher="Bash"))
        run.turn("Touch it")


@newest
def hooks_pretooluse_allow_ask_update(stage: Stage) -> None:
    for name in ("allowed", "asked", "changed"):
        stage.model.reply(ToolUse("Bash", {"command": f"touch {name}"}))
    stage.model.reply("Three ways.")

    def decide(request: dict[str, Any]) -> Any:
        command = request["input"]["tool_input"]["command"]
        decision: dict[str, Any] = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
        if "asked" in command:
            decision |= {"permissionDecision": "ask", "permissionDecisionReason": "a person should see this"}
        if "changed" in command:
            decision |= {"updatedInput": {"command": "touch other"}}
        return {"hookSpecificOutput": decision}

    with stage.claude() as run:
        run.allow_tools()
        run.on("hook_callback", decide)
        run.initialize(hooks=_hooks("PreToolUse"))
        run.turn("Touch three")


@newest
def hooks_userprompt_block(stage: Stage) -> None:
    with stage.claude() as run:
        _answers(run, {"UserPromptSubmit": {"decision": "block", "reason": "not this prompt"}})
        run.initialize(hooks=_hooks("UserPromptSubmit"))
        run.turn("Blocked?")


@newest
def hooks_userprompt_context(stage: Stage) -> None:
    stage.model.reply("I know the weather.")
    context = {"hookEventName": "UserPromptSubmit", "additionalContext": "It rains."}
    with stage.claude() as run:
        _answers(run, {"UserPromptSubmit": {"hookSpecificOutput": context, "systemMessage": "context added"}})
        run.initialize(hooks=_hooks("UserPromptSubmit"))
        run.turn("Weather?")


@newest
def hooks_stop_block(stage: Stage) -> None:
    stage.model.reply("I am finished.")
    stage.model.reply("Now really.")
    answers = iter([{"decision": "block", "reason": "not yet"}])
    with stage.claude() as run:
        run.on("hook_callback", lambda _: next(answers, {}))
        run.initialize(hooks=_hooks("Stop"))
        run.turn("Finish")


@newest
def hooks_continue_false(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "echo x"}))
    stage.model.reply("Never said.")
    with stage.claude("--allowedTools", "Bash") as run:
        _answers(run, {"PostToolUse": {"continue": False, "stopReason": "the hook stops here"}})
        run.initialize(hooks=_hooks("PostToolUse"))
        run.turn("Run")


@newest
def hooks_error_and_async(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "echo x"}))
    stage.model.reply("Went on.")

    def answer(request: dict[str, Any]) -> Any:
        broken = request["input"]["hook_event_name"] == "PreToolUse"
        return RuntimeError("hook exploded") if broken else {"async": True, "asyncTimeout": 5000}

    with stage.claude("--allowedTools", "Bash") as run:
        run.on("hook_callback", answer)
        run.initialize(hooks=_hooks("PreToolUse", "PostToolUse"))
        run.turn("Run")


@newest
def hooks_timeout_control_cancel(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "echo x"}))
    stage.model.reply("The hook slept.")
    with stage.claude("--allowedTools", "Bash") as run:
        run.on("hook_callback", lambda _: SILENT)
        run.initialize(hooks=_hooks("PreToolUse", timeout=2))
        run.user("Run")
        run.message("control_cancel_request")
        run.result()


def _settings(stage: Stage, events: dict[str, str]) -> str:
    hooks = {event: [{"hooks": [{"type": "command", "command": command}]}] for event, command in events.items()}
    path = stage.folder / "settings.json"
    path.write_text(json.dumps({"hooks": hooks}))
    return str(path)


@newest
def hooks_settings_command_no_flag(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "echo x"}))
    stage.model.reply("Done.")
    settings = _settings(stage, {"SessionStart": "echo started", "PreToolUse": "echo pre >&2"})
    with stage.claude("--allowedTools", "Bash", "--settings", settings) as run:
        run.initialize()
        run.turn("Run")


@newest
def hooks_settings_command_include_events(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "echo x"}))
    stage.model.reply("Done.")
    commands = {"SessionStart": "echo started", "PreToolUse": "echo pre", "PostToolUse": "exit 1", "Stop": "sleep 2"}
    flags = ("--allowedTools", "Bash", "--include-hook-events", "--settings", _settings(stage, commands))
    with stage.claude(*flags) as run:
        run.initialize()
        run.turn("Run")


@newest
def hooks_progress_slow_command(stage: Stage) -> None:
    stage.model.reply("Done.")
    slow = "for i in 1 2 3; do echo step $i; sleep 1; done"
    with stage.claude("--include-hook-events", "--settings", _settings(stage, {"UserPromptSubmit": slow})) as run:
        run.initialize()
        run.turn("Slowly")


@newest
def hooks_stop_failure(stage: Stage) -> None:
    stage.model.on(lambda request: request.kind == "main", Error(400, "bad request of the scripted model"))
    with stage.claude() as run:
        _answers(run, {})
        run.initialize(hooks=_hooks("Stop", "StopFailure"))
        run.turn("Fail")


@newest
def hooks_more_events(stage: Stage) -> None:
    commands = stage.cwd / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "greet.md").write_text("Greet the user.\n")
    (stage.cwd / "sub").mkdir()
    stage.model.reply("Greetings.")
    stage.model.reply(ToolUse("mcp__st__ask", {}))
    stage.model.reply("Hello Bob.")
    with stage.claude("--mcp-config", stdio_config(stage)) as run:
        run.allow_tools()
        run.on("elicitation", lambda _: {"action": "accept", "content": {"name": "Bob"}})
        _answers(run, {})
        run.initialize(hooks=_hooks(*EVENTS))
        run.turn("/greet")
        run.turn("Ask me")
        run.control("register_repo_root", directory=str(stage.cwd / "sub"))
        run.control("update_settings", source="localSettings", settings={"outputStyle": "Explanatory"})
        run.user("/clear")
        run.result()
