"""A conversation: one session, several prompts, every message as it comes.

``session.prompt()`` gives a turn. Iterate over it to follow it, or await it if only its result matters.
"""

import asyncio

from _where import HOST
from quarterdeck import AssistantMessage, ResultMessage, TextBlock, ToolUseBlock, connect


async def main() -> None:
    async with connect(host=HOST) as session:
        async for message in session.prompt("What is the capital of France?"):
            if isinstance(message, AssistantMessage):
                for block in message.content:
                    if isinstance(block, TextBlock):
                        print("Claude:", block.text)
                    elif isinstance(block, ToolUseBlock):
                        print("Claude uses", block.name)
            elif isinstance(message, ResultMessage):
                print(f"({message.subtype} after {message.num_turns} turns)")

        result = await session.prompt("How many people live there?")
        print("Claude:", result.result)


asyncio.run(main())
