"""Sessions, grants, tokens, usage, audit, settings, and the host-wide stream."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.store import Commit
from quarterdeck.store.commits import (
    AddAudit,
    AddEffect,
    AddUsage,
    DeleteSession,
    PutGrant,
    PutSession,
    PutSetting,
    PutSnapshot,
    PutToken,
)
from quarterdeck.store.errors import (
    InvalidCommit,
    InvalidCursor,
    NoSuchSession,
)
from quarterdeck.store.queries import AuditQuery, SessionQuery, UsageTotal
from quarterdeck.store.records import (
    AuditRecord,
    ChangeRecord,
    GrantRecord,
    Usage,
)
from store.conformance.base import Conformance
from store.making import (
    add,
    approval,
    ask,
    bodies,
    decided,
    decision,
    row,
    session,
    start,
    token,
    usage,
)


class ProjectionConformance(Conformance):
    """Sessions, grants, tokens, usage, audit, settings, and the host-wide stream."""

    async def test_a_session_is_found_by_each_of_its_ids(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            record = session("s", aliases=("cli-1", "cli-2"), tags=("a", "b"), body=b"\0", open_seq=3, archived=True)
            await store.commit(Commit(session="s", changes=[PutSession(record)]))
            assert await store.session("s") == await store.session("cli-1") == await store.session("cli-2") == record
            await add(store, "s", changes=[PutSession(session("s", aliases=("cli-2", "cli-3")))])
            assert await store.session("cli-1") is None
            assert await store.session("cli-3") == session("s", aliases=("cli-2", "cli-3"))

    async def test_an_id_that_two_sessions_had_finds_the_later_one(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "a", aliases=("shared",))
            await start(store, "b", aliases=("shared", "a"))
            found = [await store.session(name) for name in ("shared", "a")]
            assert [one.id for one in found if one] == ["b", "a"]

    async def test_sessions_are_found_by_what_they_are(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "a", state="running", name="Fix the Ärger", cwd="/srv/app", tags=("red", "blue"))
            await start(store, "b", cwd="/srv/app/sub", tags=("red",), text="say HELLO", active_at=3.0)
            await start(store, "c", cwd="/srv/apple", tags=('re"d', "r\ned"), active_at=2.0)
            await start(store, "d", archived=True, cwd="/")

            async def found(**filters: object) -> str:
                return "".join(one.id for one in (await store.sessions(SessionQuery(**filters))).sessions)  # type: ignore[arg-type]

            assert await found() == "bca"
            assert await found(archived=None) == "bcad"
            assert await found(archived=True) == "d"
            assert await found(states=["running", "stopped"]) == "a"
            assert await found(tags=["red"]) == "ba"
            assert await found(tags=["red", "blue"]) == "a"
            assert await found(tags=['re"d']) == "c"
            assert await found(tags=["ed"]) == ""
            assert await found(text="äRGER") == "a"
            assert await found(text="hello") == "b"
            assert await found(text="%") == ""
            assert await found(cwd="/srv/app") == "ba"
            assert await found(cwd="/srv/app/") == "ba"
            assert await found(cwd="/", archived=None) == "bcad"
            assert await found(states=["running"], tags=["red"], text="fix") == "a"

    async def test_pages_of_sessions_go_on_where_the_last_ended(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            for number in range(7):
                await start(store, f"{number}", active_at=float(number // 3))
            seen, cursor = [], None
            while True:
                page = await store.sessions(SessionQuery(limit=2, cursor=cursor))
                seen += [one.id for one in page.sessions]
                cursor = page.next_cursor
                if cursor is None:
                    break
            assert seen == ["6", "3", "4", "5", "0", "1", "2"]
            with pytest.raises(InvalidCursor):
                await store.sessions(SessionQuery(cursor="no cursor"))

    async def test_a_deleted_session_is_gone_and_what_it_cost_is_not(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s", row(), aliases=("cli",))
            await start(store, "other", row("kept"))
            await ask(store, "a1")
            audit = AuditRecord(at=1.0, who="ann", operation="delete_session", session="s")
            await add(
                store, "s", changes=[AddUsage(usage(cost_nano_usd=7)), AddEffect("send", b""), PutSnapshot(1, b"")]
            )
            await add(store, "s", changes=[DeleteSession(), AddAudit(audit)])
            assert [await store.session("s"), await store.session("cli"), await store.head("s")] == [None] * 3
            assert [await store.approval("a1"), await store.snapshot("s")] == [None] * 2
            assert await store.effects() == []
            with pytest.raises(NoSuchSession):
                await add(store, "s", b"late")
            assert (await store.usage(["session"]))[0].usage.cost_nano_usd == 7
            assert [entry.who for entry in (await store.audit(AuditQuery(session="s"))).entries] == ["ann"]
            await start(store, "s", row("new"))
            assert await bodies(store) == [b"new"]
            assert await bodies(store, "other") == [b"kept"]
            assert await store.check() == []

    async def test_a_session_is_not_changed_and_deleted_at_once(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            with pytest.raises(InvalidCommit, match="deletes a session"):
                await add(store, "s", b"row", changes=[DeleteSession()])

    async def test_grants_and_tokens_are_kept_whole_and_replaced(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            grant = GrantRecord(
                id="g", rule="Bash(ls)", scope="project", created_at=1.0, by="ann", cwd="/w", body=b"\0"
            )
            mine = token("t", may_bypass=True, folders=("/w",), expires_at=9.0)
            await store.commit(Commit(changes=[PutGrant(grant), PutToken(mine), PutToken(token("a"))]))
            assert await store.grants() == [grant]
            assert await store.token(b"t") == mine
            assert await store.token(b"other") is None
            revoked = token("t", digest=b"t2", revoked_at=5.0)
            await store.commit(Commit(changes=[PutToken(revoked)]))
            assert await store.tokens() == [token("a"), revoked]
            assert await store.token(b"t") is None
            for changes in (
                [PutToken(token("b", digest=b"a"))],
                [PutToken(token("c")), PutToken(token("d", digest=b"c"))],
            ):
                with pytest.raises(InvalidCommit, match="digest of another"):
                    await store.commit(Commit(changes=changes))

    async def test_usage_adds_up_by_every_dimension(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s")
            entries = [
                usage("s", turn=1, day="2026-11-15", model="big", cost_nano_usd=10**15 + 1, input_tokens=5),
                usage("s", turn=2, day="2026-11-16", model="big", cost_nano_usd=2, output_tokens=3),
                usage(
                    "t",
                    turn=1,
                    day="2026-11-16",
                    model="small",
                    cwd="/x",
                    account="b",
                    agent="Explore",
                    cache_read_tokens=4,
                ),
            ]
            await add(store, "s", changes=[AddUsage(entry) for entry in entries])
            big = Usage(cost_nano_usd=10**15 + 3, input_tokens=5, output_tokens=3)
            assert await store.usage(["model"]) == [
                UsageTotal(("big",), big),
                UsageTotal(("small",), Usage(cache_read_tokens=4)),
            ]
            days = await store.usage(["day", "session"], since="2026-11-16")
            assert [total.by for total in days] == [("2026-11-16", "s"), ("2026-11-16", "t")]
            assert await store.usage([], until="2026-11-15", session="s") == [
                UsageTotal((), Usage(cost_nano_usd=10**15 + 1, input_tokens=5))
            ]
            assert await store.usage([], session="nobody") == [UsageTotal((), Usage())]
            with pytest.raises(ValueError, match="no dimension colour"):
                await store.usage(["colour"])  # type: ignore[list-item]
            totals = await store.usage(["cwd", "account", "agent", "turn"])
            assert [total.by for total in totals] == [
                ("/w", "", "", "1"),
                ("/w", "", "", "2"),
                ("/x", "b", "Explore", "1"),
            ]

    async def test_the_audit_is_found_newest_first(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            entries = [
                AuditRecord(
                    at=float(number), who="ann" if number % 2 else "bob", operation="stop", via="http", body=b"\0"
                )
                for number in range(5)
            ]
            await store.commit(Commit(changes=[AddAudit(entry) for entry in entries]))
            page = await store.audit(AuditQuery(limit=3))
            assert [entry.at for entry in page.entries] == [4.0, 3.0, 2.0]
            rest = await store.audit(AuditQuery(limit=3, cursor=page.next_cursor))
            assert [entry.at for entry in rest.entries] == [1.0, 0.0]
            assert rest.next_cursor is None
            assert [entry.at for entry in (await store.audit(AuditQuery(who="ann"))).entries] == [3.0, 1.0]
            assert [entry.at for entry in (await store.audit(AuditQuery(since=1.0, until=3.0))).entries] == [2.0, 1.0]
            first = rest.entries[-1]
            assert first == AuditRecord(id=first.id, at=0.0, who="bob", operation="stop", via="http", body=b"\0")

    async def test_settings_are_replaced_and_removed(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            assert await store.setting("budgets") is None
            await store.commit(Commit(changes=[PutSetting("budgets", b"\0one"), PutSetting("alerts", b"")]))
            await store.commit(Commit(changes=[PutSetting("budgets", b"two")]))
            assert [await store.setting("budgets"), await store.setting("alerts")] == [b"two", b""]
            await store.commit(Commit(changes=[PutSetting("budgets", None), PutSetting("missing", None)]))
            assert await store.setting("budgets") is None

    async def test_the_host_wide_stream_tells_each_change_once_and_in_order(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            assert await store.position() == 0
            done = await start(store)
            await add(store, "s", b"a row is no change of a list")
            await ask(store, "a1")
            last = await add(store, "s", changes=[decided("a1"), PutSession(session("s", state="running"))])
            page = await store.changes(after=0)
            opened = approval("a1", "s", seq=2)
            closed = approval("a1", "s", seq=2, state="decided", decision=decision(), moved_at={"decided": 2.0})
            assert page.changes == [
                ChangeRecord(1, "session", "s", session("s")),
                ChangeRecord(2, "approval", "a1", opened),
                ChangeRecord(3, "session", "s", session("s", state="running")),
                ChangeRecord(4, "approval", "a1", closed),
            ]
            assert (page.gap, page.position, done.pos, last.pos) == (False, 4, 1, 4)
            assert [change.pos for change in (await store.changes(after=1, limit=2)).changes] == [2, 3]
            await add(store, "s", changes=[DeleteSession()])
            assert (await store.changes(after=4)).changes == [ChangeRecord(5, "session", "s", None)]
            assert (await store.changes(after=6)).gap
