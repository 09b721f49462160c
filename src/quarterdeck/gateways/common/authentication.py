"""Tokens: who a request is from, how often they may ask, and when their streams end."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator

import msgspec

from quarterdeck.host import Caller, Host, HostError

from .settings import AccessSettings

KNOWN_S = 30.0
"""A token that was valid is not looked up again for this long, unless one is revoked meanwhile."""
KNOWN = 10_000
MINUTE_S = 60.0


class _Known(msgspec.Struct):
    caller: Caller
    until: float
    tokens: float
    """How many requests it may make at once, filled up by the second."""
    at: float


class _Failures(msgspec.Struct):
    count: int
    at: float
    noted_at: float = -math.inf
    unnoted: int = 0


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
        self._sleep = sleep
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
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
                    raise HostError("unauthenticated", "A token is needed.", hint="Authorization: Bearer TOKEN")
                before = self._revocations
                found = await self._host.authenticate(secret, via=self._via)
            except HostError as error:
                if error.code == "unauthenticated":
                    await self.failed(address, given=secret is not None)
                raise
            known = self._remember(digest, found, now if before == self._revocations else -math.inf)
        self._take(known, now)
        return known.caller

    def _remember(self, digest: bytes, caller: Caller, now: float) -> _Known:
        """``now`` is -inf where a token was revoked meanwhile: then it is looked up again next time."""
        until = min(now + KNOWN_S, math.inf if caller.expires_at is None else caller.expires_at)
        before = self._known.pop(digest, None)
        burst = 4 * self._settings.requests_per_s
        known = _Known(caller, until, burst if before is None else before.tokens, self._host.now())
        self._known[digest] = known
        while len(self._known) > KNOWN:
            self._known.popitem(last=False)
        return known

    def _take(self, known: _Known, now: float) -> None:
        rate = self._settings.requests_per_s
        known.tokens = min(known.tokens + max(now - known.at, 0.0) * rate, 4 * rate)
        known.at = now
        if known.tokens < 1.0:
            wait_s = round((1.0 - known.tokens) / rate, 3)
            raise HostError("rate_limited", f"{rate:g} requests a second are allowed.", retry_after_s=wait_s)
        known.tokens -= 1.0

    # Failed attempts

    async def failed(self, address: str, *, given: bool) -> None:
        """Note it, and hold the answer back the longer the more there were."""
        now = self._host.now()
        self.refused += 1
        failures = self._failures.pop(address, None)
        if failures is None or now - failures.at > MINUTE_S:
            failures = _Failures(0, now)
        self._failures[address] = failures
        while len(self._failures) > KNOWN:
            self._failures.popitem(last=False)
        failures.count += 1
        failures.at = now
        failures.unnoted += 1
        if now - failures.noted_at >= MINUTE_S:  # a flood of attempts must not become a flood of rows
            count, failures.unnoted, failures.noted_at = failures.unnoted, 0, now
            await self._host.note_attempt(via=self._via, address=address, attempts=count, token_given=given)
        beyond = failures.count - self._settings.attempts
        if beyond <= 0:
            return
        if self._delayed >= self._settings.delayed:
            raise HostError("rate_limited", "Too many failed attempts.", retry_after_s=self._settings.slowest_s)
        self._delayed += 1
        try:
            await self._sleep(min(0.125 * 2 ** min(beyond, 16), self._settings.slowest_s))
        finally:
            self._delayed -= 1

    # Streams

    def check_streams(self, caller: Caller) -> None:
        """Raises ``HostError`` when the token has as many streams as it may."""
        mine = sum(1 for other, _ in self._streams.values() if other.token_id == caller.token_id)
        if mine >= self._settings.streams_per_token:
            raise HostError(
                "rate_limited", f"{mine} streams are open with this token.", hint="Close one.", retry_after_s=1.0
            )

    @contextlib.contextmanager
    def stream(self, caller: Caller) -> Iterator[asyncio.Future[None]]:
        """While a stream to the caller is open; the future is done when their token is revoked or expires."""
        loop = asyncio.get_running_loop()
        ended = loop.create_future()
        self._streams[id(ended)] = (caller, ended)
        timer = None
        if caller.expires_at is not None:
            timer = loop.call_later(max(caller.expires_at - self._host.now(), 0.0), _end, ended)
        try:
            yield ended
        finally:
            del self._streams[id(ended)]
            if timer is not None:
                timer.cancel()
            ended.cancel()

    async def _watch_revocations(self) -> None:
        while not self._host.tokens_bell.closed:
            rung = self._host.tokens_bell.next()
            await rung.wait()
            if self._host.tokens_bell.closed:
                return
            self._revocations += 1
            self._known.clear()
            revoked = {token.id for token in await self._host.store.tokens() if token.revoked_at is not None}
            for caller, ended in list(self._streams.values()):
                if caller.token_id in revoked:
                    _end(ended)


def _end(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)
