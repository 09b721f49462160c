"""The CLI started by the program itself: everything works as with a process of ours."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client.real_cli import Place, place
from inside import connection_of
from quarterdeck import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    ProcessExited,
    SpawnOptions,
    StartFailed,
    connect,
    create_sdk_mcp_server,
    query,
    sync,
    tool,
)
from quarterdeck.testing.model import ToolUse

pytestmark = pytest.mark.real

LIMIT_S = 90.0
PIPES = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Place]:
    with place(tmp_path) as stage:
        yield stage


class Started:
    """A function for the option that remembers what it was asked for and what it has started."""

    def __init__(self, *wrapper: str) -> None:
        self.wrapper = wrapper
        self.asked: list[SpawnOptions] = []
        self.processes: list[asyncio.subprocess.Process] = []

    async def __call__(self, wanted: SpawnOptions) -> asyncio.subprocess.Process:
        self.asked.append(wanted)
        process = await asyncio.create_subprocess_exec(
            *self.wrapper, wanted.command, *wanted.args, cwd=wanted.cwd, env=wanted.env, **PIPES
        )
        self.processes.append(process)
        return process


async def test_a_session_runs_on_the_process_that_the_program_started(stage: Place) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "echo made > made.txt", "description": "x"}))
    stage.model.reply("Done.")
    started, asked = Started("/bin/sh", "-c", 'exec "$@"', "wrapper"), []

    async def allow(name: str, given: dict[str, Any], _: Any) -> PermissionResultAllow:
        asked.append(name)
        return PermissionResultAllow()

    options = stage.options(spawn_claude_code_process=started, can_use_tool=allow, settings={"model": "opus"})
    async with asyncio.timeout(LIMIT_S), connect(options) as session:
        result = await session.prompt("Make it")
        assert result.result == "Done."
        assert session.pid == started.processes[0].pid
        assert (await session.settings()).effective["model"] == "opus"
    assert asked == ["Bash"]
    assert (stage.cwd / "made.txt").read_text() == "made\n"
    assert started.processes[0].returncode == 0
    [wanted] = started.asked
    assert (wanted.cwd, wanted.env["HOME"]) == (str(stage.cwd), str(stage.home))
    assert '--settings={"model":"opus"}' in wanted.args
    assert not wanted.signal.is_set()


@tool("double", "Doubles", {"number": int})
async def double(given: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": str(2 * given["number"])}]}


async def test_query_and_tools_of_this_process_work_with_a_popen(stage: Place) -> None:
    stage.model.reply(ToolUse("mcp__mine__double", {"number": 21}))
    stage.model.reply("It is 42.")

    def spawn(wanted: SpawnOptions) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        argv = [wanted.command, *wanted.args]
        return subprocess.Popen(argv, cwd=wanted.cwd, env=wanted.env, stdin=pipe, stdout=pipe)

    options = stage.options(
        spawn_claude_code_process=spawn,
        mcp_servers={"mine": create_sdk_mcp_server("mine", tools=[double])},
        allowed_tools=["mcp__mine__double"],
    )
    async with asyncio.timeout(LIMIT_S):
        messages = [message async for message in query(prompt="Double 21", options=options)]
    assert getattr(messages[-1], "result", None) == "It is 42."


async def test_lines_of_stderr_arrive_and_an_exit_is_told_with_them(stage: Place) -> None:
    lines: list[str] = []
    options = stage.options(
        spawn_claude_code_process=Started("/bin/sh", "-c", "echo oh no >&2; exit 3"), stderr=lines.append
    )
    async with asyncio.timeout(LIMIT_S):
        with pytest.raises(ProcessExited, match="oh no") as caught:
            await connect(options).open()
    assert caught.value.exit_code == 3
    assert lines == ["oh no"]


async def test_a_process_that_dies_ends_the_session(stage: Place) -> None:
    stage.model.reply("Hello.")
    started = Started()
    async with asyncio.timeout(LIMIT_S), ClaudeSDKClient(stage.options(spawn_claude_code_process=started)) as client:
        await client.query("Hello")
        async for _ in client.receive_response():
            pass
        started.processes[0].kill()
        with pytest.raises(ProcessExited) as caught:
            async for _ in client.receive_messages():
                pass
    assert caught.value.signal == signal.SIGKILL


DEAF = """
import json, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"subtype": "success", "request_id": asked["request_id"], "response": {}}
    print(json.dumps({"type": "control_response", "response": answer}), flush=True)
while True:
    time.sleep(60)
"""


async def test_a_process_that_does_not_end_is_killed_after_the_signal(stage: Place, tmp_path: Path) -> None:
    deaf = tmp_path / "deaf.py"
    deaf.write_text(DEAF)
    started = Started(sys.executable, str(deaf))
    options = stage.options(spawn_claude_code_process=started, close_grace_s=0.1)
    async with asyncio.timeout(LIMIT_S):
        session = await connect(options).open()
        status = await session.close()
    assert status is not None
    assert status.signal == signal.SIGKILL
    assert started.asked[0].signal.is_set()
    with pytest.raises(ProcessLookupError):
        os.kill(started.processes[0].pid, 0)


FLOODING = """
import json, os, sys
asked = json.loads(sys.stdin.readline())
answer = {"subtype": "success", "request_id": asked["request_id"], "response": {}}
print(json.dumps({"type": "control_response", "response": answer}), flush=True)
line = b'{"type":"stream_event","event":{"type":"ping"},"session_id":"s","uuid":"u"}\\n'
while True:
    os.write(1, line * 1000)
"""


async def test_a_process_that_floods_a_session_that_nobody_reads_is_not_given_the_time_to_end_by_itself(
    stage: Place, tmp_path: Path
) -> None:
    flooding = tmp_path / "flooding.py"
    flooding.write_text(FLOODING)
    started = Started(sys.executable, str(flooding))
    async with asyncio.timeout(LIMIT_S):
        session = await connect(stage.options(spawn_claude_code_process=started, close_grace_s=600.0)).open()
        status = await session.close()
    assert status is not None
    assert status.signal == signal.SIGTERM


async def test_a_flood_that_has_reached_the_disk_does_not_delay_closing(tmp_path: Path) -> None:
    flooding = tmp_path / "flooding"
    flooding.write_text(f"#!{sys.executable}\n{FLOODING}")
    flooding.chmod(0o755)
    async with asyncio.timeout(LIMIT_S):
        session = await connect(ClaudeAgentOptions(cli_path=flooding, close_grace_s=600.0)).open()
        while not connection_of(session).inbox.spilled_bytes:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        status = await session.close()
    assert status is not None
    assert status.signal == signal.SIGTERM


@pytest.mark.parametrize("made", [None, RuntimeError("no container")])
async def test_what_cannot_be_started_is_an_error_that_says_so(made: Exception | None) -> None:
    def spawn(wanted: SpawnOptions) -> Any:
        assert wanted.command == "claude-of-the-container"
        if made is not None:
            raise made

    options = ClaudeAgentOptions(cli_path="claude-of-the-container", spawn_claude_code_process=spawn)
    words = "no container" if made else "must return a process with pipes"
    with pytest.raises(StartFailed, match=words):
        await connect(options).open()


def test_it_works_without_an_event_loop_of_the_program(stage: Place) -> None:
    stage.model.reply("Hello.")
    with sync.connect(stage.options(spawn_claude_code_process=Started())) as session:
        assert session.prompt("Hello").wait().result == "Hello."
