"""Hooks: each common event, and the ways people answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ._setup import Agent, answers, ask, client, echo, options, program, prompts, sdk, show, use, write

ECHO = ((echo("one"),), "Finished.")


def _on(event: str, callback: Any, matcher: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "hooks": {event: [sdk.HookMatcher(matcher=matcher, hooks=[callback], **more)]},
        "allowed_tools": ["Bash", "Write"],
    }


async def _hooked(event: str, callback: Any, matcher: Any = None, **more: Any) -> None:
    show(await ask(prompts("Go."), **_on(event, callback, matcher, **more)))


@program(*ECHO)
async def nothing_is_returned_as_a_dict() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        print(isinstance(given, dict), sorted(given), tool_use_id, sorted(context))
        return {}

    await _hooked("PreToolUse", hook, "Bash")


@program(*ECHO)
async def before_a_tool() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        print(
            given["hook_event_name"],
            given["tool_name"],
            given["tool_input"],
            given.get("nothing"),
            given["cwd"],
            given["permission_mode"],
        )
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "not today",
            }
        }

    await _hooked("PreToolUse", hook, "Bash")


@program(*ECHO)
async def the_input_is_changed() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        given["tool_input"]["command"] = "echo two"
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "updatedInput": given["tool_input"],
            }
        }

    await _hooked("PreToolUse", hook)


@program(*ECHO)
async def blocked_by_decision() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        return {"decision": "block", "reason": "blocked", "systemMessage": "a word to the user"}

    await _hooked("PreToolUse", hook)


@program(*ECHO)
async def after_a_tool() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        print(given["hook_event_name"], given["tool_response"])
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "more to know"}}

    await _hooked("PostToolUse", hook)


@program((use("Bash", command="false", description="Fail"),), "Finished.")
async def after_a_failure() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        print(given["hook_event_name"], given["error"], given.get("is_interrupt"))
        return {}

    await _hooked("PostToolUseFailure", hook)


@program(*ECHO)
async def stopped_with_continue_underscore() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        return {"continue_": False, "stopReason": "enough"}

    await _hooked("PostToolUse", hook)


@program(*ECHO)
async def stopped_with_continue() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        return {"continue": False, "stopReason": "enough"}

    await _hooked("PostToolUse", hook)


@program(*ECHO)
async def an_async_answer() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        return {"async_": True, "asyncTimeout": 1000}

    await _hooked("PostToolUse", hook)


@program("Hello.", again=True)
async def a_prompt_is_seen() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        print(given["hook_event_name"], given["prompt"], tool_use_id)
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "It is late."}}

    await _hooked("UserPromptSubmit", hook)


@program("Hello.", again=True)
async def a_prompt_is_blocked() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        return {"decision": "block", "reason": "not that"}

    await _hooked("UserPromptSubmit", hook)


@program("First.", "Second.")
async def stop_is_refused_once() -> None:
    stops: list[bool] = []

    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        stops.append(given["stop_hook_active"])
        return {"decision": "block", "reason": "go on"} if len(stops) == 1 else {}

    await _hooked("Stop", hook)
    print(stops)


@program(*ECHO)
async def a_hook_that_raises() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        raise ValueError("the hook broke")

    await _hooked("PreToolUse", hook)


@program(*ECHO)
async def a_hook_that_returns_none() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        return None

    await _hooked("PostToolUse", hook)


@program(*ECHO)
async def a_hook_that_returns_a_string() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        return "stop"

    await _hooked("PreToolUse", hook)


@program(*ECHO)
async def a_matcher_that_does_not_match() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        print("never")
        return {}

    await _hooked("PreToolUse", hook, "Write|Edit")


@program((echo("one"), write("x.txt")), "Finished.")
async def several_matchers() -> None:
    seen: list[tuple[str, str]] = []

    def named(name: str) -> Any:
        async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
            seen.append((name, given["tool_name"]))
            return {}

        return hook

    matchers = [
        sdk.HookMatcher("Bash", [named("bash")]),
        sdk.HookMatcher(hooks=[named("all")]),
        sdk.HookMatcher("Write", [named("a"), named("b")]),
    ]
    await ask(
        prompts("Go."),
        hooks={"PreToolUse": matchers, "PostToolUse": []},
        allowed_tools=["Bash"],
        permission_mode="acceptEdits",
    )
    print(sorted(seen))


@program(*ECHO)
async def typed_outputs() -> None:
    from ._setup import submodule

    types = submodule("types")

    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        specific = types.PreToolUseHookSpecificOutput(
            hookEventName="PreToolUse", permissionDecision="deny", permissionDecisionReason="typed"
        )
        return types.SyncHookJSONOutput(hookSpecificOutput=specific)

    await _hooked("PreToolUse", hook)


@program(
    (use("Agent", description="Look", prompt="Look.", subagent_type="general-purpose", run_in_background=False),),
    "Finished.",
    Agent("Looked."),
)
async def subagents_start_and_stop() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        print(given["hook_event_name"], given["agent_type"], bool(given["agent_id"]))
        return {}

    matcher = [sdk.HookMatcher(hooks=[hook])]
    show(await ask(prompts("Go."), hooks={"SubagentStart": matcher, "SubagentStop": matcher}))


@program(*ECHO)
async def hooks_with_a_timeout() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        return {"systemMessage": "in time"}

    await _hooked("PreToolUse", hook, "Bash", timeout=30)


@program((write("a.txt"),), "Finished.")
async def a_permission_request() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        print(given["hook_event_name"], given["tool_name"])
        return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}

    show(await ask(prompts("Go."), hooks={"PermissionRequest": [sdk.HookMatcher(hooks=[hook])]}))
    print(Path("a.txt").exists())


@program((echo("one"),), "First.", (echo("two"),), "Second.")
async def hooks_of_a_client() -> None:
    seen: list[str] = []

    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        seen.append(given["tool_input"]["command"])
        return {}

    async with client(**_on("PreToolUse", hook, "Bash")) as session:
        show(await answers(session, "One."))
        show(await answers(session, "Two."))
    print(seen)


@program(*ECHO)
async def hook_events_in_the_stream() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        return {}

    messages = await ask(prompts("Go."), include_hook_events=True, **_on("PreToolUse", hook, "Bash"))
    for message in messages:
        if isinstance(message, sdk.HookEventMessage):
            print(message.subtype, message.hook_event_name, sorted(message.data), message.session_id is not None)
    print([type(message).__name__ for message in messages])


@program(*ECHO)
async def a_string_prompt_with_hooks() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        print("called")
        return {}

    show([message async for message in sdk.query(prompt="Go.", options=options(**_on("PreToolUse", hook)))])


@program(*ECHO)
async def a_hook_answers_ask() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> Any:
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}

    async def allow(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        print("asked", tool, context.decision_reason)
        return sdk.PermissionResultAllow()

    show(await ask(prompts("Go."), can_use_tool=allow, hooks={"PreToolUse": [sdk.HookMatcher(hooks=[hook])]}))
