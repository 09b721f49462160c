"""``Link``: the WebSocket to a host. It reconnects by itself, and pending calls and streams continue.

Unanswered calls are sent again: reads change nothing, and writes carry an idempotency key, so the host applies them
once. Streams are resubscribed after their cursor.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import ssl
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec

from quarterdeck.host.errors import HostError

from .address import Address
from .errors import HostUnreachable, error_of
from .subscriptions import Behind, Head, Subscription

State: TypeAlias = Literal["closed", "connecting", "connected", "reconnecting", "lost"]

SENDING_S = 30.0
"""Disconnect if the network accepts nothing for this long."""
QUIET_BEATS = 2.5
"""A host counts as gone after this many missed heartbeats."""
HEARTBEAT_S = 15.0
"""Assumed until the host announces its own interval."""
UNAUTHENTICATED, TOO_LARGE = 1008, 1009
PASSING = frozenset({"shutting_down", "unavailable", "rate_limited"})
"""Error codes that may be temporary."""


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """Timeouts. Every wait is bounded."""

    connect_s: float = 10.0
    """One attempt to connect."""
    give_up_s: float = 60.0
    """For all attempts, since the last message from the host."""
    first_wait_s: float = 0.1
    """Before the second attempt; doubles each time."""
    longest_wait_s: float = 5.0
    answer_s: float = 120.0
    """From a request to its answer, including reconnects."""


class _PendingCall(msgspec.Struct):
    """A request that the host hasn't answered yet."""

    text: bytes
    answer: asyncio.Future[msgspec.Raw]


