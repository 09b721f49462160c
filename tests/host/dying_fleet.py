"""Everything that people with many sessions ask for, in a row: ``dying_fleet.py NTH FOLDER CWD CLI FILE TRANSCRIPT``.

The host is killed by SIGKILL at its NTH transaction: before it if NTH is negative, else right after it; 0: never. Every
write has a key, so the whole program can be repeated. ``FILE`` is an exported session, ``TRANSCRIPT`` the id of a
conversation that a terminal has had. The environment of the CLI comes as JSON on stdin. Prints how many transactions
there were.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from quarterdeck.host import Host
from quarterdeck.host.requests import (
    AddEvent,
    CreateSession,
    CreateWorktree,
    DeleteWorktree,
    ImportSession,
    Lifecycle,
    OfTranscript,
    SendPrompt,
    Settings,
    UpdatePrompt,
    UpdateSession,
    Upload,
    Wait,
)
from quarterdeck.store.sqlite.writer import WriterThread

FAR = datetime(2999, 1, 1, tzinfo=UTC)
PRESETS = {"presets": {"work": {"tags": ["p"]}}}
done = 0


def die_at(nth: int) -> None:
    transaction = WriterThread._transaction

    def counted(self: WriterThread, works: Any) -> Any:
        global done
        done += 1
        if done == -nth:
            os.kill(os.getpid(), signal.SIGKILL)
        results = transaction(self, works)
        if done == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return results

    WriterThread._transaction = counted  # type: ignore[method-assign]


async def main(folder: str, cwd: str, cli: str, file: str, transcript: str, env: dict[str, str]) -> None:
    exported = await asyncio.to_thread(Path(file).read_bytes)
    async with Host(folder, agents={"claude": cli}, env=env) as host:
        await host.set_presets(Settings(settings=PRESETS), key="presets")
        await host.set_budgets(Settings(settings={"day_usd": "50"}), key="budgets")
        told = {"on": ["finished"], "command": ["/bin/sh", "-c", f"cat >> '{folder}/told'; echo >> '{folder}/told'"]}
        await host.set_alerts(Settings(settings={"alerts": [{**told, "cwd": str(Path(cwd).parent)}]}), key="alerts")
        create = CreateSession(cwd=cwd, worktree="side", preset="work", prompt="go", name="one")
        session = (await host.create_session(create, key="session")).id
        await host.upload(
            Upload(session_id=session, name="a.txt", media_type="text/plain", body=b"given"), key="upload"
        )
        later = SendPrompt(session_id=session, content="later", not_before=FAR)
        prompt = (await host.send_prompt(later, key="later")).prompt_id
        await host.update_prompt(UpdatePrompt(session_id=session, prompt_id=prompt, content="edited"), key="edit")
        await host.add_event(AddEvent(session_id=session, type="ci", prompt="It failed."), key="event")
        await host.import_session(ImportSession(body=exported, name="two"), key="import")
        await host.adopt_transcript(OfTranscript(transcript_id=transcript), key="adopt")
        made = await host.create_worktree(CreateWorktree(cwd=cwd, name="gone"), key="tree")
        await host.delete_worktree(DeleteWorktree(path=made.details["path"]), key="no tree")
        await host.update_session(UpdateSession(session_id=session, tags=["q"]), key="tags")
        await host.send_prompt(SendPrompt(session_id=session, content="now"), key="now")
        await host.wait(Wait(session_id=session))
        parks = Lifecycle(park_s=0.1)
        await host.update_session(UpdateSession(session_id=session, lifecycle=parks), key="parks")
        await host.wait(Wait(session_id=session, for_=["stopped"]))
    print(done)


if __name__ == "__main__":
    die_at(int(sys.argv[1]))
    asyncio.run(main(*sys.argv[2:7], env=json.load(sys.stdin)))
