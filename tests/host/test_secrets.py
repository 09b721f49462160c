"""Environment, headers and keys of sessions are in no row, no record and no export."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from host.kit import LIMIT_S, Place, all_frames
from looping import for_each
from quarterdeck.host import Host, HostError
from quarterdeck.host.redacting import HIDDEN, NOTHING_TO_SAY, line_again, row_body
from quarterdeck.host.requests import (
    Export,
    Fork,
    OfSession,
    ReadEvents,
    SetMcpServers,
    Wait,
)
from quarterdeck.wire import decode

SECRET = "sk-5f0c1e22-never-in-a-row"
SERVERS = {
    "tickets": {"type": "http", "url": f"http://127.0.0.1:1/mcp?key={SECRET}", "headers": {"X-Key": SECRET}},
    "files": {"type": "stdio", "command": "false", "args": ["--token", SECRET], "env": {"FILES_KEY": SECRET}},
}


@pytest.fixture(params=[True, False], ids=["keeper", "no keeper"])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    return Place(tmp_path, keeper=request.param)


def of(session: Any) -> OfSession:
    return OfSession(session_id=session.id)


async def idle(host: Host, session: Any) -> None:
    await host.wait(Wait(session_id=session.id, for_=["idle"], timeout_s=LIMIT_S))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # a socket, or a file of the keeper that was there a moment ago
        return b""


async def only_these_have_the_secret(folder: Path, expected: list[str]) -> None:
    """Once the keeper has removed what it had for a process that has ended."""
    async with asyncio.timeout(LIMIT_S):
        while files_with_the_secret(folder) != expected:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def files_with_the_secret(folder: Path) -> list[str]:
    files = (Path(parent, name) for parent, _, names in os.walk(folder) for name in names)
    found = [path for path in files if SECRET.encode() in _content(path)]
    return sorted(str(path.relative_to(folder)) for path in found)


async def test_mcp_servers_that_are_set_while_it_runs_leave_no_secret_in_any_file_of_the_host(place: Place) -> None:
    place.claude.play(["Hi."])
    async with place.opened() as host:
        session = await place.created(host)
        await idle(host, session)
        await host.set_mcp_servers(SetMcpServers(session_id=session.id, servers=SERVERS))
        shown = await host.list_mcp_servers(of(session))  # the answer of Claude Code has the configurations
        assert SECRET in json.dumps(shown.details)
        lines = (await host.read_events(ReadEvents(session_id=session.id, view="raw"))).frames
        document = await host.export_session(Export(session_id=session.id))
        assert HIDDEN in str(lines)
        assert SECRET not in str(lines) + str(document)
    assert any(path.read_bytes().startswith(b"SQLite format") for path in place.folder.iterdir() if path.is_file())
    await only_these_have_the_secret(place.folder, [])


async def test_options_with_secrets_reach_each_process_and_are_in_a_private_file_alone(place: Place) -> None:
    place.claude.play(["Hi."], ["Again."])
    options = {"env": {"DEPLOY_KEY": SECRET}, "mcp_servers": {"files": SERVERS["files"]}}
    async with place.opened() as host:
        session = await place.created(host, options=options)
        await idle(host, session)
        assert "DEPLOY_KEY" not in str(await all_frames(host, session.id))
        fork = await host.fork(Fork(session_id=session.id))
        await host.stop(of(fork))
        await host.stop(of(session))
    private = sorted(f"private/{one.id}.json" for one in (session, fork))
    await only_these_have_the_secret(place.folder, private)
    assert [stat.S_IMODE((place.folder / one).stat().st_mode) for one in private] == [0o600, 0o600]

    async with place.opened() as host:  # another host has them, too
        await host.resume(of(session))
        servers = (await host.list_mcp_servers(of(session))).details["servers"]
        assert [server["name"] for server in servers] == ["files"]
        await host.delete_session(of(session))
        await only_these_have_the_secret(place.folder, [f"private/{fork.id}.json"])


async def test_a_session_whose_private_options_are_gone_does_not_start_without_them(tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=False)
    async with place.opened() as host:
        session = await place.created(host, None, options={"env": {"DEPLOY_KEY": SECRET}})
        await host.stop(of(session))
        (place.folder / "private" / f"{session.id}.json").unlink()
        with pytest.raises(HostError, match="are missing: env") as refused:
            await host.resume(of(session))
        assert refused.value.code == "conflict"


async def test_an_option_that_is_no_json_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=False)
    async with place.opened() as host:
        with pytest.raises(HostError, match="plain JSON"):
            await place.created(host, None, options={"hooks": {"PreToolUse": [object()]}})
        with pytest.raises(HostError, match="is set by the host"):
            await place.created(host, None, options={"cwd": "/"})


CONFIGURING = [
    {"type": "control_request", "request_id": "1", "request": {"subtype": "mcp_set_servers", "servers": SERVERS}},
    {"type": "control_request", "request_id": "1", "request": {"subtype": "x", "settings": {"env": {"A": SECRET}}}},
    {"type": "control_request", "request_id": "1", "request": {"subtype": "x", "settings": {"apiKey": SECRET}}},
    {"type": "control_request", "request_id": "1", "request": {"subtype": "x", "url": f"https://me:{SECRET}@host/a"}},
    {"type": "update_environment_variables", "variables": {"ANTHROPIC_API_KEY": SECRET}},
]


@for_each("line", CONFIGURING, ids=lambda line: json.dumps(line)[:60])
def test_a_line_of_ours_is_kept_without_its_secrets_and_not_sent_again_without_them(line: dict[str, Any]) -> None:
    message = decode(json.dumps(line, separators=(",", ":")).encode())
    kept = row_body(message, "in", message.raw)
    assert SECRET.encode() not in kept
    assert (json.loads(kept).keys(), json.loads(kept)["type"]) == (line.keys(), line["type"])
    assert line_again(kept) == NOTHING_TO_SAY


UNTOUCHED = [
    ("in", {"type": "user", "message": {"role": "user", "content": f"The env is {SECRET}"}}),
    ("in", {"type": "control_request", "request_id": "1", "request": {"subtype": "set_model", "model": "opus"}}),
    ("in", {"type": "control_request", "request_id": "1", "request": {"subtype": "x", "tokens": 3, "url": "http://a/b"}}),
    ("out", {"type": "control_request", "request_id": "1", "request": {
        "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "env", "env": {"A": "b"}}}}),
]  # fmt: skip


@for_each(("direction", "line"), UNTOUCHED, ids=lambda one: str(one)[:60])
def test_every_other_line_is_kept_byte_for_byte(direction: Any, line: dict[str, Any]) -> None:
    raw = json.dumps(line).encode()
    assert row_body(decode(raw), direction, raw) is raw
    assert line_again(raw) == raw
