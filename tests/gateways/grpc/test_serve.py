"""``quarterdeck serve --grpc`` as a program: beside HTTP, over its death, and until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from pathlib import Path

import grpc
import pytest

from certificates import certificate
from gateways.grpc.kit import Client, Watching, info_of
from gateways.http.test_serve import serving
from host.kit import LIMIT_S
from quarterdeck.cli import main
from quarterdeck.gateways.grpc.v1 import resources_pb2


async def test_it_serves_both_faces_of_one_host_and_stops_when_told(tmp_path: Path) -> None:
    state, unix = tmp_path / "state", f"unix:{tmp_path / 'calls.sock'}"
    async with serving(state, "--grpc", "127.0.0.1:0", "--grpc", unix) as (process, ready, http):
        tcp, local = ready["grpc"]
        assert local == unix
        made = await http.post("/v1/sessions", {"cwd": str(tmp_path), "prompt": "hello"})
        async with grpc.aio.insecure_channel(tcp) as channel, grpc.aio.insecure_channel(local) as beside:
            watching = Watching(Client(channel, http.secret).watch(made.json["id"]))
            await watching.until("turn_ended")
            listed = await Client(beside, http.secret).ask("list_sessions")
            assert [one.id for one in listed.sessions] == [made.json["id"]]
            process.send_signal(signal.SIGTERM)
            with pytest.raises(grpc.aio.AioRpcError) as goodbye:
                while True:
                    await watching.next()
            assert info_of(goodbye.value).reason == "shutting_down"
        await process.communicate()
        assert process.returncode == 0
    assert not (tmp_path / "calls.sock").exists()


async def test_a_watch_goes_on_by_its_cursor_after_the_host_was_killed_and_started_again(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with serving(state, "--grpc", "127.0.0.1:0") as (process, ready, http):
        made = await http.post("/v1/sessions", {"cwd": str(tmp_path), "prompt": "hello"})
        session = made.json["id"]
        async with grpc.aio.insecure_channel(ready["grpc"][0]) as channel:
            before = Watching(Client(channel, http.secret).watch(session, previews=False))
            await before.until("turn_ended")
            process.kill()
            with pytest.raises(grpc.aio.AioRpcError) as cut:
                while True:
                    await before.next()
            assert cut.value.code() == grpc.StatusCode.UNAVAILABLE
        await process.wait()
    async with (
        serving(state, "--grpc", "127.0.0.1:0") as (_, ready, http),
        grpc.aio.insecure_channel(ready["grpc"][0]) as channel,
    ):
        client = Client(channel, http.secret)
        again = Watching(client.watch(session, previews=False, after=before.cursor))
        await client.ask("send_prompt", session_id=session, content={"text": "and now?"})
        await again.until("turn_ended")
        assert again.hello.resumed
        whole = Watching(client.watch(session, previews=False))
        await whole.until("turn_ended")
        await whole.until("turn_ended")
        last = again.seen[-1].seq
        while whole.seen[-1].seq < last:
            await whole.next()
        assert [*before.seen, *again.seen] == [event for event in whole.seen if event.seq <= last]
        assert whole.kinds.count("turn_ended") == 2
        assert resources_pb2.SESSION_STATE_IDLE in [event.status_change.state for event in whole.seen]


async def test_as_many_connections_as_there_are_descriptors_leave_sessions_theirs(tmp_path: Path) -> None:
    async with serving(tmp_path / "state", "--grpc", "127.0.0.1:0", descriptors=256) as (process, ready, http):
        (address,) = ready["grpc"]
        host, _, port = address.rpartition(":")
        held = [await asyncio.open_connection(host, int(port)) for _ in range(300)]
        try:
            ends = {asyncio.ensure_future(_until_closed(reader)) for reader, _ in held}
            left = len(ends)
            while left > 64:  # a half of those that are left for clients
                done, ends = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                left -= len(done)
            made = await http.post("/v1/sessions", {"cwd": str(tmp_path), "prompt": "hello"})
            waited = await http.get(f"/v1/sessions/{made.json['id']}/wait")
            assert (made.status, waited.json["state"], left) == (201, "idle", 64)
        finally:
            for end in ends:
                end.cancel()
            for _, writer in held:
                writer.close()
        async with grpc.aio.insecure_channel(address) as channel:
            listed = await Client(channel, http.secret).call("list_sessions", metadata=(), timeout=LIMIT_S)
        assert [one.id for one in listed.sessions] == [made.json["id"]]
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def _until_closed(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(ConnectionError):
        while await reader.read(1024):
            pass


async def test_its_certificate_is_for_calls_too(tmp_path: Path) -> None:
    cert, key = await asyncio.to_thread(certificate, tmp_path)
    words = ("--grpc", "localhost:0", "--tls-cert", str(cert), "--tls-key", str(key))
    async with serving(tmp_path / "state", *words) as (_, ready, http):
        (address,) = ready["grpc"]
        trusted = grpc.ssl_channel_credentials(cert.read_bytes())
        async with grpc.aio.secure_channel(address, trusted) as channel:
            assert (await Client(channel, http.secret).ask("get_host")).version
        async with grpc.aio.secure_channel(address, grpc.ssl_channel_credentials()) as channel:
            with pytest.raises(grpc.aio.AioRpcError) as stranger:
                await Client(channel, http.secret).ask("get_host")
        assert stranger.value.code() == grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--grpc", "0.0.0.0:0"], "reachable from other machines"),
        (["--grpc", "8788"], "--grpc '8788' is not HOST:PORT"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_started(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["serve", *words])
    assert left.value.code == 2
    assert said in capsys.readouterr().err
