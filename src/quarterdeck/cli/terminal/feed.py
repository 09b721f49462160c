"""Feeds a session's messages of both directions to its timeline, once and in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from quarterdeck.client.observer import Observer
from quarterdeck.protocol import ProtocolEvent, RequestReceived
from quarterdeck.timeline import Event, Timeline
from quarterdeck.wire import Message, decode, encode


class Feed(Observer):
    """Passes the timeline's events to ``show``.

    A session drops an observer that fails. The user would then see nothing, so ``failed`` is called to end the session.
    """

    def __init__(
        self,
        timeline: Timeline,
        show: Callable[[list[Event]], None],
        *,
        clock: Callable[[], float],
        failed: Callable[[Exception], None],
    ) -> None:
        self._timeline = timeline
        self._show = show
        self._clock = clock
        self._failed = failed

    def received(self, messages: list[Message]) -> None:
        self._fold(self._timeline.received, messages)

    def happened(self, event: ProtocolEvent) -> None:
        message = getattr(event, "message", None)
        if isinstance(message, Message):
            self._fold(self._timeline.received, [message])
        elif isinstance(event, RequestReceived):  # part of the handshake's answer: it has no line of its own
            line = {"type": "control_request", "request_id": event.request_id, "request": event.request.to_dict()}
            self._fold(self._timeline.received, [decode(encode(line))])

    def wrote(self, data: bytes) -> None:
        self._fold(self._timeline.sent, map(decode, data.splitlines()))

    def _fold(self, fold: Callable[..., list[Event]], messages: Iterable[Any]) -> None:
        at = self._clock()
        try:
            events = [event for message in messages for event in fold(message, at=at)]
            if events:
                self._show(events)
        except Exception as error:  # noqa: BLE001  # any error ends the command
            self._failed(error)
