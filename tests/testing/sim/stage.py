"""The scenarios that were recorded with the real CLI, played with the simulator in its place.

``SimStage`` stands in for ``conversations.stage.Stage``: the scripted model is the simulator's brain, and the process
is a thread of this one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from conversations.driver import ASK, STREAM_JSON, Run
from quarterdeck.testing.model.script import Gate, turn
from quarterdeck.testing.sim import Ask, Scenario, SimulatedCli
from quarterdeck.testing.sim.flags import FlagError

RUN_LIMIT_S = 30.0
UNSCRIPTED = "Nothing is queued for this."


class Request:
    """What rules of a script look at."""

    def __init__(self, ask: Ask) -> None:
        self.kind = ask.kind
        self.model = ask.model
        self.text = f"{ask.prompt}\n{ask.text}"
        self.last_user_text = ask.text


class ScriptedModel:
    """The interface of ``ModelServer``, as a brain."""

    def __init__(self) -> None:
        self._queue: deque[Callable[[Request], Any]] = deque()
        self._rules: list[list[Any]] = []

    def reply(self, *parts: Any, **options: Any) -> None:
        move = turn(*parts, **options)
        self._queue.append(lambda _: move)

    def reply_with(self, answer: Callable[[Any], Any]) -> None:
        self._queue.append(answer)

    def on(self, match: Callable[[Any], bool], *parts: Any, times: int | None = None, **options: Any) -> None:
        move = turn(*parts, **options)
        self._rules.append([match, move, times])

    def gate(self) -> Gate:
        return Gate()

    def next(self, ask: Ask) -> Any:
        request = Request(ask)
        for rule in self._rules:
            match, move, times = rule
            if times != 0 and match(request):
                rule[2] = None if times is None else times - 1
                return move
        if ask.kind not in ("main", "subagent"):
            return turn("ok")
        return self._queue.popleft()(request) if self._queue else turn(UNSCRIPTED)

    def rest(self) -> list[Any]:
        return []


class ThreadProcess:
    """A simulator in a thread, with the face of a ``subprocess.Popen``."""

    def __init__(self, make: Callable[[], SimulatedCli]) -> None:
        stdin, self._stdin_end = os.pipe()
        stdout, self._stdout_end = os.pipe()
        stderr, self._stderr_end = os.pipe()
        self._input = stdin
        self.stdin = os.fdopen(self._stdin_end, "wb", buffering=0)
        self.stdout = os.fdopen(stdout, "rb")
        self.stderr = os.fdopen(stderr, "rb")
        self.returncode: int | None = None
        self._make = make
        self._cli: SimulatedCli | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._main, daemon=True)
        self._thread.start()
        self._started.wait(RUN_LIMIT_S)

    def send_signal(self, number: signal.Signals) -> None:
        self._loop.call_soon_threadsafe(self._deliver, number)

    def wait(self, timeout: float | None = None) -> int:
        self._thread.join(timeout)
        assert self.returncode is not None, "the simulator has not ended"
        return self.returncode

    def kill(self) -> None:
        if self.returncode is None:
            with contextlib.suppress(RuntimeError):  # its loop has ended meanwhile
                self.send_signal(signal.SIGKILL)

    def _deliver(self, number: signal.Signals) -> None:
        assert self._cli is not None
        if number == signal.SIGKILL:
            self._cli.exit(-signal.SIGKILL)
        else:
            self._cli.signal(number)

    def _main(self) -> None:
        try:
            self.returncode = asyncio.run(self._serve())
        finally:
            for descriptor in (self._input, self._stdout_end, self._stderr_end):
                os.close(descriptor)

    async def _serve(self) -> int:
        self._loop = asyncio.get_running_loop()
        try:
            self._cli = cli = self._make()
        except FlagError as error:
            self._write_stderr(f"{error}\n")
            self._started.set()
            return 1
        running = asyncio.create_task(cli.run(self._write, self._write_stderr))
        await asyncio.sleep(0)
        self._loop.add_reader(self._input, self._read)
        self._started.set()
        try:
            return await running
        finally:
            self._loop.remove_reader(self._input)

    def _read(self) -> None:
        assert self._cli is not None
        data = os.read(self._input, 65536)
        if data:
            self._cli.feed(data)
        else:
            self._loop.remove_reader(self._input)
            self._cli.feed_eof()

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._stdout_end, rest) :]

    def _write_stderr(self, text: str) -> None:
        os.write(self._stderr_end, text.encode())


class SimRun(Run):
    """A ``Run`` whose process is a thread."""

    def __init__(self, flags: list[str], make: Callable[[], SimulatedCli]) -> None:
        self.flags = flags
        self.extra_env = {}
        self.entries = []
        self.exit_code = None
        self.stderr = ""
        self.handlers = {}
        self.session_id = ""
        self._changed = threading.Condition()
        self._messages = []
        self._cursor = 0
        self._ids = 0
        self._ended = False
        self._start = time.monotonic()
        self.process = ThreadProcess(make)  # type: ignore[assignment]
        self._threads = [threading.Thread(target=self._read_stdout), threading.Thread(target=self._read_stderr)]
        self._watchdog = threading.Timer(RUN_LIMIT_S, self._kill_group)
        for thread in (*self._threads, self._watchdog):
            thread.daemon = True
            thread.start()

    def _kill_group(self) -> None:
        self.process.kill()


class SimStage:
    version = "2.1.325"
    is_newest = True

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.model = ScriptedModel()
        self.folder = folder
        self.home = folder / "home"
        self.cwd = folder / "repo"
        self.home.mkdir()
        self.cwd.mkdir()
        self.runs: list[tuple[str, Run]] = []

    @contextlib.contextmanager
    def claude(
        self,
        *flags: str,
        part: str = "",
        base: tuple[str, ...] = (*STREAM_JSON, *ASK),
        env: dict[str, str] | None = None,
        without_env: tuple[str, ...] = (),
    ) -> Iterator[Run]:
        common = {"HOME": str(self.home), "ANTHROPIC_API_KEY": "none", "PATH": os.environ["PATH"]}
        for name in without_env:
            common.pop(name, None)
        argv = [*base, *flags]

        def make() -> SimulatedCli:
            # Waiting is most of what the real CLI does in these scenarios; a tenth of it keeps the order.
            scenario = Scenario(time_scale=0.1)
            return SimulatedCli(argv, scenario=scenario, brain=self.model, cwd=self.cwd, env=common | (env or {}))

        run = SimRun(argv, make)
        with run:
            yield run
        self.runs.append((f"{self.name}_{part}" if part else self.name, run))
