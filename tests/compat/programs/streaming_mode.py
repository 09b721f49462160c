"""The client: several turns, reading beside writing, prompts from a stream, a receive loop that is left early."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from _setup import options, sdk, show


async def several_turns() -> None:
    print("several turns")
    async with sdk.ClaudeSDKClient(options()) as client:
        for question in ("What is the capital of France?", "How many people live there?"):
            print("  User:", question)
            await client.query(question)
            async for message in client.receive_response():
                show(message)
        await client.query(prompts("And in Rome?"))
        async for message in client.receive_response():
            show(message)


async def reading_beside_writing() -> None:
    print("reading beside writing")
    client = sdk.ClaudeSDKClient(options())
    await client.connect()
    done = asyncio.Event()
    results = 0

    async def read() -> None:
        nonlocal results
        async for message in client.receive_messages():
            show(message)
            if isinstance(message, sdk.ResultMessage):
                results += 1
                done.set()

    reader = asyncio.create_task(read())
    for question in ("Name a colour.", "Name a fruit."):
        done.clear()
        await client.query(question)
        await done.wait()
    reader.cancel()
    await asyncio.gather(reader, return_exceptions=True)
    await client.disconnect()
    print("  results:", results)


async def prompts(*texts: str) -> AsyncIterator[dict[str, Any]]:
    for text in texts:
        yield {
            "type": "user",
            "message": {"role": "user", "content": text},
            "parent_tool_use_id": None,
            "session_id": "default",
        }


async def prompts_from_a_stream() -> None:
    print("prompts from a stream")
    async for message in sdk.query(prompt=prompts("Say one."), options=options()):
        show(message)


async def left_early() -> None:
    print("left early")
    async for message in sdk.query(prompt="Say three.", options=options()):
        if isinstance(message, sdk.AssistantMessage):
            show(message)
            break


async def main() -> None:
    await several_turns()
    await reading_beside_writing()
    await prompts_from_a_stream()
    await left_early()


asyncio.run(main())
