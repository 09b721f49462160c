"""Editors and agents that vanish, and editors that send what they should not: nothing hangs, nothing is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import uuid
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from benchmarks import _lines
from benchmarks._standin import Script, compiled

import soak
from chaos.kit import MARK, marked_processes
from gateways.acp.editor import Editor, RefusedError, editor
from simulated import Simulated, until


def start(fake: Simulated, checker: Any = None) -> Any:
    return editor("--agent", str(fake.path), env={**fake.env, MARK: fake.mark}, checker=checker)


async def running(ed: Editor, fake: Simulated) -> str:
    """A session in the middle of a turn."""
    await ed.initialize()
    ed.allow()
    session = await ed.new(fake.cwd)
    ed.say(session, "go")
    await asyncio.to_thread(until, fake.is_held)
    return session


async def gone(fake: Simulated) -> None:
    await asyncio.to_thread(until, lambda: fake.left_running() == [])


@pytest.mark.parametrize("how", ["kill", "terminate", "hang up", "close"])
async def test_when_the_agent_ends_in_whatever_way_nothing_is_left_of_the_session(fake: Simulated, how: str) -> None:
    fake.play([fake.held, "Never."])
    async with start(fake) as ed:
        await running(ed, fake)
        assert len(fake.left_running()) > 1
        match how:
            case "kill":
                ed.process.kill()
            case "terminate":
                ed.process.terminate()
            case "hang up":
                ed.process.send_signal(signal.SIGHUP)
            case "close":
                await ed.leave()
        async with asyncio.timeout(60):
            await ed.process.wait()
    await gone(fake)


async def test_an_editor_that_is_killed_takes_everything_along(fake: Simulated) -> None:
    """Both pipes of the agent end at once, in the middle of a turn and of a flood."""
    fake.play([fake.held, "Never."])
    async with start(fake) as ed:
        await running(ed, fake)
        transport = ed.process._transport  # type: ignore[attr-defined]  # nothing public closes only the pipes
        for descriptor in (0, 1):
            transport.get_pipe_transport(descriptor).close()
        async with asyncio.timeout(60):
            await ed.process.wait()
    await gone(fake)


@pytest.mark.parametrize("how", ["close", "kill"])
async def test_an_editor_that_goes_while_the_agent_is_being_imported_leaves_nothing(fake: Simulated, how: str) -> None:
    fake.play(["Never."])
    async with start(fake) as ed:
        started = [ed.begin("initialize", protocolVersion=1, clientCapabilities={})]
        started += [ed.begin("session/new", cwd=str(fake.cwd), mcpServers=[]) for _ in range(5)]
        await ed.until(lambda: ed.frames)
        if how == "kill":
            ed.process.kill()
            await ed.process.wait()
        else:
            assert await ed.leave() == 0
        for one in started:
            one.cancel()
    await gone(fake)


async def test_closing_a_session_ends_its_process_and_leaves_the_others(fake: Simulated, checker: Any) -> None:
    fake.play(rules=[{"when": "go", "steps": [fake.held, "Never."]}, {"when": "hello", "steps": ["Hi."]}])
    async with start(fake, checker) as ed:
        first = await running(ed, fake)
        second = await ed.new(fake.cwd)
        assert (await ed.prompt(second, "hello"))["stopReason"] == "end_turn"
        assert await ed.call("session/close", sessionId=first) == {}
        assert (await ed.prompt(second, "hello"))["stopReason"] == "end_turn"
        with pytest.raises(RefusedError):
            await ed.prompt(first, "hello")
    await gone(fake)


async def test_a_process_that_is_killed_is_told_and_its_permission_request_taken_back(
    fake: Simulated, checker: Any
) -> None:
    fake.play([{"tool": "Bash", "input": {"command": "touch made.txt"}}, "Never."], ["Back."])
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        turn = ed.say(session, "go")
        asked = await ed.until(lambda: ed.asked and ed.asked[0])
        for pid in _children(ed.process.pid):
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(RefusedError, match="continues with the next prompt"):
            async with asyncio.timeout(60):
                await turn
        await ed.until(lambda: ed.cancelled == [asked["id"]])
        ed.send({"id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": "allow"}}})  # too late
        ed.allow("reject")  # the new process plays the same again
        assert (await ed.prompt(session, "again"))["stopReason"] == "end_turn"
        assert not (fake.cwd / "made.txt").exists()


def _children(pid: int) -> list[int]:
    """The simulator's processes; the watchdog is a shell."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == pid and "sim" in (folder / "cmdline").read_text():
                    found.append(int(folder.name))
    return found


