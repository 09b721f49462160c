"""Stand-ins for the CLI that misbehave, and a look at what a test leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import textwrap
import uuid
from collections.abc import Awaitable, Generator
from pathlib import Path
from typing import Any

from quarterdeck import ClaudeAgentOptions, Session
from transport.support import until

MARK = "QUARTERDECK_TEST"
"""In the environment of everything that a test starts, so that what is left of it can be found."""

PRELUDE = '''
import json, os, signal, sys, time

def write(data, descriptor=1):
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view):]

def say(**message):
    write(json.dumps(message).encode() + b"\\n")

def answer(request, payload=None, request_id=None):
    body = {"subtype": "success", "request_id": request_id or request["request_id"], "response": payload or {}}
    say(type="control_response", response=body)

def ask(request_id, **request):
    say(type="control_request", request_id=request_id, request=request)

def text(words):
    content = [{"type": "text", "text": words}]
    say(type="assistant", message={"role": "assistant", "model": "m", "content": content}, session_id="s", uuid="u")

def init():
    say(type="system", subtype="init", session_id="s", uuid="i", cwd="/", tools=[], mcp_servers=[], model="m",
        permissionMode="default", slash_commands=[], output_style="default", skills=[], plugins=[],
        apiKeySource="none", claude_code_version="2.1.52")

def result(words="done"):
    say(type="result", subtype="success", is_error=False, duration_ms=1, duration_api_ms=1, num_turns=1, result=words,
        session_id="s", uuid="r", total_cost_usd=0.0, usage={}, modelUsage={}, permission_denials=[])

def messages():
    for line in sys.stdin.buffer:
        yield json.loads(line)

def prompts():
    """Serve the handshake; each prompt that comes."""
    for message in messages():
        if message["type"] == "control_request":
            answer(message)
        elif message["type"] == "user":
            yield message

def answer_to(request_id):
    for message in messages():
        if message["type"] == "control_response" and message["response"]["request_id"] == request_id:
            return message["response"]
'''

POLITE = """
for prompt in prompts():
    init()
    text("hello")
    result()
"""


class Chaos:
    """Makes CLIs of programs and sessions of CLIs, and knows which processes that has started."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mark = uuid.uuid4().hex
        self.sessions: list[Session] = []

    def program(self, source: str) -> list[str]:
        """A Python program without site packages: it starts in 10 ms."""
        path = self._folder / f"cli-{uuid.uuid4().hex}.py"
        path.write_text(PRELUDE + textwrap.dedent(source))
        return [sys.executable, "-S", "-E", str(path)]

    def options(self, source: str | list[str] = POLITE, **more: Any) -> ClaudeAgentOptions:
        command = source if isinstance(source, list) else self.program(source)
        env = {"PATH": os.environ["PATH"], MARK: self._mark}
        return ClaudeAgentOptions(cli_path=command, env=env, env_allow=[], cwd=self._folder, **more)

    def session(self, source: str | list[str] = POLITE, **more: Any) -> Session:
        made = Session(self.options(source, **more))
        self.sessions.append(made)
        return made

    def left_running(self) -> list[str]:
        return marked_processes(self._mark)


def pid_of(session: Session) -> int:
    pid = session.pid
    assert pid is not None
    return pid


def marked_processes(mark: str) -> list[str]:
    """The command lines of all living processes with that mark, in whatever process group."""
    entry = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # gone meanwhile, or another user's
            if folder.name.isdigit() and entry in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return found


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def other_tasks_end() -> None:
    await until(lambda: len(asyncio.all_tasks()) == 1, "all tasks to end")


class CancelAt:
    """Awaits something and cancels its task when it suspends for the n-th time: ``cancelled`` if it came so far.

    Whatever it does to clean up goes on as it would in any cancelled task.
    """

    def __init__(self, awaitable: Awaitable[Any], step: int, *, times: int = 1) -> None:
        self._awaitable = awaitable
        self._steps = range(step, step + times)
        self.cancelled = False

    def __await__(self) -> Generator[Any, Any, Any]:
        inner = self._awaitable.__await__()
        task = asyncio.current_task()
        assert task is not None
        step = 0
        try:
            waited_for = next(inner)
            while True:
                if step in self._steps:
                    self.cancelled = True
                    task.cancel()
                step += 1
                try:
                    sent = yield waited_for
                except BaseException as error:  # noqa: BLE001  # passed on to whom it is for
                    waited_for = inner.throw(error)
                else:
                    waited_for = inner.send(sent)
        except StopIteration as end:
            return end.value
