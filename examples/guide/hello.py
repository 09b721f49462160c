"""A tool, a permission callback and a streamed answer in twenty lines."""

import asyncio

import quarterdeck as qd


@qd.tool
async def word_count(text: str) -> str:
    """Count the words of a text."""
    return str(len(text.split()))


async def decide(tool_name, tool_input, context):
    if tool_name == "Bash" and "rm" in tool_input["command"].split():
        return qd.PermissionResultDeny(message="Nothing is deleted today.")
    return qd.PermissionResultAllow()


async def main():
    words = qd.create_sdk_mcp_server("words", tools=[word_count])
    options = qd.ClaudeAgentOptions(can_use_tool=decide, mcp_servers={"words": words}, include_partial_messages=True)
    async with qd.connect(options) as session:
        async for piece in session.prompt("Hello! How many words are in README.md?").text():
            print(piece, end="", flush=True)
        print(f"\n{session.costs.total_usd:.4f} USD")


asyncio.run(main())
