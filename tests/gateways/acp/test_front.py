"""What an editor is told before the agent is imported, and how pieces of text are written. No process."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.gateways.acp import content, front, jsonrpc, schema
from quarterdeck.gateways.acp.chunks import Chunks, Kind, update
from quarterdeck.gateways.acp.front import Front, Usual
from quarterdeck.gateways.acp.peer import Peer
from quarterdeck.gateways.acp.stdio import StdoutWriter

LIMIT_S = 30.0


class StandIn:
    """In the agent's place: writes down what it gets."""

    def __init__(self) -> None:
        self.greeting: schema.InitializeRequest | None = None
        self.adopted: list[tuple[str, str]] = []
        self.served: list[str] = []
        self.noticed: list[str] = []

    def greeted(self, params: schema.InitializeRequest) -> None:
        self.greeting = params

    def adopt(self, session_id: str, params: schema.NewSessionRequest) -> None:
        self.adopted.append((session_id, params.cwd))

    async def serve(self, method: str, params: bytes) -> Any:
        self.served.append(method)
        return {}

    def notice(self, method: str, params: bytes) -> None:
        self.noticed.append(method)

    def leave(self) -> None: ...

    async def close(self) -> None: ...


class Ends:
    def __init__(self, *, usual: Usual | None = None, draft: bool = False) -> None:
        self.agent: StandIn | None = None
        self.lines: dict[Any, dict[str, Any]] = {}
        self._news = asyncio.Event()
        self.front = Front(self._write, self._make, usual=usual, draft=draft)  # type: ignore[arg-type]  # as much as is called

    def _make(self, peer: Peer) -> StandIn:
        assert self.agent is None
        self.agent = StandIn()
        return self.agent

    def _write(self, data: bytes) -> None:
        line = json.loads(data)
        self.lines[line["id"]] = line
        self._news.set()

    def says(self, *calls: tuple[int, str, dict[str, Any]]) -> None:
        """All of it in one piece."""
        lines = [json.dumps({"jsonrpc": "2.0", "id": n, "method": m, "params": p}) + "\n" for n, m, p in calls]
        self.front.peer.receive("".join(lines).encode())

    async def answer(self, number: int) -> dict[str, Any]:
        async with asyncio.timeout(LIMIT_S):
            while number not in self.lines:
                self._news.clear()
                await self._news.wait()
        return self.lines[number]


