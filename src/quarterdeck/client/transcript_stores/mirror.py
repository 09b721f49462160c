"""The CLI's transcript on its way into a session store.

With ``--session-mirror`` the CLI repeats on stdout what it has written to disk. These frames are appended to the store
in batches, in order and independently of the conversation: a slow store never delays a turn, a failing one is retried
and then reported, and the session continues, since the CLI has everything on disk.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from quarterdeck.client.transcripts.places import SUFFIX, is_session_id
from quarterdeck.wire import TranscriptMirrorMessage

from .protocol import SessionKey, SessionStore, SessionStoreEntry, key_for

logger = logging.getLogger("quarterdeck")

BATCH_ENTRIES = 500
BATCH_BYTES = 1024 * 1024
HELD_BYTES = 64 * 1024 * 1024
"""Maximum backlog for an unresponsive store; beyond it the oldest batch is dropped and reported."""
APPEND_S = 60.0
"""For one ``append``. It is not repeated when it takes longer, as it may still succeed."""
ATTEMPTS = 3
PAUSES_S = (0.2, 0.8)
CLOSE_S = 60.0
"""For the rest when the session closes."""

OnError = Callable[[SessionKey | None, str], None]


class _MirrorFrame(NamedTuple):
    path: str
    entries: list[dict[str, Any]]
    size: int


class TranscriptMirror:
    """``take`` frames as they come; ``flush`` waits until the store has them."""

    def __init__(
        self,
        store: SessionStore,
        projects_dir: str,
        *,
        on_error: OnError,
        eager: bool = False,
        append_s: float = APPEND_S,
        close_s: float = CLOSE_S,
    ) -> None:
        self._store = store
        self._projects = projects_dir
        self._on_error = on_error
        self._eager = eager
        self._append_s = append_s
        self._close_s = close_s
        self._frames: deque[_MirrorFrame] = deque()
        self._entries = 0
        self._bytes = 0
        self._taken = 0
        self._settled = 0
        self._worker: asyncio.Task[None] | None = None
        self._stalled = False

    def take(self, message: TranscriptMirrorMessage) -> None:
        """Keep a frame for the next batch."""
        if not message.entries:
            return
        self._taken += 1
        self._frames.append(_MirrorFrame(message.file_path, message.entries, len(message.raw)))
        self._entries += len(message.entries)
        self._bytes += self._frames[-1].size
        while self._bytes > HELD_BYTES and len(self._frames) > 1:
            self._give_up(self._frames.popleft())
        self._work_if_due()

    def _work_if_due(self) -> None:
        if self._eager or self._entries > BATCH_ENTRIES or self._bytes > BATCH_BYTES:
            self._work()

    def _give_up(self, frame: _MirrorFrame) -> None:
        self._settled += 1
        self._entries -= len(frame.entries)
        self._bytes -= frame.size
        lost = f"{len(frame.entries)} records were dropped: the store is too slow"
        self._on_error(key_of_file(frame.path, self._projects), lost)

    def _work(self) -> asyncio.Task[None] | None:
        if self._worker is None and self._frames:
            self._worker = asyncio.get_running_loop().create_task(self._drain())
        return self._worker

    async def flush(self) -> None:
        """Wait until the store has, or has refused, all frames so far. Not for a store that did not answer before."""
        if not self._stalled:
            await self._flush(self._taken)
        else:
            self._work()

    async def _flush(self, up_to: float) -> None:
        while self._settled < up_to and (worker := self._work()) is not None:
            await asyncio.shield(worker)

    async def close(self) -> None:
        """Flush the rest, in bounded time, even if the caller is cancelled."""
        last = asyncio.get_running_loop().create_task(self._flush(math.inf))
        try:
            await asyncio.wait({last}, timeout=self._close_s)
        except asyncio.CancelledError:
            await asyncio.wait({last}, timeout=self._close_s)
            raise
        finally:
            if not last.done():
                self._report(None, f"the session was closed and the store took longer than {self._close_s:g} s")
            last.cancel()
            if self._worker is not None:
                self._worker.cancel()

    async def _drain(self) -> None:
        """Store the current frames, grouped by file."""
        batch = list(self._frames)
        self._frames.clear()
        self._entries = self._bytes = 0
        by_path: dict[str, list[dict[str, Any]]] = {}
        for frame in batch:
            by_path.setdefault(frame.path, []).extend(frame.entries)
        try:
            for path, entries in by_path.items():
                await self._store_batch(path, entries)
        finally:
            self._settled += len(batch)
            self._worker = None
        self._work_if_due()

    async def _store_batch(self, path: str, entries: list[dict[str, Any]]) -> None:
        key = key_of_file(path, self._projects)
        if key is None:
            self._report(
                None, f"{path} is not a transcript below {self._projects}: {len(entries)} records are not stored"
            )
            return
        error: BaseException | None = None
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(PAUSES_S[attempt - 1])
            try:
                async with asyncio.timeout(self._append_s):
                    await self._store.append(key, cast("list[SessionStoreEntry]", entries))
            except TimeoutError:
                error, self._stalled = TimeoutError(f"append() took longer than {self._append_s:g} s"), True
                break
            except Exception as failure:  # noqa: BLE001  # whatever a store raises is reported
                error = failure
            else:
                self._stalled = False
                return
        self._report(key, str(error) or type(error).__name__)

    def _report(self, key: SessionKey | None, error: str) -> None:
        logger.error("records were not mirrored to the session store: %s", error)
        self._on_error(key, error)


def key_of_file(path: str, projects: str) -> SessionKey | None:
    """The key of a transcript, by its place below the projects folder.

    Where the CLI names that folder otherwise than we do (a link, a container), by the shape of the path.
    """
    parts = _below(path, projects) or _below(os.path.realpath(path), os.path.realpath(projects)) or _by_shape(path)
    if len(parts) == 2 and parts[1].endswith(SUFFIX):
        return key_for(parts[0], parts[1].removesuffix(SUFFIX))
    if len(parts) >= 4:
        return key_for(parts[0], parts[1], "/".join(parts[2:]).removesuffix(SUFFIX))
    return None


def _below(path: str, folder: str) -> list[str]:
    start = folder.rstrip("/\\") + os.sep
    return path.removeprefix(start).replace("\\", "/").split("/") if path.startswith(start) else []


def _by_shape(path: str) -> list[str]:
    parts = path.replace("\\", "/").split("/")
    for at in range(len(parts) - 2):
        if parts[at] == "projects" and is_session_id(parts[at + 2].removesuffix(SUFFIX)):
            return parts[at + 1 :]
    return []