HOSTILE = [
    b"",
    b"\0",
    b"[]",
    b"[{}]",
    b'"text"',
    b'{"jsonrpc":"1.0","id":1}',
    b'{"id":{},"method":"initialize"}',
    b'{"id":1e400,"method":"initialize"}',
    b'{"jsonrpc":"2.0","id":9999,"result":{}}',
    b'{"jsonrpc":"2.0","id":"9999","error":{"code":"x"}}',
    b'{"jsonrpc":"2.0","method":"session/update","params":{}}',
    b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":[]}}',
    b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":{"a":1}}}',
    b'{"jsonrpc":"2.0","method":"$/cancel_request"}',
    b'{"jsonrpc":"2.0","id":null,"method":"session/prompt","params":[]}',
    b'{"jsonrpc":"2.0","id":7001,"method":"session/prompt","params":"\xff\xfe"}',
    b'{"jsonrpc":"2.0","id":7002,"method":"session/new","params":{"cwd":"/","mcpServers":{"a":1}}}',
    b'{"jsonrpc":"2.0","id":7003,"method":"session/new","params":{"cwd":"/\\u0000","mcpServers":[]}}',
    b'{"jsonrpc":"2.0","id":7004,"method":"session/load","params":{"cwd":"/","sessionId":"\\ud800","mcpServers":[]}}',
    b'{"jsonrpc":"2.0","id":7005,"method":"' + b"a" * 100_000 + b'"}',
    b'{"jsonrpc":"2.0","id":7006,"method":"session/list","params":{"cursor":"-1"}}',
    b"[" * 50_000,
    b'{"a":' * 50_000,
    b'{"jsonrpc":"2.0","id":7007,"method":"session/list","params":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
]


async def test_hostile_lines_are_answered_or_ignored_and_the_agent_goes_on(fake: Simulated) -> None:
    fake.play(["Still here."])
    dice = random.Random(soak.SEED)
    async with start(fake) as ed:
        await ed.initialize()
        for line in HOSTILE:
            ed.raw(line + b"\n")
        template = json.dumps(
            {"jsonrpc": "2.0", "id": 8000, "method": "session/set_mode", "params": {"sessionId": "x", "modeId": "plan"}}
        ).encode()
        for _ in range(soak.cases(300, in_soak=20_000)):
            bent = bytearray(template)
            for _ in range(dice.randrange(1, 4)):
                bent[dice.randrange(len(bent))] = dice.randrange(256)
            ed.raw(bytes(bent) + b"\n")
        session = await ed.new(fake.cwd)
        assert (await ed.prompt(session, "hello?"))["stopReason"] == "end_turn"
        codes = {frame["error"]["code"] for frame in ed.frames if "error" in frame}
        assert codes <= {-32700, -32600, -32601, -32602, -32002}
        answered = {frame.get("id") for frame in ed.frames}
        assert {7001, 7002, 7003, 7004, 7005, 7006, None} <= answered
        assert await ed.leave() == 0


async def test_a_line_without_an_end_is_not_kept_and_the_next_one_is_read(fake: Simulated) -> None:
    async with start(fake) as ed:
        await ed.initialize()
        assert ed.process.stdin is not None
        for _ in range(70):
            ed.raw(b"x" * 1024 * 1024)
            await ed.process.stdin.drain()
        ed.raw(b"\n")
        assert await ed.call("auth/status")
        refused = [frame["error"]["message"] for frame in ed.frames if "error" in frame]
        assert refused == ["the line is longer than 67,108,864 bytes"]


def _has_come(ed: Editor, frames: int, turn: asyncio.Future[Any]) -> bool:
    return len(ed.frames) >= frames or turn.done()


