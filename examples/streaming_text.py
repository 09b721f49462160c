"""Show the text while it is being written.

``turn.text()`` yields each piece once: the deltas where the session streams them, whole blocks where it does not.
For everything else that streams (thinking, tool input), look at the ``StreamEvent`` messages of the turn.
"""

import asyncio

from _where import HOST
from quarterdeck import ClaudeAgentOptions, connect


async def main() -> None:
    options = ClaudeAgentOptions(include_partial_messages=True)
    async with connect(options, host=HOST) as session:
        async for piece in session.prompt("Tell me a story in three sentences.").text():
            print(piece, end="", flush=True)
        print()


asyncio.run(main())
