"""Stop a turn that takes too long, then ask something else in the same conversation."""

import asyncio

from _setup import options, sdk, show


async def main() -> None:
    async with sdk.ClaudeSDKClient(options=options(include_partial_messages=True)) as client:
        await client.query("Count very slowly.")
        async for message in client.receive_response():
            if isinstance(message, sdk.StreamEvent) and message.event.get("type") == "content_block_delta":
                print("it has begun; that is enough")
                break
        await client.interrupt()
        async for message in client.receive_response():
            if isinstance(message, sdk.ResultMessage):
                print("result:", message.subtype, message.is_error)
        await client.query("Say hello instead.")
        async for message in client.receive_response():
            show(message)


asyncio.run(main())
