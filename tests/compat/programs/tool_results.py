"""Results that are more than text: structured content, unknown blocks, links and resources."""

import asyncio
import logging
from typing import Any, Optional

from _setup import options, sdk, show

logging.disable(logging.WARNING)

ANSWERS: dict[str, dict[str, Any]] = {
    "structured": {"content": [{"type": "text", "text": "for the model"}], "structuredContent": {"not": "for it"}},
    "unknown": {"content": [{"type": "video", "uri": "x"}, {"type": "text", "text": "the rest"}]},
    "linked": {
        "content": [
            {"type": "resource_link", "uri": "mem://a", "name": "a", "description": "the first"},
            {"type": "resource", "resource": {"uri": "mem://b", "text": "its text"}},
        ]
    },
    "optional": {"content": [{"type": "text", "text": "fine"}]},
}


def defined(name: str) -> Any:
    @sdk.tool(name, f"gives {name}", {"a": Optional[str]})  # noqa: UP045  # as people write it
    async def give(args: dict[str, Any]) -> dict[str, Any]:
        return ANSWERS[name]

    return give


async def main() -> None:
    server = sdk.create_sdk_mcp_server("lab", tools=[defined(name) for name in ANSWERS])
    wanted = options(mcp_servers={"lab": server}, allowed_tools=["mcp__lab"])
    async with sdk.ClaudeSDKClient(options=wanted) as client:
        for name in ANSWERS:
            await client.query(f"Please give {name}.")
            async for message in client.receive_response():
                if isinstance(message, sdk.UserMessage) and isinstance(message.content, list):
                    for block in message.content:
                        if isinstance(block, sdk.ToolResultBlock):
                            items = block.content if isinstance(block.content, list) else [block.content]
                            print(
                                "  the model reads:",
                                [item if isinstance(item, str) else item["text"] for item in items],
                            )
                else:
                    show(message)


asyncio.run(main())
