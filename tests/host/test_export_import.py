"""A session as a document, in parts; and a file that becomes a session, whatever is in it."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import os
import re
import resource
import tracemalloc
from pathlib import Path
from typing import Any

import msgspec
import pytest

from host.kit import ASKS, LIMIT_S, Place, all_frames, decide, frames_until, pending, told
from inside import worked_on
from quarterdeck._memory import give_back
from quarterdeck.host import Caller, Host, HostError, exporting
from quarterdeck.host.events import CustomEvent
from quarterdeck.host.folding import FrameFold
from quarterdeck.host.frames import KeptFolds
from quarterdeck.host.importing import UNFINISHED
from quarterdeck.host.limits import Limits
from quarterdeck.host.requests import (
    AddEvent,
    Export,
    ImportSession,
    ListApprovals,
    ListSessions,
    Nothing,
    OfSession,
    ReadEvents,
    SendPrompt,
    UpdateSession,
)
from quarterdeck.host.resources import Session
from quarterdeck.store import Commit
from quarterdeck.store.commits import PutSession, PutSetting
from quarterdeck.store.queries import Retention
from quarterdeck.store.records import NewRow, SessionRecord

MIB = 1024 * 1024


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path, keeper=False)
    place.claude.play([ASKS, "It is <b>done</b> & said."])
    return place


async def whole(host: Host, session: str, form: Any) -> tuple[bytes, int]:
    """All parts together, and how many there were."""
    request, body, parts = Export(session_id=session, format=form), b"", 0
    while True:
        part = await host.export_session(request)
        body, parts = body + part.body, parts + 1
        if part.next_cursor is None:
            return body, parts
        request = msgspec.structs.replace(request, cursor=part.next_cursor)


async def imported(host: Host, body: bytes, caller: Caller | None = None, **more: Any) -> Session:
    request = ImportSession(body=body, **more)
    done = await (host.import_session(request) if caller is None else host.import_session(request, caller))
    assert done.session is not None
    return done.session


async def spoken(place: Place, host: Host) -> Session:
    """A session in which something was asked, said, done and told."""
    session = await place.created(host, "Make `it`", name="first", tags=["a"])
    (asked,) = await pending(host, session.id)
    await decide(host, asked)
    await frames_until(host, session.id, "idle")
    await host.add_event(AddEvent(session_id=session.id, type="ci", data={"passed": True}))
    return await host.get_session(OfSession(session_id=session.id))


async def test_a_document_says_what_was_said_and_done(place: Place) -> None:
    async with place.opened() as host:
        session = await spoken(place, host)
        text = (await whole(host, session.id, "md"))[0].decode()
        assert text.startswith("# first\n\n")
        order = ["## Prompt", "Make `it`", "touch made.txt", "It is <b>done</b> & said.", "## Event ci from"]
        assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
        page = (await whole(host, session.id, "html"))[0].decode()
        assert "It is &lt;b&gt;done&lt;/b&gt; &amp; said." in page
        assert page.startswith("<!doctype html>")
        assert page.endswith("</body></html>\n")
        header, *rows = [json.loads(line) for line in (await whole(host, session.id, "ndjson"))[0].splitlines()]
        assert (header["quarterdeck_session"], header["id"], header["name"]) == (1, session.id, "first")
        assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
        with pytest.raises(HostError) as refused:
            await host.export_session(Export(session_id=session.id, cursor="5-x"))
        assert refused.value.code == "invalid"


async def test_an_exported_session_is_imported_elsewhere_with_the_very_same_frames(
    place: Place, tmp_path: Path
) -> None:
    other = Place(tmp_path / "other", keeper=False)
    async with place.opened() as host, other.opened() as elsewhere:
        session = await spoken(place, host)
        body, _ = await whole(host, session.id, "ndjson")
        taken = await imported(elsewhere, body)
        assert (taken.name, taken.tags, taken.state, taken.archived) == ("first", ["a"], "stopped", True)
        before, after = await all_frames(host, session.id), await all_frames(elsewhere, taken.id)
        assert msgspec.json.encode([one.events for one in after[: len(before)]]) == msgspec.json.encode(
            [one.events for one in before]
        )
        (noted,) = told(after[len(before) :], CustomEvent)
        assert (noted.name, noted.data["session"]) == ("imported", session.id)
        assert (await elsewhere.list_approvals(ListApprovals(state=[]))).approvals == []
        assert (await elsewhere.list_grants(Nothing())).grants == []
        assert (await elsewhere.list_sessions(ListSessions())).sessions == []
        assert (await whole(elsewhere, taken.id, "md"))[0].startswith(b"# first\n")
        for refused in (
            elsewhere.resume(OfSession(session_id=taken.id)),
            elsewhere.send_prompt(SendPrompt(session_id=taken.id, content="go on")),
        ):
            with pytest.raises(HostError, match="imported") as told_why:
                await refused
            assert told_why.value.code == "conflict"
        again = await imported(elsewhere, body, name="second")
        assert (again.name, again.id != taken.id) == ("second", True)
    async with other.opened() as elsewhere:  # and after a restart
        assert len(await all_frames(elsewhere, taken.id)) == len(after)


async def test_a_file_comes_in_parts_and_a_part_that_comes_again_counts_once(place: Place) -> None:
    async with place.opened() as host:
        session = await spoken(place, host)
        body, _ = await whole(host, session.id, "ndjson")
        third = len(body) // 3
        begun = await host.import_session(ImportSession(body=body[:third], more=True))
        for _ in range(2):
            next_ = ImportSession(body=body[third : 2 * third], import_id=begun.import_id, offset=third, more=True)
            assert (await host.import_session(next_)).size_bytes == 2 * third
        with pytest.raises(HostError) as gap:
            await host.import_session(ImportSession(body=b"x", import_id=begun.import_id, offset=3 * third))
        assert gap.value.details["field"] == "offset"
        last = ImportSession(body=body[2 * third :], import_id=begun.import_id, offset=2 * third)
        done = await host.import_session(last, key="last")
        assert done.session is not None
        again = await host.import_session(last, key="last")
        assert again.session is not None
        assert again.session.id == done.session.id
        assert not list((place.folder / "imports").iterdir())


def row(**fields: Any) -> str:
    line = {"type": "user", "message": {"role": "user", "content": "hello"}}
    made = {"seq": 1, "at": 1.0, "kind": "sent", "origin": "user", "line": line, **fields}
    return json.dumps({name: value for name, value in made.items() if value is not None})


HEAD = json.dumps({"quarterdeck_session": 1, "id": "x", "cwd": "/srv", "created_at": 1.0})
HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "no rows": HEAD.encode(),
    "no header": row().encode(),
    "not JSON": b"PK\x03\x04" * 100,
    "nulls": b"\0" * 10_000,
    "bad UTF-8": HEAD.encode() + b"\n" + row(line={"type": "\x00"}).encode() + b"\n\xff\xfe",
    "deep": (HEAD + "\n" + row(line="X").replace('"X"', "[" * 100_000)).encode(),
    "another format": HEAD.replace("1", "2", 1).encode() + b"\n" + row().encode(),
    "a time that is none": (HEAD + "\n" + row(at=1e300)).encode(),
    "a time before 1970": (HEAD + "\n" + row(at=-5.0)).encode(),
    "an unknown kind": (HEAD + "\n" + row(kind="surprise")).encode(),
    "an event that is none": (HEAD + "\n" + row(kind="event", line={"type": "surprise"})).encode(),
    "an event of another shape": (HEAD + "\n" + row(kind="event", line={"type": "queue_changed"})).encode(),
    "bad base64": (HEAD + "\n" + row(line=None, bytes_base64="!")).encode(),
    "a generation": (HEAD + "\n" + row(generation=2**40)).encode(),
    "a sender": (HEAD + "\n" + row(sender="\ud800".encode("utf-16", "surrogatepass").hex() + "\0")).encode(),
    "a name": HEAD.replace('"x"', '"x", "name": "a\\u0000b"').encode() + b"\n" + row().encode(),
    "a number as folder": HEAD.replace('"/srv"', "7").encode() + b"\n" + row().encode(),
    "a folder that is none": HEAD.replace("/srv", "/srv\\u0000/x").encode() + b"\n" + row().encode(),
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
async def test_a_hostile_file_is_refused_and_leaves_nothing(place: Place, body: bytes) -> None:
    async with place.opened() as host:
        with pytest.raises(HostError) as refused:
            await imported(host, body)
        assert refused.value.code == "invalid"
        assert len(str(refused.value)) < 1_000
        assert (await host.list_sessions(ListSessions(archived=True))).sessions == []
        assert await host.store.setting(UNFINISHED) is None
        assert not list((place.folder / "imports").iterdir())


async def test_a_hostile_file_that_reads_well_leaves_nothing_that_runs_or_waits(place: Place) -> None:
    """Prompts that wait, a request that is open, a transcript of somebody else: none of it comes alive."""
    async with place.opened() as host:
        victim = await spoken(place, host)
        assert victim.transcript_id is not None
        init = {"type": "system", "subtype": "init", "session_id": victim.transcript_id, "cwd": "/", "tools": []}
        waits = {"type": "queue_changed", "at": 1.0, "prompts": [{"id": "1", "content": "rm -rf /", "state": "queued"}]}
        asks = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t"}
        rows = [
            row(kind="received", origin="agent", line=init),
            row(kind="received", origin="agent", line={"type": "control_request", "request_id": "r", "request": asks}),
            row(kind="event", origin="host", line=waits),
            row(line=None, bytes_base64=base64.b64encode(b"\xff not JSON").decode()),
        ]
        taken = await imported(host, "\n".join([HEAD, *rows]).encode(), cwd=str(place.cwd))
        await host.update_session(UpdateSession(session_id=taken.id, name="renamed", archived=False))
        shown = await host.get_session(OfSession(session_id=taken.id))
        assert (shown.state, shown.pending_approvals, shown.transcript_id) == ("stopped", 0, None)
        assert (await host.list_prompts(OfSession(session_id=taken.id))).prompts == []
        assert (await host.get_session(OfSession(session_id=victim.transcript_id))).id == victim.id
        host.tend()
        assert not worked_on(host)


async def test_where_and_how_much_may_be_imported_is_limited(place: Place) -> None:
    body = (HEAD + "\n" + row()).encode()
    limited = Caller(name="limited", scope="operate", folders=(str(place.cwd),))
    async with place.opened(limits=Limits(import_bytes=500), folders=[place.cwd]) as host:
        with pytest.raises(HostError) as outside:
            await imported(host, body)
        assert outside.value.code == "folder_not_allowed"
        assert (await imported(host, body, limited, cwd=str(place.cwd))).cwd == str(place.cwd)
        with pytest.raises(HostError) as elsewhere:
            await imported(host, body, limited, cwd="/srv")
        assert elsewhere.value.code == "folder_not_allowed"
        with pytest.raises(HostError) as large:
            await imported(host, body + b"\n" * 500)
        assert large.value.code == "too_large"
        for bad in ("../../etc", "0b5c2f6e-6c0e-4f0c-9a39-2a1d5d1f7f10"):
            with pytest.raises(HostError) as unknown:
                await imported(host, body, import_id=bad)
            assert unknown.value.details["field"] == "import_id"


async def test_imports_that_are_not_completed_are_bounded_together(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (HEAD + "\n" + row()).encode()
    part = ImportSession(body=body, more=True)
    async with place.opened(limits=Limits(import_bytes=3 * len(body)), folders=[place.cwd]) as host:
        begun = [await host.import_session(part) for _ in range(3)]
        with pytest.raises(HostError, match="3 other imports are incomplete") as full:
            await host.import_session(part)
        assert full.value.code == "busy"
        end = ImportSession(body=b"\n", import_id=begun[0].import_id, offset=len(body), more=True)
        with pytest.raises(HostError, match="2 other imports"):
            await host.import_session(end)
        old = place.folder / "imports" / begun[1].import_id
        os.utime(old, (1.0, 1.0))
        assert (await host.import_session(end)).size_bytes == len(body) + 1
        assert not old.exists()
        with pytest.raises(HostError) as gone:
            await host.import_session(msgspec.structs.replace(end, import_id=begun[1].import_id))
        assert gone.value.code == "not_found"
        monkeypatch.setattr("quarterdeck.host.importing.MOST_INCOMPLETE", 2)
        with pytest.raises(HostError, match="2 other imports"):
            await host.import_session(ImportSession(body=b"{", more=True))


async def test_an_import_that_a_host_died_in_is_gone_at_the_next_start(place: Place) -> None:
    half = "0b5c2f6e-6c0e-4f0c-9a39-2a1d5d1f7f10"
    async with asyncio.timeout(LIMIT_S), place.host() as host:
        record = SessionRecord(id=half, state="stopped", cwd="/srv", created_at=1.0, active_at=1.0, archived=True)
        rows = [NewRow(at=1.0, kind="sent", origin="user", body=b"{}")]
        changes = [PutSession(record), PutSetting(UNFINISHED, msgspec.json.encode([half]))]
        await host.store.commit(Commit(session=half, rows=rows, changes=changes))
    async with place.opened() as host:
        assert (await host.list_sessions(ListSessions(archived=True))).sessions == []
        assert await host.store.setting(UNFINISHED) is None


async def test_a_session_of_100_000_rows_is_imported_and_exported_in_constant_memory(place: Place) -> None:
    """Each part is bounded, and so is what the host holds while it makes them, for rows and for people."""
    said = {"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [], "model": "m"}}
    said["message"]["content"] = [{"type": "text", "text": "words " * 30}]  # type: ignore[index]
    line = json.dumps(said)
    head = json.dumps({"quarterdeck_session": 1, "id": "x", "cwd": str(place.cwd), "created_at": 1.0})
    async with place.opened(index=False, retention=None, limit_s=5 * LIMIT_S) as host:  # its rows are of 1970
        request, offset = ImportSession(body=head.encode() + b"\n", more=True), 0
        for start in range(1, 100_001, 20_000):
            rows = "".join(
                f'{{"seq":{seq},"at":{seq}.0,"kind":"received","origin":"agent","line":{line}}}\n'
                for seq in range(start, start + 20_000)
            )
            done = await host.import_session(request)
            offset = done.size_bytes
            more = start + 20_000 <= 100_000
            request = ImportSession(body=rows.encode(), import_id=done.import_id, offset=offset, more=more)
        taken = (await host.import_session(request)).session
        assert taken is not None
        assert taken.seq >= 100_000
        for form, per_row in (("ndjson", 280), ("md", 190), ("html", 190)):
            export, size, sizes = Export(session_id=taken.id, format=form), 0, []  # type: ignore[arg-type]
            while True:
                part = await host.export_session(export)
                size += len(part.body)
                assert len(part.body) < 2 * MIB
                sizes.append(resident())
                if part.next_cursor is None:
                    break
                export = msgspec.structs.replace(export, cursor=part.next_cursor)
            assert size > 100_000 * per_row
            assert len(sizes) > 15
            assert sizes[-1] - sizes[9] < 4 * MIB, (form, [one // MIB for one in sizes])


def resident() -> int:
    """What this process takes of the machine's memory by now, without what it could give back."""
    gc.collect()
    give_back()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


