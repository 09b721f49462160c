"""Operations on logs: read, watch one session, watch all."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import msgspec

from quarterdeck.store.records import ApprovalRecord, ChangeRecord, LogHead, SessionRecord

from . import requests as takes
from . import resources as returns
from .bodies import approval_view
from .callers import PROGRAM, Caller
from .errors import HostError
from .folding import Preview
from .frames import frames_page, frames_reader, gap_at, gap_frame, raw_reader
from .host_base import HostBase
from .raw_lines import WholeMessages


class LogOperations(HostBase):
    """Operations on logs."""

    async def get_timeline(self, request: takes.OfSession, caller: Caller = PROGRAM) -> returns.TimelineView:
        """Get the whole timeline so far."""
        log = (await self._actor(request.session_id)).log
        await log.settled()
        head = await self._head(log.id)
        state = msgspec.json.decode(log.fold.timeline.snapshot())
        return returns.TimelineView(seq=log.fanout.last_seq, epoch=head.epoch, state=state)

    async def watch_session(
        self, request: takes.WatchSession, caller: Caller = PROGRAM
    ) -> AsyncGenerator[returns.Frame | Preview, None]:
        """Stream the log after a cursor, then live. If it can't continue at the cursor, a ``Gap`` comes first."""
        async with aclosing(self.watch_session_together(request, caller)) as batches:
            async for batch in batches:
                for one in batch:
                    yield one

    async def watch_session_together(
        self, request: takes.WatchSession, caller: Caller = PROGRAM
    ) -> AsyncGenerator[Sequence[returns.Frame | Preview], None]:
        """Like ``watch_session``, in batches. Don't modify a batch: watchers share it."""
        log = (await self._actor(request.session_id)).log
        head = await self._head(log.id)
        after, gap = gap_at(head, request.after)
        if gap is not None:
            yield [gap_frame(head, gap.reason)]
        if request.view == "raw":
            whole = WholeMessages(raw_reader(self.store, log.id))
            async for lines in log.raw_fanout.watch(after, whole.read, previews=request.previews):
                if told := whole.of(lines):
                    yield told
            return
        read = frames_reader(self.store, log.id)
        async for news in log.fanout.watch(after, read, previews=request.previews):
            yield news

    async def read_events(self, request: takes.ReadEvents, caller: Caller = PROGRAM) -> returns.Frames:
        """Read part of the log. If there is a ``gap``, it is empty: get the timeline and continue after its ``seq``."""
        log = (await self._actor(request.session_id)).log
        head = await self._head(log.id)
        after, gap = gap_at(head, request.after)
        frames: list[returns.Frame] = []
        if gap is None:
            limit = max(request.limit, 1)
            if request.view == "raw":
                frames = await raw_reader(self.store, log.id)(after, limit)
            else:
                frames = await frames_page(self.store, head, after, limit, self._folds)
        return returns.Frames(
            frames=frames,
            last_seq=max(head.last_seq, frames[-1].seq if frames else 0),  # rows may have come since
            epoch=head.epoch,
            gap=None if gap is None else msgspec.to_builtins(gap),
        )

    async def _head(self, session_id: str) -> LogHead:
        head = await self.store.head(session_id)
        if head is None:
            raise HostError("not_found", f"There is no session {session_id}.")
        return head

    async def watch_host(
        self, request: takes.WatchHost, caller: Caller = PROGRAM
    ) -> AsyncGenerator[returns.Details, None]:
        """Stream changes of sessions and approvals after a position. After a ``gap``, fetch the lists again."""
        after = await self.store.position() if request.after is None else request.after
        yield returns.Details(details={"kind": "hello", "pos": after})
        while not self.bell.closed:
            rung = self.bell.next()
            page = await self.store.changes(after=after)
            if page.gap:
                after = page.position
                yield returns.Details(details={"kind": "gap", "pos": after})
                continue
            for change in page.changes:
                after = change.pos
                yield returns.Details(details=await self._change(change))
            if not page.changes:
                await rung.wait()

    async def _change(self, change: ChangeRecord) -> dict[str, Any]:
        shown: dict[str, Any] = {"kind": change.kind, "pos": change.pos, "id": change.id, change.kind: None}
        match change.record:
            case SessionRecord() as record:
                if await self.store.head(record.id) is not None:  # else it is deleted, which comes soon
                    shown["session"] = msgspec.to_builtins(await self._record_view(record))
            case ApprovalRecord() as approval:
                shown["approval"] = msgspec.to_builtins(approval_view(approval))
        return shown
