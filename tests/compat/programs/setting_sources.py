"""Which settings files count."""

import asyncio
from pathlib import Path
from typing import Any

from _setup import options, sdk

COMMANDS = Path(".claude", "commands")


async def known(sources: Any) -> None:
    async with sdk.ClaudeSDKClient(options=options(setting_sources=sources)) as client:
        await client.query("Hello.")
        async for message in client.receive_response():
            if isinstance(message, sdk.SystemMessage) and message.subtype == "init":
                print(sources, "salute" in message.data["slash_commands"])


async def main() -> None:
    await known([])
    await known(["user", "project"])


COMMANDS.mkdir(parents=True, exist_ok=True)
(COMMANDS / "salute.md").write_text("Salute the user.\n")
asyncio.run(main())