class Link:
    """Calls and subscriptions over one connection."""

    def __init__(
        self,
        address: Address,
        *,
        patience: Patience,
        tls: ssl.SSLContext | None = None,
        on_state: Callable[[State], None] | None = None,
        on_behind: Callable[[Behind], None] | None = None,
    ) -> None:
        self._address = address
        self._patience = patience
        self._tls = tls
        self._on_state = on_state
        self._on_behind = on_behind
        self.state: State = "closed"
        self.connections = 0
        """Number of connections made so far."""
        self._refs = 0
        self._asked: dict[int, _PendingCall] = {}
        self._subscriptions: dict[int, Subscription] = {}
        self._behind: dict[int, Subscription] = {}
        """Subscriptions dropped until their readers catch up."""
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        self._running: asyncio.Task[None] | None = None
        self._heard_at = 0.0
        self._heartbeat_s = HEARTBEAT_S
        self._wait_s = patience.first_wait_s
        self._over: HostError | None = None
        """The host's reason for ending the connection."""
        self._opened: asyncio.Future[None] | None = None
        self._closed = False

    # For those who use it

    async def open(self) -> None:
        """Connect. Raises ``HostError`` if the host refuses or can't be reached."""
        self._start()
        if self.state != "connected":
            self._opened = asyncio.get_running_loop().create_future()
            await self._opened

    async def close(self) -> None:
        self._closed = True
        self._give_up(HostError("unavailable", "The connection to the host was closed."), "closed")
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def ask(self, message: dict[str, Any], *, limit_s: float | None) -> msgspec.Raw:
        """Send a request; returns the result as JSON. Raises ``HostError``."""
        self._start()
        ref = self._new_ref()
        text = msgspec.json.encode({**message, "ref": ref})
        asked = self._asked[ref] = _PendingCall(text, asyncio.get_running_loop().create_future())
        self._outgoing.put_nowait(text)
        try:
            async with asyncio.timeout(limit_s):
                return await asked.answer
        except TimeoutError:
            raise HostUnreachable(
                self._address.shown, f"{message['op']} was not answered within {limit_s:g} s", operation=message["op"]
            ) from None
        finally:
            self._asked.pop(ref, None)

    def subscribe(self, subscription: Subscription) -> None:
        """Start or continue a subscription after its cursor."""
        self._start()
        self._forget(subscription)
        if self._behind.pop(subscription.ref, None) is not None:
            self._tell_behind(subscription)
        subscription.ref = self._new_ref()
        self._subscriptions[subscription.ref] = subscription
        self._outgoing.put_nowait(subscription.message())

    def unsubscribe(self, subscription: Subscription) -> None:
        self._behind.pop(subscription.ref, None)
        if self._forget(subscription):
            self._outgoing.put_nowait(msgspec.json.encode({"op": "unsubscribe", "ref": subscription.ref}))

    def behind(self) -> list[Behind]:
        """The streams whose readers are behind."""
        return [subscription.behind() for subscription in self._behind.values()]

    def _tell_behind(self, subscription: Subscription) -> None:
        if self._on_behind is not None:
            self._on_behind(subscription.behind())

    def _forget(self, subscription: Subscription) -> bool:
        return self._subscriptions.pop(subscription.ref, None) is not None

    def _new_ref(self) -> int:
        self._refs += 1
        return self._refs

    # Its life

    def _start(self) -> None:
        """Start connecting, even after giving up: the host may be back."""
        if self._closed:
            raise HostError("unavailable", "The connection to the host was closed.", hint="Open a new one.")
        if self._running is None or self._running.done():
            self._over = None
            self._heard_at = asyncio.get_running_loop().time()
            self._running = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            while True:
                socket = await self._connected()
                try:
                    await self._use(socket)
                finally:
                    with contextlib.suppress(OSError):
                        await socket.close()
        except HostError as error:
            self._give_up(error, "lost")
        except Exception as error:
            self._give_up(HostUnreachable(self._address.shown, f"{type(error).__name__}: {error}"), "lost")
            raise

    def _give_up(self, error: HostError, state: State) -> None:
        """Fail everything that waits, with the reason."""
        asked, self._asked = self._asked, {}
        for one in asked.values():
            if not one.answer.done():
                one.answer.set_exception(error)
        told, self._subscriptions = self._subscriptions, {}
        for subscription in told.values():
            subscription.fail(error)
        if self._opened is not None and not self._opened.done():
            self._opened.set_exception(error)
        self._is(state)

    def _is(self, state: State) -> None:
        if self.state != state:
            self.state = state
            if self._on_state is not None:
                self._on_state(state)

    async def _connected(self) -> Any:
        """Connect, with as many attempts as needed. Raises ``HostError`` if retrying is pointless."""
        from websockets.exceptions import InvalidHandshake, InvalidStatus

        self._is("reconnecting" if self.connections else "connecting")
        loop = asyncio.get_running_loop()
        while True:
            try:
                return await self._address.connect(self._patience.connect_s, self._tls)
            except InvalidStatus as error:
                told = error_of(error.response.body or b"")
                why = f"it responded with status {error.response.status_code}" if told is None else told.message
                if told is not None and told.code not in PASSING:
                    raise told from error
            except ssl.SSLCertVerificationError as error:
                why = f"its certificate is not accepted: {error.verify_message}"
                hint = "If it is the right one, trust it with QUARTERDECK_CA_FILE, ca_file= or --ca-file."
                raise HostUnreachable(self._address.shown, why, hint=hint) from error
            except ssl.SSLError as error:
                why = f"TLS failed: {error.reason or error}"
                if not self.connections:
                    raise HostUnreachable(self._address.shown, why, hint="Does it serve https?") from error
            except (ConnectionRefusedError, FileNotFoundError) as error:
                why = "nothing is listening there"
                if not self.connections:
                    hint = "Is quarterdeck serve running?"
                    raise HostUnreachable(self._address.shown, why, hint=hint) from error
            except (OSError, TimeoutError, EOFError, InvalidHandshake) as error:
                why = str(error) or type(error).__name__
            if loop.time() + self._wait_s - self._heard_at > self._patience.give_up_s:
                raise HostUnreachable(self._address.shown, why)
            await self._pause()

    async def _pause(self) -> None:
        """Back off exponentially, with jitter."""
        await asyncio.sleep(self._wait_s * random.uniform(0.5, 1.0))  # noqa: S311
        self._wait_s = min(self._wait_s * 2, self._patience.longest_wait_s)

    # One connection

    async def _use(self, socket: Any) -> None:
        """Use one connection until it breaks."""
        from websockets.exceptions import ConnectionClosed

        self._outgoing = asyncio.Queue()
        for asked in self._asked.values():
            self._outgoing.put_nowait(asked.text)
        for subscription in self._subscriptions.values():
            self._outgoing.put_nowait(subscription.message())
        sending = asyncio.ensure_future(self._send(socket))
        try:
            await self._read(socket)
        except (ConnectionClosed, TimeoutError) as error:
            code = getattr(error.rcvd, "code", None) if isinstance(error, ConnectionClosed) else None
            if code == UNAUTHENTICATED:
                raise self._over or HostError("unauthenticated", "The token is no longer valid.") from error
            if code == TOO_LARGE:
                self._refuse_largest()
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        if asyncio.get_running_loop().time() - self._heard_at > self._patience.give_up_s:
            raise HostUnreachable(self._address.shown, "it does not respond")
        self._is("reconnecting")
        await self._pause()

    def _refuse_largest(self) -> None:
        """Fail the largest call: the host closed the connection because a message was too large, and would again."""
        largest = max(self._asked.values(), key=lambda one: len(one.text), default=None)
        if largest is not None and not largest.answer.done():
            largest.answer.set_exception(
                HostError("too_large", f"A message of {len(largest.text)} bytes is too large for the host.")
            )

    async def _send(self, socket: Any) -> None:
        try:
            while True:
                text = await self._outgoing.get()
                async with asyncio.timeout(SENDING_S):
                    await socket.send(text, text=True)
        except TimeoutError:
            socket.transport.abort()

    async def _read(self, socket: Any) -> None:
        loop = asyncio.get_running_loop()
        while True:
            async with asyncio.timeout(self._heartbeat_s * QUIET_BEATS):
                text = await socket.recv(decode=False)
            for part in _parts.decode(text):
                self._take(part)
            self._heard_at = loop.time()

    def _take(self, part: msgspec.Raw) -> None:
        head = _head.decode(part)
        if head.ref is None:
            if head.op == "hello":
                self._greeted(part)
            elif head.op == "error":
                self._over = error_of(part)
            return
        self._wait_s = self._patience.first_wait_s
        asked = self._asked.get(head.ref)
        if asked is not None:
            if not asked.answer.done():
                self._answer(asked, head, part)
        elif (subscription := self._subscriptions.get(head.ref)) is not None:
            if head.op in ("end", "error"):
                del self._subscriptions[head.ref]
            subscription.take(head, part)
            if subscription.is_behind:
                self.unsubscribe(subscription)
                self._behind[subscription.ref] = subscription
                self._tell_behind(subscription)

    def _answer(self, asked: _PendingCall, head: Head, part: msgspec.Raw) -> None:
        if head.op == "ok":
            asked.answer.set_result(_result.decode(part).result)
        elif (error := error_of(part)) is not None:
            asked.answer.set_exception(error)

    def _greeted(self, part: msgspec.Raw) -> None:
        self.connections += 1
        self._heartbeat_s = _hello.decode(part).heartbeat_s
        self._is("connected")
        if self._opened is not None and not self._opened.done():
            self._opened.set_result(None)


class _Result(msgspec.Struct):
    result: msgspec.Raw = msgspec.Raw(b"null")


class _Hello(msgspec.Struct):
    heartbeat_s: float = HEARTBEAT_S


_parts = msgspec.json.Decoder(list[msgspec.Raw])
_head = msgspec.json.Decoder(Head)
_result = msgspec.json.Decoder(_Result)
_hello = msgspec.json.Decoder(_Hello)
