"""End a session from outside, whatever it is doing: a deadline, a closed window, a signal."""

import asyncio

from _where import HOST
from quarterdeck import Aborted, ClaudeAgentOptions, StreamEvent, connect


async def main() -> None:
    stop = asyncio.Event()
    async with connect(ClaudeAgentOptions(abort=stop, include_partial_messages=True), host=HOST) as session:
        try:
            async for message in session.prompt("Count to a million."):
                if isinstance(message, StreamEvent):
                    stop.set()  # from anywhere
        except Aborted as error:
            print("ended:", error)


asyncio.run(main())
