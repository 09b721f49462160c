"""A program on trio: the same names; callbacks are coroutines of trio's, and a cancelled scope closes the session."""

from typing import Any

import trio

from quarterdeck import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResult,
    PermissionResultAllow,
    ResultMessage,
    ToolPermissionContext,
    query,
)


async def decide(name: str, tool_input: dict[str, Any], context: ToolPermissionContext) -> PermissionResult:
    await trio.sleep(0.1)
    print("Allow?", name)
    return PermissionResultAllow()


async def ask(question: str) -> None:
    async for message in query(prompt=question, options=ClaudeAgentOptions(max_turns=1)):
        if isinstance(message, ResultMessage):
            print(message.result)


async def main() -> None:
    async with trio.open_nursery() as nursery:
        for question in ("Say hello.", "Say hello, please."):
            nursery.start_soon(ask, question)

    with trio.move_on_after(60):
        async with ClaudeSDKClient(ClaudeAgentOptions(can_use_tool=decide)) as client:
            await client.query("Make a folder.")
            async for message in client.receive_response():
                if isinstance(message, ResultMessage):
                    print(message.result)


trio.run(main)
