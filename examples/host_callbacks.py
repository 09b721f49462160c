"""A tool that a program runs for a session of a host: it may be anywhere that reaches the host.

The same calls come over HTTP: ``attach_callbacks`` is a stream, ``answer_callback`` a request.
"""

import asyncio
from pathlib import Path

from _where import HOST
from quarterdeck.host import Host
from quarterdeck.host.requests import AnswerCallback, AttachCallbacks, Callbacks, CreateSession, ToolCallback, Wait
from quarterdeck.remote import RemoteHost

ADD = ToolCallback(
    server="sums",
    name="add",
    description="Adds two numbers",
    input_schema={"properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]},
)


async def main() -> None:
    async with RemoteHost(HOST) if HOST else Host(Path("state"), keeper=False) as host:
        create = CreateSession(
            cwd=".",
            prompt="Add 20 and 22.",
            callbacks=Callbacks(tools=[ADD]),
            options={"allowed_tools": ["mcp__sums__add"]},
        )
        session = await host.create_session(create)
        async for call in host.attach_callbacks(AttachCallbacks(session_id=session.id)):
            print("asked:", call.tool, call.input)
            result = {"content": [{"type": "text", "text": str(call.input["a"] + call.input["b"])}]}
            await host.answer_callback(AnswerCallback(session_id=session.id, call_id=call.call_id, result=result))
            break
        print("then:", (await host.wait(Wait(session_id=session.id))).state)


asyncio.run(main())
