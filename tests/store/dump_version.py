"""A store with something in every table, as SQL: ``PYTHONPATH=tests python -m store.dump_version`` writes the newest.

Run once for each version, before its release; a dump that was released is never made again.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import tempfile
from pathlib import Path

from quarterdeck.store import Commit, SqliteStore
from quarterdeck.store.commits import AddAudit, AddEffect, AddUsage, PutGrant, PutSetting, PutSnapshot, PutToken
from quarterdeck.store.records import AuditRecord, GrantRecord
from quarterdeck.store.sqlite.schema import STEPS
from store.making import add, ask, decided, receipt, row, start, token, usage

TARGET = Path(__file__).parent / "versions" / f"version-{len(STEPS)}.sql"


async def fill(folder: str) -> None:
    async with await SqliteStore.open(folder) as store:
        await store.use_fold("1")
        await start(store, "s", row("one"), row(b"\0two"), name="Dumped", tags=("tag",), aliases=("cli",))
        await ask(store, "a1", tool="Bash")
        outcome = receipt(scope="token/decide/a1")
        await add(store, "s", changes=[decided("a1"), AddEffect("deliver", b"effect")], receipt=outcome)
        audit = AuditRecord(at=1.0, who="ann", operation="decide", session="s")
        await add(store, "s", changes=[PutSnapshot(2, b"snapshot"), AddUsage(usage(cost_nano_usd=42)), AddAudit(audit)])
        grant = GrantRecord(id="g", rule="Bash(ls)", scope="user", created_at=1.0, by="ann")
        await store.commit(Commit(changes=[PutGrant(grant), PutToken(token("t")), PutSetting("budgets", b"{}")]))


def dump(folder: str) -> str:
    with contextlib.closing(sqlite3.connect(Path(folder, "store.db"))) as connection:
        return "\n".join([*connection.iterdump(), f"PRAGMA user_version = {len(STEPS)};", ""])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(fill(folder))
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_text(dump(folder), "utf-8")
