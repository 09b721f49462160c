"""No system prompt, one's own, the preset with an addition, a file."""

import asyncio
from pathlib import Path
from typing import Any

from _setup import options, sdk, show


async def ask(system_prompt: Any) -> None:
    async for message in sdk.query(prompt="Which prompt do you have?", options=options(system_prompt=system_prompt)):
        if isinstance(message, sdk.AssistantMessage):
            show(message)


async def main() -> None:
    await ask(None)
    await ask("You are a pirate.")
    await ask(sdk.types.SystemPromptPreset(type="preset", preset="claude_code", append="End each answer with a joke."))
    await ask({"type": "file", "path": "prompt.txt"})


Path("prompt.txt").write_text("You are a parrot.")
asyncio.run(main())
