"""A conversation over gRPC: open a session, print what it says, allow what it asks, leave when it is idle.

quarterdeck serve --grpc 127.0.0.1:8788
python client.py 127.0.0.1:8788 FOLDER "Which tests fail?"     # the token is in QUARTERDECK_TOKEN
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator

import grpc

from quarterdeck.gateways.grpc.v1 import events_pb2, resources_pb2, session_service_pb2, session_service_pb2_grpc


class Conversation:
    """What goes up, and what is done about what comes down."""

    def __init__(self) -> None:
        self._said: asyncio.Queue[session_service_pb2.ConverseRequest | None] = asyncio.Queue()

    async def requests(self) -> AsyncIterator[session_service_pb2.ConverseRequest]:
        while (request := await self._said.get()) is not None:
            yield request

    def open(self, folder: str, prompt: str) -> None:
        request = session_service_pb2.ConverseRequest(ref="open", idempotency_key=os.urandom(8).hex())
        request.open.create.cwd = folder
        request.open.create.prompt.text = prompt
        self._said.put_nowait(request)

    def allow(self, approval_id: str) -> None:
        request = session_service_pb2.ConverseRequest(ref=approval_id)
        request.decide.approval_id = approval_id
        request.decide.decision.decision = resources_pb2.DECISION_DECISION_ALLOW
        self._said.put_nowait(request)

    def follow(self, event: events_pb2.Event) -> None:
        kind = event.WhichOneof("event")
        if kind == "text_delta":
            print(event.text_delta.text, end="", flush=True)
        elif kind == "text_completed":
            print()
        elif kind == "approval_changed":
            approval = event.approval_changed.approval
            if approval.state == resources_pb2.APPROVAL_STATE_PENDING:
                print(f"allowing {approval.tool}: {approval.summary}")
                self.allow(approval.id)
        elif kind == "usage_report":
            print(f"cost ${event.usage_report.cost_usd}")
        elif kind == "turn_ended":
            self._said.put_nowait(None)  # nothing more to say: it ends when the session is idle


async def main(address: str, folder: str, prompt: str) -> None:
    metadata = [("authorization", f"Bearer {os.environ['QUARTERDECK_TOKEN']}")]
    async with grpc.aio.insecure_channel(address) as channel:
        sessions = session_service_pb2_grpc.SessionServiceStub(channel)
        conversation = Conversation()
        conversation.open(folder, prompt)
        async for response in sessions.Converse(conversation.requests(), metadata=metadata):
            for event in response.events.events:
                conversation.follow(event)
            if response.answer.HasField("error"):
                print(f"refused: {response.answer.error.message}", file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
