"""Commands in the background: see them start, read what they have written, stop them."""

import asyncio

from _where import HOST
from quarterdeck import ClaudeAgentOptions, TaskStartedMessage, connect


async def main() -> None:
    async with connect(ClaudeAgentOptions(allowed_tools=["Bash"]), host=HOST) as session:
        tasks = []
        async for message in session.prompt("Run a server in the background."):
            if isinstance(message, TaskStartedMessage):
                tasks.append(message.task_id)
                print("started:", message.description)
        for task in tasks:
            await session.stop_task(task)
            print("stopped")


asyncio.run(main())
