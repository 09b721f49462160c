"""A host on a disk that has become read-only: ``read_only_disk.py PLACE DISK``. Prints how it refuses to open."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from host.kit import LIMIT_S, Place
from quarterdeck.client.errors import QuarterdeckError


async def main(root: Path, disk: Path) -> None:
    place = Place(root, keeper=False)
    place.folder = disk / "state"
    async with asyncio.timeout(LIMIT_S):
        async with place.opened() as host:
            await place.created(host, None)
        await asyncio.to_thread(subprocess.run, ["mount", "-o", "remount,ro", str(disk)], check=True)
        try:
            await place.host().open()
        except QuarterdeckError as error:
            print(type(error).__name__, error)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
