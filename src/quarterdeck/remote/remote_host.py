"""``RemoteHost``: the methods of ``Host``, for a host in another process or on another machine."""

from __future__ import annotations

import os
import ssl
import uuid
from collections.abc import AsyncGenerator, Callable
from types import TracebackType
from typing import Any

from quarterdeck.gateways.common.tracing import current_trace
from quarterdeck.host import requests as takes
from quarterdeck.host import resources as returns
from quarterdeck.host.folding import Preview
from quarterdeck.host.operations import OPERATIONS

from .address import Address
from .approvals import watched_approvals
from .encoding import item_of, message_for, result_of
from .link import Link, Patience, State
from .operations import RemoteOperations
from .subscriptions import Behind, HostSubscription, SessionSubscription, Subscription


class RemoteHost(RemoteOperations):
    """A remote host, over one WebSocket. Use it as an async context manager, in one event loop."""

    def __init__(
        self,
        host: str | os.PathLike[str] | None = None,
        *,
        token: str | None = None,
        ca_file: str | os.PathLike[str] | None = None,
        tls: ssl.SSLContext | None = None,
        patience: Patience | None = None,
        on_state: Callable[[State], None] | None = None,
        on_behind: Callable[[Behind], None] | None = None,
    ) -> None:
        """
        Args:
            host: A URL, a Unix socket or a state folder. Default: ``QUARTERDECK_HOST`` or the user's own host.
            token: Default: ``QUARTERDECK_TOKEN`` or, for a host on this machine, the one in its state folder.
            ca_file: PEM certificates to trust in addition to the system's. Default: ``QUARTERDECK_CA_FILE``.
            tls: For other TLS settings, e.g. a client certificate.
            patience: Timeouts.
            on_state: Called when the connection is made, lost, restored, or given up.
            on_behind: Called when the reader of a stream falls behind, and when it has caught up.
        """
        self.address = Address.find(host, token, ca_file)
        self._patience = patience or Patience()
        self._link = Link(self.address, patience=self._patience, tls=tls, on_state=on_state, on_behind=on_behind)

    async def open(self) -> RemoteHost:
        """Connect. Raises ``HostError``; ``HostUnreachable`` if there is no host."""
        try:
            await self._link.open()
        except BaseException:
            await self._link.close()
            raise
        return self

    async def close(self) -> None:
        """Disconnect. The host and its sessions keep running."""
        await self._link.close()

    async def __aenter__(self) -> RemoteHost:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def state(self) -> State:
        """The state of the connection."""
        return self._link.state

    @property
    def behind(self) -> list[Behind]:
        """Streams whose readers are so slow that the rest waits at the host."""
        return self._link.behind()

    async def _call(self, name: str, request: takes.Request, key: str | None = None) -> Any:
        operation = OPERATIONS[name]
        message = message_for(operation, request) | current_trace()
        if operation.writes:
            message["idempotency_key"] = key or str(uuid.uuid4())
        limit_s: float | None = self._patience.answer_s
        if isinstance(request, takes.Wait):
            limit_s = None if request.timeout_s is None else request.timeout_s + self._patience.answer_s
        return result_of(operation, await self._link.ask(message, limit_s=limit_s))

    async def _follow(self, name: str, subscription: Subscription) -> AsyncGenerator[Any, None]:
        """Yield items until the host ends the stream or the reader stops."""
        link = self._link
        link.subscribe(subscription)
        try:
            while True:
                if subscription.is_behind and subscription.drained:
                    link.subscribe(subscription)
                told = await subscription.next()
                if told is None:
                    return
                if told[0] == "hello" and isinstance(subscription, SessionSubscription):
                    yield Preview(session=subscription.session, after_seq=subscription.seq, events=[])
                elif told[0] != "hello" or name == "watch_host":
                    yield item_of(told)
        finally:
            link.unsubscribe(subscription)

    # Streams

    def watch_session(self, request: takes.WatchSession) -> AsyncGenerator[returns.Frame | Preview, None]:
        """Stream the log from a cursor, then live. If it no longer contains the cursor, a ``Gap`` comes first.

        A ``Preview`` without events means that previews were missed, for example because the connection broke.
        """
        message = message_for(OPERATIONS["watch_session"], request)
        return self._follow("watch_session", SessionSubscription(message))

    def watch_host(self, request: takes.WatchHost) -> AsyncGenerator[returns.Details, None]:
        """Stream changes of sessions and approvals after a position. After a ``gap``, fetch the lists again."""
        return self._follow("watch_host", HostSubscription(message_for(OPERATIONS["watch_host"], request)))

    def watch_approvals(self, request: takes.ListApprovals) -> AsyncGenerator[returns.Approval, None]:
        """Stream approvals: first those in the requested states, then every change."""
        return watched_approvals(self, request)

    def attach_callbacks(self, request: takes.AttachCallbacks) -> AsyncGenerator[returns.Call, None]:
        """Receive the calls of a session's hooks and tools."""
        return self._follow("attach_callbacks", Subscription(message_for(OPERATIONS["attach_callbacks"], request)))
