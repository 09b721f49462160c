"""A plugin in a folder."""

import asyncio
import json
from pathlib import Path

from _setup import options, sdk

PLUGIN = Path("a-plugin").resolve()


async def main() -> None:
    (PLUGIN / ".claude-plugin").mkdir(parents=True, exist_ok=True)
    (PLUGIN / "commands").mkdir(exist_ok=True)
    manifest = {"name": "demo", "description": "A plugin", "version": "1.0.0", "author": {"name": "somebody"}}
    (PLUGIN / ".claude-plugin" / "plugin.json").write_text(json.dumps(manifest))
    (PLUGIN / "commands" / "wave.md").write_text("Wave to the user.\n")
    wanted = options(plugins=[{"type": "local", "path": str(PLUGIN)}])
    async for message in sdk.query(prompt="Hello.", options=wanted):
        if isinstance(message, sdk.SystemMessage) and message.subtype == "init":
            print([plugin["name"] for plugin in message.data["plugins"]])
            print("demo:wave" in message.data["slash_commands"])


asyncio.run(main())
