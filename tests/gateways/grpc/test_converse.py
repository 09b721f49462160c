"""``Converse``: a session as one stream, from its opening to its end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from gateways.grpc.kit import Watching, info_of, refused, served
from host.kit import ASKS, frames_until
from quarterdeck.gateways.grpc.messages import MESSAGES
from quarterdeck.gateways.grpc.v1 import resources_pb2
from quarterdeck.host.requests import OfToken

IDLE = resources_pb2.SESSION_STATE_IDLE
ALLOW = {"decision": resources_pb2.DECISION_DECISION_ALLOW}


class Talk:
    """One conversation."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.events = Watching(None)
        self.answers: dict[str, Any] = {}
        self.opened: Any = None

    async def say(self, **fields: Any) -> None:
        await self.stream.write(MESSAGES["ConverseRequest"](**fields))

    async def next(self) -> bool:
        """The next response; False at the end."""
        response = await self.stream.read()
        if response is grpc.aio.EOF:
            return False
        kind = response.WhichOneof("response")
        if kind == "opened":
            self.opened = response.opened
        elif kind == "answer":
            self.answers[response.answer.ref] = response.answer
        else:
            self.events.take(response.events)
        return True

    async def until(self, kind: str, count: int = 1, **fields: Any) -> Any:
        """The event of this kind, the ``count``-th with these values."""
        while True:
            found = [
                event
                for event in self.events.seen
                if event.WhichOneof("event") == kind
                and all(getattr(getattr(event, kind), name) == value for name, value in fields.items())
            ]
            if len(found) >= count:
                return found[count - 1]
            assert await self.next(), f"it ended without {kind}"

    async def answer(self, ref: str) -> Any:
        while ref not in self.answers:
            assert await self.next(), "it ended without an answer"
        return self.answers[ref]


async def test_a_session_is_opened_prompted_decided_and_left_in_one_stream(tmp_path: Path) -> None:
    async with served(tmp_path, turns=[ASKS, "Done.", "More."]) as there:
        talk = Talk(there.client().converse())
        create = {"cwd": str(there.place.cwd), "prompt": {"text": "go"}}
        await talk.say(ref="o", idempotency_key="k", open={"create": create})
        asked = await talk.until("approval_changed")
        assert talk.opened.ref == "o"
        assert talk.opened.session.id == talk.opened.hello.session_id
        await talk.say(ref="d", decide={"approval_id": asked.approval_changed.approval.id, "decision": ALLOW})
        assert (await talk.answer("d")).decide.approval.state in (
            resources_pb2.APPROVAL_STATE_DECIDED,
            resources_pb2.APPROVAL_STATE_DELIVERED,
            resources_pb2.APPROVAL_STATE_APPLIED,
        )
        await talk.until("turn_ended")
        await talk.say(ref="p", send_prompt={"content": {"text": "and now?"}})
        assert (await talk.answer("p")).send_prompt.prompt_id
        await talk.stream.done_writing()
        while await talk.next():
            pass
        assert [event.turn_ended.turn.number for event in talk.events.seen if event.HasField("turn_ended")] == [1, 2]
        states = [event.status_change.state for event in talk.events.seen if event.HasField("status_change")]
        assert states[-1] == IDLE
        assert (await talk.stream.code()) == grpc.StatusCode.OK


