"""Say something while Claude works, queue a prompt for afterwards, and take one back.

What is sent during a turn is read between two steps of it. ``priority="later"`` gives it a turn of its own instead;
until that begins, ``cancel_prompt`` takes it back.
"""

import asyncio
import uuid
from typing import Any

from _where import HOST
from quarterdeck import ClaudeAgentOptions, PermissionResultAllow, ResultMessage, ToolPermissionContext, connect

working = asyncio.Event()
go_on = asyncio.Event()


async def hold(tool: str, tool_input: dict[str, Any], context: ToolPermissionContext) -> PermissionResultAllow:
    """A person who thinks for a while: time to say something else."""
    working.set()
    await go_on.wait()
    return PermissionResultAllow()


async def main() -> None:
    async with connect(ClaudeAgentOptions(can_use_tool=hold), host=HOST) as session:
        await session.send("Make a folder called things.")
        await working.wait()
        await session.send("Call it stuff in your summary, please.")
        queued = str(uuid.uuid4())
        await session.send("Then make coffee.", priority="later", uuid=queued)
        print("taken back:", await session.cancel_prompt(queued))
        go_on.set()
        async for message in session.messages():
            if isinstance(message, ResultMessage):
                print(message.result)
                break


asyncio.run(main())
