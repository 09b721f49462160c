"""A limit of turns and a limit of money: the result tells, then an error is raised."""

import asyncio
from typing import Any

from _setup import options, sdk


async def run(**limit: Any) -> None:
    print(sorted(limit))
    try:
        async for message in sdk.query(prompt="Work a lot.", options=options(allowed_tools=["Bash(echo:*)"], **limit)):
            if isinstance(message, sdk.ResultMessage):
                print("  result:", message.subtype, message.is_error)
    except sdk.ResultError as error:
        print(
            "  raised:",
            type(error).__name__,
            error.subtype,
            error.exit_code,
            error.errors,
            error.session_id is not None,
        )
        print("  a ProcessError too:", isinstance(error, sdk.ProcessError))
    else:
        print("  nothing was raised")


async def main() -> None:
    await run(max_turns=1)
    await run(max_budget_usd=0.0001)


asyncio.run(main())
