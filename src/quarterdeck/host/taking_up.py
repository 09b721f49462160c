"""Continues with a process that outlived the host, in the middle of its turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from quarterdeck.keeper import KeeperClient, KeptSession
from quarterdeck.protocol import Handshake
from quarterdeck.protocol.snapshot import snapshot

from .actor import SessionActor
from .launching import Wire
from .redacting import line_again
from .requests import Decision

READ_BYTES = 1024 * 1024


async def take_up(
    actor: SessionActor, keeper: KeeperClient, kept: KeptSession, resend: Sequence[tuple[int, bytes]]
) -> None:
    """Catch up with the spool, then continue in the middle of the turn. The log must be folded already.

    ``resend``: our committed lines by number; those the keeper doesn't have are sent again.
    """
    log, recorder = actor.log, actor.recorder
    options = actor.options(log)
    actor.keeper = keeper
    if log.fold.side.handshake is Handshake.NOT_ASKED:
        await keeper.end(kept.session, kept.generation)
        await keeper.drop(kept.session, kept.generation)
        await actor.lose("The host was killed before it had contacted the process.")
        return

    log.standing.pid = kept.pid
    recorder.resume(resend, accepted=kept.accepted, written=kept.written)  # before what the process made of it
    known = min(kept.acknowledged, log.spool_end)  # the log may be an older one, from a backup
    offset = await recorder.catch_up(max(kept.first, known), kept.end, _reads(keeper, kept))
    await log.drained()
    last = max([kept.accepted, *(number for number, _ in resend)])
    again = [line_again(line) + b"\n" for number, line in resend if number > kept.accepted]
    transport = keeper.attach(kept.session, kept.generation, offset, durable=True, on_written=recorder.written)
    session = actor.attach(options, Wire(transport, offset=offset, again=again), input_number=last)
    await session.attach((), snapshot=snapshot(log.fold.side, log.fold.timeline.state.at))
    recorder.written(transport.written)
    session.ignore_messages()
    for record in list(log.approvals.values()):
        if record.state == "decided" and record.request_id in session.pending():
            _deliver_again(actor, record.request_id)
    actor.prompts.send_when_idle()


async def give_up(actor: SessionActor, keeper: KeeperClient, kept: KeptSession, why: Exception) -> None:
    """End a process that can't be continued: nobody would read or answer it. The log keeps everything it wrote."""
    recorder = actor.recorder
    offset = max(kept.first, recorder.offset)
    if (session := actor.session) is not None:
        actor.session = None
        session.detach()
    recorder.forget()
    ended = await keeper.end(kept.session, kept.generation)
    await recorder.catch_up(offset, ended.end, _reads(keeper, kept))
    await actor.lose(f"The restarted host could not continue with this process, so it ended it: {why}")
    await actor.log.drained()
    await keeper.drop(kept.session, kept.generation)


def _reads(keeper: KeeperClient, kept: KeptSession) -> Callable[[int], Awaitable[bytes]]:
    """Reads the spool from an offset."""
    return lambda offset: keeper.read(kept.session, offset, kept.generation, size=READ_BYTES)


def _deliver_again(actor: SessionActor, request_id: str) -> None:
    record = actor.log.approvals[request_id]
    if record.decision is not None:
        decision = msgspec.json.decode(record.decision.body, type=Decision)
        actor.deliver(request_id, actor.check_decision(request_id, decision))
