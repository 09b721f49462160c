"""``quarterdeck serve --grpc`` as a program: beside HTTP, over its death, and until it is told to stop."""

from __future__ import annotations

import signal
from pathlib import Path

import grpc
import pytest

from gateways.grpc.kit import Client, Watching, info_of
from gateways.http.test_serve import serving
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
        seen = [(event.seq, event.WhichOneof("event")) for event in (*before.seen, *again.seen)]
        told = [(event.seq, event.WhichOneof("event")) for event in whole.seen]
        both = min(len(seen), len(told))
        assert seen[:both] == told[:both]
        assert resources_pb2.SESSION_STATE_IDLE in [event.status_change.state for event in whole.seen]


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
