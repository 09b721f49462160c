"""Tokens: who a request is from, how often they may ask, and when their streams end."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeAlias, TypeVar

import msgspec

from quarterdeck.host import Caller, Host, HostError

logger = logging.getLogger("quarterdeck.gateways")

KNOWN_S = 30.0
"""A token that was valid is not looked up again for this long, unless one is revoked meanwhile."""
KNOWN = 10_000
MINUTE_S = 60.0

T = TypeVar("T")


class AccessSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Limits that every gateway has: per token, and against guessing tokens."""

    streams_per_token: int = 200
    requests_per_s: float = 200.0
    """Per token; bursts of up to four times as many are fine."""

    # Streams
    outbox_bytes: int = 256 * 1024
    """What may wait for one client. A subscription that finds it full waits, and reads the log later."""
    stalled_s: float = 60.0
    """A client that reads nothing for this long is considered gone."""
    drain_s: float = 10.0
    """What is being answered when the gateway stops has this long."""

    # Failed attempts
    attempts: int = 5
    """Failures of one client within a minute that cost it nothing."""
    slowest_s: float = 4.0
    delayed: int = 64
    """Answers that are held back at once; beyond that they are refused at once."""


class _Known(msgspec.Struct):
    caller: Caller
    until: float


class _Allowance(msgspec.Struct):
    requests: float
    """How many may come at once, filled up by the second."""
    at: float


class _Failures(msgspec.Struct):
    count: int
    at: float
    noted_at: float = -math.inf
    unnoted: int = 0


_Open: TypeAlias = dict[int, tuple[Caller, asyncio.Future[None]]]


class _Stream:
    """A stream, or a request, that is open."""

    __slots__ = ("_caller", "_ended", "_left_s", "_most", "_open", "_timer")

    def __init__(self, open_: _Open, caller: Caller, *, left_s: float | None, most: int | None) -> None:
        self._open = open_
        self._caller = caller
        self._left_s = left_s
        self._most = most
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> asyncio.Future[None]:
        if self._most is not None:
            self._count(self._most)
        loop = asyncio.get_running_loop()
        ended = self._ended = loop.create_future()
        self._open[id(ended)] = (self._caller, ended)
        if self._left_s is not None:
            self._timer = loop.call_later(self._left_s, _end, ended)
        return ended

    def _count(self, most: int) -> None:
        mine = sum(1 for other, _ in self._open.values() if other.token_id == self._caller.token_id)
        if mine >= most:
            raise HostError(
                "rate_limited", f"{mine} streams are open with this token.", hint="Close one.", retry_after_s=1.0
            )

    def __exit__(self, *_: object) -> None:
        del self._open[id(self._ended)]
        if self._timer is not None:
            self._timer.cancel()
        self._ended.cancel()


