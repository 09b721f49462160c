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

from gateways.http.kit import Client, Messages
from host.kit import LIMIT_S
from quarterdeck.cli import main


@asynccontextmanager
async def serving(state: Path, *words: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, Any, Client]]:
    command = [sys.executable, "-m", "quarterdeck", "serve", "--state", str(state), "--listen", "127.0.0.1:0"]
    process = await asyncio.create_subprocess_exec(
        *command,
        *("--agent", "sim", "--no-keeper", "--json", "--log", "json", *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            assert process.stdout is not None
            ready = json.loads(await process.stdout.readline())
            host, _, port = ready["ready"].removeprefix("http://").rpartition(":")
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
        assert [json.loads(line)["message"] for line in log.splitlines()] == ["Stopping"]
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