async def test_cancel_at_any_moment_gives_each_prompt_one_stop_reason(fake: Simulated, checker: Any) -> None:
    """Before it has begun, while it runs, when it has just ended; alone, twice, and with the request's own cancel."""
    fake.play(rules=[{"when": ".", "steps": ["One, two, three, four, five."]}], delta_size=1)
    dice = random.Random(soak.SEED)
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        for _ in range(soak.cases(25, in_soak=2_000)):
            turn = ed.say(session, "count")
            number = ed.last_id
            later = dice.randrange(30)
            if later > 4:  # else at once, before anything has happened
                await ed.until(partial(_has_come, ed, len(ed.frames) + later, turn))
            for _ in range(dice.randrange(1, 3)):
                ed.notify("session/cancel", sessionId=session)
            if dice.random() < 0.2:
                ed.notify("$/cancel_request", requestId=number)
            try:
                async with asyncio.timeout(60):
                    assert (await turn)["stopReason"] in ("cancelled", "end_turn")
            except RefusedError as error:
                assert error.code == -32800
        answers = [frame["id"] for frame in ed.frames if "method" not in frame]
        assert len(answers) == len(set(answers))
        assert (await ed.prompt(session, "count"))["stopReason"] == "end_turn"


async def test_an_editor_that_does_not_read_for_a_while_misses_nothing(fake: Simulated) -> None:
    fake.play(["x" * 50_000, {"tool": "Read", "input": {"file_path": "none"}}, fake.held, "y"], delta_size=10)
    async with start(fake) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        pipe = ed.process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]  # nothing public pauses it
        pipe.pause_reading()
        turn = ed.say(session, "go")
        await asyncio.to_thread(until, fake.is_held)
        pipe.resume_reading()
        fake.release()
        async with asyncio.timeout(60):
            assert (await turn)["stopReason"] == "end_turn"
        assert ed.text() == "x" * 50_000 + "y"


async def test_many_interleaved_sessions_each_get_their_own_and_all_of_it(tmp_path: Path) -> None:
    """On the stand-in of the benchmarks: a thousand simulators would not fit into a machine."""
    count, chunks = soak.cases(40, in_soak=1_000), 25
    try:
        program = compiled()
    except SystemExit as missing:
        pytest.skip(str(missing))
    message = _lines.streamed_message(chunks)
    env = Script(tmp_path).says("message", message, len(message), per_second=50)
    events = [line["event"] for line in map(json.loads, message) if line["type"] == "stream_event"]
    deltas = [one["delta"].get("text", "") for one in events if one["type"] == "content_block_delta"]
    mark = uuid.uuid4().hex
    async with editor("--agent", str(program), env={"HOME": str(tmp_path), MARK: mark, **env}) as ed:
        await ed.initialize()
        sessions = await asyncio.gather(*(ed.new(tmp_path) for _ in range(count)))
        turns = [ed.say(one, "go") for one in sessions]
        async with asyncio.timeout(120 + count):
            assert {one["stopReason"] for one in await asyncio.gather(*turns)} == {"end_turn"}
        got: dict[str, list[str]] = defaultdict(list)
        for frame in ed.frames:
            update = frame.get("params", {}).get("update", {})
            if update.get("sessionUpdate") == "agent_message_chunk":
                got[frame["params"]["sessionId"]].append(update["content"]["text"])
        assert set(got) == set(sessions)
        assert [one for one in sessions if "".join(got[one]) != "".join(deltas)] == []
        assert await ed.leave() == 0
    await asyncio.to_thread(until, lambda: marked_processes(mark) == [])


async def test_a_process_that_does_not_stop_when_told_to_is_ended_and_cancel_returns(
    fake: Simulated, checker: Any
) -> None:
    fake.play([fake.held, "Never."])
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        turn = ed.say(session, "go")
        await asyncio.to_thread(until, fake.is_held)
        frozen = _children(ed.process.pid)
        assert frozen
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        ed.notify("session/cancel", sessionId=session)
        async with asyncio.timeout(60):
            assert (await turn)["stopReason"] == "cancelled"
        await asyncio.to_thread(until, lambda: not set(frozen) & set(_children(ed.process.pid)))
        fake.release()
        assert (await ed.prompt(session, "again"))["stopReason"] == "end_turn"
    await gone(fake)