class Authentication:
    """Callers by their tokens."""

    def __init__(
        self,
        host: Host,
        settings: AccessSettings,
        *,
        via: str,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._host = host
        self._settings = settings
        self._via = via
        self.sleep = sleep
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._allowances: OrderedDict[str, _Allowance] = OrderedDict()
        """By token."""
        self._failures: OrderedDict[str, _Failures] = OrderedDict()
        self._delayed = 0
        self._revocations = 0
        self._streams: _Open = {}
        self._requests: _Open = {}
        """Those that take long."""
        self._watching: asyncio.Task[None] | None = None
        self.refused = 0
        """Attempts that failed, for the metrics."""

    def start(self) -> None:
        rung = self._host.tokens_bell.next()
        self._watching = asyncio.get_running_loop().create_task(self._watch_revocations(rung))

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    @property
    def streams(self) -> int:
        return len(self._streams)

    async def caller(self, secret: str | None, address: str) -> Caller:
        """Raises ``HostError``; a wrong token costs its sender time."""
        now = self._host.now()
        digest = hashlib.sha256((secret or "").encode()).digest()
        known = self._known.get(digest)
        if known is None or known.until <= now:
            try:
                if secret is None:
                    raise HostError("unauthenticated", "A token is required.", hint="Authorization: Bearer TOKEN")
                found = await self._found(secret)
            except HostError as error:
                if error.code == "unauthenticated":
                    await self.failed(address, given=secret is not None)
                raise
            known = self._remember(digest, found, now)
        if wait_s := self._wait_s(known.caller):
            rate = self._settings.requests_per_s
            raise HostError("rate_limited", f"The limit is {rate:g} requests per second.", retry_after_s=wait_s)
        return known.caller

    async def _found(self, secret: str) -> Caller:
        """Looked up again if a token was revoked meanwhile: it may be this one."""
        while True:
            before = self._revocations
            found = await self._host.authenticate(secret, via=self._via)
            if before == self._revocations:
                return found

    async def pace(self, caller: Caller) -> None:
        """For persistent connections: a caller that asks too often is read more slowly."""
        while wait_s := self._wait_s(caller):
            await self.sleep(wait_s)

    def _remember(self, digest: bytes, caller: Caller, now: float) -> _Known:
        until = min(now + KNOWN_S, math.inf if caller.expires_at is None else caller.expires_at)
        known = self._known[digest] = _Known(caller, until)
        _forget_oldest(self._known)
        return known

    def _wait_s(self, caller: Caller) -> float:
        """Takes one request of what the token is allowed; if there is none left, how long until there is."""
        rate, now, name = self._settings.requests_per_s, self._host.now(), caller.token_id or caller.name
        allowance = self._allowances.get(name)
        if allowance is None:
            allowance = self._allowances[name] = _Allowance(4 * rate, now)
            _forget_oldest(self._allowances)
        allowance.requests = min(allowance.requests + max(now - allowance.at, 0.0) * rate, 4 * rate)
        allowance.at = now
        if allowance.requests < 1.0:
            return max(round((1.0 - allowance.requests) / rate, 3), 0.001)
        allowance.requests -= 1.0
        return 0.0

    # Failed attempts

    async def failed(self, address: str, *, given: bool) -> None:
        """Note it, and hold the answer back the longer the more there were."""
        now = self._host.now()
        self.refused += 1
        failures = self._failures.pop(address, None)
        if failures is None or now - failures.at > MINUTE_S:
            failures = _Failures(0, now)
        self._failures[address] = failures
        _forget_oldest(self._failures)
        failures.count += 1
        failures.at = now
        failures.unnoted += 1
        if now - failures.noted_at >= MINUTE_S:  # a flood of attempts must not become a flood of rows
            count, failures.unnoted, failures.noted_at = failures.unnoted, 0, now
            try:
                await self._host.note_attempt(via=self._via, address=address, attempts=count, token_given=given)
            except Exception:  # it is slowed and refused all the same
                logger.exception("A failed attempt cannot be noted")
        beyond = failures.count - self._settings.attempts
        if beyond <= 0:
            return
        if self._delayed >= self._settings.delayed:
            raise HostError("rate_limited", "Too many failed attempts.", retry_after_s=self._settings.slowest_s)
        self._delayed += 1
        try:
            await self.sleep(min(0.125 * 2 ** min(beyond, 16), self._settings.slowest_s))
        finally:
            self._delayed -= 1

    # What takes long

    def stream(self, caller: Caller) -> _Stream:
        """While a stream to the caller is open; the future is done when their token is revoked or expires.

        Enter it before anything is awaited: from then on the token's end is noticed. Raises ``HostError`` if the token
        has reached its limit of streams.
        """
        return _Stream(self._streams, caller, left_s=self._left_s(caller), most=self._settings.streams_per_token)

    def request(self, caller: Caller) -> _Stream:
        """The same for a request that takes long, of which there may be any number."""
        return _Stream(self._requests, caller, left_s=self._left_s(caller), most=None)

    def _left_s(self, caller: Caller) -> float | None:
        return None if caller.expires_at is None else max(caller.expires_at - self._host.now(), 0.0)

    async def while_valid(self, caller: Caller, working: Coroutine[Any, Any, T]) -> T:
        """Its result, unless the token ends first."""
        with self.request(caller) as ended:
            task = asyncio.ensure_future(working)
            waiting: list[asyncio.Future[Any]] = [task, ended]
            try:
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                if not task.done():
                    raise token_ended()
                return task.result()
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _watch_revocations(self, rung: asyncio.Event) -> None:
        bell = self._host.tokens_bell
        while True:
            await rung.wait()
            if bell.closed:
                return
            rung = bell.next()  # before tokens are read, or one that is revoked meanwhile is missed
            self._revocations += 1
            self._known.clear()
            revoked: set[str | None]
            try:
                revoked = {token.id for token in await self._host.store.tokens() if token.revoked_at is not None}
            except Exception:
                logger.exception("Tokens cannot be read; all streams end")
                revoked = {caller.token_id for caller, _ in self._held()}
            for caller, ended in self._held():
                if caller.token_id in revoked:
                    _end(ended)

    def _held(self) -> list[tuple[Caller, asyncio.Future[None]]]:
        return [*self._streams.values(), *self._requests.values()]


def token_ended() -> HostError:
    """For whoever has an open stream or request."""
    return HostError("unauthenticated", "The token is no longer valid.", hint="Use a new one.")


def _forget_oldest(known: OrderedDict[Any, Any]) -> None:
    while len(known) > KNOWN:
        known.popitem(last=False)


def _end(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)
