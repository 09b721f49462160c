"""A client made from an older description: an event it does not know costs it nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from gateways.grpc.kit import Client, served
from host.kit import frames_until
from quarterdeck.gateways.grpc.messages import MESSAGES
from quarterdeck.gateways.grpc.methods import METHODS

NEWER = "usage_report"
"""The event that the older description does not have."""


def older(name: str) -> Any:
    """A message as it was before there was that event."""
    pool = descriptor_pool.DescriptorPool()

    def add(file: Any) -> None:
        for needed in file.dependencies:
            add(needed)
        copy = descriptor_pb2.FileDescriptorProto()
        file.CopyToProto(copy)
        for message in copy.message_type:
            if message.name == "Event":
                (dropped,) = (field for field in message.field if field.name == NEWER)
                kind = dropped.type_name.rpartition(".")[2]
                message.field.remove(dropped)
                copy.message_type.remove(next(one for one in copy.message_type if one.name == kind))
        pool.Add(copy)

    add(MESSAGES[name].DESCRIPTOR.file)
    found = pool.FindMessageTypeByName(MESSAGES[name].DESCRIPTOR.full_name)
    return message_factory.GetMessageClass(found)


def watched(client: Client, session: str, reads: Any, **more: Any) -> Any:
    method = METHODS["watch_session"]
    request = MESSAGES[method.request](session_id=session, previews=False, **more)
    stub = client.channel.unary_stream(method.path, response_deserializer=reads.FromString)
    return stub(request.SerializeToString(), metadata=client.metadata)


async def events_of(stream: Any, count: int) -> list[Any]:
    found: list[Any] = []
    async for response in stream:
        found += response.events
        if len(found) >= count:
            break
    stream.cancel()
    return found[:count]


async def test_an_event_it_does_not_know_has_its_place_and_on_request_its_json(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        frames = await frames_until(there.host, session, "idle")
        count = sum(len(frame.events) for frame in frames)
        client, response = there.client(), METHODS["watch_session"].response
        now = await events_of(watched(client, session, MESSAGES[response]), count)
        old = await events_of(watched(client, session, older(response)), count)
        told = await events_of(watched(client, session, older(response), with_json=True), count)
        assert [(one.session_id, one.seq, one.at) for one in old] == [(one.session_id, one.seq, one.at) for one in now]
        kinds = [one.WhichOneof("event") for one in now]
        assert NEWER in kinds
        assert [one.WhichOneof("event") for one in old] == [None if kind == NEWER else kind for kind in kinds]
        for before, after in zip(old, now, strict=True):
            if before.WhichOneof("event") is not None:
                assert before.SerializeToString(deterministic=True) == after.SerializeToString(deterministic=True)
        unknown = [json.loads(one.json) for one in told if one.WhichOneof("event") is None]
        assert {one["type"] for one in unknown} == {NEWER}
        assert len(unknown) == kinds.count(NEWER)
