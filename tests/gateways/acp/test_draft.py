"""Version 2 of the protocol, a draft, behind its switch. Every frame is checked against the published draft."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gateways.acp.editor import Editor, RefusedError, editor
from gateways.acp.published import Checker, definitions, schema_checker
from simulated import Simulated, until

CAPABILITIES: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}


@pytest.fixture(scope="session")
def draft_checker() -> Checker:
    return schema_checker("v2")


class DraftEditor:
    """Speaks version 2 through the editor of the other tests, and checks every frame against the draft's schema."""

    def __init__(self, ed: Editor, checker: Checker) -> None:
        self.ed = ed
        self._checker = checker
        self._names: dict[tuple[str, str], str] = {}
        for name, definition in definitions("v2").items():
            if "x-method" in definition:
                kind = "answer" if name.endswith("Response") else "request"
                self._names[definition["x-method"], kind] = name

    def check(self, method: str, kind: str, value: Any) -> None:
        self._checker({"name": self._names[method, kind], "value": value})

    def check_all(self) -> None:
        for frame in self.ed.frames:
            if "method" in frame and not frame["method"].startswith("$"):
                self.check(frame["method"], "request", frame["params"])

    async def call(self, method: str, **params: Any) -> Any:
        answer = await self.ed.call(method, **params)
        self.check(method, "answer", answer)
        return answer

    async def open(self, fake: Simulated) -> str:
        info = {"name": "test", "version": "1"}
        answer = await self.call("initialize", protocolVersion=2, info=info, capabilities=CAPABILITIES)
        assert answer["protocolVersion"] == 2
        return str((await self.call("session/new", cwd=str(fake.cwd), mcpServers=[]))["sessionId"])

    async def say(self, session: str, text: str) -> str:
        answer = await self.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])
        return str(answer["messageId"])

    def states(self) -> list[dict[str, Any]]:
        return self.ed.updates("state_update")

    async def idle(self, times: int = 1) -> dict[str, Any]:
        await self.ed.until(lambda: sum(one["state"] == "idle" for one in self.states()) >= times)
        return [one for one in self.states() if one["state"] == "idle"][times - 1]


def start(fake: Simulated, *arguments: str) -> Any:
    return editor("--agent", str(fake.path), *arguments, env=fake.env, checker=None)


async def test_without_the_switch_an_editor_that_asks_for_2_gets_1(fake: Simulated) -> None:
    async with start(fake) as ed:
        assert (await ed.call("initialize", protocolVersion=2, clientCapabilities={}))["protocolVersion"] == 1


async def test_a_turn_in_the_draft(fake: Simulated, draft_checker: Any) -> None:
    path = fake.cwd / "notes.txt"
    path.write_text("one\n")
    todos = [{"content": "Look", "status": "completed", "activeForm": "Looking"}]
    edit = {"file_path": str(path), "old_string": "one", "new_string": "1"}
    fake.play(
        [
            {"thinking": "Hm."},
            {"tool": "TodoWrite", "input": {"todos": todos}},
            {"tool": "Read", "input": {"file_path": str(path)}},
            {"tool": "Edit", "input": edit},
            {"tool": "Bash", "input": {"command": "echo hi", "description": "Say hi"}},
            "Done.",
        ]
    )
    async with start(fake, "--draft") as ed:
        draft = DraftEditor(ed, draft_checker)
        session = await draft.open(fake)
        ed.allow()
        message = await draft.say(session, "go")
        ended = await draft.idle()
        assert ended["stopReason"] == "end_turn"
        states = [one["state"] for one in draft.states()]
        assert states[0] == "running"
        assert "requires_action" in states
        (echoed,) = ed.updates("user_message")
        assert (echoed["messageId"], echoed["content"]) == (message, [{"type": "text", "text": "go"}])
        assert ed.text() == "Done."
        assert ed.updates("plan_update")[-1]["plan"]["entries"][0]["content"] == "Look"
        permission = ed.asked[0]["params"]
        assert permission["title"] == "Edit notes.txt"
        done = ed.call_of("Edit")
        (diff,) = done["content"]
        assert diff["changes"] == [{"operation": "modify", "path": str(path), "fileType": "text"}]
        assert diff["patch"]["text"].startswith(f"diff --git {path} {path}\n--- {path}\n+++ {path}\n@@")
        assert "-one\n+1\n" in diff["patch"]["text"]
        exits = [one["exitStatus"] for one in ed.updates("terminal_update") if one.get("exitStatus")]
        assert exits == [{"exitCode": 0, "signal": None}]
        assert not ed.updates("tool_call", "current_mode_update", "plan")
        draft.check_all()


async def test_cancel_options_resume_and_replay_in_the_draft(fake: Simulated, draft_checker: Any) -> None:
    fake.play(["First."], [fake.held, "Never."])
    async with start(fake, "--draft") as ed:
        draft = DraftEditor(ed, draft_checker)
        session = await draft.open(fake)
        await draft.say(session, "one")
        await draft.idle()
        await draft.say(session, "two")
        await asyncio.to_thread(until, fake.is_held)
        ed.notify("session/cancel", sessionId=session)
        assert (await draft.idle(2))["stopReason"] == "cancelled"
        answer = await draft.call(
            "session/set_config_option", sessionId=session, configId="mode", type="id", value="plan"
        )
        chosen = {one["configId"]: one["currentValue"] for one in answer["configOptions"]}
        assert chosen["mode"] == "plan"
        for method in ("session/set_mode", "session/load", "authenticate"):
            with pytest.raises(RefusedError) as caught:
                await ed.call(method, sessionId=session, modeId="plan", cwd="/", mcpServers=[])
            assert caught.value.code == -32601
        await draft.call("auth/login", methodId="claude-login")
        before = len(ed.frames)
        await draft.call("session/resume", sessionId=session, cwd=str(fake.cwd), mcpServers=[])
        assert "First." not in str(ed.frames[before:])
        await draft.call(
            "session/resume", sessionId=session, cwd=str(fake.cwd), mcpServers=[], replayFrom={"type": "start"}
        )
        assert "First." in str(ed.frames[before:])
        draft.check_all()


async def test_a_call_in_the_background_can_be_cancelled_by_itself(fake: Simulated, draft_checker: Any) -> None:
    tool = {"tool": "Bash", "input": {"command": "sleep 1000", "description": "Wait", "run_in_background": True}}
    fake.play([tool, "It runs."], otherwise="assistant")
    async with start(fake, "--draft") as ed:
        draft = DraftEditor(ed, draft_checker)
        session = await draft.open(fake)
        ed.allow()
        await draft.say(session, "go")
        await draft.idle()
        call = ed.call_of("Bash")
        assert call["capabilities"] == {"cancel": {}}
        await draft.call("tool_call/cancel", sessionId=session, toolCallId=call["toolCallId"])
        await ed.until(lambda: ed.call_of("Bash")["status"] == "cancelled")
        with pytest.raises(RefusedError) as caught:
            await ed.call("tool_call/cancel", sessionId=session, toolCallId=call["toolCallId"])
        assert caught.value.code == -32602
        draft.check_all()


async def test_a_process_that_dies_is_an_error_of_the_turn(fake: Simulated, draft_checker: Any) -> None:
    fake.play([{"exit": 3, "stderr": "out of luck"}, "Never."])
    async with start(fake, "--draft") as ed:
        draft = DraftEditor(ed, draft_checker)
        session = await draft.open(fake)
        await draft.say(session, "go")
        ended = await draft.idle()
        assert ended["stopReason"] == "error"
        assert "continues with the next prompt" in ended["error"]["message"]
        draft.check_all()
