"""Go on with an earlier conversation, or with a copy of it; change model and mode on the way."""

import asyncio
import json
from typing import Any

from _setup import options, sdk, show


async def ask(question: str, **more: Any) -> str:
    session = ""
    async for message in sdk.query(prompt=question, options=options(**more)):
        show(message)
        if isinstance(message, sdk.ResultMessage):
            session = message.session_id
    return session


async def main() -> None:
    first = await ask("Remember the number 7.")
    again = await ask("Which number?", resume=first)
    copy = await ask("Which number?", resume=first, fork_session=True)
    latest = await ask("Which number?", continue_conversation=True)
    print("same:", again == first, "copy is another:", copy != first, "latest is the copy:", latest == copy)
    async with sdk.ClaudeSDKClient(options=options(model="claude-sonnet-4-5")) as client:
        await client.set_model("claude-haiku-4-5")
        await client.set_permission_mode("acceptEdits")
        await client.query("Which model are you?")
        async for message in client.receive_response():
            if isinstance(message, sdk.AssistantMessage):
                print(message.model)
        usage = await client.get_context_usage()
        print(usage["totalTokens"] > 0, sorted(category["name"] for category in usage["categories"])[:2])
        info = await client.get_server_info()
        assert json.dumps([usage, info, await client.get_mcp_status()])
        print(sorted(key for key in ("commands", "models", "account", "output_style") if key in info))


asyncio.run(main())
