"""The editor's files and terminals, where it offers them. On the simulator."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from gateways.acp.editor import EVERYTHING, Editor, editor
from simulated import Simulated

FILES: dict[str, Any] = {**EVERYTHING, "fs": {"readTextFile": True, "writeTextFile": True}}
TERMINALS: dict[str, Any] = {**EVERYTHING, "terminal": True}


class Buffers:
    """The files of an editor: what is not in ``unsaved`` is as on disk; a file that is written is saved."""

    def __init__(self, ed: Editor) -> None:
        self.unsaved: dict[str, str] = {}
        self.written: list[tuple[str, str]] = []
        ed.replies["fs/read_text_file"] = self._read
        ed.replies["fs/write_text_file"] = self._write

    def _read(self, asked: dict[str, Any]) -> dict[str, Any]:
        path = asked["path"]
        return {"content": self.unsaved.get(path, Path(path).read_text() if Path(path).exists() else "")}

    def _write(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.unsaved.pop(asked["path"], None)
        self.written.append((asked["path"], asked["content"]))
        Path(asked["path"]).write_text(asked["content"])
        return {}


def start(fake: Simulated, checker: Any, *arguments: str) -> Any:
    return editor("--agent", str(fake.path), *arguments, env=fake.env, checker=checker)


def read(path: Path) -> dict[str, Any]:
    return {"tool": "Read", "input": {"file_path": str(path)}}


def edit(path: Path, old: str, new: str) -> dict[str, Any]:
    return {"tool": "Edit", "input": {"file_path": str(path), "old_string": old, "new_string": new}}


async def test_an_edit_is_given_to_the_editor_unless_it_has_it_already(fake: Simulated, checker: Any) -> None:
    path = fake.cwd / "notes.txt"
    path.write_text("one\n")
    fake.play([read(path), edit(path, "one", "1"), "Changed."], [edit(path, "1", "2"), "Again."])
    async with start(fake, checker) as ed:
        await ed.initialize(**FILES)
        buffers = Buffers(ed)
        ed.allow()
        session = await ed.new(fake.cwd)
        buffers.unsaved[str(path)] = "one\n"  # the buffer, as it was before the edit
        await ed.prompt(session, "change it")
        assert buffers.written == [(str(path), "1\n")]
        await ed.prompt(session, "again")  # the editor has seen the change on disk by itself
        assert buffers.written == [(str(path), "1\n")]
        assert path.read_text() == "2\n"


async def test_what_a_person_types_meanwhile_is_kept(fake: Simulated, checker: Any) -> None:
    path = fake.cwd / "notes.txt"
    path.write_text("one\n")
    fake.play([read(path), edit(path, "one", "1"), "Changed."])
    async with start(fake, checker) as ed:
        await ed.initialize(**FILES)
        buffers = Buffers(ed)
        session = await ed.new(fake.cwd)

        def typing(asked: dict[str, Any]) -> Any:
            buffers.unsaved[str(path)] = "one\nand more\n"
            return {"outcome": {"outcome": "selected", "optionId": "allow"}}

        ed.replies["session/request_permission"] = typing
        await ed.prompt(session, "change it")
        assert buffers.written == [(str(path), "1\nand more\n")]


async def test_an_editor_that_refuses_or_offers_nothing_leaves_the_disk_to_claude(
    fake: Simulated, checker: Any
) -> None:
    path = fake.cwd / "notes.txt"
    for capabilities, arguments in ((FILES, ()), (FILES, ("--no-editor-tools",)), (EVERYTHING, ())):
        path.write_text("one\n")
        fake.play([read(path), edit(path, "one", "1"), "Changed."])
        async with start(fake, checker, *arguments) as ed:
            await ed.initialize(**capabilities)
            ed.allow()
            ed.errors["fs/read_text_file"] = ed.errors["fs/write_text_file"] = {"code": -32603, "message": "no"}
            session = await ed.new(fake.cwd)
            assert (await ed.prompt(session, "change it"))["stopReason"] == "end_turn"
            assert path.read_text() == "1\n"
            asked = [one["method"] for one in ed.asked if one["method"].startswith("fs/")]
            assert bool(asked) is (capabilities is FILES and not arguments)


async def test_unsaved_changes_are_saved_when_claude_asks_and_the_person_agrees(fake: Simulated, checker: Any) -> None:
    path = fake.cwd / "notes.txt"
    path.write_text("saved\n")
    fake.play([{"tool": "mcp__editor__save", "input": {"file_path": str(path)}}, "Saved."])
    async with start(fake, checker) as ed:
        await ed.initialize(**FILES)
        buffers = Buffers(ed)
        buffers.unsaved[str(path)] = "unsaved\n"
        ed.allow()
        session = await ed.new(fake.cwd)
        await ed.prompt(session, "save it")
        assert ed.asked[0]["method"] == "session/request_permission"
        assert path.read_text() == "unsaved\n"
        assert ed.call_of("mcp__editor__save")["status"] == "completed"


class Terminals:
    """The terminals of an editor: commands end when the test says so."""

    def __init__(self, ed: Editor, *, ends: bool = True) -> None:
        self.ed = ed
        self.created: list[dict[str, Any]] = []
        self.killed: list[str] = []
        self.released: list[str] = []
        self.output = {"output": "built\n", "truncated": False, "exitStatus": {"exitCode": 0}}
        ed.replies["terminal/create"] = self._create
        ed.replies["terminal/wait_for_exit"] = lambda _: {"exitCode": 0} if ends else None
        ed.replies["terminal/output"] = lambda _: self.output
        ed.replies["terminal/kill"] = lambda asked: self.killed.append(asked["terminalId"]) or {}
        ed.replies["terminal/release"] = lambda asked: self.released.append(asked["terminalId"]) or {}

    def _create(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.created.append(asked)
        return {"terminalId": f"term-{len(self.created)}"}


def in_terminal(command: str, **more: Any) -> dict[str, Any]:
    return {"tool": "mcp__editor__terminal", "input": {"command": command, **more}}


async def test_a_command_runs_in_the_editors_terminal_and_its_call_shows_it(fake: Simulated, checker: Any) -> None:
    fake.play([in_terminal("make all"), "Built."])
    async with start(fake, checker) as ed:
        await ed.initialize(**TERMINALS)
        terminals = Terminals(ed)
        ed.allow()
        session = await ed.new(fake.cwd)
        await ed.prompt(session, "build")
        permission = next(one["params"] for one in ed.asked if one["method"] == "session/request_permission")
        assert permission["toolCall"]["title"] == "make all"
        assert [one["kind"] for one in permission["options"]] == ["allow_once", "reject_once", "reject_always"]
        (created,) = terminals.created
        assert (created["command"], created["args"], created["cwd"]) == ("/bin/sh", ["-c", "make all"], str(fake.cwd))
        call = ed.call_of("mcp__editor__terminal")
        assert (call["kind"], call["title"], call["status"]) == ("execute", "make all", "completed")
        assert call["content"] == [{"type": "terminal", "terminalId": "term-1"}]
        assert "built" in str(call["rawOutput"])
        await ed.until(lambda: terminals.released == ["term-1"])
        assert terminals.killed == []


async def test_a_command_that_fails_is_a_failed_call(fake: Simulated, checker: Any) -> None:
    fake.play([in_terminal("false"), "It failed."])
    async with start(fake, checker) as ed:
        await ed.initialize(**TERMINALS)
        terminals = Terminals(ed)
        terminals.output = {"output": "no\n", "truncated": True, "exitStatus": {"exitCode": 2}}
        ed.allow()
        await ed.prompt(await ed.new(fake.cwd), "go")
        call = ed.call_of("mcp__editor__terminal")
        assert call["status"] == "failed"
        assert "Exit code 2" in str(call["rawOutput"])


async def test_rules_for_bash_hold_for_the_terminal_too(fake: Simulated, checker: Any) -> None:
    folder = fake.cwd / ".claude"
    folder.mkdir()
    rules = {"allow": ["Bash(make all)"], "deny": ["Bash(make install:*)"]}
    (Path(fake.env["HOME"]) / ".claude").mkdir(exist_ok=True)
    (Path(fake.env["HOME"]) / ".claude" / "settings.json").write_text(json.dumps({"permissions": rules}))
    fake.play([in_terminal("make all"), in_terminal("make install"), "Done."])
    async with start(fake, checker) as ed:
        await ed.initialize(**TERMINALS)
        terminals = Terminals(ed)
        session = await ed.new(fake.cwd)
        await ed.prompt(session, "build and install")
        assert [one["args"][1] for one in terminals.created] == ["make all"]
        assert [one for one in ed.asked if one["method"] == "session/request_permission"] == []
        assert ed.call_of("mcp__editor__terminal")["status"] == "failed"


async def test_settings_that_cannot_be_read_deny_every_command_in_the_terminal(fake: Simulated, checker: Any) -> None:
    (Path(fake.env["HOME"]) / ".claude").mkdir(exist_ok=True)
    (Path(fake.env["HOME"]) / ".claude" / "settings.json").write_text('{"permissions": {"deny": ["Bash(rm"]}}')
    fake.play([in_terminal("make all"), "I could not."])
    async with start(fake, checker) as ed:
        await ed.initialize(**TERMINALS)
        terminals = Terminals(ed)
        ed.allow()
        assert (await ed.prompt(await ed.new(fake.cwd), "build"))["stopReason"] == "end_turn"
        assert terminals.created == []
        assert [one for one in ed.asked if one["method"] == "session/request_permission"] == []
        assert ed.call_of("mcp__editor__terminal")["status"] == "failed"


async def test_a_command_that_takes_too_long_or_is_cancelled_is_stopped(fake: Simulated, checker: Any) -> None:
    fake.play([in_terminal("sleep 1000", timeout_s=1), "Too slow."], [in_terminal("sleep 1000"), "Never."])
    async with start(fake, checker) as ed:
        await ed.initialize(**TERMINALS)
        terminals = Terminals(ed, ends=False)
        ed.allow()
        session = await ed.new(fake.cwd)
        await ed.prompt(session, "wait")
        assert terminals.killed == ["term-1"]
        assert "stopped after 1 s" in str(ed.call_of("mcp__editor__terminal")["rawOutput"])
        running = ed.say(session, "wait longer")
        await ed.until(lambda: len(terminals.created) == 2)
        ed.notify("session/cancel", sessionId=session)
        async with asyncio.timeout(60):
            assert (await running)["stopReason"] == "cancelled"
        await ed.until(lambda: terminals.killed == ["term-1", "term-2"])
        await ed.until(lambda: terminals.released == ["term-1", "term-2"])
