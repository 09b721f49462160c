"""Hooks: refuse a command, allow one, add context to a prompt, look at a result, stop altogether."""

import asyncio
import json
from typing import Any

from _setup import options, sdk, show

SEEN: list[str] = []
"""Printed after the turn: whether a callback or the message before it is first is a matter of chance."""


async def check_command(input_data: Any, tool_use_id: str | None, context: Any) -> Any:
    if input_data["tool_name"] != "Bash":
        return {}
    command = input_data["tool_input"].get("command", "")
    SEEN.append(f"before: {input_data['hook_event_name']} {command} {tool_use_id is not None} {'signal' in context}")
    if "forbidden" in command:
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "that word is forbidden",
            }
        }
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}


async def add_context(input_data: Any, tool_use_id: str | None, context: Any) -> Any:
    assert isinstance(input_data, dict)
    assert json.loads(json.dumps(input_data)) == input_data | {"prompt": input_data["prompt"]}
    SEEN.append(f"prompt: {input_data['prompt']}")
    return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "The colour is hot pink."}}


async def review(input_data: Any, tool_use_id: str | None, context: Any) -> Any:
    SEEN.append(f"after: {sorted(key for key in ('tool_input', 'tool_response', 'cwd') if key in input_data)}")
    if "halt" in str(input_data.get("tool_response", "")):
        return {"continue_": False, "stopReason": "halted by a hook", "systemMessage": "stopped"}
    return sdk.types.SyncHookJSONOutput(
        hookSpecificOutput=sdk.PostToolUseHookSpecificOutput(hookEventName="PostToolUse", additionalContext="noted")
    )


async def main() -> None:
    wanted = options(
        hooks={
            "PreToolUse": [sdk.HookMatcher(matcher="Bash", hooks=[check_command], timeout=30)],
            "PostToolUse": [sdk.HookMatcher(matcher="Bash", hooks=[review])],
            "UserPromptSubmit": [sdk.HookMatcher(hooks=[add_context])],
        }
    )
    async with sdk.ClaudeSDKClient(options=wanted) as client:
        for question in ("Say the forbidden word.", "Say the good word.", "Say halt.", "Which colour?"):
            print(question)
            await client.query(question)
            async for message in client.receive_response():
                show(message)
            print(" ", SEEN)
            SEEN.clear()


asyncio.run(main())
