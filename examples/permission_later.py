"""Answer a permission request later and from elsewhere: a chat message, a web page, another task.

The callback returns ``LATER``; the request waits under its id until ``session.answer()``. If the CLI takes it back
(the turn was interrupted, say), it is no longer pending and a late answer is a ``LocalProtocolError``.
"""

import asyncio
from typing import Any

from _where import HOST
from quarterdeck import LATER, ClaudeAgentOptions, PermissionResultAllow, Session, ToolPermissionContext, connect

requests: asyncio.Queue[str] = asyncio.Queue()


async def put_off(tool: str, tool_input: dict[str, Any], context: ToolPermissionContext) -> Any:
    await requests.put(str(context.request_id))
    return LATER


async def person(session: Session) -> None:
    """Somebody who looks at the open requests now and then."""
    request_id = await requests.get()
    request = session.pending()[request_id]
    print("waiting:", request.tool_name, request.input["command"])
    session.answer(request_id, PermissionResultAllow())


async def main() -> None:
    async with connect(ClaudeAgentOptions(can_use_tool=put_off), host=HOST) as session:
        answering = asyncio.create_task(person(session))
        print((await session.prompt("Make a folder called things.")).result)
        await answering


asyncio.run(main())
