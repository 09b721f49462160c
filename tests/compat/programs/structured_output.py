"""A result of a given shape."""

import asyncio

from _setup import options, sdk

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["city", "people"],
}


async def main() -> None:
    wanted = options(output_format={"type": "json_schema", "schema": SCHEMA})
    async for message in sdk.query(prompt="The largest city?", options=wanted):
        if isinstance(message, sdk.ResultMessage):
            print(message.subtype, message.structured_output["city"], message.structured_output["people"])
            print(type(message.structured_output).__name__)


asyncio.run(main())
