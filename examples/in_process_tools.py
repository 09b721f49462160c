"""Custom tools in your process: plain typed functions.

The schema comes from the type hints (``Literal``, enums, dataclasses, optional and nested types too), the arguments
are checked before the function is called, an exception becomes an error that Claude can read. Functions may be async
or not. ``create_sdk_mcp_server(...)["instance"]`` can ``add`` and ``remove`` tools while sessions run.
"""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Literal

from _where import HOST
from quarterdeck import ClaudeAgentOptions, ToolAnnotations, ToolContext, connect, create_sdk_mcp_server, tool


@tool
def add(a: float, b: float) -> str:
    """Add two numbers."""
    return str(a + b)


@dataclass
class Weather:
    city: str
    degrees: float
    unit: str


@tool(annotations=ToolAnnotations(read_only_hint=True))
async def weather(
    context: ToolContext, city: Annotated[str, "the city's name"], unit: Literal["celsius", "fahrenheit"] = "celsius"
) -> Weather:
    """The weather in a city."""
    await context.progress(1, total=2, message="looking out of the window")
    return Weather(city, 21.5, unit)


async def main() -> None:
    server = create_sdk_mcp_server("demo", tools=[add, weather])
    options = ClaudeAgentOptions(mcp_servers={"demo": server}, allowed_tools=["mcp__demo__add", "mcp__demo__weather"])
    async with connect(options, host=HOST) as session:
        print((await session.prompt("What is 2 + 3?")).result)
        print((await session.prompt("How is the weather in Oslo?")).result)


asyncio.run(main())
