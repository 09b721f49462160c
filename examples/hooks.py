"""Hooks: callbacks of the CLI at 33 events. Here: refuse a command, add context to each prompt, note each result.

A hook gets its event's input, by attribute or by key, and returns an output, or ``None`` for "no opinion". A hook that
decides, as the one for PreToolUse, refuses what it guards when it fails.
"""

import asyncio

from _where import HOST
from quarterdeck import ClaudeAgentOptions, HookContext, HookJSONOutput, HookMatcher, connect
from quarterdeck.wire import PostToolUseHookInput, PreToolUseHookInput, UserPromptSubmitHookInput


async def guard(event: PreToolUseHookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput | None:
    if "curl" not in event.tool_input["command"]:
        return None
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no network here",
        }
    }


async def add_context(
    event: UserPromptSubmitHookInput, tool_use_id: str | None, context: HookContext
) -> HookJSONOutput | None:
    print("prompt:", event.prompt)
    note = "The user likes short answers."
    return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": note}}


async def note_result(event: PostToolUseHookInput, tool_use_id: str | None, context: HookContext) -> None:
    print("done:", event.tool_name, event["tool_input"]["command"])


async def main() -> None:
    options = ClaudeAgentOptions(
        allowed_tools=["Bash(echo:*)"],
        hooks={
            "PreToolUse": [HookMatcher(matcher="Bash", hooks=[guard], timeout=10)],
            "PostToolUse": [HookMatcher(matcher="Bash", hooks=[note_result])],
            "UserPromptSubmit": [HookMatcher(hooks=[add_context])],
        },
    )
    async with connect(options, host=HOST) as session:
        print((await session.prompt("Say hello with echo.")).result)
        print((await session.prompt("Fetch a page with curl.")).result)


asyncio.run(main())
