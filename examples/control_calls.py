"""Look at a running session and change it: model, mode, context, a question on the side.

There is a typed method for every control request of the CLI, and ``session.request()`` for those to come. All work
during a turn too.
"""

import asyncio

from _where import HOST
from quarterdeck import ControlError, connect


async def main() -> None:
    async with connect(host=HOST) as session:
        print("version:", (await session.binary_version()).version == session.version)
        print("models to choose from:", len(await session.models()) > 0)
        print("commands:", len(session.commands()) > 0)

        await session.set_model("claude-sonnet-4-5")
        mode = await session.set_permission_mode("acceptEdits")
        print("mode:", mode.mode)

        print((await session.prompt("Say hello.")).result)
        usage = await session.context_usage()
        print("context used:", (usage.total_tokens or 0) > 0)
        aside = await session.side_question("What did I just ask?")
        print("aside:", aside.response)
        export = await session.export()
        print("exported:", "Say hello." in export.text)

        answer = await session.request("get_session_cost")  # by its wire name, for what has no method yet
        print("by name:", "text" in answer)
        try:
            await session.request("make_coffee")
        except ControlError as error:
            print("refused:", error.subtype)


asyncio.run(main())
