"""Decide about each tool call: allow it, change it, refuse it."""

import asyncio
from typing import Any

from _setup import options, plain, sdk, show

SEEN: list[str] = []
"""Printed after the turn: whether a callback or the message before it is first is a matter of chance."""


async def decide(tool_name: str, tool_input: dict[str, Any], context: Any) -> Any:
    SEEN.append(f"asked about {tool_name} {plain({k: v for k, v in tool_input.items() if k != 'content'})}")
    SEEN.append(f"suggestions: {[suggestion.to_dict()['type'] for suggestion in context.suggestions]}")
    assert isinstance(context, sdk.ToolPermissionContext)
    if tool_name == "Write" and tool_input["file_path"].endswith("secret.txt"):
        changed = {**tool_input, "file_path": tool_input["file_path"].replace("secret", "public")}
        return sdk.PermissionResultAllow(updated_input=changed)
    if tool_name == "Bash" and "rm" in tool_input["command"]:
        return sdk.PermissionResultDeny(message="Removing files is not allowed.")
    return sdk.PermissionResultAllow()


async def main() -> None:
    async with sdk.ClaudeSDKClient(options(can_use_tool=decide, permission_mode="default")) as client:
        for question in ("Write secret.txt.", "Remove everything.", "Make a folder."):
            print(question)
            await client.query(question)
            async for message in client.receive_response():
                show(message)
            print(" ", SEEN)
            SEEN.clear()


asyncio.run(main())
