"""Tokens: who a request is from, how often they may ask, and when their streams end."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from quarterdeck.host import Caller, Host, HostError

logger = logging.getLogger("quarterdeck.gateways")

KNOWN_S = 30.0
"""A token that was valid is not looked up again for this long, unless one is revoked meanwhile."""
KNOWN = 10_000
MINUTE_S = 60.0


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


class _Stream:
    """A stream that is open."""

    __slots__ = ("_caller", "_ended", "_left_s", "_open", "_timer")

    def __init__(self, streams: dict[int, tuple[Caller, asyncio.Future[None]]], caller: Caller, left_s: float | None):
        self._open = streams
        self._caller = caller
        self._left_s = left_s
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        ended = self._ended = loop.create_future()
        self._open[id(ended)] = (self._caller, ended)
        if self._left_s is not None:
            self._timer = loop.call_later(self._left_s, _end, ended)
        return ended

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
        self._streams: dict[int, tuple[Caller, asyncio.Future[None]]] = {}
        self._watching: asyncio.Task[None] | None = None
        self.refused = 0
        """Attempts that failed, for the metrics."""

    def start(self) -> None:
        self._watching = asyncio.get_running_loop().create_task(self._watch_revocations())

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
                before = self._revocations
                found = await self._host.authenticate(secret, via=self._via)
            except HostError as error:
                if error.code == "unauthenticated":
                    await self.failed(address, given=secret is not None)
                raise
            known = self._remember(digest, found, now if before == self._revocations else -math.inf)
        if wait_s := self._wait_s(known.caller):
            rate = self._settings.requests_per_s
            raise HostError("rate_limited", f"The limit is {rate:g} requests per second.", retry_after_s=wait_s)
        return known.caller

    async def pace(self, caller: Caller) -> None:
        """For persistent connections: a caller that asks too often is read more slowly."""
        while wait_s := self._wait_s(caller):
            await self.sleep(wait_s)

    def _remember(self, digest: bytes, caller: Caller, now: float) -> _Known:
        """``now`` is -inf where a token was revoked meanwhile: then it is looked up again next time."""
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

    # Streams

    def check_streams(self, caller: Caller) -> None:
        """Raises ``HostError`` if the token has reached its limit of streams."""
        mine = sum(1 for other, _ in self._streams.values() if other.token_id == caller.token_id)
        if mine >= self._settings.streams_per_token:
            raise HostError(
                "rate_limited", f"{mine} streams are open with this token.", hint="Close one.", retry_after_s=1.0
            )

    def stream(self, caller: Caller) -> _Stream:
        """While a stream to the caller is open; the future is done when their token is revoked or expires."""
        left_s = None if caller.expires_at is None else max(caller.expires_at - self._host.now(), 0.0)
        return _Stream(self._streams, caller, left_s)

    async def _watch_revocations(self) -> None:
        while not self._host.tokens_bell.closed:
            rung = self._host.tokens_bell.next()
            await rung.wait()
            if self._host.tokens_bell.closed:
                return
            self._revocations += 1
            self._known.clear()
            revoked: set[str | None]
            try:
                revoked = {token.id for token in await self._host.store.tokens() if token.revoked_at is not None}
            except Exception:
                logger.exception("Tokens cannot be read; all streams end")
                revoked = {caller.token_id for caller, _ in self._streams.values()}
            for caller, ended in list(self._streams.values()):
                if caller.token_id in revoked:
                    _end(ended)


def _forget_oldest(known: OrderedDict[Any, Any]) -> None:
    while len(known) > KNOWN:
        known.popitem(last=False)


def _end(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)
