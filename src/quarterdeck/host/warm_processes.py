"""Processes started and initialized before a session needs them.

A warm process has no session and so no log: its lines are kept here until a session takes it, and become that session's
first rows. It is given only to a new session with exactly the same folder, agent, version, account, model, mode and
options. A session that resumes a conversation, has callbacks or has host tools starts its own process.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from quarterdeck.client import Session
from quarterdeck.client.errors import QuarterdeckError
from quarterdeck.client.journal import Journal, JournalEntry, JournalReader
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.keeper import KeeperClient
from quarterdeck.protocol import Exited

from .bodies import SessionBody
from .deciding import Deciding
from .launching import Wire, new_process
from .recording import Recorder
from .requests import CreateSession

logger = logging.getLogger("quarterdeck.host")

MAX_IDLE_S = 600.0
"""Claude Code reads settings, memory and git's state when it starts, so these get stale while a process waits."""
HEALTH_S = 2.0
FAILED_START_S = 5.0
"""Delay after a failed start; doubles with each failure, up to a minute."""
FAILED_START_MAX_S = 60.0
GENERATION = 1
"""A warm process becomes the first one of its session."""


class Warm(msgspec.Struct, frozen=True, kw_only=True):
    """Keep ``count`` processes ready for sessions like this one; prompt, name and tags don't matter."""

    like: CreateSession
    count: int = 1


def key_of(cwd: str, body: SessionBody, private: Mapping[str, Any]) -> bytes | None:
    """Equal for sessions whose processes are interchangeable until their first prompt; None: it needs its own."""
    if (
        body.generation
        or body.resume is not None
        or body.fork
        or body.host_tools
        or "callbacks" in body.private_options
    ):
        return None
    model = body.chosen.get("model", body.model)
    mode = body.chosen.get("permission_mode", body.permission_mode)
    asked = (cwd, body.agent, body.cli_pin, body.account, model, mode, body.options, dict(private))
    return msgspec.json.encode(asked, order="sorted")


class WarmProcess(JournalReader):
    """One waiting process, with everything it has written so far."""

    def __init__(self, key: bytes, keeper: KeeperClient | None, clock: Callable[[], float]) -> None:
        self.key = key
        self.name = f"warm-{uuid.uuid4()}"
        """Its name in the keeper."""
        self.keeper = keeper
        self.since = clock()
        self._clock = clock
        self._entries: list[JournalEntry] = []
        self._recorder: Recorder | None = None
        self._written = 0
        self.ended: Callable[[WarmProcess], None] = lambda _: None

    async def start(self, options: ClaudeAgentOptions) -> None:
        """Raises ``QuarterdeckError``."""
        self.deciding = options.can_use_tool = Deciding()
        hooks = {} if self.keeper is None else {"on_written": self._input_written}
        self.wire: Wire = await asyncio.to_thread(new_process, options, self.keeper, self.name, GENERATION, **hooks)
        self.session = Session(options, transport=self.wire)
        self.session.journal = Journal(self.session, clock=self._clock)
        self.session.journal.add(self)
        await self.session.open()

    async def is_healthy(self) -> bool:
        """``mcp_status`` is cheap, and every CLI since 2.0.77 knows it."""
        with contextlib.suppress(QuarterdeckError):
            await self.session.request("mcp_status", timeout_s=HEALTH_S)
            return self.session.exit_status is None
        return False

    def hand_over(self, recorder: Recorder) -> Awaitable[Any] | None:
        """Pass past and future lines to the recorder. Returns what to wait for."""
        journal, now = self.session.journal, self._clock()
        journal.remove(self)
        recorder.begin(self.wire, 0)
        entries, self._entries = self._entries, []
        wait = recorder.read([msgspec.structs.replace(entry, at=now) for entry in entries])
        journal.add(recorder)
        self._recorder = recorder
        recorder.written(self._written)
        return wait

    async def end(self) -> None:
        with contextlib.suppress(QuarterdeckError):
            await self.session.close()
        if self.keeper is not None:
            with contextlib.suppress(QuarterdeckError):
                await self.keeper.drop(self.name, GENERATION)

    def _input_written(self, number: int) -> None:
        self._written = number
        if self._recorder is not None:
            self._recorder.written(number)

    def read(self, entries: Sequence[JournalEntry]) -> None:
        self._entries += entries

    def exited(self, exited: Exited, at: float) -> None:
        self.ended(self)


