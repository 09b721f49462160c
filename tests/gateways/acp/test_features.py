"""What agents before this one left out of specification 003's matrix, and providers. On the simulator."""

from __future__ import annotations

import asyncio
import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from e2e.server import SOURCE as ECHO_SERVER
from gateways.acp.editor import EVERYTHING, Editor, RefusedError, editor
from gateways.acp.test_drawing import HOOKS, TOOLS
from simulated import Simulated


def start(fake: Simulated, checker: Any, *arguments: str, **env: str) -> Any:
    return editor("--agent", str(fake.path), *arguments, env={**fake.env, **env}, checker=checker)


async def begun(ed: Editor, fake: Simulated, **more: Any) -> str:
    await ed.initialize(**EVERYTHING)
    return await ed.new(fake.cwd, **more)


def notices(ed: Editor) -> list[tuple[str, str]]:
    return [(one["severity"], one["title"]) for one in ed.updates("notice")]


def emit(kind: str, subtype: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"emit": {"type": kind, **({"subtype": subtype} if subtype else {}), **fields}}


async def test_commands_and_skills_are_offered_and_a_command_is_run(fake: Simulated, checker: Any) -> None:
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        offered = await ed.until(lambda: ed.updates("available_commands_update"))
        names = {one["name"] for one in offered[-1]["availableCommands"]}
        assert {"compact", "context"} <= names
        assert all(one["description"] is not None for one in offered[-1]["availableCommands"])
        assert (await ed.prompt(session, "/context"))["stopReason"] == "end_turn"
        assert "tokens" in ed.text()


async def test_a_server_of_the_editors_is_started_and_its_tools_can_be_called(fake: Simulated, checker: Any) -> None:
    script = fake.root / "server.py"
    script.write_text(ECHO_SERVER)
    server = {"name": "echo", "command": sys.executable, "args": [str(script)], "env": [{"name": "A", "value": "b"}]}
    fake.play([{"tool": "mcp__echo__echo", "input": {"text": "hi"}}, "Heard."])
    async with start(fake, checker) as ed:
        await ed.initialize(**EVERYTHING)
        ed.allow()
        session = (await ed.call("session/new", cwd=str(fake.cwd), mcpServers=[server]))["sessionId"]
        await ed.prompt(session, "echo")
        call = ed.call_of("mcp__echo__echo")
        assert (call["title"], call["kind"], call["status"]) == ("Echo: hi", "other", "completed")
        assert "echo:hi" in str(call["rawOutput"])


async def test_servers_are_added_removed_toggled_and_reconnected_while_the_session_runs(
    fake: Simulated, checker: Any
) -> None:
    script = fake.root / "server.py"
    script.write_text(ECHO_SERVER)
    server = {"name": "echo", "command": sys.executable, "args": [str(script)], "env": []}
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)

        async def states() -> dict[str, str]:
            told = await ed.call("_quarterdeck/mcp/status", sessionId=session)
            return {one["name"]: one["status"] for one in told["mcpServers"]}

        assert await states() == {}
        await ed.call("_quarterdeck/mcp/set", sessionId=session, mcpServers=[server])
        assert await states() == {"echo": "connected"}
        await ed.call("_quarterdeck/mcp/toggle", sessionId=session, server="echo", enabled=False)
        assert await states() == {"echo": "disabled"}
        await ed.call("_quarterdeck/mcp/toggle", sessionId=session, server="echo", enabled=True)
        await ed.call("_quarterdeck/mcp/reconnect", sessionId=session, server="echo")
        assert await states() == {"echo": "connected"}
        await ed.call("_quarterdeck/mcp/set", sessionId=session, mcpServers=[])
        assert await states() == {}


async def test_how_long_a_tool_has_run_is_told(fake: Simulated, checker: Any) -> None:
    fake.play([{"tool": "Bash", "input": {"command": "sleep 1000000"}}, "Never."], time_scale=0.001)
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.allow()
        running = ed.say(session, "wait")
        await ed.until(lambda: any("elapsedSeconds" in str(one.get("_meta")) for one in ed.updates()))
        ed.notify("session/cancel", sessionId=session)
        async with asyncio.timeout(60):
            assert (await running)["stopReason"] == "cancelled"


