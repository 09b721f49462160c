"""Ask Claude Code one thing and print the answer: the shortest program there is.

Needs the ``claude`` command (or ``CLAUDE_BIN`` with its path) and whatever it is signed in with.
"""

import asyncio

from _where import HOST
from quarterdeck import prompt


async def main() -> None:
    result = await prompt("What is 2 + 2?", max_turns=1, host=HOST)
    print(result.result)


asyncio.run(main())
