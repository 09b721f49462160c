"""See every line of a session, in both directions and in order, and answer a request where it is read.

A log of decisions, a recorder or another face reads the journal; the program itself reads its messages as ever.
"""

import asyncio
from collections.abc import Sequence

from _where import HOST
from quarterdeck import (
    LATER,
    ClaudeAgentOptions,
    JournalEntry,
    JournalReader,
    PermissionResultAllow,
    RequestEntry,
    connect,
)


class Log(JournalReader):
    def __init__(self) -> None:
        self.asked: asyncio.Queue[RequestEntry] = asyncio.Queue()
        self.lines = {"in": 0, "out": 0}

    def read(self, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            self.lines[entry.direction] += 1
            if isinstance(entry, RequestEntry):
                self.asked.put_nowait(entry)


async def main() -> None:
    log = Log()
    session = connect(ClaudeAgentOptions(can_use_tool=lambda *_: LATER), host=HOST)
    session.journal.add(log)  # before it is opened, to miss nothing
    async with session:
        turn = session.prompt("Make a folder.")
        await turn.send()
        entry = await log.asked.get()
        print("asked in line", entry.index > 0, entry.message.subtype)
        entry.answer(PermissionResultAllow())
        print((await turn).result)
    print("lines of both directions:", log.lines["in"] > 2, log.lines["out"] > 4)


asyncio.run(main())
