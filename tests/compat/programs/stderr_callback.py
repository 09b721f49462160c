"""What the CLI writes to its standard error."""

import asyncio

from _setup import options, sdk

LINES: list[str] = []


async def main() -> None:
    wanted = options(stderr=LINES.append, extra_args={"debug-to-stderr": None})
    async for message in sdk.query(prompt="What is 2 + 2?", options=wanted):
        if isinstance(message, sdk.ResultMessage):
            print(message.result)
    print("lines:", len(LINES) > 3, any("[DEBUG]" in line for line in LINES), all("\n" not in line for line in LINES))


asyncio.run(main())
