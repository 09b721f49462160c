"""A long document is sent while it is made, and a long file comes in parts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from gateways.http.kit import read_head, served
from host.kit import LIMIT_S
from quarterdeck.host import exporting
from quarterdeck.host.requests import CreateSession, Wait


async def chunks(reader: asyncio.StreamReader) -> list[bytes]:
    """The parts of an answer without a length."""
    found = []
    while size := int(await reader.readline(), 16):
        found.append(await reader.readexactly(size))
        await reader.readline()
    return found


async def test_an_export_is_one_document_made_of_parts_and_can_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "PART_BYTES", 2_000)
    async with asyncio.timeout(LIMIT_S), served(tmp_path, turns=["A long answer. " * 500]) as there:
        host, client = there.host, there.client()
        session = await host.create_session(CreateSession(cwd=str(there.place.cwd), prompt="go", name="long"))
        await host.wait(Wait(session_id=session.id))
        for form in ("ndjson", "md", "html"):
            reader, writer = await client.open()
            writer.write(client.head("GET", f"/v1/sessions/{session.id}/export?format={form}", {}, None))
            status, headers = await read_head(reader)
            assert status == 200
            assert "content-length" not in headers
            assert "sandbox" in headers["content-security-policy"]
            assert headers["content-disposition"].endswith(f'session.{form}"')
            parts = await chunks(reader)
            writer.close()
            if form == "ndjson":
                assert len(parts) > 2
                exported = b"".join(parts)
        lines = [json.loads(line) for line in exported.splitlines()]
        assert [line["seq"] for line in lines[1:]] == list(range(1, len(lines)))
        half = len(exported) // 2
        kind = {"Content-Type": "application/x-ndjson"}
        begun = await client.post("/v1/sessions/import?more=true", exported[:half], headers=kind)
        assert begun.status == 201
        place = f"/v1/sessions/import?import_id={begun.json['import_id']}&offset={half}&name=copy"
        done = await client.post(place, exported[half:], headers=kind)
        assert (done.json["session"]["name"], done.json["session"]["archived"]) == ("copy", True)
        bad = await client.post("/v1/sessions/import", b"PK\x03\x04", headers=kind)
        assert (bad.status, bad.code) == (400, "invalid")
        while not (found := (await client.get("/v1/search?q=long%20answer")).json["hits"]):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        assert {hit["kind"] for hit in found} == {"text"}
