"""Tools of our own, in this process."""

import asyncio
from typing import Annotated, Any, TypedDict

from _setup import options, sdk, show


@sdk.tool("add", "Add two numbers", {"a": float, "b": float})
async def add(args: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": f"{args['a']} + {args['b']} = {args['a'] + args['b']}"}]}


@sdk.tool("divide", "Divide two numbers", {"a": float, "b": float}, annotations=sdk.ToolAnnotations(readOnlyHint=True))
async def divide(args: dict[str, Any]) -> dict[str, Any]:
    if args["b"] == 0:
        return {"content": [{"type": "text", "text": "Error: division by zero"}], "is_error": True}
    return {"content": [{"type": "text", "text": str(args["a"] / args["b"])}]}


@sdk.tool("fail", "Always fails", {})
async def fail(args: dict[str, Any]) -> dict[str, Any]:
    raise RuntimeError("the tool broke")


class Power(TypedDict):
    base: Annotated[float, "what is multiplied with itself"]
    exponent: int


@sdk.tool("power", "Raise to a power", Power)
async def power(args: Power) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": str(args["base"] ** args["exponent"])}]}


async def main() -> None:
    calculator = sdk.create_sdk_mcp_server(name="calculator", version="2.0.0", tools=[add, divide, fail, power])
    print(calculator["type"], calculator["name"])
    wanted = options(
        mcp_servers={"calc": calculator},
        allowed_tools=["mcp__calc__add", "mcp__calc__divide", "mcp__calc__fail", "mcp__calc__power"],
    )
    async with sdk.ClaudeSDKClient(options=wanted) as client:
        for question in ("What is 2 + 3?", "What is 1 / 0?", "Please fail.", "What is 2 to the power of 5?"):
            await client.query(question)
            async for message in client.receive_response():
                show(message)
        status = await client.get_mcp_status()
        for server in status["mcpServers"]:
            print(server["name"], server["status"], sorted(tool["name"] for tool in server["tools"]))


asyncio.run(main())
