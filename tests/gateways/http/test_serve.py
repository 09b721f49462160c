"""``quarterdeck serve`` as a program: ready, asked over TCP and its socket, and told to stop."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gateways.http.kit import Client, Messages, read_reply
from host.kit import LIMIT_S
from quarterdeck.cli import main


@asynccontextmanager
async def serving(
    state: Path, *words: str, descriptors: int = 1024, program: tuple[str, ...] = ("-m", "quarterdeck")
) -> AsyncIterator[tuple[asyncio.subprocess.Process, Any, Client]]:
    command = [sys.executable, *program, "serve", "--state", str(state), "--listen", "127.0.0.1:0"]
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "serve", *command),
        *("--agent", "sim", "--no-keeper", "--json", "--log", "json", *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            assert process.stdout is not None
            ready = json.loads(await process.stdout.readline())
            host, _, port = ready["ready"].partition("://")[2].rpartition(":")
            yield process, ready, Client((host, int(port)), (state / "token").read_text().strip())
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_it_says_when_it_is_ready_serves_and_stops_when_told(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with serving(state) as (process, ready, client):
        assert oct((state / "token").stat().st_mode & 0o777) == "0o600"
        made = await client.post("/v1/sessions", {"cwd": str(tmp_path), "prompt": "hello"})
        assert made.status == 201
        assert (await client.get(f"/v1/sessions/{made.json['id']}/wait")).json["state"] == "idle"
        local = Client(Path(ready["unix"]), client.secret)
        assert [one["id"] for one in (await local.get("/v1/sessions")).json["sessions"]] == [made.json["id"]]
        async with client.socket() as socket:
            messages = Messages(socket)
            await messages.next()
            process.send_signal(signal.SIGTERM)
            assert (await messages.until("error"))["code"] == "shutting_down"
            await socket.wait_closed()
            assert socket.close_code == 1012
        _, log = await process.communicate()
        assert process.returncode == 0
        lines = [json.loads(line) for line in log.splitlines()]
        assert [line["message"] for line in lines] == ["create_session by 'local': ok", "Stopping"]
        noted = {"operation": "create_session", "caller": "local", "via": "http", "code": "ok", "level": "info"}
        assert noted.items() <= lines[0].items()
        assert lines[0]["took_s"] > 0
    assert not (state / "host.sock").exists()


async def test_its_token_stays_the_same_over_a_restart(tmp_path: Path) -> None:
    secrets = []
    for _ in range(2):
        async with serving(tmp_path / "state") as (process, _, client):
            secrets.append(client.secret)
            assert (await client.get("/v1/tokens")).status == 200
            process.send_signal(signal.SIGINT)
            assert await process.wait() == 0
    assert secrets[0] == secrets[1]


async def test_as_many_connections_as_there_are_descriptors_leave_sessions_theirs(tmp_path: Path) -> None:
    async with serving(tmp_path / "state", descriptors=256) as (process, _, client):
        held = [await client.open() for _ in range(300)]
        first_reader, first_writer = held[0]
        for reader, writer in held[128:]:
            refused = await read_reply(reader)
            assert (refused.status, refused.code) == (503, "busy")
            writer.close()
        made = {"cwd": str(tmp_path), "prompt": "hello"}
        body = json.dumps(made).encode()
        keep = {"Connection": "keep-alive", "Content-Type": "application/json"}
        first_writer.write(client.head("POST", "/v1/sessions", keep, len(body)) + body)
        session = (await read_reply(first_reader)).json["id"]
        first_writer.write(client.head("GET", f"/v1/sessions/{session}/wait", {}, None))
        assert (await read_reply(first_reader)).json["state"] == "idle"
        for _, writer in held[:128]:
            writer.close()
        while (answer := await client.get("/v1/sessions")).status == 503:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert [one["id"] for one in answer.json["sessions"]] == [session]
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def test_a_second_signal_waits_for_nobody(tmp_path: Path) -> None:
    """A request is under way, and the host would wait an hour for it."""
    program = (
        "import functools, sys; from quarterdeck.gateways import http; from quarterdeck.cli import main;"
        "http.Settings = functools.partial(http.Settings, drain_s=3600); sys.exit(main())"
    )
    async with serving(tmp_path / "state", program=("-c", program)) as (process, _, client):
        reader, writer = await client.open()
        more = {"Content-Type": "application/json", "Expect": "100-continue"}
        writer.write(client.head("POST", "/v1/sessions", more, 100))
        assert b"100 Continue" in await reader.readline()
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        assert json.loads(await process.stderr.readline())["message"] == "Stopping"
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
        writer.close()


async def test_its_socket_can_be_elsewhere(tmp_path: Path) -> None:
    place, state = tmp_path / "deck.sock", tmp_path / "state"
    async with serving(state, "--unix", str(place)) as (process, ready, client):
        assert ready["unix"] == str(place)
        assert oct(place.stat().st_mode & 0o777) == "0o600"
        assert (await Client(place, client.secret).get("/v1/host")).status == 200
        assert not (state / "host.sock").exists()
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
    assert not place.exists()


async def test_behind_a_proxy_it_has_the_name_the_path_and_the_scheme_of_the_proxy(tmp_path: Path) -> None:
    words = ("--allow-host", "deck.example", "--proxy", "127.0.0.1", "--base-path", "/deck")
    async with serving(tmp_path / "state", *words) as (_, _, client):
        behind = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "deck.example"}
        reply = await client.get("/deck/v1/host", headers={**behind, "Origin": "https://deck.example"})
        assert (reply.status, "strict-transport-security" in reply.headers) == (200, True)
        described = await client.get("/deck/openapi.json", headers=behind)
        assert described.json["servers"] == [{"url": "/deck"}]
        for changed, status in (
            ({"X-Forwarded-Host": "evil.example"}, 421),
            ({"Origin": "http://deck.example"}, 403),
            ({"Origin": "https://evil.example"}, 403),
        ):
            assert (await client.get("/deck/v1/host", headers={**behind, **changed})).status == status, changed
        guess = Client(client.address, "wrong")
        assert (await guess.get("/deck/v1/host", headers=behind)).status == 401
        noted = (await client.get("/deck/v1/audit", headers=behind)).json["audit"]
        assert [one["details"]["address"] for one in noted if one["operation"] == "authenticate"] == ["203.0.113.9"]


async def test_without_a_named_proxy_nobody_is_believed(tmp_path: Path) -> None:
    async with serving(tmp_path / "state", "--allow-host", "deck.example") as (_, _, client):
        told = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}
        reply = await client.get("/v1/host", headers=told)
        assert (reply.status, "strict-transport-security" in reply.headers) == (200, False)
        assert (await client.get("/v1/host", headers={"Host": "deck.example"})).status == 200
        assert (await client.get("/v1/host", headers={"Host": "evil.example"})).status == 421


async def test_a_state_folder_in_use_is_refused_without_a_traceback(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with serving(state):
        second = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "quarterdeck", "serve", "--state", str(state), "--listen", "127.0.0.1:0"),
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(LIMIT_S):
            _, said = await second.communicate()
        assert second.returncode == 1
        assert said.decode().splitlines() == [
            f"quarterdeck serve: a host is already running in {state}",
            "  Use it: quarterdeck ps. Or choose another --state.",
        ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--listen", "0.0.0.0:0"], "reachable from other machines"),
        (["--listen", "8787"], "is not HOST:PORT"),
        (["--tls-key", "k"], "--tls-key needs --tls-cert"),
    ],
    ids=["network", "listen", "key"],
)
def test_what_makes_no_sense_is_refused_before_anything_is_started(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["serve", *words])
    assert left.value.code == 2
    assert said in capsys.readouterr().err
