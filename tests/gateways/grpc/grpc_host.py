"""A host's methods over gRPC: what tests ask of a host, and what they are told, goes through messages on a wire.

So the tests of the host itself can be played through this face. By the tables, like the gateway.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import grpc
import msgspec

from gateways.grpc.kit import Client, info_of
from quarterdeck.gateways.grpc.decoding import values_of
from quarterdeck.gateways.grpc.encoding import writer_of
from quarterdeck.gateways.grpc.methods import METHODS, Method
from quarterdeck.gateways.grpc.shapes import CLEAR, Field, Kind, fields_of, message_name, snake
from quarterdeck.host import HostError
from quarterdeck.host.events import EVENTS
from quarterdeck.host.folding import Preview
from quarterdeck.host.requests import Request
from quarterdeck.host.resources import Frame, Frames

ZEROS: dict[Kind, Any] = {Kind.TEXT: "", Kind.INTEGER: 0, Kind.NUMBER: 0.0, Kind.TRUTH: False, Kind.JSON: {}}
BY_FIELD = {snake(message_name(event)): event for event in EVENTS.values()}


def request_message(method: Method, request: Request) -> bytes:
    """The request as a client would write it."""
    fields = fields_of(method.operation.takes)
    given = {field.attribute: getattr(request, field.attribute) for field in fields}
    set_ = {name: None if value is msgspec.UNSET else value for name, value in given.items()}
    message = writer_of(method.operation.takes, method.request)(SimpleNamespace(**set_))
    cleared = [field.name for field in fields if field.clearable and given[field.attribute] in (None, [])]
    if cleared:
        getattr(message, CLEAR).extend(cleared)
    data: bytes = message.SerializeToString()
    return data


def event_of(message: Any) -> Any:
    """The struct of an ``Event``."""
    name = message.WhichOneof("event")
    kind = BY_FIELD[name]
    values = tagged(kind, values_of(kind, getattr(message, name), ""))
    return msgspec.convert({"type": kind.__struct_config__.tag, "at": message.at, **values}, kind)


def tagged(struct: Any, values: dict[str, Any]) -> dict[str, Any]:
    """As JSON has it: with what is empty or zero, and with what an item is, which in a message the field says."""
    shown = dict(values)
    required = {field.name for field in msgspec.structs.fields(struct) if field.required}
    for field in fields_of(struct):
        if field.encoded not in shown:
            if field.attribute in required and not field.optional:
                shown[field.encoded] = {"list": [], "map": {}}.get(field.many, ZEROS.get(field.kind))
        elif field.kind is Kind.STRUCT:
            shown[field.encoded] = _each(field, shown[field.encoded])
    return shown


def _each(field: Field, held: Any) -> Any:
    def one(values: dict[str, Any]) -> dict[str, Any]:
        config = field.of.__struct_config__
        inner = tagged(field.of, values)
        return inner if config.tag is None else {config.tag_field: config.tag, **inner}

    if field.many == "list":
        return [one(values) for values in held]
    return {name: one(values) for name, values in held.items()} if field.many == "map" else one(held)


def result_of(method: Method, message: Any) -> Any:
    if method.returns is Frames:
        frames = [
            Frame(session=one.session, seq=one.seq, at=one.at, events=[event_of(event) for event in one.events])
            for one in message.frames
        ]
        return Frames(frames=frames, last_seq=message.last_seq, epoch=message.epoch)
    shown = getattr(message, method.wrapped) if method.wrapped else message
    return msgspec.convert(tagged(method.returns, values_of(method.returns, shown, "")), method.returns)


class GrpcHost:
    """Operations over gRPC; anything else is the host's own."""

    def __init__(self, host: Any, client: Client) -> None:
        self._host = host
        self._client = client
        self.channel = client.channel

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            return getattr(self._host, name)
        method = METHODS[name]

        async def call(request: Request) -> Any:
            try:
                return result_of(method, await self._client.call(name, request_message(method, request)))
            except grpc.aio.AioRpcError as error:
                raise _host_error(error) from error

        return call

    async def watch_session(self, request: Request) -> AsyncIterator[Any]:
        stream = self._client.call("watch_session", request_message(METHODS["watch_session"], request))
        told = 0
        try:
            async for response in stream:
                for seq, preview, events in _grouped(response.events):
                    session = events[0].session_id
                    structs = [event_of(event) for event in events]
                    if preview:
                        yield Preview(session=session, after_seq=seq, events=structs)
                    else:
                        yield Frame(session=session, seq=seq, at=structs[0].at, events=structs)
                        told = seq
                last = int(response.cursor.rpartition("-")[2] or 0)
                if last > told:  # a row that shows nothing
                    yield Frame(session="", seq=last, at=0.0, events=[])
        except grpc.aio.AioRpcError as error:
            raise _host_error(error) from error
        finally:
            stream.cancel()


def _grouped(events: Any) -> list[tuple[int, bool, list[Any]]]:
    groups: list[tuple[int, bool, list[Any]]] = []
    for event in events:
        if not groups or groups[-1][:2] != (event.seq, event.preview) or event.preview:
            groups.append((event.seq, event.preview, []))
        groups[-1][2].append(event)
    return groups


def _host_error(error: grpc.aio.AioRpcError) -> HostError:
    info = info_of(error)
    details = dict(info.metadata)
    return HostError(info.reason, error.details() or "", hint=details.pop("hint", ""), **details)  # type: ignore[arg-type]
