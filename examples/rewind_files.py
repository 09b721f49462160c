"""Undo what a turn did to the files. Needs ``enable_file_checkpointing``; commands' own changes are not undone."""

import asyncio
import uuid
from pathlib import Path

from _where import HOST
from quarterdeck import ClaudeAgentOptions, connect


def is_there() -> bool:
    return Path("note.txt").exists()


async def main() -> None:
    options = ClaudeAgentOptions(enable_file_checkpointing=True, permission_mode="acceptEdits")
    async with connect(options, host=HOST) as session:
        before = str(uuid.uuid4())
        await session.prompt("Write a note into note.txt.", uuid=before)
        print("written:", is_there())
        preview = await session.rewind_files(before, dry_run=True)
        print("would change:", len(preview.files_changed or ()), "file")
        await session.rewind_files(before)
        print("still there:", is_there())


asyncio.run(main())
