"""A recording as the CLI: in process, as a process, kept to and not kept to."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from conversations import paths
from looping import for_each
from quarterdeck.testing.launcher import write_launcher
from quarterdeck.testing.recording import Entry, Header, Recording, Trailer, load, save
from quarterdeck.testing.replay import ReplayTransport, cli_version
from quarterdeck.testing.replay_match import difference
from quarterdeck.testing.replay_player import Ended, InputEndedEarly, Player, ReplayMismatch, ReplayOutput
from quarterdeck.transport import ExitStatus, TransportClosed

LIMIT_S = 20.0
REPLAY = "import sys; from quarterdeck.cli.replay import main; sys.exit(main(sys.argv[1:]))"
RECORDINGS = paths()


class Host:
    """Takes what a transport delivers."""

    def __init__(self) -> None:
        self.received = b""
        self.eof = False
        self.status: ExitStatus | None = None

    def bytes_received(self, data: bytes) -> None:
        self.received += data

    def eof_received(self) -> None:
        self.eof = True

    def exited(self, status: ExitStatus) -> None:
        self.status = status


def line(**message: Any) -> bytes:
    return json.dumps(message).encode()


def request(request_id: str, subtype: str, **fields: Any) -> bytes:
    return line(type="control_request", request_id=request_id, request={"subtype": subtype, **fields})


def success(request_id: str, **response: Any) -> bytes:
    return line(
        type="control_response", response={"subtype": "success", "request_id": request_id, "response": response}
    )


def user(text: str, **extra: Any) -> bytes:
    return line(type="user", message={"role": "user", "content": text}, **extra)


ASK = request("cli-1", "can_use_tool", tool_name="Bash", input={"command": "ls"})
TALK: list[tuple[str, bytes]] = [
    ("in", request("req_1", "initialize")),
    ("out", success("req_1", commands=[])),
    ("in", user("hello", uuid="11111111-1111-1111-1111-111111111111")),
    ("out", ASK),
    ("in", success("cli-1", behavior="allow")),
    ("out", line(type="result", subtype="success", user_message_uuid="11111111-1111-1111-1111-111111111111")),
]


def recording(
    talk: Iterable[tuple[str, bytes]] = TALK,
    *,
    exit_code: int | None = 0,
    signal: str | None = None,
    gap_s: float = 0.0,
) -> Recording:
    entries = [
        Entry(index * gap_s, direction, text, number=index + 2)  # type: ignore[arg-type]
        for index, (direction, text) in enumerate(talk)
    ]
    entries.append(Entry(len(entries) * gap_s, "in", b"", eof=True, number=len(entries) + 2))
    return Recording(Header(), entries, Path("talk.ndjson"), Trailer(0.0, exit_code, signal))


def play(player: Player) -> list[bytes]:
    """What it says until it needs input or has ended."""
    said = []
    while isinstance(step := player.next(), ReplayOutput):
        said.append(step.data)
    return said


def with_other_ids(stream: bytes) -> bytes:
    return re.sub(rb'("type": ?"control_request", ?"request_id": ?")', rb"\1live-", stream)


async def replay(recorded: Recording, said: bytes, **options: Any) -> tuple[Host, ReplayTransport]:
    transport, host = ReplayTransport(recorded, **options), Host()
    await transport.start(host)
    transport.write(said)
    transport.close_input()
    async with asyncio.timeout(LIMIT_S):
        await transport.wait()
    return host, transport


@for_each("path", RECORDINGS, ids=lambda path: f"{path.parent.name}/{path.name.split('.')[0]}")
async def test_the_recorded_input_gets_the_recorded_output_byte_for_byte(path: Path) -> None:
    recorded = load(path)
    host, transport = await replay(recorded, recorded.stream("in"))
    assert host.received == recorded.stream("out")
    assert (host.eof, transport.mismatch) == (True, None)
    assert transport.stderr_tail == recorded.stderr
    expected = ExitStatus(code=recorded.exit_code) if recorded.signal is None else ExitStatus(signal=9)
    assert host.status == expected


async def test_answers_carry_the_ids_of_the_live_requests() -> None:
    recorded = load(next(path for path in RECORDINGS if path.name == "set_model_mode_thinking.ndjson"))
    host, transport = await replay(recorded, with_other_ids(recorded.stream("in")))
    expected = re.sub(rb'"request_id":"req_(\d+)"', rb'"request_id":"live-req_\1"', recorded.stream("out"))
    assert transport.mismatch is None
    assert host.received == expected != recorded.stream("out")


def test_what_comes_after_an_input_waits_for_it() -> None:
    player = Player(recording())
    assert play(player) == []
    player.receive(request("a", "initialize") + b"\n")
    assert play(player) == [success("a", commands=[]) + b"\n"]
    player.receive(user("hello", uuid="22222222-2222-2222-2222-222222222222") + b"\n")
    assert play(player) == [ASK + b"\n"]
    player.receive(success("cli-1", behavior="allow") + b"\n")
    result = line(type="result", subtype="success", user_message_uuid="22222222-2222-2222-2222-222222222222")
    assert play(player) == [result + b"\n"]
    assert player.next() is None
    player.receive_eof()
    assert player.next() == Ended(0, None)


def test_requests_with_the_same_id_are_answered_in_their_order() -> None:
    talk = [
        ("in", request("x", "a")),
        ("in", request("x", "b")),
        ("out", success("x", n=1)),
        ("out", success("x", n=2)),
    ]
    player = Player(recording(talk))
    player.receive(request("one", "a") + b"\n" + request("two", "b") + b"\n")
    assert play(player) == [success("one", n=1) + b"\n", success("two", n=2) + b"\n"]


def test_answers_may_come_in_another_order() -> None:
    talk = [
        ("out", request("p", "can_use_tool")),
        ("out", request("q", "can_use_tool")),
        ("in", success("p", n=1)),
        ("out", b'{"first":1}'),
        ("in", success("q", n=2)),
        ("out", b'{"second":1}'),
    ]
    player = Player(recording(talk))
    assert len(play(player)) == 2
    player.receive(success("q", n=2) + b"\n")
    assert play(player) == []
    player.receive(success("p", n=1) + b"\n")
    assert play(player) == [b'{"first":1}\n', b'{"second":1}\n']


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            user("hello"),
            "input line 1 is user; talk.ndjson:2 has control_request/initialize: expected control_request/initialize",
        ),
        (
            request("r", "initialize", hooks={"Stop": []}),
            "input line 1 is control_request/initialize; talk.ndjson:2 has control_request/initialize: "
            'request.hooks: expected nothing, found {"Stop": []}',
        ),
        (success("zzz"), "input line 1 is an answer to 'zzz', for which the recording has no (further) answer"),
        (b"nonsense", "input line 1 is a line that is not a JSON object; talk.ndjson:2 has control_request/init"),
    ],
)
def test_another_input_than_recorded_is_told_with_both_lines(said: bytes, reason: str) -> None:
    player = Player(recording())
    with pytest.raises(ReplayMismatch) as caught:
        player.receive(said + b"\n")
    text = str(caught.value)
    assert text.startswith(reason)
    assert text.endswith(f"\n  it was: {said.decode()}")


def test_an_input_that_ends_too_early_is_told() -> None:
    player = Player(recording())
    player.receive(request("a", "initialize") + b"\n")
    player.receive_eof()
    with pytest.raises(InputEndedEarly, match=r"the input ended after line 1; talk.ndjson:4 has user next"):
        play(player)


def test_more_input_than_recorded_is_told() -> None:
    player = Player(recording([("in", user("a"))]))
    player.receive(user("a") + b"\n")
    with pytest.raises(ReplayMismatch, match="input line 2 is user, where the recording has no further input"):
        player.receive(user("b") + b"\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (user("hi", session_id="a", uuid="b"), user("hi", parent_tool_use_id=None)),
        (user("hi\r\nyou "), user("hi\nyou")),
        (user("hi"), line(type="user", message={"role": "user", "content": [{"type": "text", "text": "hi"}]})),
        (
            request("1", "cancel_async_message", message_uuid="11111111-2222-3333-4444-555555555555"),
            request("2", "cancel_async_message", message_uuid="aaaaaaaa-2222-3333-4444-555555555555"),
        ),
        (user("see toolu_01ABCDEFGH at 2026-01-01T10:00:00Z"), user("see toolu_99ZZZZZZZZ at 2027-02-03T11:11:11.5Z")),
        (user("key [redacted], please"), user("key sk-ant-12345678, please")),
        (b" not json ", b"not json"),
    ],
)
def test_what_changes_from_run_to_run_does_not_count(old: bytes, new: bytes) -> None:
    assert difference(old, new) is None


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (user("hi"), user("ho"), 'message.content[0].text: expected "hi", found "ho"'),
        (user("hi", priority="now"), user("hi"), 'priority: expected "now", found nothing'),
        (line(type="a", list=[1, 2]), line(type="a", list=[1]), "list: expected [1, 2], found [1]"),
        (line(type="a", b=1), line(type="a", b=True, c=None), None),
        (b"[1]", b"[2]", 'expected "[1]"'),
        (user("a [redacted]"), user("b c"), 'message.content[0].text: expected "a [redacted]", found "b c"'),
    ],
)
def test_everything_else_counts(old: bytes, new: bytes, found: str | None) -> None:
    assert difference(old, new) == found


def test_lenient_replay_takes_input_by_kind_and_passes_over_what_is_left_out() -> None:
    player = Player(recording(), strict=False)
    player.receive(request("z", "get_status") + b"\n" + line(type="keep_alive") + b"\n")
    error = line(
        type="control_response", response={"subtype": "error", "request_id": "z", "error": "not in the recording"}
    )
    assert play(player) == [error + b"\n"]
    player.receive(user("something else") + b"\n")
    assert play(player) == [ASK + b"\n"]
    player.receive(success("cli-1", behavior="deny") + b"\n")
    assert len(play(player)) == 1
    player.receive_eof()
    assert player.next() == Ended(0, None)


async def test_a_mismatch_ends_the_transport_as_it_ends_the_process() -> None:
    transport, host = ReplayTransport(recording()), Host()
    await transport.start(host)
    transport.write(user("what?") + b"\n")
    async with asyncio.timeout(LIMIT_S):
        status = await transport.wait()
    assert (status, host.status, host.eof) == (ExitStatus(code=3), ExitStatus(code=3), True)
    assert transport.stderr_tail.startswith("quarterdeck replay: input line 1 is user; ")
    with pytest.raises(TransportClosed, match="input line 1 is user"):
        transport.write(b"more\n")
    with pytest.raises(TransportClosed):
        await transport.drain()


async def test_a_paused_transport_delivers_nothing_and_close_ends_it() -> None:
    transport, host = ReplayTransport(recording([("out", b"{}"), ("in", b"{}")])), Host()
    transport.pause_reading()
    await transport.start(host)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert host.received == b""
    async with asyncio.timeout(LIMIT_S):
        status = await transport.close()
    assert (status, host.received) == (ExitStatus(code=4), b"{}\n")


async def test_a_transport_can_be_abandoned_and_started_only_once() -> None:
    transport, host = ReplayTransport(recording()), Host()
    await transport.start(host)
    with pytest.raises(TransportClosed):
        await transport.start(host)
    transport.abandon()
    async with asyncio.timeout(LIMIT_S):
        assert await transport.wait() == ExitStatus(signal=9)


async def test_the_pace_can_be_that_of_the_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    waits: list[float] = []

    def without_waiting(delay_s: float, callback: Callable[..., object], *arguments: Any) -> asyncio.Handle:
        waits.append(delay_s)
        return loop.call_soon(callback, *arguments)

    monkeypatch.setattr(loop, "call_later", without_waiting)
    talk = [("out", b"{}"), ("out", b"{}"), ("out", b"{}")]
    host, _ = await replay(recording(talk, gap_s=0.5), b"", speed=10.0)
    assert host.received == b"{}\n" * 3
    assert waits == [0.05, 0.05]


def run_replay(path: Path, said: bytes, *flags: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", REPLAY, *flags, str(path), "--verbose", "--model", "x"]
    return subprocess.run(command, input=said, capture_output=True, timeout=LIMIT_S, check=False)


def saved(path: Path, recorded: Recording) -> Path:
    save(path, recorded.header, recorded.entries, recorded.end)
    return path


SAID = b"\n".join(text for direction, text in TALK if direction == "in") + b"\n"
OUTPUT = b"".join(text + b"\n" for direction, text in TALK if direction == "out")


@pytest.mark.parametrize(("code", "signal", "returncode"), [(0, None, 0), (7, None, 7), (None, "SIGTERM", -15)])
def test_the_process_ends_as_the_recorded_one(
    tmp_path: Path, code: int | None, signal: str | None, returncode: int
) -> None:
    done = run_replay(saved(tmp_path / "a.ndjson", recording(exit_code=code, signal=signal)), SAID)
    assert (done.returncode, done.stdout, done.stderr) == (returncode, OUTPUT, b"")


def test_the_process_reports_a_mismatch_on_stderr_with_code_3(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.ndjson", recording())
    done = run_replay(path, user("x") + b"\n")
    assert done.returncode == 3
    assert done.stderr.decode().startswith(f"quarterdeck replay: input line 1 is user; {path}:2 has control_request")
    assert run_replay(path, request("a", "initialize") + b"\n").returncode == 4
    assert run_replay(path, user("x") + b"\n" + success("cli-1") + b"\n", "--lenient").returncode == 0
    assert run_replay(path, SAID, "--speed", "1000").stdout == OUTPUT


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "{path}:1: the file is empty; expected the header of a recording"),
        (b'{"x": 1}\n', '{path}:1: not a recording: expected {{"quarterdeck": "recording"'),
        (
            b'{"quarterdeck": "recording", "version": 9}\n',
            "{path}:1: a recording of version 9; this program reads version 1",
        ),
        (
            b'{"quarterdeck": "recording", "version": 1}\n{"t": 1, "d": "up", "b": ""}\n',
            "{path}:2: expected \"d\" to be one of in, out, err, found 'up'",
        ),
    ],
)
def test_a_bad_recording_is_code_2_with_file_and_line(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "bad.ndjson"
    path.write_bytes(content)
    done = run_replay(path, b"")
    assert done.returncode == 2
    assert done.stderr.decode().startswith("quarterdeck replay: " + problem.format(path=path))


def test_a_missing_file_or_wrong_flag_is_code_2(tmp_path: Path) -> None:
    done = run_replay(tmp_path / "none.ndjson", b"")
    problem, next_step = done.stderr.decode().splitlines()
    assert (done.returncode, problem) == (
        2,
        f"quarterdeck replay: {tmp_path / 'none.ndjson'}: No such file or directory",
    )
    assert "quarterdeck tap --out FILE" in next_step
    done = run_replay(tmp_path / "none.ndjson", b"", "--speed", "0")
    assert (done.returncode, b"--speed must be above 0" in done.stderr) == (2, True)


def test_only_the_file_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    from quarterdeck.cli.replay import main

    with pytest.raises(SystemExit, match="2"):
        main([])
    assert "the following arguments are required: FILE\n" in capsys.readouterr().err


def test_the_launcher_replays_and_tells_the_version(tmp_path: Path) -> None:
    path = saved(tmp_path / "a b.ndjson", recording())
    other = saved(tmp_path / "{other}.ndjson", recording([("out", line(claude_code_version="9.8.7"))]))
    launcher = tmp_path / "claude"
    command = [sys.executable, "-c", REPLAY, "--install-launcher", str(launcher), str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=LIMIT_S)
    done = subprocess.run([launcher, "--verbose"], input=SAID, capture_output=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stdout) == (0, OUTPUT)
    env = {"QUARTERDECK_REPLAY_FILE": str(other), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([launcher, "-v"], env=env, capture_output=True, timeout=LIMIT_S, check=False)
    assert done.stdout == b"9.8.7 (Claude Code)\n"
    assert cli_version(load(path)) is None


def test_a_launcher_quotes_what_the_shell_would_take_apart(tmp_path: Path) -> None:
    words = ["a b", "$HOME", "it's", '"q"', "`x`", "{pid}", "back\\slash"]
    environment = {"$HOME": "ONE", "{pid}": "TWO", '"q"': "THREE"}
    (tmp_path / "shown.py").write_text("import json\ndef main(argv):\n    print(json.dumps(argv))\n")
    launcher = write_launcher(tmp_path / "run", "shown", words, environment=environment)
    env = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}

    def call(**more: str) -> list[str]:
        done = subprocess.run([launcher, "x y"], env=env | more, capture_output=True, timeout=LIMIT_S, check=True)
        answer: list[str] = json.loads(done.stdout)
        return answer

    assert call() == [*words, "x y"]
    assert call(ONE="1 1", TWO="2") == ["a b", "1 1", "it's", '"q"', "`x`", "2", "back\\slash", "x y"]
