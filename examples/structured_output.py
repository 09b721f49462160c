"""A result of a given shape: a JSON schema in, checked data out."""

import asyncio
from typing import Any

from _where import HOST
from quarterdeck import prompt

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["city", "people"],
}


async def main() -> None:
    result = await prompt(
        "What is the largest city in the world?", output_format={"type": "json_schema", "schema": SCHEMA}, host=HOST
    )
    city: dict[str, Any] = result.structured_output
    print(city["city"], city["people"] > 1_000_000)


asyncio.run(main())
