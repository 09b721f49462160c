"""Go on with an earlier conversation, or with a copy of it that leaves the earlier one as it is."""

import asyncio

from _where import HOST
from quarterdeck import connect, resume_session


async def main() -> None:
    async with connect(host=HOST) as session:
        await session.prompt("Remember the number 7.")
        first = str(session.session_id)

    async with resume_session(first, host=HOST) as session:
        print((await session.prompt("Which number was it?")).result)
        print("the same session:", session.session_id == first)

    async with resume_session(first, fork=True, host=HOST) as session:
        print((await session.prompt("Which number was it?")).result)
        print("the same session:", session.session_id == first)


asyncio.run(main())