async def test_no_row_is_folded_twice_however_long_the_document(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor by one who reads the log page by page. An imported session has one snapshot, at its end."""
    folded: list[int] = []
    events = FrameFold.events

    def counted(self: FrameFold, row: Any, message: Any = None) -> Any:
        folded.append(row.seq)
        return events(self, row, message)

    line = {"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [], "model": "m"}}
    line["message"]["content"] = [{"type": "text", "text": "words " * 3_000}]  # type: ignore[index]
    body = "\n".join([HEAD, *[row(kind="received", origin="agent", line=line, seq=seq) for seq in range(1, 401)]])
    async with place.opened(index=False, retention=None) as host:
        taken = await imported(host, body.encode(), cwd=str(place.cwd))
        monkeypatch.setattr(FrameFold, "events", counted)
        for form in ("md", "html"):
            _, parts = await whole(host, taken.id, form)
            assert parts > 5
            assert folded == list(range(1, taken.seq + 1))
            folded.clear()
        frames, after = 0, f"{taken.epoch}-0"
        while frames < taken.seq:
            page = await host.read_events(ReadEvents(session_id=taken.id, after=after, limit=50))
            frames, after = frames + len(page.frames), f"{page.epoch}-{page.frames[-1].seq}"
        assert folded == list(range(1, taken.seq + 1))


async def test_a_part_is_the_same_if_nobody_knows_the_last_one(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "PART_BYTES", 1)  # a row each
    async with place.opened() as host:
        session = await spoken(place, host)
        told = await whole(host, session.id, "md")
        monkeypatch.setattr(KeptFolds, "take", lambda *args: None)
        assert await whole(host, session.id, "md") == told


async def test_what_retention_has_left_is_exported(place: Place) -> None:
    """The first row that is left has no snapshot before it."""
    line = {"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [], "model": "m"}}
    rows = []
    for seq in range(1, 11):
        line["message"]["content"] = [{"type": "text", "text": f"Said at {seq}."}]  # type: ignore[index]
        rows.append(row(kind="received", origin="agent", line=line, seq=seq, at=float(seq)))
    async with place.opened(index=False, retention=Retention(row_age_s=100.0), clock=lambda: 106.0) as host:
        taken = await imported(host, "\n".join([HEAD, *rows]).encode(), cwd=str(place.cwd))
        await host.retain()
        text = (await whole(host, taken.id, "md"))[0].decode()
        assert "the first 5 rows are no longer available" in text
        assert re.findall(r"Said at (\d+)", text) == ["6", "7", "8", "9", "10"]


async def test_a_document_of_thirty_megabytes_is_made_for_people_in_constant_memory(place: Place) -> None:
    said = {"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [], "model": "m"}}
    said["message"]["content"] = [{"type": "text", "text": "words " * 1_000}]  # type: ignore[index]
    line = json.dumps(said)
    head = json.dumps({"quarterdeck_session": 1, "id": "x", "cwd": str(place.cwd), "created_at": 1.0})
    rows = [f'{{"seq":{seq},"at":{seq}.0,"kind":"received","origin":"agent","line":{line}}}' for seq in range(1, 5_001)]
    body = "\n".join([head, *rows]).encode()
    del rows
    async with place.opened(index=False, retention=None, limit_s=5 * LIMIT_S) as host:  # its rows are of 1970
        taken = await imported(host, body)
        for form in ("md", "html"):
            size = parts = 0
            export = Export(session_id=taken.id, format=form)  # type: ignore[arg-type]
            tracemalloc.start()
            try:
                while True:
                    part = await host.export_session(export)
                    size, parts = size + len(part.body), parts + 1
                    if part.next_cursor is None:
                        break
                    export = msgspec.structs.replace(export, cursor=part.next_cursor)
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert size > 5_000 * 6_000
            assert parts > 20
            assert peak < 12 * MIB, (form, peak)