INITIALIZE = (1, "initialize", {"protocolVersion": 1, "clientCapabilities": {"plan": {}}})


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The parts that are imported; the agent is made after the last one."""
    imported: list[str] = []
    monkeypatch.setattr(front, "import_module", imported.append)
    return imported


async def test_the_first_session_is_there_before_the_agent_and_becomes_the_agents(
    tmp_path: Path, parts: list[str]
) -> None:
    ends = Ends(usual=Usual(mode="plan", model="opus"))
    ends.says(INITIALIZE, (2, "session/new", {"cwd": str(tmp_path), "mcpServers": []}))
    made = (await ends.answer(2))["result"]
    assert ends.agent is None
    assert len(parts) < 2
    assert made["modes"]["currentModeId"] == "plan"
    assert {one["id"]: one["currentValue"] for one in made["configOptions"]} == {
        "mode": "plan",
        "model": "opus",
    }
    ends.says((3, "session/prompt", {"sessionId": made["sessionId"], "prompt": []}))
    await ends.answer(3)
    assert ends.agent is not None
    assert ends.agent.greeting is not None
    assert ends.agent.greeting.client_capabilities is not None
    assert ends.agent.adopted == [(made["sessionId"], str(tmp_path))]
    assert ends.agent.served == ["session/prompt"]
    await ends.front.close()


async def test_between_two_parts_a_request_is_read_answered_and_written(tmp_path: Path, parts: list[str]) -> None:
    ends = Ends(usual=Usual())
    ends.says(INITIALIZE)
    await ends.answer(1)
    for number in range(2, 5):
        before = len(parts)
        ends.says((number, "session/new", {"cwd": str(tmp_path), "mcpServers": []}))
        await ends.answer(number)
        assert len(parts) <= before + 1
    assert ends.front.importing is not None
    async with asyncio.timeout(LIMIT_S):
        await ends.front.importing
    assert ends.agent is not None
    assert len(ends.agent.adopted) == 3
    assert parts == list(front.PARTS)
    await ends.front.close()


async def test_what_is_wrong_is_refused_before_the_agent_is_there_as_by_it(tmp_path: Path) -> None:
    ends = Ends(usual=Usual())
    ends.says(
        INITIALIZE,
        (2, "session/new", {"cwd": "here", "mcpServers": []}),
        (3, "session/new", {"cwd": str(tmp_path / "none"), "mcpServers": []}),
        (4, "session/new", {"cwd": str(tmp_path), "mcpServers": [{"name": "x"}]}),
        (5, "session/new", {"mcpServers": []}),
    )
    for number in range(2, 6):
        assert (await ends.answer(number))["error"]["code"] == jsonrpc.INVALID_PARAMS
    assert ends.agent is None
    await ends.front.close()


async def test_only_so_many_sessions_are_begun_before_the_agent_counts_them(tmp_path: Path) -> None:
    ends = Ends(usual=Usual())
    wanted = range(2, 2 + 3 * front.EARLY_LIMIT)
    ends.says(INITIALIZE, *((number, "session/new", {"cwd": str(tmp_path), "mcpServers": []}) for number in wanted))
    for number in wanted:
        await ends.answer(number)
    assert ends.agent is not None
    assert len(ends.agent.adopted) == front.EARLY_LIMIT
    assert ends.agent.served == ["session/new"] * (len(wanted) - front.EARLY_LIMIT)
    await ends.front.close()


@pytest.mark.parametrize("why", ["a host", "options of the editor's own", "the draft", "not initialized"])
async def test_what_needs_the_agent_is_left_to_it(tmp_path: Path, why: str) -> None:
    ends = Ends(usual=None if why == "a host" else Usual(), draft=why == "the draft")
    meta = {"_meta": {"claudeCode": {"options": {"maxTurns": 1}}}} if why.startswith("options") else {}
    first = () if why == "not initialized" else (INITIALIZE,)
    ends.says(*first, (2, "session/new", {"cwd": str(tmp_path), "mcpServers": [], **meta}))
    await ends.answer(2)
    assert ends.agent is not None
    assert "session/new" in ends.agent.served
    assert ends.agent.adopted == []
    await ends.front.close()


async def test_a_notification_is_heard_after_the_request_it_follows() -> None:
    ends = Ends()
    ends.front.make_agent()
    both = b'{"id":1,"method":"session/prompt","params":{}}\n{"method":"session/cancel","params":{}}\n'
    ends.front.peer.receive(both)
    await ends.answer(1)
    assert ends.agent is not None
    order = [*ends.agent.served, *ends.agent.noticed]
    assert order == ["session/prompt", "session/cancel"]


def test_every_option_that_an_editor_may_set_exists() -> None:
    assert {field.name for field in fields(ClaudeAgentOptions)} >= content.FROM_EDITOR


TEXTS = ["plain", 'a "quote" and \\', "\n\t\x00\x1f", "ü … 日本 👍", "\ud800 alone", " ", "\x00"]
MESSAGE, THOUGHT = schema.SessionUpdateAgentMessageChunk, schema.SessionUpdateAgentThoughtChunk


async def test_a_piece_of_text_is_written_as_any_other_update_is() -> None:
    written: list[bytes] = []
    peer = Peer(written.append, serve=StandIn().serve, notice=StandIn().notice)
    sessions = {name: Chunks(peer, name) for name in ("s", "other")}
    expected: list[bytes] = []
    said: list[tuple[str, Kind, str | None]] = [
        ("s", MESSAGE, "m1"),
        ("s", THOUGHT, "m1"),
        ("s", MESSAGE, None),
        ("other", MESSAGE, None),
        ("s", MESSAGE, '"\x00"'),
    ]
    for session_id, kind, message_id in said:
        for text in TEXTS:
            sessions[session_id].write(kind, text, message_id)
            told = schema.SessionNotification(session_id=session_id, update=update(kind, text, message_id))
            expected.append(jsonrpc.notification("session/update", told))
    assert written == expected
    await peer.close()
    sessions["s"].write(MESSAGE, "late", "m1")
    assert written == expected


async def test_a_writer_whose_reader_is_gone_keeps_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    output = StdoutWriter(writing)
    output.write(b"one\n")
    async with asyncio.timeout(30):
        await output.broken.wait()
    for _ in range(20):
        output.write(b"x" * 1_000_000)
    assert output.drained() is None  # there is room: nothing of it was kept
    os.close(writing)
