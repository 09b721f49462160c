"""Version 2 of the protocol, a draft, behind its switch. Every frame is checked against the published draft."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gateways.acp.editor import Editor, RefusedError, editor
from gateways.acp.published import Checker, definitions, schema_checker
from quarterdeck.gateways.acp import draft as dialect
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


def test_every_method_of_the_draft_is_served() -> None:
    asked = {
        definition["x-method"]
        for name, definition in definitions("v2").items()
        if definition.get("x-side") == "agent" and name.endswith("Request")
    }
    own = {"initialize", "session/prompt", "session/resume", "session/set_config_option"}
    assert asked == dialect.SAME | set(dialect.RENAMED) | set(dialect.OPENING) | own | {
        "tool_call/cancel",
        "terminal/cancel",
    }


async def test_the_sessions_of_the_draft_are_forked_listed_and_put_away(fake: Simulated, draft_checker: Any) -> None:
    fake.play(rules=[{"when": ".", "steps": ["Said."]}])
    calls = fake.root / "logged-out"
    program = fake.root / "program"
    program.write_text(
        f'#!/bin/sh\nif [ "$1 $2" = "auth logout" ]; then touch {calls}; exit 0; fi\nexec {fake.path} "$@"\n'
    )
    program.chmod(0o755)
    async with editor("--agent", str(program), "--draft", env=fake.env, checker=None) as ed:
        draft = DraftEditor(ed, draft_checker)
        session = await draft.open(fake)
        await draft.say(session, "one")
        await draft.idle()
        forked = (await draft.call("session/fork", sessionId=session, cwd=str(fake.cwd), mcpServers=[]))["sessionId"]
        await draft.say(forked, "two")
        await draft.idle(2)

        async def listed(**more: Any) -> set[str]:
            return {one["sessionId"] for one in (await draft.call("session/list", **more))["sessions"]}

        assert await listed() == {session, forked}
        assert (await draft.call("session/status", sessionId=forked))["status"] == "open"
        assert (await draft.call("session/set_title", sessionId=forked, title="Mine"))["title"] == "Mine"
        await draft.call("session/close", sessionId=forked)
        assert (await draft.call("session/status", sessionId=forked))["status"] == "saved"
        await draft.call("session/archive", sessionId=forked)
        assert await listed() == {session}
        assert await listed(archived="only") == {forked}
        await draft.call("session/unarchive", sessionId=forked)
        assert await listed() == {session, forked}
        await draft.call("session/delete", sessionId=forked)
        assert await listed() == {session}
        assert (await draft.call("auth/status"))["state"] == "unauthenticated"
        assert (await draft.call("providers/list"))["providers"][0]["providerId"] == "main"
        where = {"apiType": "anthropic", "baseUrl": "http://127.0.0.1:9", "headers": {}}
        await draft.call("providers/set", providerId="main", **where)
        await draft.call("providers/disable", providerId="main")
        await draft.call("auth/logout")
        await asyncio.to_thread(until, calls.exists)
        draft.check_all()


async def test_questions_and_elicitations_in_the_draft(fake: Simulated, draft_checker: Any) -> None:
    asks = {"message": "How many?", "schema": {"type": "object", "properties": {"guests": {"type": "integer"}}}}
    question = {"ask": "Which colour?", "header": "Colour", "options": ["red", "blue"]}
    fake.play([question, {"tool": "mcp__tables__book", "input": {}, "elicit": asks}, "Booked."])
    async with start(fake, "--draft") as ed:
        draft = DraftEditor(ed, draft_checker)
        session = await draft.open(fake)
        ed.allow()
        given = iter([{"question_0": "blue"}, {"guests": 4}])
        ed.replies["elicitation/create"] = lambda _: {"action": "accept", "content": next(given)}
        await draft.say(session, "book")
        assert (await draft.idle())["stopReason"] == "end_turn"
        forms = [one["params"] for one in ed.asked if one["method"] == "elicitation/create"]
        assert [one["message"] for one in forms] == ["Which colour?", "tables: How many?"]
        assert "blue" in str(ed.call_of("AskUserQuestion")["rawOutput"])
        draft.check_all()


async def test_a_prompt_steers_in_the_draft_too(fake: Simulated, draft_checker: Any) -> None:
    fake.play([fake.held, {"tool": "Read", "input": {"file_path": "x"}}, "Both heard."], ["A turn of its own."])
    async with start(fake, "--draft") as ed:
        draft = DraftEditor(ed, draft_checker)
        session = await draft.open(fake)
        await draft.say(session, "go")
        await asyncio.to_thread(until, fake.is_held)
        steering = [{"type": "text", "text": "and mind the step"}]
        await draft.call("session/prompt", sessionId=session, prompt=steering, _meta={"quarterdeck": {"steer": True}})
        fake.release()
        await draft.idle()
        assert ed.text() == "Both heard."
        assert [one["content"][0]["text"] for one in ed.updates("user_message")] == ["go", "and mind the step"]
        draft.check_all()
