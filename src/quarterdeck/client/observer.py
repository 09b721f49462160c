"""Watches a session without reading its messages; tracing and the warm pool are built on it.

Observers are told at the moment something is seen, whether or not the program reads. One that fails is
logged and removed, and the session goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from quarterdeck.protocol import ProtocolEvent
from quarterdeck.wire import Message

logger = logging.getLogger("quarterdeck")


class Observer:
    """Override what you want to see. All of it is called in the event loop, so it must be quick."""

    def sending(self, line: Mapping[str, Any]) -> None:
        """A prompt is about to be sent; called in the context of the sender."""

    def received(self, messages: list[Message]) -> None:
        """Content has arrived, in the order the CLI wrote it; before the program reads it."""

    def happened(self, event: ProtocolEvent) -> None:
        """Something happened in the protocol. Of one chunk, events precede content, even content written earlier."""

    def answered(self, request_id: str, payload: Mapping[str, Any] | None, error: str | None) -> None:
        """A request of the CLI was answered, with a payload or an error."""

    def read(self, data: bytes) -> None:
        """The CLI wrote these bytes, cut anywhere. Called before the other methods see what they say."""

    def wrote(self, data: bytes) -> None:
        """These lines go to the CLI: prompts, requests of ours, answers."""

    def closed(self) -> None:
        """The session is over."""


class Observers(Observer):
    """Several as one."""

    def __init__(self) -> None:
        self._all: list[Observer] = []

    def add(self, observer: Observer) -> None:
        self._all.append(observer)

    def remove(self, observer: Observer) -> None:
        """Does nothing if the observer is not there."""
        if observer in self._all:
            self._all.remove(observer)

    def _tell(self, tell: Callable[[Observer], None]) -> None:
        for observer in tuple(self._all):
            try:
                tell(observer)
            except Exception:
                logger.exception("An observer of the session failed and is dismissed: %r", observer)
                self.remove(observer)

    def sending(self, line: Mapping[str, Any]) -> None:
        self._tell(lambda one: one.sending(line))

    def received(self, messages: list[Message]) -> None:
        self._tell(lambda one: one.received(messages))

    def happened(self, event: ProtocolEvent) -> None:
        self._tell(lambda one: one.happened(event))

    def answered(self, request_id: str, payload: Mapping[str, Any] | None, error: str | None) -> None:
        self._tell(lambda one: one.answered(request_id, payload, error))

    def read(self, data: bytes) -> None:
        self._tell(lambda one: one.read(data))

    def wrote(self, data: bytes) -> None:
        self._tell(lambda one: one.wrote(data))

    def closed(self) -> None:
        self._tell(lambda one: one.closed())
