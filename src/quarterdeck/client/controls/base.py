"""The base of all control methods: one way to ask, and answers typed as far as they fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from quarterdeck.wire import Answer, InitializeAnswer, OutgoingRequest, WireObject
from quarterdeck.wire._degrade import leaving_out

A = TypeVar("A", bound=Answer)


class ControlsBase(ABC):
    """What the session gives its control methods."""

    @abstractmethod
    async def request(
        self, request: OutgoingRequest | WireObject | str, /, *, timeout_s: float | None = None, **fields: Any
    ) -> Any:
        """Ask the CLI and return the payload of its answer, typed where it fits. ``timeout_s`` None: the usual limit.

        Raises ``ControlError`` when it refuses and ``ControlTimeout`` when it does not answer in time.
        """

    @property
    @abstractmethod
    def server_info(self) -> InitializeAnswer:
        """What the CLI said in the handshake."""

    @abstractmethod
    def _adopt_servers(self, servers: Mapping[str, Any]) -> dict[str, Any]:
        """Server configurations as sent on the wire; servers inside this process are connected as a side effect."""

    async def _ask(self, request: WireObject, answer: type[A], *, timeout_s: float | None = None) -> A:
        return fitted(await self.request(request, timeout_s=timeout_s), answer)

    async def _tell(self, request: WireObject, *, timeout_s: float | None = None) -> None:
        """For requests whose success says nothing more."""
        await self.request(request, timeout_s=timeout_s)

    async def _ask_freely(self, request: WireObject, *, timeout_s: float | None = None) -> dict[str, Any]:
        """For requests whose answer has no fixed shape."""
        payload = await self.request(request, timeout_s=timeout_s)
        return {} if payload is None else cast("dict[str, Any]", payload)


def fitted(payload: Any, answer: type[A]) -> A:
    """The payload converted to ``answer`` where it fits."""
    if isinstance(payload, answer):
        return payload
    source = {} if payload is None else payload
    if isinstance(source, dict):
        typed = leaving_out(source, answer)
        if isinstance(typed, answer):
            typed.origin_ = source
            return typed
    return cast("A", payload)