async def test_what_is_refused_is_an_answer_and_the_conversation_goes_on(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        other = await there.session(None)
        await frames_until(there.host, session, "idle")
        read_only = Talk(there.client((await there.token("read")).secret).converse())
        await read_only.say(ref="o", open={"session_id": session})
        await read_only.say(ref="p", send_prompt={"content": {"text": "x"}})
        assert (await read_only.answer("p")).error.code == "forbidden"
        talk = Talk(there.client().converse())
        await talk.say(ref="o", open={"session_id": session, "without_previews": True})
        await talk.say(ref="1", decide={"approval_id": "nobody", "decision": ALLOW})
        await talk.say(ref="2", open={"session_id": session})
        await talk.say(ref="3", send_prompt={})
        await talk.say(ref="4", send_prompt={"session_id": other, "content": {"text": "x"}})
        codes = [(await talk.answer(ref)).error.code for ref in "1234"]
        assert codes == ["not_found", "invalid", "invalid", "invalid"]
        assert (await talk.answer("3")).error.details["field"] == "content"
        await talk.say(ref="5", update_session={"name": "renamed"})
        assert (await talk.answer("5")).update_session.session.name == "renamed"
        await talk.say(ref="6", idempotency_key="same", send_prompt={"content": {"text": "x"}})
        await talk.say(ref="7", idempotency_key="same", send_prompt={"content": {"text": "x"}})
        first, second = [await talk.answer(ref) for ref in "67"]
        assert first.send_prompt.prompt_id == second.send_prompt.prompt_id
        assert sorted([first.replayed, second.replayed]) == [False, True]


async def test_what_is_no_conversation_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client()
        silent = client.converse()
        await silent.done_writing()
        assert await refused(silent) == ("INVALID_ARGUMENT", "invalid")
        for fields, outcome in (
            ({"interrupt": {}}, ("INVALID_ARGUMENT", "invalid")),
            ({"open": {"session_id": "nobody"}}, ("NOT_FOUND", "not_found")),
            ({"open": {"create": {"cwd": "/nowhere/at/all"}}}, ("INVALID_ARGUMENT", "invalid")),
            ({"open": {}}, ("NOT_FOUND", "not_found")),
        ):
            talk = client.converse()
            await talk.write(MESSAGES["ConverseRequest"](**fields))
            assert await refused(talk) == outcome, fields


async def test_an_interrupt_stops_the_turn_and_a_waiting_prompt_is_taken_back(tmp_path: Path) -> None:
    async with served(tmp_path, turns=[ASKS, "Done."]) as there:
        talk = Talk(there.client().converse())
        await talk.say(ref="o", open={"create": {"cwd": str(there.place.cwd), "prompt": {"text": "go"}}})
        await talk.until("approval_changed")
        await talk.say(ref="p", send_prompt={"content": {"text": "later"}, "priority": resources_pb2.PRIORITY_LATER})
        waiting = (await talk.answer("p")).send_prompt.prompt_id
        await talk.say(ref="w", withdraw_prompt={"prompt_id": waiting})
        assert (await talk.answer("w")).WhichOneof("answer") == "withdraw_prompt"
        await talk.say(ref="i", interrupt={})
        assert (await talk.answer("i")).WhichOneof("answer") == "interrupt"
        ended = await talk.until("turn_ended")
        assert ended.turn_ended.turn.outcome != 1  # it was not done


async def test_a_half_closed_conversation_of_a_session_at_rest_ends_at_once(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        await frames_until(there.host, session, "idle")
        first = Talk(there.client().converse())
        await first.say(ref="o", open={"session_id": session})
        await first.stream.done_writing()
        while await first.next():
            pass
        assert "turn_ended" in first.events.kinds
        again = Talk(there.client().converse())
        await again.say(ref="o", open={"session_id": session, "after": first.events.cursor})
        await again.stream.done_writing()
        while await again.next():
            pass
        assert again.opened.hello.resumed
        assert not [kind for kind in again.events.kinds if kind == "turn_ended"]


async def test_a_revoked_token_ends_the_conversation_and_the_session_goes_on(tmp_path: Path) -> None:
    async with served(tmp_path, turns=[ASKS, "Done."]) as there:
        token = await there.token("operate")
        talk = Talk(there.client(token.secret).converse())
        await talk.say(ref="o", open={"create": {"cwd": str(there.place.cwd), "prompt": {"text": "go"}}})
        asked = await talk.until("approval_changed")
        await there.host.revoke_token(OfToken(token_id=token.id))
        with pytest.raises(grpc.aio.AioRpcError) as ended:
            while True:
                await talk.next()
        assert (ended.value.code().name, info_of(ended.value).reason) == ("UNAUTHENTICATED", "unauthenticated")
        other = Talk(there.client().converse())
        await other.say(ref="o", open={"session_id": talk.opened.session.id})
        await other.say(ref="d", decide={"approval_id": asked.approval_changed.approval.id, "decision": ALLOW})
        await other.until("turn_ended")


async def test_a_deadline_ends_the_conversation_and_not_the_session(tmp_path: Path) -> None:
    async with served(tmp_path, turns=[ASKS, "Done."]) as there:
        session = await there.session()
        talk = Talk(there.client().converse(timeout=1.0))
        await talk.say(ref="o", open={"session_id": session})
        with pytest.raises(grpc.aio.AioRpcError) as late:
            while True:
                await talk.next()
        assert late.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        while there.server.gateway.authentication.streams:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        again = Talk(there.client().converse())
        await again.say(ref="o", open={"session_id": session})
        asked = await again.until("approval_changed")
        await again.say(ref="d", decide={"approval_id": asked.approval_changed.approval.id, "decision": ALLOW})
        await again.until("turn_ended")
