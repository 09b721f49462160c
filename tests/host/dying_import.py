"""Imports a file, page by page: ``dying_import.py NTH FOLDER FILE``. Killed by SIGKILL as in ``dying_fleet``.

Prints how many transactions there were.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from host import dying_fleet
from quarterdeck.host import Host, importing
from quarterdeck.host.requests import ImportSession

importing.PAGE_BYTES = 2_000  # a few rows, so that a short session is many pages


async def main(folder: str, file: str) -> None:
    body = await asyncio.to_thread(Path(file).read_bytes)
    async with Host(folder, keeper=False) as host:
        dying_fleet.done = 0
        await host.import_session(ImportSession(body=body, name="copy"), key="import")
        print(dying_fleet.done)


if __name__ == "__main__":
    dying_fleet.die_at(int(sys.argv[1]))
    asyncio.run(main(*sys.argv[2:4]))
