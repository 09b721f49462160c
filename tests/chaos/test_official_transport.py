"""Transports written for the official SDK that fail, each in one of its methods."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import AsyncMock

import pytest

from client.fake import until
from protocol.pair import init, result
from quarterdeck import (
    AgentDefinition,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultDeny,
    ProcessExited,
    ResultMessage,
    Transport,
    TransportClosed,
    create_sdk_mcp_server,
    query,
    tool,
)
from quarterdeck.client.official_transport import as_byte_transport
from quarterdeck.client.session import Session
from quarterdeck.transport import Grace


class Loopback(Transport):
    """Plays the CLI: answers the handshake, and each prompt with a turn."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self.written: list[dict[str, Any]] = []
        self.closed = False

    async def connect(self) -> None:
        pass

    async def write(self, data: str) -> None:
        line = json.loads(data)
        self.written.append(line)
        if line["type"] == "control_request":
            answer = {"subtype": "success", "request_id": line["request_id"], "response": {}}
            self.messages.put_nowait({"type": "control_response", "response": answer})
        if line["type"] == "user":
            for message in (init(), result(result="from afar")):
                self.messages.put_nowait(message)

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while (message := await self.messages.get()) is not None:
            yield message

    async def close(self) -> None:
        self.closed = True
        self.messages.put_nowait(None)

    def is_ready(self) -> bool:
        return not self.closed

    async def end_input(self) -> None:
        self.messages.put_nowait(None)


async def test_a_transport_of_the_official_kind_carries_a_session() -> None:
    transport = Loopback()
    messages = [message async for message in query(prompt="hi", transport=transport)]
    assert [message.result for message in messages if isinstance(message, ResultMessage)] == ["from afar"]
    assert [line["type"] for line in transport.written] == ["control_request", "user"]
    assert transport.closed


async def test_it_gets_the_whole_handshake_and_its_requests_are_served() -> None:
    """Hooks, a guard, tools, agents and the system prompt used to be dropped where a transport was given."""

    class Asking(Loopback):
        """Asks a hook, a permission and a tool server in its turn."""

        async def write(self, data: str) -> None:
            line = json.loads(data)
            if line["type"] != "user":
                await super().write(data)
                return
            self.written.append(line)
            (matcher,) = self.written[0]["request"]["hooks"]["PreToolUse"]
            used = {"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t1"}
            seen = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}, "tool_use_id": "t1"}
            called = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "shout", "arguments": {}}}
            for request_id, request in {
                "hook": {"subtype": "hook_callback", "callback_id": matcher["hookCallbackIds"][0], "input": seen},
                "permission": {"subtype": "can_use_tool", **used},
                "tool": {"subtype": "mcp_message", "server_name": "local", "message": called},
            }.items():
                self.messages.put_nowait({"type": "control_request", "request_id": request_id, "request": request})

        def answers(self) -> dict[str, Any]:
            responses = [line["response"] for line in self.written if line["type"] == "control_response"]
            return {one["request_id"]: one["response"] for one in responses}

    async def hook(*_: Any) -> Any:
        return {"systemMessage": "seen"}

    async def decide(*_: Any) -> Any:
        return PermissionResultDeny(message="not now")

    @tool("shout", "Says it loudly", {})
    async def shout(_: Any) -> Any:
        return {"content": [{"type": "text", "text": "HEY"}]}

    options = ClaudeAgentOptions(
        hooks={"PreToolUse": [HookMatcher(hooks=[hook])]},
        can_use_tool=decide,
        mcp_servers={"local": create_sdk_mcp_server("local", tools=[shout])},
        agents={"helper": AgentDefinition(description="helps", prompt="Help.")},
        system_prompt="Be brief.",
    )
    transport = Asking()
    async with ClaudeSDKClient(options, transport=transport) as client:
        await client.query("hi")
        await until(lambda: len(transport.answers()) == 3)
    request = transport.written[0]["request"]
    assert request["subtype"] == "initialize"
    said = (request["systemPrompt"], list(request["agents"]), request["sdkMcpServers"])
    assert said == ("Be brief.", ["helper"], ["local"])
    answers = transport.answers()
    assert answers["hook"]["systemMessage"] == "seen"
    assert (answers["permission"]["behavior"], answers["permission"]["message"]) == ("deny", "not now")
    assert answers["tool"]["mcp_response"]["result"]["content"] == [{"type": "text", "text": "HEY"}]


async def test_a_mock_or_a_class_with_the_methods_alone_is_one_too() -> None:
    names = ("connect", "write", "read_messages", "close", "is_ready", "end_input")
    first, second = ({name: getattr(played, name) for name in names} for played in (Loopback(), Loopback()))
    mock = AsyncMock()
    mock.configure_mock(**first)
    plain = type("Plain", (), {name: staticmethod(method) for name, method in second.items()})()
    for transport in (mock, plain):
        messages = [message async for message in query(prompt="hi", transport=transport)]
        assert [message.result for message in messages if isinstance(message, ResultMessage)] == ["from afar"]


async def test_one_that_cannot_connect_says_so() -> None:
    class Unreachable(Loopback):
        async def connect(self) -> None:
            raise ConnectionRefusedError("nobody is there")

    client = ClaudeSDKClient(transport=Unreachable())
    with pytest.raises(ConnectionRefusedError, match="nobody is there"):
        await client.connect()


async def test_one_that_breaks_while_it_is_read_ends_the_turn() -> None:
    class Breaking(Loopback):
        async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
            async for message in super().read_messages():
                if message["type"] == "result":
                    raise ConnectionResetError("the line went dead")
                yield message

    async with Session(transport=as_byte_transport(Breaking())) as session:
        with pytest.raises(ProcessExited, match="the line went dead"):
            await session.prompt("hi")


async def test_one_that_cannot_be_written_to_ends_the_session() -> None:
    class Mute(Loopback):
        async def write(self, data: str) -> None:
            if '"user"' in data:
                raise BrokenPipeError("nobody listens")
            await super().write(data)

    async with Session(transport=as_byte_transport(Mute())) as session:
        with pytest.raises((TransportClosed, ProcessExited), match="nobody listens"):
            await session.prompt("hi")
        with pytest.raises(ProcessExited, match="nobody listens"):
            await session.request("mcp_status")


async def test_one_that_does_not_close_is_left_in_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(Loopback):
        async def close(self) -> None:
            await asyncio.Event().wait()

    short = Grace(eof_s=0.05, term_s=0.0, kill_s=0.0)
    monkeypatch.setattr("quarterdeck.client.session_lifecycle.Grace", lambda **_: short)
    session = Session(transport=as_byte_transport(Endless()))
    await session.open()
    await session.close()
    assert session.exit_status is not None
