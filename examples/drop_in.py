"""A program written for ``claude-agent-sdk``: only the import has changed."""

import asyncio

from quarterdeck import AssistantMessage, ClaudeAgentOptions, ClaudeSDKClient, TextBlock, query


async def main() -> None:
    async for message in query(prompt="Name a colour.", options=ClaudeAgentOptions(max_turns=1)):
        if isinstance(message, AssistantMessage):
            for block in message.content:
                if isinstance(block, TextBlock):
                    print("query:", block.text)

    async with ClaudeSDKClient() as client:
        await client.query("Name a fruit.")
        async for message in client.receive_response():
            if isinstance(message, AssistantMessage):
                for block in message.content:
                    if isinstance(block, TextBlock):
                        print("client:", block.text)


asyncio.run(main())
