"""One turn with a permission request, by the official Python SDK. Prints what a program sees of it."""

import asyncio
import os
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    ResultMessage,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

ASKED: list[str] = []
"""Printed after the turn: whether a callback or the message before it is first is a matter of chance."""


async def decide(name: str, given: dict[str, Any], _: Any) -> PermissionResultAllow:
    ASKED.append(f"asked {name} {given['command']}")
    return PermissionResultAllow()


def show(message: Any) -> None:
    if isinstance(message, SystemMessage) and message.subtype == "init":
        print("init", message.data["permissionMode"], "Bash" in message.data["tools"])
    if isinstance(message, AssistantMessage | UserMessage) and not isinstance(message.content, str):
        for block in message.content:
            if isinstance(block, TextBlock):
                print("text", block.text)
            if isinstance(block, ToolUseBlock):
                print("call", block.name, block.input["command"])
            if isinstance(block, ToolResultBlock):
                print("result", block.content, bool(block.is_error))
    if isinstance(message, ResultMessage):
        print("end", message.subtype, message.is_error, message.num_turns, message.result)


async def main() -> None:
    options = ClaudeAgentOptions(cli_path=os.environ["CLAUDE_BIN"], can_use_tool=decide, permission_mode="default")
    async with ClaudeSDKClient(options) as client:
        await client.query("Make the file")
        async for message in client.receive_response():
            show(message)
    print(*ASKED, sep="\n")


asyncio.run(main())
