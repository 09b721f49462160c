"""Hooks: callbacks of the CLI at 33 events. Here: refuse a command, add context to each prompt, note each result.

A hook gets its event's input, by attribute or by key, and returns an output, or ``None`` for "no opinion". With
``on_failure="block"`` a hook that fails stops what it guards.
"""

import asyncio
from typing import Any

from quarterdeck import (
    ClaudeAgentOptions,
    HookContext,
    HookMatcher,
    PostToolUseHookInput,
    PreToolUseHookInput,
    PreToolUseHookSpecificOutput,
    SyncHookJSONOutput,
    UserPromptSubmitHookInput,
    UserPromptSubmitHookSpecificOutput,
    connect,
)


async def guard(event: PreToolUseHookInput, tool_use_id: str | None, context: HookContext) -> Any:
    if "curl" not in event.tool_input["command"]:
        return None
    verdict = PreToolUseHookSpecificOutput(permission_decision="deny", permission_decision_reason="no network here")
    return SyncHookJSONOutput(hook_specific_output=verdict)


async def add_context(event: UserPromptSubmitHookInput, tool_use_id: str | None, context: HookContext) -> Any:
    print("prompt:", event.prompt)
    note = UserPromptSubmitHookSpecificOutput(additional_context="The user likes short answers.")
    return SyncHookJSONOutput(hook_specific_output=note)


async def note_result(event: PostToolUseHookInput, tool_use_id: str | None, context: HookContext) -> None:
    print("done:", event.tool_name, event["tool_input"]["command"])


async def main() -> None:
    options = ClaudeAgentOptions(
        allowed_tools=["Bash(echo:*)"],
        hooks={
            "PreToolUse": [HookMatcher(matcher="Bash", hooks=[guard], timeout=10, on_failure="block")],
            "PostToolUse": [HookMatcher(matcher="Bash", hooks=[note_result])],
            "UserPromptSubmit": [HookMatcher(hooks=[add_context])],
        },
    )
    async with connect(options) as session:
        print((await session.prompt("Say hello with echo.")).result)
        print((await session.prompt("Fetch a page with curl.")).result)


asyncio.run(main())