async def test_every_tool_of_the_specification_is_a_call_in_the_editor_and_todos_are_the_plan(
    fake: Simulated, checker: Any
) -> None:
    """All of them in one turn, through a running agent: each frame is checked against the published schema."""
    steps: list[Any] = []
    todos = [{"content": "Look", "status": "pending", "activeForm": "Looking"}]
    inputs: dict[str, Any] = {
        tool: json.loads(json.dumps(given).replace("/repo", str(fake.cwd))) for tool, (given, _, _) in TOOLS.items()
    }
    inputs["TodoWrite"] = {"todos": todos}
    for tool, given in inputs.items():
        block = {"type": "tool_use", "id": f"id-{tool}", "name": tool, "input": given}
        message = {"role": "assistant", "id": f"m-{tool}", "model": "x", "content": [block]}
        steps.append(emit("assistant", message=message, parent_tool_use_id=None))
        result = {"type": "tool_result", "tool_use_id": f"id-{tool}", "content": "done"}
        steps.append(emit("user", message={"role": "user", "content": [result]}, parent_tool_use_id=None))
    fake.play([*steps, "Done."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        assert (await ed.prompt(session, "go"))["stopReason"] == "end_turn"
        for tool, (_, kind, title) in TOOLS.items():
            call = ed.call_of(tool)
            assert (call["kind"], call["title"], call["status"]) == (kind, title, "completed"), tool
            assert (call["rawInput"], call["rawOutput"]) == (inputs[tool], {"output": "done"}), tool
        assert [one["entries"][0]["content"] for one in ed.updates("plan")] == ["Look"]


async def test_every_hook_of_the_specification_that_says_something_is_told_in_the_editor(
    fake: Simulated, checker: Any
) -> None:
    steps: list[Any] = []
    for event in HOOKS:
        hook = {"hook_id": event, "hook_name": f"{event}:mine", "hook_event": event}
        steps.append(emit("system", "hook_started", **hook))
        steps.append(emit("system", "hook_response", **hook, output="Look out", exit_code=2, outcome="error"))
    fake.play([*steps, "Done."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        assert (await ed.prompt(session, "go"))["stopReason"] == "end_turn"
        assert notices(ed) == [("warning", f"Hook {event}:mine: error\nLook out") for event in HOOKS]


async def test_what_the_cli_says_beside_the_conversation_is_shown(fake: Simulated, checker: Any) -> None:
    hook = {"hook_id": "h", "hook_name": "lint", "hook_event": "PostToolUse"}
    fake.play(
        [
            emit("tool_use_summary", summary="Read three files", preceding_tool_use_ids=[]),
            emit("auth_status", isAuthenticating=True, output=["Open the browser"]),
            emit("auth_status", isAuthenticating=False, output=[], error="The login expired"),
            emit("system", "hook_started", **hook),
            emit("system", "hook_response", **hook, output="2 errors", exit_code=2, outcome="error"),
            emit(
                "system",
                "files_persisted",
                files=[{"filename": "a.txt", "file_id": "f"}],
                failed=[{"filename": "b.txt", "error": "too large"}],
            ),
            "Done.",
        ]
    )
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        assert (await ed.prompt(session, "go"))["stopReason"] == "end_turn"
        assert notices(ed) == [
            ("info", "Read three files"),
            ("info", "Open the browser"),
            ("error", "The login expired"),
            ("warning", "Hook lint: error\n2 errors"),
            ("warning", "1 files stored\nb.txt: too large"),
        ]


async def test_a_status_is_shown_while_it_lasts(fake: Simulated, checker: Any) -> None:
    begins = emit("system", "status", status="compacting")
    ends = emit("system", "status", status=None, compact_result="success")
    boundary = emit("system", "compact_boundary", compact_metadata={"trigger": "auto", "pre_tokens": 9})
    fails = emit("system", "status", status=None, compact_result="failed", compact_error="too long")
    stops = emit("system", "status", status=None)
    fake.play([begins, ends, boundary, begins, fails, begins, stops, "Done."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        await ed.prompt(session, "go")
        told = [(one["compactionId"], one["status"], one.get("error")) for one in ed.updates("compaction_update")]
        assert told == [
            ("compaction-1", "in_progress", None),
            ("compaction-1", "completed", None),
            ("compaction-2", "in_progress", None),
            ("compaction-2", "failed", "too long"),
            ("compaction-3", "in_progress", None),
            ("compaction-3", "cancelled", None),
        ]


async def test_files_are_set_back_to_how_they_were_before_a_prompt(fake: Simulated, checker: Any) -> None:
    path = fake.cwd / "notes.txt"
    path.write_text("before\n")
    edit = {"file_path": str(path), "old_string": "before", "new_string": "after"}
    fake.play([{"tool": "Read", "input": {"file_path": str(path)}}, {"tool": "Edit", "input": edit}, "Changed."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.allow()
        answer = await ed.prompt(session, "change it")
        assert path.read_text() == "after\n"
        prompt = answer["_meta"]["quarterdeck"]["promptId"]
        which = {"sessionId": session, "promptId": prompt}
        assert (await ed.call("_quarterdeck/rewind_files", **which, dryRun=True))["canRewind"] is True
        assert path.read_text() == "after\n"
        await ed.call("_quarterdeck/rewind_files", **which)
        assert path.read_text() == "before\n"
        assert notices(ed)[-2:] == [("info", "1 files would be restored (+1 −1)"), ("info", "Files restored")]


async def test_structured_output_is_in_the_answer_to_the_prompt(fake: Simulated, checker: Any) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    fake.play([{"tool": "StructuredOutput", "input": {"n": 42}}])
    options = {"claudeCode": {"options": {"outputFormat": {"type": "json_schema", "schema": schema}}}}
    async with start(fake, checker) as ed:
        session = await begun(ed, fake, _meta=options)
        answer = await ed.prompt(session, "how many?")
        assert answer["_meta"]["quarterdeck"]["structuredOutput"] == {"n": 42}


LAUNCHER = """#!{python}
import json, os, sys
argv = sys.argv[1:]
settings = None
words = [word for one in argv for word in one.split("=", 1)]
for before, word in zip(words, words[1:]):
    if before == "--settings":
        settings = json.loads(word if word.startswith("{{") else open(word).read())
with open({record!r}, "a") as file:
    print(json.dumps({{"argv": argv, "settings": settings}}), file=file)
os.execv({program!r}, [{program!r}, *sys.argv[1:]])
"""


def recorded(fake: Simulated) -> tuple[Path, Path]:
    """A program that writes down its arguments and settings, and becomes the simulator."""
    program, record = fake.root / "recorded", fake.root / "argv.jsonl"
    program.write_text(LAUNCHER.format(python=sys.executable, record=str(record), program=str(fake.path)))
    program.chmod(0o755)
    return program, record


async def test_plugins_betas_and_sandbox_reach_claude_code(fake: Simulated, checker: Any) -> None:
    program, record = recorded(fake)
    plugin = fake.root / "plugin"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text('{"name": "mine", "version": "1.0.0"}')
    options = {
        "plugins": [{"type": "local", "path": str(plugin)}],
        "betas": ["context-1m-2025-08-07"],
        "sandbox": {"enabled": True, "autoAllowBashIfSandboxed": True},
        "disallowedTools": ["WebSearch"],
    }
    async with editor("--agent", str(program), env=fake.env, checker=checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd, _meta={"claudeCode": {"options": options}})
        await ed.prompt(session, "go")
    started = json.loads(record.read_text().splitlines()[-1])
    argv = started["argv"]
    values = {before: word for before, word in pairwise(argv) if before.startswith("--")}
    values |= dict(word.split("=", 1) for word in argv if word.startswith("--") and "=" in word)
    assert values["--plugin-dir"] == str(plugin)
    assert values["--betas"] == "context-1m-2025-08-07"
    assert values["--disallowedTools"] == "WebSearch"
    assert started["settings"]["sandbox"] == options["sandbox"]


async def test_delegate_is_not_offered_and_its_choice_is_refused(fake: Simulated, checker: Any) -> None:
    async with start(fake, checker) as ed:
        await ed.initialize()
        answer = await ed.call("session/new", cwd=str(fake.cwd), mcpServers=[])
        offered = [one["id"] for one in answer["modes"]["availableModes"]]
        assert offered == ["default", "acceptEdits", "plan", "dontAsk", "auto"]
        with pytest.raises(RefusedError) as caught:
            await ed.call("session/set_mode", sessionId=answer["sessionId"], modeId="delegate")
        assert caught.value.code == -32602


async def test_every_mode_is_reached_and_told(fake: Simulated, checker: Any) -> None:
    async with start(fake, checker, "--allow-bypass") as ed:
        session = await begun(ed, fake)
        for mode in ("acceptEdits", "plan", "dontAsk", "bypassPermissions", "default"):
            await ed.call("session/set_mode", sessionId=session, modeId=mode)
            assert ed.updates("current_mode_update")[-1]["currentModeId"] == mode


async def test_the_login_status_is_told_and_account_is_known(fake: Simulated, checker: Any) -> None:
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        account = await ed.call("_quarterdeck/account", sessionId=session)
        changes = [one["params"] for one in ed.frames if one.get("method") == "auth/status_update"]
        told = await ed.call("auth/status")
        assert changes == [told]
        assert (told["state"], told["accounts"]) == ("unauthenticated", [])
        assert account == {"tokenSource": "none", "apiKeySource": "none", "apiProvider": "firstParty"}
    async with start(fake, checker, ANTHROPIC_API_KEY="made-up") as ed:
        await begun(ed, fake)
        await ed.until(lambda: any(one.get("method") == "auth/status_update" for one in ed.frames))
        told = await ed.call("auth/status")
        assert (told["state"], told["accounts"]) == (
            "authenticated",
            [{"label": "ANTHROPIC_API_KEY", "active": True}],
        )


async def test_a_provider_is_chosen_for_the_processes_that_follow(fake: Simulated, checker: Any) -> None:
    program = fake.root / "showing"
    seen = fake.root / "env.json"
    names = ["ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_USE_BEDROCK", "ANTHROPIC_BEDROCK_BASE_URL"]
    program.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        f"json.dump({{n: os.environ.get(n) for n in {names!r}}}, open({str(seen)!r}, 'w'))\n"
        f"os.execv({str(fake.path)!r}, [{str(fake.path)!r}, *sys.argv[1:]])\n"
    )
    program.chmod(0o755)

    async with editor("--agent", str(program), env=fake.env, checker=checker) as ed:
        await ed.initialize()
        (listed,) = (await ed.call("providers/list"))["providers"]
        assert (listed["providerId"], listed["supported"]) == ("main", ["anthropic", "bedrock", "vertex"])
        assert listed.get("current") is None
        anthropic = {"providerId": "main", "apiType": "anthropic", "baseUrl": "http://127.0.0.1:9"}
        await ed.call("providers/set", **anthropic, headers={"X-Route": "a", "X-Team": "b"})
        await ed.prompt(await ed.new(fake.cwd), "go")
        assert json.loads(seen.read_text()) == {
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
            "ANTHROPIC_CUSTOM_HEADERS": "X-Route: a\nX-Team: b",
            "CLAUDE_CODE_USE_BEDROCK": None,
            "ANTHROPIC_BEDROCK_BASE_URL": None,
        }
        (listed,) = (await ed.call("providers/list"))["providers"]
        assert listed["current"] == {"apiType": "anthropic", "baseUrl": "http://127.0.0.1:9"}
        await ed.call("providers/set", providerId="main", apiType="bedrock", baseUrl="https://127.0.0.1:9")
        await ed.prompt(await ed.new(fake.cwd), "go")
        assert json.loads(seen.read_text())["CLAUDE_CODE_USE_BEDROCK"] == "1"
        await ed.call("providers/disable", providerId="main")
        await ed.prompt(await ed.new(fake.cwd), "go")
        assert set(json.loads(seen.read_text()).values()) == {None}
        for wrong in (
            {**anthropic, "apiType": "openai"},
            {**anthropic, "baseUrl": "file:///etc/passwd"},
            {**anthropic, "headers": {"X": "a\r\nEvil: b"}},
        ):
            with pytest.raises(RefusedError) as caught:
                await ed.call("providers/set", **wrong)
            assert caught.value.code == -32602
        with pytest.raises(RefusedError) as caught:
            await ed.call("providers/set", **{**anthropic, "providerId": "another"})
        assert caught.value.code == -32002