async def test_no_process_is_started_before_a_session_is_wanted_and_it_is_warm_before_the_first_prompt(
    fake: Simulated, checker: Any
) -> None:
    fake.play(["Hi."])
    async with start(fake, checker) as ed:
        await ed.initialize()
        assert await ed.call("session/list")
        assert _children(ed.process.pid) == []
        session = await ed.new(fake.cwd)
        await ed.until(lambda: ed.updates("config_option_update"))  # the handshake is over
        (warm,) = _children(ed.process.pid)
        assert (await ed.prompt(session, "hello"))["stopReason"] == "end_turn"
        assert _children(ed.process.pid) == [warm]


async def stored(fake: Simulated, count: int) -> list[str]:
    """Sessions that an agent left on disk."""
    async with start(fake) as ed:
        await ed.initialize()
        made = [await ed.new(fake.cwd) for _ in range(count)]
        for one in made:
            await ed.prompt(one, "hello")
    return made


async def test_sessions_that_are_restored_share_what_one_process_says_until_they_are_continued(
    fake: Simulated, checker: Any
) -> None:
    fake.play(rules=[{"when": ".", "steps": ["Hi."]}])
    sessions = await stored(fake, 4)
    async with start(fake, checker) as ed:
        await ed.initialize()
        where = {"cwd": str(fake.cwd), "mcpServers": []}
        await asyncio.gather(*(ed.call("session/load", sessionId=one, **where) for one in sessions))

        def knows(session: str) -> bool:
            models = [one["configOptions"][1] for one in ed.updates("config_option_update", session=session)]
            commands = ed.updates("available_commands_update", session=session)
            return any(len(one["options"]) > 1 for one in models) and bool(commands)

        await ed.until(lambda: all(knows(one) for one in sessions))
        assert len(_children(ed.process.pid)) == 1
        late = (await stored(fake, 1))[0]
        await ed.call("session/resume", sessionId=late, **where)
        assert knows(late)
        assert len(_children(ed.process.pid)) == 1
        assert (await ed.prompt(late, "hello"))["stopReason"] == "end_turn"
        assert len(_children(ed.process.pid)) == 2


async def test_a_session_that_is_loaded_twice_at_once_is_one_session(fake: Simulated, checker: Any) -> None:
    fake.play(rules=[{"when": ".", "steps": ["Hi."]}])
    (session,) = await stored(fake, 1)
    async with start(fake, checker) as ed:
        await ed.initialize()
        where = {"sessionId": session, "cwd": str(fake.cwd), "mcpServers": []}
        methods = ("session/load", "session/resume", "session/load")
        await asyncio.gather(*(ed.call(method, **where) for method in methods))
        assert ed.text() == "Hi." * 2  # from either load
        assert (await ed.prompt(session, "hello"))["stopReason"] == "end_turn"
        assert len(_children(ed.process.pid)) == 1
        await ed.call("session/close", sessionId=session)
        assert _children(ed.process.pid) == []


async def test_an_editor_that_never_answers_can_still_do_everything_else(fake: Simulated, checker: Any) -> None:
    """Permissions pile up in three sessions; a fourth works, the three are cancelled, closed and deleted."""
    asks = {"tool": "Bash", "input": {"command": "touch made.txt"}}
    fake.play(rules=[{"when": "go", "steps": [asks, "Never."]}, {"when": "hello", "steps": ["Hi."]}])
    async with start(fake, checker) as ed:
        await ed.initialize()
        stuck = [await ed.new(fake.cwd) for _ in range(3)]
        turns = [ed.say(one, "go") for one in stuck]
        await ed.until(lambda: len(ed.asked) == 3)
        assert (await ed.prompt(await ed.new(fake.cwd), "hello"))["stopReason"] == "end_turn"
        assert not any(turn.done() for turn in turns)
        ed.notify("session/cancel", sessionId=stuck[0])
        await ed.call("session/close", sessionId=stuck[1])
        await ed.call("session/delete", sessionId=stuck[2])
        async with asyncio.timeout(60):
            assert [(await turn)["stopReason"] for turn in turns] == ["cancelled"] * 3
        await ed.until(lambda: sorted(ed.cancelled) == sorted(asked["id"] for asked in ed.asked))
        assert not (fake.cwd / "made.txt").exists()
    await gone(fake)
