"""On the real CLI: a session taken up from its journal in the middle of a turn; a transport of the program's own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client.real_cli import Place, place
from client.test_journal import Kept
from quarterdeck import (
    LATER,
    AgentDefinition,
    ClaudeAgentOptions,
    HookMatcher,
    PermissionResultAllow,
    ResultMessage,
    Session,
    create_sdk_mcp_server,
    tool,
)
from quarterdeck.client.opening import prepare
from quarterdeck.testing.model import ToolUse
from quarterdeck.timeline import fold
from quarterdeck.transport import ByteTransport, ExitStatus, Receiver

pytestmark = pytest.mark.real

LIMIT_S = 60.0


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Place]:
    with place(tmp_path) as stage:
        yield stage


class Handed:
    """A process that is handed from one session to the next."""

    def __init__(self, inner: ByteTransport) -> None:
        self._inner = inner
        self._receiver: Receiver | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def start(self, receiver: Receiver) -> None:
        first, self._receiver = self._receiver is None, receiver
        if first:
            await self._inner.start(self)

    @property
    def receiver(self) -> Receiver:
        assert self._receiver is not None
        return self._receiver

    def bytes_received(self, data: bytes) -> None:
        self.receiver.bytes_received(data)

    def eof_received(self) -> None:
        self.receiver.eof_received()

    def exited(self, status: ExitStatus) -> None:
        self.receiver.exited(status)


async def allow(*_: Any) -> PermissionResultAllow:
    return PermissionResultAllow()


async def hang(*_: Any) -> Any:
    await asyncio.Event().wait()


async def begun(options: ClaudeAgentOptions, handed: Handed) -> tuple[Session, Kept]:
    """A session in the middle of a turn, as its CLI waits for an answer that will not come from it."""
    session, kept = Session(options, transport=handed), Kept()  # type: ignore[arg-type]
    session.journal.add(kept)
    await session.open()
    await session.send("go")
    await until_pending(session)
    return session, kept


async def until_pending(session: Session) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not session.pending():  # noqa: ASYNC110  # the condition is another object's state
            await asyncio.sleep(0.01)


async def result_of(session: Session) -> ResultMessage:
    async with asyncio.timeout(LIMIT_S):
        async for message in session.messages():
            if isinstance(message, ResultMessage):
                return message
    raise AssertionError("no result")


async def test_a_waiting_permission_is_answered_by_the_session_that_takes_over(stage: Place) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "touch ran"}))
    stage.model.reply("done")
    handed = Handed(prepare(stage.options(can_use_tool=allow)).transport)
    first, kept = await begun(stage.options(can_use_tool=lambda *_: LATER), handed)
    second = Session(stage.options(can_use_tool=allow), transport=handed)  # type: ignore[arg-type]
    kept_by_second = Kept()
    second.journal.add(kept_by_second)
    await second.attach(kept.entries)
    result = await result_of(second)
    await second.close()
    await first.close()

    assert result.result == "done"
    assert (stage.cwd / "ran").exists()
    all_entries = [*kept.entries, *kept_by_second.entries]
    assert [entry.index for entry in all_entries] == list(range(len(all_entries)))
    answers = [entry for entry in kept_by_second.entries if entry.direction == "in"]
    assert [b'"control_response"' in entry.message.raw for entry in answers] == [True]
    _, events = fold([(entry.at, entry.direction, entry.message.raw) for entry in all_entries])
    assert [type(event).__name__ for event in events].count("PermissionAsked") == 1


async def test_a_waiting_hook_is_asked_again_and_its_deny_counts(stage: Place) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "touch ran"}))
    stage.model.reply("done")

    async def deny(*_: Any) -> dict[str, Any]:
        decision = {"permissionDecision": "deny", "permissionDecisionReason": "not today"}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}

    def options(hook: Any) -> ClaudeAgentOptions:
        return stage.options(can_use_tool=allow, hooks={"PreToolUse": [HookMatcher(hooks=[hook])]})

    handed = Handed(prepare(options(hang)).transport)
    first, kept = await begun(options(hang), handed)
    second = Session(options(deny), transport=handed)  # type: ignore[arg-type]
    await second.attach(kept.entries)
    result = await result_of(second)
    await second.close()
    await first.close()

    assert result.result == "done"
    assert not (stage.cwd / "ran").exists()


async def test_a_transport_of_the_programs_own_gets_the_whole_handshake(stage: Place) -> None:
    stage.model.reply(ToolUse("mcp__here__shout", {"text": "hi"}))
    stage.model.reply(ToolUse("Bash", {"command": "touch ran"}))
    stage.model.reply("done")
    seen: list[str] = []

    @tool("shout", "Says it louder", {"text": str})
    async def shout(given: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": given["text"].upper()}]}

    async def watch(event: Any, *_: Any) -> dict[str, Any]:
        seen.append(event["tool_name"])
        decision = "deny" if event["tool_name"] == "Bash" else "allow"
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision}}

    options = stage.options(
        system_prompt="You are a lighthouse.",
        agents={"keeper-of-light": AgentDefinition(description="Keeps the light.", prompt="Keep it.")},
        mcp_servers={"here": create_sdk_mcp_server("here", tools=[shout])},
        hooks={"PreToolUse": [HookMatcher(hooks=[watch])]},
        can_use_tool=allow,
    )
    transport = prepare(stage.options(can_use_tool=allow)).transport
    async with Session(options, transport=transport) as session:
        await session.send("go")
        result = await result_of(session)
        agents = [agent.name for agent in session.server_info.agents or ()]

    assert result.result == "done"
    assert seen == ["mcp__here__shout", "Bash"]
    assert not (stage.cwd / "ran").exists()
    assert "keeper-of-light" in agents
    asked = str([request.body for request in stage.model.requests])
    assert "You are a lighthouse." in asked
    assert "HI" in asked