class _Place:
    """The warm processes of one kind."""

    def __init__(self, warm: Warm) -> None:
        self.warm = warm
        self.ready: deque[WarmProcess] = deque()
        self.starting = 0
        self.failures = 0
        self.not_before = 0.0

    @property
    def count(self) -> int:
        return len(self.ready) + self.starting


class WarmProcesses:
    """All warm processes of a host."""

    def __init__(
        self,
        wanted: Iterable[Warm],
        *,
        options: Callable[[CreateSession], tuple[bytes | None, ClaudeAgentOptions]],
        keeper: Callable[[], Awaitable[KeeperClient | None]],
        room: Callable[[], int],
        clock: Callable[[], float],
    ) -> None:
        """
        Args:
            wanted: Which processes to keep ready.
            options: Returns the options and key for a session like this one; raises ``QuarterdeckError``.
            keeper: Returns the keeper for a new process.
            room: Returns how many more processes may start.
            clock: Returns the time in seconds.
        """
        self._places = [_Place(warm) for warm in wanted]
        self._options = options
        self._keeper = keeper
        self._room = room
        self._clock = clock
        self._jobs: set[asyncio.Task[None]] = set()
        self._open = False

    @property
    def count(self) -> int:
        """Processes that are ready or being started."""
        return sum(place.count for place in self._places)

    @property
    def ready(self) -> int:
        return sum(len(place.ready) for place in self._places)

    def open(self) -> None:
        self._open = True
        self.tend()

    def tend(self) -> None:
        """End processes that have waited too long, and start missing ones, one at a time per kind."""
        now = self._clock()
        for place in self._places:
            while place.ready and now - place.ready[0].since > MAX_IDLE_S:
                self._run(place.ready.popleft().end())
            wants = self._open and not place.starting and place.count < place.warm.count
            if wants and now >= place.not_before and self._room() > 0:
                place.starting += 1
                self._run(self._start(place))

    async def _start(self, place: _Place) -> None:
        try:
            key, options = self._options(place.warm.like)
            if key is None:
                raise ValueError("sessions like this one cannot use a warm process")
            process = WarmProcess(key, await self._keeper(), self._clock)
            try:
                await process.start(options)
            except BaseException:
                if hasattr(process, "session"):
                    await process.end()
                raise
        except Exception as error:  # noqa: BLE001  # whatever it is, the session that needs it meets it again
            place.failures += 1
            wait_s = min(FAILED_START_S * 2 ** (place.failures - 1), FAILED_START_MAX_S)
            place.not_before = self._clock() + wait_s
            logger.warning("A warm process did not start; retrying in %.0f s: %s", wait_s, error)
        else:
            place.failures = 0
            process.ended = self._lost
            if process.session.exit_status is None and self._open:
                place.ready.append(process)
            else:
                self._run(process.end())
        finally:
            place.starting -= 1
        self.tend()

    def _lost(self, process: WarmProcess) -> None:
        for place in self._places:
            if process in place.ready:
                place.ready.remove(process)
                self._run(process.end())

    async def take(self, key: bytes | None) -> WarmProcess | None:
        """Take a process for a session with this key; None if there is none."""
        for place in self._places:
            while key is not None and place.ready and place.ready[0].key == key:
                process = place.ready.popleft()
                if process.session.exit_status is None and await process.is_healthy():
                    return process
                self._run(process.end())
        return None

    def make_room(self) -> bool:
        """End one because a session needs its place; returns whether there was one."""
        for place in self._places:
            if place.ready:
                self._run(place.ready.popleft().end())
                return True
        return False

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        job = asyncio.get_running_loop().create_task(work)
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    async def close(self) -> None:
        """End all remaining ones."""
        self._open = False
        for place in self._places:
            while place.ready:
                self._run(place.ready.popleft().end())
        while self._jobs:
            await asyncio.wait(self._jobs)
