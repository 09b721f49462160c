"""Agents of your own for parts of the work, and what they do while they do it.

``parent_tool_use_id`` tells a sub-agent's messages from those of the main conversation; ``forward_subagent_text``
brings their text as well. Permissions and hooks are asked for sub-agents too: ``context.agent_id`` says which.
"""

import asyncio

from _where import HOST
from quarterdeck import (
    AgentDefinition,
    AssistantMessage,
    ClaudeAgentOptions,
    TaskNotificationMessage,
    TaskStartedMessage,
    TextBlock,
    connect,
)

REVIEWER = AgentDefinition(
    description="Reviews code", prompt="You review code. Be brief.", tools=["Read", "Grep"], model="sonnet"
)


async def main() -> None:
    options = ClaudeAgentOptions(agents={"reviewer": REVIEWER}, forward_subagent_text=True)
    async with connect(options, host=HOST) as session:
        async for message in session.prompt("Have the reviewer look at the code."):
            if isinstance(message, TaskStartedMessage):
                print("started:", message.description)
            elif isinstance(message, TaskNotificationMessage):
                print("ended:", message.status)
            elif isinstance(message, AssistantMessage):
                who = "reviewer" if message.parent_tool_use_id else "Claude"
                for block in message.content:
                    if isinstance(block, TextBlock):
                        print(f"{who}: {block.text}")


asyncio.run(main())
