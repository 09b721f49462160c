"""Read many messages at once: the fastest way, for programs that follow many sessions or log everything.

A batch is what has arrived since the last one. Each message still knows the exact bytes it came in (``raw``).
"""

import asyncio
from collections import Counter

from _where import HOST
from quarterdeck import ClaudeAgentOptions, TextAccumulator, connect


async def main() -> None:
    seen: Counter[str] = Counter()
    text, size = TextAccumulator(), 0
    async with connect(ClaudeAgentOptions(include_partial_messages=True), host=HOST) as session:
        await session.send("Count from one to ten.")
        session.finish()  # no more prompts: the stream of batches ends when the work is done
        async for batch in session.batches():
            for message in batch:
                seen[type(message).__name__] += 1
                size += len(message.raw)
                text.add(message)
    print(text.text)
    print("several stream events:", seen["StreamEvent"] > 2, "one result:", seen["ResultMessage"] == 1)
    print("bytes:", size > 1000)


asyncio.run(main())
