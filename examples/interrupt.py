"""Stop a turn. It still ends with its result, and the session goes on.

The receipt says what became of prompts that were waiting; ``interrupt(cancel_queued=True)`` drops them too.
"""

import asyncio

from _where import HOST
from quarterdeck import ClaudeAgentOptions, StreamEvent, connect


async def main() -> None:
    async with connect(ClaudeAgentOptions(include_partial_messages=True), host=HOST) as session:
        turn = session.prompt("Count to a million.")
        async for message in turn:
            if isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta":
                receipt = await session.interrupt()
                print("still queued:", receipt.still_queued)
                break
        result = await turn
        print("ended:", result.subtype)
        print((await session.prompt("Say hello instead.")).result)


asyncio.run(main())
