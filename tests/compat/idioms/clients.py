"""``ClaudeSDKClient``: turns, ends, and misuse."""

from __future__ import annotations

import asyncio
from typing import Any

from ._setup import Hang, Recite, answers, attempt, chat, client, offline, options, program, prompts, sdk, show, user


@program("One.", "Two.", "Three.")
async def many_turns() -> None:
    async with client() as session:
        for prompt in ("a", "b", "c"):
            show(await answers(session, prompt))


@chat
async def connect_with_a_prompt() -> None:
    session = client()
    await session.connect("Hello?")
    show([message async for message in session.receive_response()])
    await session.disconnect()


@program("One.", "Two.")
async def connect_with_a_stream() -> None:
    session = client()
    await session.connect(prompts("a"))
    show([message async for message in session.receive_response()])
    await session.disconnect()


@chat
async def receive_messages_with_break() -> None:
    async with client() as session:
        await session.query("Hello?")
        async for message in session.receive_messages():
            show(message)
            if isinstance(message, sdk.ResultMessage):
                break
        show(await answers(session, "Again?"))


@program("One.", "Two.")
async def query_with_an_async_iterable() -> None:
    async with client() as session:
        await session.query(prompts("a", "b"))
        show([message async for message in session.receive_response()])
        show([message async for message in session.receive_response()])


@program("Seen.", again=True)
async def content_blocks_as_a_prompt() -> None:
    async def blocks() -> Any:
        yield user([{"type": "text", "text": "Look:"}, {"type": "text", "text": "here."}])

    async with client() as session:
        show(await answers(session, blocks()))


@offline
async def before_connect() -> None:
    session = client()
    for call in (
        session.query("x"),
        session.interrupt(),
        session.set_model("haiku"),
        session.get_server_info(),
        session.get_mcp_status(),
        session.get_context_usage(),
        session.rewind_files("x"),
        session.set_permission_mode("plan"),
        session.stop_task("x"),
        session.toggle_mcp_server("x", True),
        session.reconnect_mcp_server("x"),
    ):
        await attempt(call)
    for stream in (session.receive_messages(), session.receive_response()):
        await attempt(anext(stream))
    print(await session.disconnect())


@chat
async def after_disconnect() -> None:
    session = client()
    await session.connect()
    show(await answers(session, "Hello?"))
    await session.disconnect()
    await session.disconnect()
    await attempt(session.query("x"))
    await attempt(anext(session.receive_response()))


@chat
async def reconnect() -> None:
    session = client()
    for _ in range(2):
        await session.connect()
        show(await answers(session, "Hello?"))
        await session.disconnect()


@chat
async def an_exception_inside_the_context() -> None:
    try:
        async with client() as session:
            await session.query("Hello?")
            raise KeyError("mine")
    except KeyError as error:
        print(error)
    await attempt(session.query("x"))


@chat
async def two_clients_at_once() -> None:
    async with client() as first, client() as second:
        both = await asyncio.gather(answers(first, "a"), answers(second, "b"))
        for messages in both:
            show(messages)
        print(both[0][0].data["session_id"] != both[1][0].data["session_id"])


@program(("One … two … three …", Hang(5)), "Hello.", delta_size=5)
async def interrupted() -> None:
    async with client(include_partial_messages=True) as session:
        await session.query("Count.")
        async for message in session.receive_response():
            if isinstance(message, sdk.StreamEvent) and message.event["type"] == "content_block_delta":
                break
        await session.interrupt()
        async for message in session.receive_response():
            if not isinstance(message, sdk.StreamEvent):
                show(message)
        for message in await answers(session, "Hello?"):
            if not isinstance(message, sdk.StreamEvent):
                show(message)


@chat
async def nothing_left_after_the_result() -> None:
    async with client() as session:
        await session.query("Hello?")
        first = [type(message).__name__ async for message in session.receive_response()]
        await session.query("Again?")
        second = [type(message).__name__ async for message in session.receive_response()]
        print(first, second)


@program(Recite(("first secret", "second secret")), again=True)
async def the_conversation_is_remembered() -> None:
    async with client() as session:
        for prompt in ("The first secret", "The second secret"):
            print((await answers(session, prompt))[-1].result)


@chat
async def another_session_id() -> None:
    async with client() as session:
        await session.query("Hello?", session_id="mine")
        messages = [message async for message in session.receive_response()]
        show(messages)
        print(messages[-1].session_id != "mine")


@chat
async def a_reader_task_and_a_writer() -> None:
    async with client() as session:
        seen: list[Any] = []

        async def read() -> None:
            async for message in session.receive_messages():
                seen.append(message)
                if sum(isinstance(one, sdk.ResultMessage) for one in seen) == 2:
                    return

        reading = asyncio.create_task(read())
        await session.query("a")
        await session.query("b")
        await asyncio.wait_for(reading, 60)
        print([type(message).__name__ for message in seen if isinstance(message, sdk.ResultMessage)])


@chat
async def anext_of_a_query() -> None:
    stream = sdk.query(prompt="Hello?", options=options())
    first = await anext(stream)
    print(type(first).__name__, first.data["subtype"])
    await stream.aclose()


@chat
async def the_generator_is_an_async_generator() -> None:
    import inspect

    stream = sdk.query(prompt="Hello?", options=options())
    print(inspect.isasyncgen(stream), hasattr(stream, "__anext__"), hasattr(stream, "aclose"))
    show([message async for message in stream])


@program("One.", "Two.")
async def several_prompts_in_one_query() -> None:
    show([message async for message in sdk.query(prompt=prompts("a", "b"), options=options())])
