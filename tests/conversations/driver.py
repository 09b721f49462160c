"""Drives one real CLI process and writes down every line of both directions.

Small on purpose and independent of the client library: the recordings are what the library is tested against.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from conversations import Entry

Message = dict[str, Any]
Handler = Callable[[Message], Any]

WAIT_S = 20.0
EXIT_S = 20.0
RUN_LIMIT_S = 90.0
"""The watchdog: whatever a scenario waits for, its process is gone after this."""
STREAM_JSON = ("--output-format", "stream-json", "--verbose", "--input-format", "stream-json")
ASK = ("--permission-prompt-tool", "stdio")
SILENT = object()
"""A handler's answer for: do not answer."""


class ScenarioError(Exception):
    """The CLI did not do what the scenario waits for."""


class Run:
    """One CLI process. Use as a context manager: at the end stdin is closed, and the process group is gone."""

    def __init__(self, argv: tuple[str, ...], flags: list[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self.flags = flags
        self.extra_env: dict[str, str] = {}
        self.entries: list[Entry] = []
        self.exit_code: int | None = None
        self.stderr = ""
        self.handlers: dict[str, Handler] = {}
        self.session_id = ""
        self._changed = threading.Condition()
        self._messages: list[Message] = []
        self._cursor = 0
        self._ids = 0
        self._ended = False
        self._start = time.monotonic()
        self.process = subprocess.Popen(
            [*argv, *flags],
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._threads = [threading.Thread(target=self._read_stdout), threading.Thread(target=self._read_stderr)]
        self._watchdog = threading.Timer(RUN_LIMIT_S, self._kill_group)
        for thread in (*self._threads, self._watchdog):
            thread.daemon = True
            thread.start()

    # Sending

    def send_bytes(self, line: bytes, *, newline: bool = True) -> None:
        assert self.process.stdin is not None
        with self._changed:
            self._note("in", line, newline=newline)
        try:
            self.process.stdin.write(line + (b"\n" if newline else b""))
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise ScenarioError("the CLI closed its stdin") from error

    def send(self, message: Any) -> None:
        self.send_bytes(json.dumps(message, ensure_ascii=False).encode())

    def user(self, content: str | list[Message], **extra: Any) -> None:
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        body = {"type": "user", "session_id": "", "message": {"role": "user", "content": blocks}}
        self.send(body | {"parent_tool_use_id": None} | extra)

    def request(self, subtype: str, **fields: Any) -> str:
        """Send a control request, do not wait; its id."""
        self._ids += 1
        request_id = f"req_{self._ids}"
        self.send({"type": "control_request", "request_id": request_id, "request": {"subtype": subtype, **fields}})
        return request_id

    def answer(self, request: Message, response: Any) -> None:
        """Answer a control request of the CLI; an exception answers with an error."""
        if isinstance(response, Exception):
            body: Message = {"subtype": "error", "request_id": request["request_id"], "error": str(response)}
        else:
            body = {"subtype": "success", "request_id": request["request_id"], "response": response}
        self.send({"type": "control_response", "response": body})

    def close_stdin(self) -> None:
        assert self.process.stdin is not None
        if self.process.stdin.closed:
            return
        with self._changed:
            self._note("in", b"", eof=True)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    # Waiting

    def wait(self, wanted: Callable[[Message], bool], *, timeout_s: float = WAIT_S, what: str = "") -> Message:
        """The next message that is ``wanted``; requests that come before it are given to their handlers."""
        deadline = time.monotonic() + timeout_s
        while True:
            message = self._next(deadline, what)
            if wanted(message):
                return message
            self._handle(message)

    def response(self, request_id: str, *, timeout_s: float = WAIT_S) -> Message:
        def mine(message: Message) -> bool:
            return message.get("type") == "control_response" and message["response"].get("request_id") == request_id

        answer: Message = self.wait(mine, timeout_s=timeout_s, what=f"answer to {request_id}")["response"]
        return answer

    def control(self, subtype: str, *, timeout_s: float = WAIT_S, **fields: Any) -> Message:
        return self.response(self.request(subtype, **fields), timeout_s=timeout_s)

    def initialize(self, **fields: Any) -> Message:
        return self.control("initialize", **fields)

    def result(self, *, timeout_s: float = WAIT_S) -> Message:
        found = self.wait(lambda m: m.get("type") == "result", timeout_s=timeout_s, what="result")
        self.session_id = found.get("session_id", "")
        return found

    def asked(self, subtype: str = "can_use_tool", *, timeout_s: float = WAIT_S) -> Message:
        """The next control request of that subtype, left unanswered."""

        def wanted(message: Message) -> bool:
            return message.get("type") == "control_request" and message["request"]["subtype"] == subtype

        return self.wait(wanted, timeout_s=timeout_s, what=subtype)

    def message(self, kind: str, subtype: str | None = None, *, timeout_s: float = WAIT_S) -> Message:
        return self.wait(
            lambda m: m.get("type") == kind and subtype in (None, m.get("subtype")),
            timeout_s=timeout_s,
            what=f"{kind}/{subtype}",
        )

    def on(self, subtype: str, handler: Handler) -> None:
        """How to answer control requests of the CLI that the scenario does not wait for by name."""
        self.handlers[subtype] = handler

    def allow_tools(self) -> None:
        self.on("can_use_tool", lambda request: {"behavior": "allow", "updatedInput": request["input"]})

    def turn(self, text: str, *, timeout_s: float = WAIT_S) -> Message:
        self.user(text)
        return self.result(timeout_s=timeout_s)

    def exited(self, *, timeout_s: float = EXIT_S) -> int:
        """Wait for the process to end; requests that come meanwhile are handled."""
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                message = self._next(deadline, "exit")
            except EOFError:
                break
            self._handle(message)
        self.exit_code = self.process.wait(max(0.1, deadline - time.monotonic()))
        return self.exit_code

    # Inside

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        try:
            if error is None:
                self.close_stdin()
                self.exited()
        finally:
            self._kill_group()
            self.process.wait(5)
            for thread in self._threads:
                thread.join(5)
            self._watchdog.cancel()
            for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()  # type: ignore[union-attr]  # Popen was given three pipes

    def _next(self, deadline: float, what: str) -> Message:
        with self._changed:
            while self._cursor >= len(self._messages):
                if self._ended:
                    raise EOFError(f"the CLI ended while the scenario waited for {what or 'a message'}: {self.stderr}")
                left = deadline - time.monotonic()
                if left <= 0:
                    raise ScenarioError(f"waited in vain for {what or 'a message'}; last: {self._messages[-3:]}")
                self._changed.wait(left)
            self._cursor += 1
            return self._messages[self._cursor - 1]

    def _handle(self, message: Message) -> None:
        if message.get("type") != "control_request":
            return
        handler = self.handlers.get(message["request"]["subtype"])
        if handler is None:
            return
        response = handler(message["request"])
        if response is not SILENT:
            self.answer(message, response)

    def _note(self, direction: Any, line: bytes, *, newline: bool = True, eof: bool = False) -> None:
        self.entries.append(Entry(time.monotonic() - self._start, direction, line, newline, eof))

    def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            whole = line.endswith(b"\n")
            with self._changed:
                self._note("out", line[:-1] if whole else line, newline=whole)
                with contextlib.suppress(ValueError):
                    self._messages.append(json.loads(line))
                self._changed.notify_all()
        with self._changed:
            self._note("out", b"", eof=True)
            self._ended = True
            self._changed.notify_all()

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        self.stderr = self.process.stderr.read().decode(errors="replace")

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
