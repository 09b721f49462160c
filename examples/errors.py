"""What can go wrong, and how to tell: one tree of errors, each saying what to do.

A turn that failed is a result like any other; ``checked()`` (and ``prompt()``) raise it as ``ResultError``.
"""

import asyncio

from quarterdeck import (
    CLINotFoundError,
    ControlError,
    ProcessExited,
    QuarterdeckError,
    ResultError,
    connect,
    prompt,
)


async def main() -> None:
    try:
        await prompt("hello", cli_path="/nowhere/claude")
    except CLINotFoundError:
        print("not found: install the CLI, or say where it is")

    try:
        await prompt("hello", extra_args={"no-such-flag": None})
    except ProcessExited as error:
        print("did not start:", error.exit_code, "--no-such-flag" in (error.stderr or ""))

    try:
        await prompt("Look around.", max_turns=1, allowed_tools=["Bash(ls:*)"])
    except ResultError as error:
        print("no result:", error.subtype)

    async with connect() as session:
        try:
            await session.set_permission_mode("bypassPermissions")
        except ControlError as error:
            print("refused:", error.code)

    try:
        await prompt("hello", session_id="not a UUID")
    except (QuarterdeckError, ValueError) as error:
        print("a bad option:", "session_id" in str(error))


asyncio.run(main())
