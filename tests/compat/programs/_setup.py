"""What every program here needs: the SDK named by the environment, the CLI to use, and a way to print a message."""

from __future__ import annotations

import importlib
import os
import re
from typing import Any

sdk: Any = importlib.import_module(os.environ["SDK"])


def options(**more: Any) -> Any:
    return sdk.ClaudeAgentOptions(cli_path=os.environ["CLAUDE_BIN"], **more)


def show(message: Any) -> None:
    """Print what a person wants to see of a message, the way the public examples do: by its class and attributes."""
    if isinstance(message, sdk.UserMessage):
        blocks = message.content if isinstance(message.content, list) else []
        for block in blocks:
            if isinstance(block, sdk.ToolResultBlock):
                print("  tool result:", plain(block.content), "error" if block.is_error else "ok")
    elif isinstance(message, sdk.AssistantMessage):
        for block in message.content:
            if isinstance(block, sdk.TextBlock):
                print("  Claude:", block.text)
            elif isinstance(block, sdk.ThinkingBlock):
                print("  Claude thinks:", block.thinking)
            elif isinstance(block, sdk.ToolUseBlock):
                print("  Claude uses", block.name, plain(block.input))
    elif isinstance(message, sdk.ResultMessage):
        cost = "free" if not message.total_cost_usd else "with a cost"
        print("  result:", message.subtype, message.is_error, message.num_turns, message.result, cost)


def plain(value: Any) -> str:
    """A value as one line of text, without the folders that differ between two runs."""
    if isinstance(value, list):
        value = [getattr(item, "text", None) or item.get("text", item) for item in value]
    return re.sub(r"/\S*/(?=[\w.]+)", "", str(value)).partition("\n")[0]
