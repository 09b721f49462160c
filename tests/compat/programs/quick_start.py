"""One question; one with a system prompt; one that needs a tool."""

import asyncio

from _setup import options, sdk, show


async def basic() -> None:
    print("basic")
    async for message in sdk.query(prompt="What is 2 + 2?", options=options()):
        if isinstance(message, sdk.AssistantMessage):
            for block in message.content:
                if isinstance(block, sdk.TextBlock):
                    print("  Claude:", block.text)


async def with_options() -> None:
    print("with options")
    wanted = options(system_prompt="You explain things to children.", max_turns=1)
    async for message in sdk.query(prompt="Explain what Python is.", options=wanted):
        show(message)


async def with_tools() -> None:
    print("with tools")
    wanted = options(allowed_tools=["Read", "Write"], permission_mode="acceptEdits")
    async for message in sdk.query(prompt="Create hello.txt with a greeting.", options=wanted):
        show(message)
        if isinstance(message, sdk.ResultMessage) and message.total_cost_usd:
            print("  tokens:", message.usage["input_tokens"], message.usage["output_tokens"])
            print("  models:", len(message.model_usage))


async def main() -> None:
    await basic()
    await with_options()
    await with_tools()


asyncio.run(main())
