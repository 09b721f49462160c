"""Decide about each tool call that no rule has decided: allow it, change it, refuse it, or allow it from now on.

A refusal lets Claude go on and try something else; ``interrupt=True`` ends the turn as well.
"""

import asyncio
from pathlib import Path
from typing import Any

from _where import HOST
from quarterdeck import (
    ClaudeAgentOptions,
    PermissionResult,
    PermissionResultAllow,
    PermissionResultDeny,
    ToolPermissionContext,
    connect,
)


async def decide(tool: str, tool_input: dict[str, Any], context: ToolPermissionContext) -> PermissionResult:
    print(f"Allow {tool}? {tool_input.get('command') or Path(tool_input['file_path']).name}")
    if tool == "Bash" and "rm " in tool_input["command"]:
        return PermissionResultDeny(message="Nothing is removed here.")
    if tool == "Write":
        return PermissionResultAllow(updated_input={**tool_input, "content": tool_input["content"].upper()})
    # The CLI suggests rules for "always allow"; if you return them, they apply for the rest of the session.
    return PermissionResultAllow(updated_permissions=context.suggestions)


async def main() -> None:
    async with connect(ClaudeAgentOptions(can_use_tool=decide), host=HOST) as session:
        print((await session.prompt("Write hello into greeting.txt.")).result)
        print((await session.prompt("Remove greeting.txt.")).result)


asyncio.run(main())
