"""Partial messages: text as it is written, tool arguments as they grow."""

from __future__ import annotations

import json
from typing import Any

from ._setup import Think, ask, client, echo, options, program, sdk, use

LIVE: dict[str, Any] = {"include_partial_messages": True}


@program("Why did the test fail? Nobody knows.", delta_size=9)
async def text_is_accumulated() -> None:
    text = ""
    async for message in sdk.query(prompt="A joke?", options=options(**LIVE)):
        if isinstance(message, sdk.StreamEvent):
            event = message.event
            if event["type"] == "content_block_delta" and event["delta"]["type"] == "text_delta":
                text += event["delta"]["text"]
                print(event["delta"]["text"], end="|")
        elif isinstance(message, sdk.AssistantMessage):
            print("\nwhole:", message.content[0].text == text, text)


@program("Three words here.", delta_size=6)
async def every_event_printed() -> None:
    for message in await ask("Three words.", **LIVE):
        if isinstance(message, sdk.StreamEvent):
            print(message)


@program("Three words here.", delta_size=6)
async def order_of_all_messages() -> None:
    for message in await ask("Three words.", **LIVE):
        print(type(message).__name__, message.event["type"] if isinstance(message, sdk.StreamEvent) else "")


@program((Think("Hm. Let me see."), "Yes."), delta_size=5)
async def thinking_is_streamed() -> None:
    thought = ""
    for message in await ask("Think.", max_thinking_tokens=2000, **LIVE):
        if isinstance(message, sdk.StreamEvent) and message.event.get("delta", {}).get("type") == "thinking_delta":
            thought += message.event["delta"]["thinking"]
    print(thought)


@program((echo("streamed"),), "Done.", delta_size=8)
async def tool_input_grows() -> None:
    parts: list[str] = []
    async for message in sdk.query(prompt="Run it.", options=options(allowed_tools=["Bash"], **LIVE)):
        if isinstance(message, sdk.StreamEvent):
            match message.event:
                case {"type": "content_block_start", "content_block": {"type": "tool_use", "name": name}}:
                    print("starts", name)
                case {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": part}}:
                    parts.append(part)
                case {"type": "content_block_stop"}:
                    print("stops", "".join(parts))
    print(json.loads("".join(parts)))


@program("Counted.", delta_size=3)
async def usage_from_events() -> None:
    for message in await ask("Count.", **LIVE):
        if isinstance(message, sdk.StreamEvent) and message.event["type"] in ("message_start", "message_delta"):
            print(json.dumps(message.event, sort_keys=True))


@program("Plain data.", delta_size=4)
async def events_are_plain_dicts() -> None:
    for message in await ask("Data.", **LIVE):
        if isinstance(message, sdk.StreamEvent):
            event = message.event
            print(
                type(event) is dict,
                all(type(value) in (dict, int, str, type(None)) for value in event.values()),
                event is message.event,
            )
            event["mine"] = True
            print(message.event["mine"], json.dumps(event, sort_keys=True)[:60])


@program("Stop me.", delta_size=2)
async def break_at_the_first_delta() -> None:
    async for message in sdk.query(prompt="Go on.", options=options(**LIVE)):
        if isinstance(message, sdk.StreamEvent) and message.event["type"] == "content_block_delta":
            print("first delta", message.event["delta"]["text"])
            break
    print("after the loop")


@program("One.", "Two.", delta_size=3)
async def a_client_streams_two_turns() -> None:
    async with client(**LIVE) as session:
        for prompt in ("One?", "Two?"):
            await session.query(prompt)
            async for message in session.receive_response():
                if isinstance(message, sdk.StreamEvent):
                    delta = message.event.get("delta") or {}
                    print(delta.get("text", ""), end="|")
                elif isinstance(message, sdk.ResultMessage):
                    print(message.result)


@program("Ids.")
async def ids_of_events() -> None:
    for message in await ask("Ids.", **LIVE):
        if isinstance(message, sdk.StreamEvent):
            print(message.uuid, message.session_id, message.parent_tool_use_id, vars(message).keys())


@program((use("mcp__none__x"),), "Done.")
async def without_partial_messages_there_are_no_events() -> None:
    print([type(message).__name__ for message in await ask("Go.", include_partial_messages=False)])
