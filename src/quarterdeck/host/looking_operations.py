"""Operations on a session that don't need its process: result, sub-agents, files, diff, export, uploads."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator
from pathlib import PurePath

import msgspec

from quarterdeck.client.connection import new_id
from quarterdeck.timeline.items import ToolCall, TurnSummary

from . import requests as takes
from . import resources as returns
from .actor import SessionActor
from .callers import PROGRAM, Caller
from .changes import changes_since
from .errors import HostError
from .events import CustomEvent
from .exporting import exported
from .git import with_git
from .idempotency import once, promise_for
from .session_operations import SessionOperations
from .uploads import checked_name, keep

FILES_SHOWN = 200
FILES_LOOKED_AT = 50_000
"""Limit for completion: a folder may contain millions of files."""
_SKIPPED = frozenset({".git", "node_modules", ".venv", "__pycache__", ".tox", ".mypy_cache", "target"})


class LookingOperations(SessionOperations):
    """Operations on a session that don't need its process."""

    async def get_stderr(self, request: takes.OfSession, caller: Caller = PROGRAM) -> returns.Details:
        """Get the end of the CLI's stderr."""
        actor = await self._actor(request.session_id)
        return returns.Details(details={"stderr": actor.stderr, "generation": actor.log.body.generation})

    async def get_result(self, request: takes.OfSession, caller: Caller = PROGRAM) -> returns.Details:
        """Get the last result, including structured output."""
        items = (await self._actor(request.session_id)).log.fold.timeline.state.items
        last = next((item for item in reversed(items.values()) if isinstance(item, TurnSummary)), None)
        if last is None:
            raise HostError("not_found", "No turn has ended yet.", hint="Wait until the session is idle.")
        return returns.Details(details=msgspec.to_builtins(last))

    async def get_subagent(self, request: takes.OfSubagent, caller: Caller = PROGRAM) -> returns.Details:
        """Get the transcript of a sub-agent, by its call, task or own ID."""
        state, wanted = (await self._actor(request.session_id)).log.fold.timeline.state, request.subagent_id
        for item in state.items.values():
            if isinstance(item, ToolCall) and wanted in (item.id, item.agent_id, item.task_id):
                details = {"call": msgspec.to_builtins(item), "items": msgspec.to_builtins(state.children(item.id))}
                return returns.Details(details=details)
        raise HostError("not_found", f"The session has no sub-agent {wanted}.", field="subagent_id")

    async def list_files(self, request: takes.ListFiles, caller: Caller = PROGRAM) -> returns.FolderList:
        """List files in its folder, for completion."""
        cwd = (await self._actor(request.session_id)).log.record.cwd
        return returns.FolderList(paths=await asyncio.to_thread(_matching, cwd, request.q))

    async def get_diff(self, request: takes.OfSession, caller: Caller = PROGRAM) -> returns.Details:
        """Get the changes in its folder since the session was created, including commits."""
        log = (await self._actor(request.session_id)).log
        return returns.Details(details=await with_git(changes_since, log.record.cwd, log.body.base_commit))

    async def wait(self, request: takes.Wait, caller: Caller = PROGRAM) -> returns.Session:
        """Wait for one of these states, the end of the process, or a timeout."""
        actor = await self._actor(request.session_id)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(request.timeout_s):
                await self._until(actor, {*request.for_, "crashed", "stopped", "parked"})
        return await self._view(actor)

    async def _until(self, actor: SessionActor, states: set[str]) -> None:
        while not self.bell.closed:
            rung = self.bell.next()
            await actor.log.settled()
            state = actor.log.record.state
            if state in states and (state == "limited" or not actor.prompts.due):  # at the limit, prompts wait
                return
            await rung.wait()

    async def export_session(self, request: takes.Export, caller: Caller = PROGRAM) -> returns.Exported:
        """Export the session as a document; a long one in parts, with ``cursor``."""
        record = await self.find_session(request.session_id)
        if record is not None and record.id in self._actors:
            await self._actors[record.id].log.settled()
        head = None if record is None else await self.store.head(record.id)
        if record is None or head is None:
            raise HostError("not_found", f"There is no session {request.session_id}.")
        return await exported(self.store, head, record, request.format, request.cursor, self._folds)

    @once
    async def add_event(
        self, request: takes.AddEvent, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Accepted:
        """Add your own event to the log. With a prompt, the session also gets it, marked as external."""
        actor = await self._actor(request.session_id)
        log = actor.log
        receipt = promise_for(self, "add_event", request, caller, key, lambda seq: returns.Accepted(seq=seq))
        if request.prompt is None:
            event = CustomEvent(self._clock(), request.type, request.data, caller.name)
            return returns.Accepted(seq=(await log.tell(event, origin="external", receipt=receipt)).first_seq)
        self._admit_prompt(actor)
        actor.may_prompt()
        text = f"External event {request.type!r} from {caller.name}:\n\n{request.prompt}"
        prompt = returns.Prompt(id=new_id(), content=text, state="queued", by=caller.name)
        event = CustomEvent(self._clock(), request.type, request.data, caller.name, prompt.id)
        # It is queued in the same transaction, so that it is sent even after a crash.
        rows, waiting = [log.event_row(event, "external")], log.fold.queue.with_added(prompt)
        written = await log.set_queue(waiting, after=rows, receipt=receipt)
        await actor.prompts.send_waiting(prompt.id)
        return returns.Accepted(seq=written.first_seq)

    @once
    async def upload(self, request: takes.Upload, caller: Caller = PROGRAM, key: str | None = None) -> returns.Details:
        """Upload a file for the session; returns its path, for use in a prompt."""
        actor = await self._actor(request.session_id)
        limit = self.limits.upload_bytes
        if len(request.body) > limit:
            raise HostError("too_large", f"Uploads are limited to {limit} bytes.", field="body", limit_bytes=limit)
        name, again = checked_name(request.name), key is not None
        path = await asyncio.to_thread(keep, self._uploads(actor.id), name, request.body, again=again)
        size = len(request.body)
        return returns.Details(details={"path": path, "media_type": request.media_type, "size_bytes": size})


def _matching(cwd: str, wanted: str) -> list[str]:
    """Paths that contain this text: first those whose name starts with it, then the shortest."""
    text = wanted.casefold()
    found = [path for path in _files(cwd) if text in path.casefold()]
    found.sort(key=lambda path: (not PurePath(path).name.casefold().startswith(text), len(path), path))
    return found[:FILES_SHOWN]


def _files(cwd: str) -> Iterator[str]:
    seen = 0
    for folder, folders, files in os.walk(cwd):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in files:
            seen += 1
            if seen > FILES_LOOKED_AT:
                return
            yield os.path.relpath(os.path.join(folder, name), cwd)  # noqa: PTH118  # tens of thousands of them
