"""A ``ByteTransport`` whose process belongs to the keeper: it outlives this program, which can attach to it again.

The receiver sees the same as for a local process: bytes, then the end of output, then the exit. If the keeper dies, the
bytes in its spool are delivered first.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from quarterdeck.transport.base import DEFAULT_GRACE, WRITE_LIMIT, ExitStatus, Grace, Receiver
from quarterdeck.transport.errors import CLIConnectionError, TransportClosed
from quarterdeck.transport.latch import Latch
from quarterdeck.transport.spawn import ChildCommand
from quarterdeck.transport.stderr import StderrTail

from . import frames
from .client import SWEEP_S, KeeperClient
from .delivery import Delivery
from .errors import KeeperError, KeeperRefused, KeeperUnavailable
from .numbered import NumberedInput
from .remains import LeftSession, left_sessions
from .starting import PrivateFile

logger = logging.getLogger(__name__)

KEEPER_DEATH_S = 1.0
"""For the system to release a keeper's lock after its connection broke, if it died."""
POLL_S = 0.01


class KeeperTransport:
    """One process of one session. Created by ``KeeperClient.start()`` and ``KeeperClient.attach()``."""

    def __init__(
        self,
        client: KeeperClient,
        session: str,
        *,
        generation: int | None,
        launch: tuple[ChildCommand, tuple[PrivateFile, ...]] | None = None,
        from_offset: int | None = None,
        durable: bool = False,
        on_chunk: Callable[[int, int], None] | None = None,
        on_written: Callable[[int], None] | None = None,
        on_stalled: Callable[[str | None], None] | None = None,
        on_stderr_line: Callable[[str], None] | None = None,
        write_limit_bytes: int = WRITE_LIMIT,
    ) -> None:
        """``durable``: the caller acknowledges what it has committed with ``acknowledge()``, and drops the session.

        Otherwise delivered output counts as acknowledged, and the session is dropped when it has ended. ``on_chunk`` is
        called just before the receiver gets bytes, with their start and end offsets; ``on_written`` with the number of
        the last input in the pipe; ``on_stalled`` with the reason when the spool can't be written, and with None when
        it can again.
        """
        self.session = session
        self.generation = generation
        self.durable = durable
        self._client = client
        self._launch = launch
        self._from_offset = from_offset
        self._on_chunk = on_chunk
        self._on_written = on_written
        self._on_stalled = on_stalled
        self._stderr = StderrTail(on_stderr_line, self._report_error)
        self._last_words: str | None = None
        self._write_limit_bytes = write_limit_bytes
        self._pid: int | None = None
        self._channel = 0
        self._input: NumberedInput | None = None
        self._delivery: Delivery | None = None
        self._left: LeftSession | None = None
        self._paused = self._closing = self._used = self._exit_told = False
        self._status: ExitStatus | None = None
        self._done = Latch()

    @property
    def pid(self) -> int | None:
        return self._pid

    @property
    def status(self) -> ExitStatus | None:
        """How it ended; ``None`` while it runs, or if unknown."""
        return self._status

    @property
    def stderr_tail(self) -> str:
        return self._stderr.text if self._last_words is None else self._last_words

    @property
    def offset(self) -> int:
        """One past the last byte delivered to the receiver."""
        return 0 if self._delivery is None else self._delivery.offset

    @property
    def waiting_bytes(self) -> int:
        """Bytes not yet delivered, because the receiver is paused."""
        return 0 if self._delivery is None else self._delivery.waiting_bytes

    @property
    def last_input(self) -> int:
        """The number of the last input that the keeper or this transport has accepted."""
        return 0 if self._input is None else self._input.last

    @property
    def written(self) -> int:
        """The number of the last input in the pipe."""
        return 0 if self._input is None else self._input.written

    # Starting

    async def start(self, receiver: Receiver) -> None:
        """Start the process, or attach to it.

        Raises ``CLINotFoundError`` or ``StartFailed``, as for a local process, and ``KeeperError``.
        """
        if self._used or self._closing:
            raise TransportClosed("This transport was already started or closed; create a new one.")
        self._used = True
        self._loop = asyncio.get_running_loop()
        self._receiver = receiver
        launch, self._launch = self._launch, None
        try:
            if launch is not None:
                await self._client.launch(
                    *launch, session=self.session, generation=self.generation, on_reply=self._attached
                )
            else:
                key = {"session": self.session, "generation": self.generation, "offset": self._from_offset}
                await self._client.rejoin(key, self._attached)
        except (CLIConnectionError, KeeperRefused):
            raise
        except BaseException:
            self._closing = True
            self._undo(started=launch is not None)
            raise

    def _undo(self, *, started: bool) -> None:
        """Undo a request that timed out: its answer may still come, and must leave nothing behind."""
        key: dict[str, Any] = {"session": self.session, "generation": self.generation}
        if started:
            drop = partial(self._client.request_soon, "drop", **key)
            self._client.request_soon("end", lambda _: drop(), at_once=True, **key)
        else:
            self._client.request_soon("detach", **key)

    def _attached(self, reply: dict[str, Any]) -> None:
        """Apply the keeper's description of the process. Called before any of its output."""
        self.generation, self._pid, self._channel = reply["generation"], reply["pid"], reply["channel"]
        self._delivery = Delivery(
            self._loop,
            reply["offset"],
            paused=self._paused,
            deliver=self._deliver,
            on_report=self._report,
            on_flood=partial(self._ask_to_end, eof_s=0),
            on_over=self._tell_exit,
        )
        self._stderr.feed(reply["stderr"].encode())
        self._input = NumberedInput(
            self._loop,
            self._client.send,
            channel=self._channel,
            last=reply["accepted"],
            written=reply["written"],
            closed_error=self._closed_error,
            limit_bytes=self._write_limit_bytes,
        )
        if not reply["input_open"]:
            self._input.close()
        if reply["stalled"] is not None:
            self._tell_stalled(reply["stalled"])
        self._client.enter(self._channel, self)

    # Sending

    def write(self, data: bytes) -> None:
        self.send(data)

    def send(self, data: bytes) -> int:
        """Like ``write()``, but returns the number of the last line. An unfinished last line has a number too."""
        if self._input is None:
            raise TransportClosed("Not started yet: await start() first.")
        return self._input.write(data)

    async def drain(self) -> None:
        if self._input is not None:
            await self._input.drain()

    def close_input(self) -> None:
        """Send end-of-file as a numbered input."""
        if self._input is not None:
            self._input.finish()

    def input_written(self, number: int) -> None:
        """Called by the client, from the keeper."""
        if self._input is not None:
            self._input.confirm(number)
            if self._on_written is not None:
                self._on_written(number)

    def _closed_error(self) -> TransportClosed:
        if self._client.why_lost is not None and self._status is None:
            return TransportClosed(f"Claude Code accepts no more input from here. {self._client.why_lost}")
        if self._status is None:
            return TransportClosed("Claude Code accepts no more input: its stdin is closed. Start a new session.")
        told = f"\nError output: {self.stderr_tail}" if self.stderr_tail else ""
        return TransportClosed(f"Claude Code accepts no more input: it {self._status}. Start a new session.{told}")

    # Receiving

    def output_came(self, offset: int, data: bytes) -> None:
        """Called by the client, from the keeper."""
        if self._delivery is not None:
            self._delivery.came(offset, data)

    def _deliver(self, offset: int, data: bytes) -> None:
        if self._on_chunk is not None:
            self._on_chunk(offset, offset + len(data))
        self._receiver.bytes_received(data)

    def _report(self, offset: int) -> None:
        kind = frames.TAKEN if self.durable else frames.ACKNOWLEDGE
        self._client.send([frames.number_frame(kind, self._channel, offset)])

    def acknowledge(self, offset: int) -> None:
        """Tell the keeper that everything before this offset is committed and can be removed."""
        self._client.send([frames.number_frame(frames.ACKNOWLEDGE, self._channel, offset)])

    def pause_reading(self) -> None:
        self._paused = True
        if self._delivery is not None:
            if self._closing:
                self._delivery.discard()
            else:
                self._delivery.pause()

    def resume_reading(self) -> None:
        self._paused = False
        if self._delivery is not None:
            self._delivery.resume()

    def stderr_came(self, data: bytes) -> None:
        """Called by the client, from the keeper."""
        self._stderr.feed(data)

    def happened(self, event: dict[str, Any]) -> None:
        """Called by the client, from the keeper."""
        match event["event"]:
            case "stalled":
                self._tell_stalled(event["reason"])
            case "input_closed":
                self._close_input_pipe()
            case "died":
                self._status = ExitStatus.from_returncode(event["returncode"])
                self._close_input_pipe()
            case "exited":
                self._status = ExitStatus.from_returncode(event["returncode"])
                self._last_words = "\n".join(filter(None, (event["stderr"], event["fault"])))
                self._close_input_pipe()
                self._no_more_output()

    def _tell_stalled(self, reason: str | None) -> None:
        if self._on_stalled is not None:
            self._on_stalled(reason)

    def _close_input_pipe(self) -> None:
        if self._input is not None:
            self._input.close()

    # The end

    def _no_more_output(self) -> None:
        if self._delivery is not None:
            self._delivery.end(self._left)

    def _tell_exit(self) -> None:
        if self._exit_told:
            return
        self._exit_told = True
        if self._left is not None:
            self._take_over_from(self._left)
        self._stderr.end()
        self._client.leave(self._channel)
        if not self.durable and self._client.why_lost is None:
            self._client.request_soon("drop", session=self.session, generation=self.generation)
        self._receiver.eof_received()
        self._receiver.exited(self._status or ExitStatus())
        self._done.set()

    async def wait(self) -> ExitStatus:
        if not self._used:
            raise TransportClosed("Not started yet: await start() first.")
        await self._done.wait()
        return self._status or ExitStatus()

    async def close(self, grace: Grace = DEFAULT_GRACE) -> ExitStatus:
        """End the process and everything it started, like ``ProcessTransport``; the keeper performs the steps.

        Output that a paused receiver hasn't read isn't delivered, and a process that keeps flooding is terminated
        early. If cancelled, kills.
        """
        if self._delivery is None:
            self._closing = True
            return ExitStatus()
        again, self._closing = self._closing, True
        if again:
            await self._done.within(_limit_s(grace))
            return self._status or ExitStatus()
        if self._paused:
            self._delivery.discard()
        try:
            if self._client.why_lost is None:
                await self._end(grace)
            if not await self._done.within(grace.output_s):
                self._cut()
        except BaseException:
            self.abandon()
            raise
        return self._status or ExitStatus()

    async def _end(self, grace: Grace) -> None:
        try:
            ended = await self._client.end(self.session, self.generation, grace=grace)
            self._status = ended.status
        except KeeperUnavailable:
            logger.error("the keeper did not end process %s in time", self.pid)
        except KeeperError:  # the keeper is gone, or another host uses it: both are reported elsewhere
            logger.debug("process %s could not be asked to end", self.pid, exc_info=True)

    def _cut(self) -> None:
        """Give up on the last output, which is late. It stays in the spool."""
        self._stop_delivery()
        self._tell_exit()

    def _stop_delivery(self) -> None:
        if self._delivery is not None:
            self._delivery.stop()

    def abandon(self) -> None:
        """Tell the keeper to kill the process and everything it started, without waiting."""
        self._closing = True
        if self._delivery is not None and not self._exit_told:
            self._ask_to_end(at_once=True)
            if self._paused:
                self._delivery.discard()

    def _ask_to_end(self, **how: Any) -> None:
        self._client.request_soon("end", session=self.session, generation=self.generation, **how)

    def detach(self) -> None:
        """Leave the process running and stop delivery; the receiver isn't notified."""
        if self._input is not None and not self._exit_told:
            self._closing = self._exit_told = True
            self._stop_delivery()
            self._client.leave(self._channel)
            self._input.close()
            self._client.request_soon("detach", session=self.session, generation=self.generation)
            self._done.set()

    # Without a keeper

    def keeper_lost(self) -> None:
        """Called by the client when the connection is lost. If the keeper is dead, its spool is delivered first."""
        self._close_input_pipe()
        if self._client.keeper_may_have_died:
            self._look_for_rest(self._loop.time() + KEEPER_DEATH_S)
        else:
            self._no_more_output()

    def _look_for_rest(self, deadline: float) -> None:
        if not self._client.keeper_is_dead():
            if self._loop.time() < deadline and not self._closing:
                self._loop.call_later(POLL_S, self._look_for_rest, deadline)
                return
        else:
            mine = (self.session, self.generation)
            try:
                left = [one for one in left_sessions(self._client.place) if (one.session, one.generation) == mine]
            except (OSError, ValueError):
                logger.exception("What the keeper left of session %s cannot be read", self.session)
                left = []
            self._left = left[0] if left else None
        self._no_more_output()

    def _take_over_from(self, left: LeftSession) -> None:
        """Deliver everything the dead keeper had; its record of the exit is all we can learn."""
        self._status = self._status or left.status
        self._last_words = left.stderr_tail
        if not self.durable:
            left.remove()

    def disown(self) -> None:
        """Called by the client in a forked child: the session is the parent's."""
        self._closing = self._exit_told = True
        if self._input is not None:
            self._input.closed = True

    def _report_error(self, error: Exception) -> None:
        context = {"message": "the callback for lines of stderr raised", "exception": error, "transport": self}
        self._loop.call_exception_handler(context)


def _limit_s(grace: Grace) -> float:
    return grace.eof_s + grace.term_s + 2 * (grace.group_s + grace.kill_s) + grace.output_s + SWEEP_S
