"""Text while it is being written, thinking included."""

import asyncio

from _setup import options, sdk


async def main() -> None:
    wanted = options(include_partial_messages=True, thinking={"type": "enabled", "budget_tokens": 2000})
    kinds: list[str] = []
    deltas: set[str] = set()  # how many there are is a matter of chance: the CLI joins what comes at once
    text = ""
    async for message in sdk.query(prompt="Tell me a joke.", options=wanted):
        if isinstance(message, sdk.StreamEvent):
            event = message.event
            kinds.append(event["type"])
            if event["type"] == "content_block_delta":
                delta = event["delta"]
                text += delta.get("text", "") or delta.get("thinking", "")
                deltas.add(delta["type"])
            if event["type"] == "message_delta":
                print("  stop reason:", event["delta"]["stop_reason"], event["usage"]["output_tokens"])
            assert message.parent_tool_use_id is None
            assert message.session_id and message.uuid
    print(sorted(set(kinds)), sorted(deltas))
    print(text)


asyncio.run(main())
