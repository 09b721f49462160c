"""The keeper itself: its sessions, the one host it serves, and when it exits."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

from quarterdeck._version import __version__
from quarterdeck.transport import watchdog
from quarterdeck.transport.capabilities import detect
from quarterdeck.transport.marks import start_of
from quarterdeck.transport.strays import end_orphans

from . import frames
from .descriptors import DescriptorLimit
from .door import Door, peer_process, why_refused
from .ending import EndingGrace
from .frames import PROTOCOL, FrameError
from .kept import KeptProcess
from .link import KeeperLink
from .loop import Loop, Timer
from .places import LOG, Claim, remove_tree
from .requests import Requests
from .settings import KeeperSettings

logger = logging.getLogger(__name__)

GREETING_S = 5.0
"""For a peer to identify itself."""
STRANGERS = 32
"""Limit on unidentified connections; beyond it, the oldest is closed."""
LOG_LIMIT_BYTES = 1024 * 1024
FIRST_HOST_S = 20.0
"""Minimum time for the host that started it to connect."""
LAST_OUTPUT_S = 3.0
"""For the last output to be spooled when the keeper is stopped."""
POLL_S = 0.02


class Keeper:
    """Owns processes and their output, even when the host dies."""

    def __init__(self, claim: Claim, settings: KeeperSettings) -> None:
        self.claim = claim
        self.settings = settings
        self.loop = Loop(self._fault)
        self.loop.after_round = self._flush
        self.descriptors = DescriptorLimit()
        self.capabilities = detect()
        self.sessions: dict[tuple[str, int], KeptProcess] = {}
        self.channels: dict[int, KeptProcess] = {}
        self.host: KeeperLink | None = None
        self.retired = False
        self._host_started: int | None = None
        self._had_host = False
        self._strangers: dict[KeeperLink, Timer] = {}
        self._leave_at: Timer | None = None
        self._requests = Requests(self)
        self._door = Door(self.loop, claim.folder, on_connect=self._connected, on_fault=self._fault)
        self.loop.on_signal(signal.SIGCHLD, self._child_ended)
        self.loop.on_signal(signal.SIGTERM, self.stop)
        self.loop.call_later(self.settings.look_s, self._look_around, self._fault)
        self.publish()
        self.consider_leaving()
        if self.capabilities.proc_files:
            end_orphans()

    def run(self) -> None:
        self.loop.run()
        self._close()

    # Where it can be found

    def publish(self) -> None:
        self.claim.publish(
            {
                "pid": os.getpid(),
                "protocol": PROTOCOL,
                "version": __version__,
                "socket": str(self._door.path),
                "retired": self.retired,
            }
        )

    def _look_around(self) -> None:
        self.loop.call_later(self.settings.look_s, self._look_around, self._fault)
        if not self.claim.still_ours() and self.host is None and not self.retired:
            logger.error("the folder is gone, so no host can connect: ending all sessions")
            self.stop()
        log = self.claim.folder / LOG
        with contextlib.suppress(OSError):
            if log.stat().st_size > LOG_LIMIT_BYTES:
                os.truncate(log, 0)

    # Who connects

    def _connected(self, peer: socket.socket) -> None:
        pid, user = peer_process(peer)
        link = KeeperLink(self.loop, peer, self, pid=pid, on_error=self._fault)
        if len(self._strangers) >= STRANGERS:
            next(iter(self._strangers)).close()
        self._strangers[link] = self.loop.call_later(GREETING_S, link.close, self._fault)
        if reason := why_refused(pid, user):
            logger.warning("refused process %d: %s", pid, reason)
            self._refuse(link, "refused", f"The keeper refuses process {pid}: {reason}.")

    def _refuse(self, link: KeeperLink, code: str, message: str, **more: Any) -> None:
        link.send(frames.json_frame(frames.WELCOME, {"error": code, "message": message, **more}))
        link.close_after_sending()

    def greeted(self, link: KeeperLink, hello: dict[str, Any]) -> None:
        if self.host is not None and self._host_is_alive(self.host):
            if not hello.get("take_over"):
                holder = self.host.pid
                message = f"Process {holder} is the host of this keeper. End it, or take over."
                self._refuse(link, "occupied", message, holder=holder)
                return
            self.host.send_event({"event": "taken_over", "pid": link.pid})
            self.host.flush()
        if self.host is not None:
            self.host.close()
        self._strangers.pop(link).cancel()
        self.host = link
        self._had_host = True
        self._host_started = start_of(link.pid)
        limited = hello.get("protocol") != PROTOCOL
        link.admit(limited=limited)
        about = {"protocol": PROTOCOL, "version": __version__, "pid": os.getpid(), "limited": limited}
        link.send(frames.json_frame(frames.WELCOME, about))

    def _host_is_alive(self, host: KeeperLink) -> bool:
        """Check the process itself: a child forked by the host may keep the connection open after its death."""
        return not self.capabilities.proc_files or not host.pid or start_of(host.pid) == self._host_started

    def closed(self, link: KeeperLink) -> None:
        if link in self._strangers:
            self._strangers.pop(link).cancel()
        if link is self.host:
            self.host = None
            self._requests.forget()
            for kept in self.sessions.values():
                kept.detach()
            self.consider_leaving()

    # Replies

    def framed(self, link: KeeperLink, kind: int, body: memoryview) -> None:
        if kind == frames.REQUEST:
            self._requests.serve(link, *frames.parse_call(body))
            return
        if link.limited:
            raise FrameError("this is for hosts of the same protocol version only")
        if kind == frames.INPUT:
            channel, number, last = frames.parse_head(frames.INPUT_HEAD, body)
            self._for(channel, lambda kept: kept.input.take(number, body[frames.INPUT_HEAD.size :], last=bool(last)))
            return
        channel, number = frames.parse_head(frames.NUMBERED, body, exact=True)
        if kind == frames.TAKEN:
            self._for(channel, lambda kept: kept.output.take(number))
        elif kind == frames.ACKNOWLEDGE:
            self._for(channel, lambda kept: kept.output.acknowledge(number))
        elif kind == frames.CLOSE_INPUT:
            self._for(channel, lambda kept: kept.input.close_at(number))
        else:
            raise FrameError(f"a frame of unknown kind {kind}")

    def _for(self, channel: int, act: Callable[[KeptProcess], None]) -> None:
        """Act on an attached session. If it isn't attached, it was dropped meanwhile, which is fine."""
        kept = self.channels.get(channel)
        if kept is None or not kept.attached:
            return
        try:
            act(kept)
        except FrameError:
            raise
        except Exception as error:  # noqa: BLE001  # ends this session only
            kept.fail(error)

    # Its sessions

    def add(self, kept: KeptProcess) -> None:
        self.sessions[kept.session, kept.generation] = kept
        self.channels[kept.channel] = kept
        if self._leave_at is not None:
            self._leave_at.cancel()

    def drop(self, kept: KeptProcess) -> None:
        if self.host is not None:
            self.host.unqueue(kept.output)
        del self.sessions[kept.session, kept.generation]
        del self.channels[kept.channel]
        kept.remove()
        self.consider_leaving()

    def _child_ended(self) -> None:
        watchdog.revive()
        for kept in list(self.sessions.values()):
            try:
                kept.look()
            except Exception as error:  # noqa: BLE001  # ends this session only
                kept.fail(error)

    # The end

    def retire(self) -> None:
        """Start no more sessions; exit after the last one."""
        self.retired = True
        with contextlib.suppress(OSError):
            self.publish()
        self.consider_leaving()

    def stop(self, then: Callable[[], None] = lambda: None, patience: EndingGrace | None = None) -> None:
        """End all sessions, then exit. Unacknowledged output stays on disk."""
        self.retired = True
        left = len(self.sessions)

        def one_less() -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                then()
                self._leave_when_finished(time.monotonic() + LAST_OUTPUT_S)

        if not left:
            one_less()
        for kept in list(self.sessions.values()):
            kept.end(patience or EndingGrace(), one_less)

    def _leave_when_finished(self, deadline: float) -> None:
        """Wait for the last output, but not forever: the disk may be full."""
        if all(kept.finished for kept in self.sessions.values()) or time.monotonic() > deadline:
            self._leave()
        else:
            self.loop.call_later(POLL_S, lambda: self._leave_when_finished(deadline), self._fault)

    def consider_leaving(self) -> None:
        if self._leave_at is not None:
            self._leave_at.cancel()
        if self.sessions:
            return
        if self.retired:
            self._leave_at = self.loop.call_later(0, self._leave, self._fault)
        elif self.host is None:
            wait_s = self.settings.linger_s if self._had_host else max(self.settings.linger_s, FIRST_HOST_S)
            self._leave_at = self.loop.call_later(wait_s, self._leave_if_unused, self._fault)

    def _leave_if_unused(self) -> None:
        if not self.sessions and self.host is None:
            self._leave()

    def _leave(self) -> None:
        self._flush()
        self.loop.stop()

    def _close(self) -> None:
        for link in [*self._strangers, *([self.host] if self.host else [])]:
            link.close()
        self._door.close()
        for kept in self.sessions.values():
            kept.close()
        self.loop.close()
        if not self.sessions:
            remove_tree(self.claim.folder)
        self.claim.release()

    def _flush(self) -> None:
        for link in self._links():
            link.flush()

    def _links(self) -> Iterator[KeeperLink]:
        yield from list(self._strangers)
        if self.host is not None:
            yield self.host

    def _fault(self, error: Exception) -> None:
        logger.error("the keeper continues after this error", exc_info=error)
