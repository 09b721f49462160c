"""A plain script, without asyncio: every call waits, and callbacks are plain functions that may block."""

from typing import Any

from _where import HOST
from quarterdeck import (
    ClaudeAgentOptions,
    PermissionResult,
    PermissionResultAllow,
    ToolPermissionContext,
    create_sdk_mcp_server,
    tool,
)
from quarterdeck.sync import connect, prompt


@tool
def stock(article: str) -> str:
    """How many of an article there are."""
    return "12"


def decide(name: str, tool_input: dict[str, Any], context: ToolPermissionContext) -> PermissionResult:
    print("Allow?", name)  # in a thread of its own: input() would do here
    return PermissionResultAllow()


print(prompt("What is 2 + 2?", max_turns=1, host=HOST).result)

options = ClaudeAgentOptions(can_use_tool=decide, mcp_servers={"shop": create_sdk_mcp_server("shop", tools=[stock])})
with connect(options, host=HOST) as session:
    for piece in session.prompt("How many pens are there?").text():
        print(piece)
    print("context used:", session.context_usage().total_tokens > 0)
