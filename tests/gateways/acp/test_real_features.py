"""What an editor can do with the real Claude Code, feature by feature. Most tests share one agent."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.kit import reached, real_cli
from e2e.server import SOURCE as ECHO_SERVER
from gateways.acp.desk import Desk
from gateways.acp.editor import EVERYTHING, Editor, RefusedError, editor
from gateways.acp.mcp_over_http import McpPlace
from gateways.acp.test_features import notices
from gateways.acp.test_sessions import STEERS, chosen
from quarterdeck.testing.model import ModelServer, Stall, ToolUse

pytestmark = pytest.mark.real

BASH = {"command": "touch made.txt", "description": "Make a file"}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SERVER_WITH_ENV = ECHO_SERVER.replace("import json, sys", "import json, os, sys").replace('"echo:"', 'os.environ["A"]')
URL = "http://127.0.0.1:9/consent"
ASKS_FOR_A_PAGE = f"""
import json, sys

def send(**message):
    print(json.dumps({{"jsonrpc": "2.0", **message}}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    method, number, params = message.get("method"), message.get("id"), message.get("params", {{}})
    if method == "initialize":
        send(id=number, result={{"protocolVersion": params["protocolVersion"], "capabilities": {{"tools": {{}}}},
                                 "serverInfo": {{"name": "page", "version": "1"}}}})
    elif method == "tools/list":
        send(id=number, result={{"tools": [{{"name": "consent", "inputSchema": {{"type": "object"}}}}]}})
    elif method == "tools/call":
        call = number
        send(id="ask", method="elicitation/create",
             params={{"mode": "url", "message": "Your consent?", "url": "{URL}", "elicitationId": "e-1"}})
    elif number == "ask":
        send(method="notifications/elicitation/complete", params={{"elicitationId": "e-1"}})
        send(id=call, result={{"content": [{{"type": "text", "text": message["result"]["action"]}}]}})
"""


def children(ed: Editor) -> list[int]:
    """The CLIs of an agent."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == ed.process.pid and b"stream-json" in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
    return found


async def test_a_steering_prompt_is_heard_in_the_turn_that_runs(desk: Desk) -> None:
    session, gate = await desk.new(), desk.model.gate()
    desk.model.reply("I look.", ToolUse("Bash", {"command": "echo one"}), Stall(after=3, until=gate))
    desk.model.reply("Both answered.")
    first = desk.ed.say(session, "first, please")
    await reached(gate)
    second = desk.ed.say(session, "second, while you work", _meta=STEERS)
    await desk.ed.call("_quarterdeck/usage", sessionId=session)
    gate.open()
    assert [one["stopReason"] for one in await asyncio.gather(first, second)] == ["end_turn"] * 2
    assert "first, please" in desk.heard
    assert "second, while you work" in desk.heard
    assert "Both answered." in desk.ed.text()


async def test_a_steering_prompt_that_comes_too_late_has_its_own_turn(desk: Desk) -> None:
    session, gate = await desk.new(), desk.model.gate()
    desk.model.reply("A long answer without tools.", Stall(after=3, until=gate))
    desk.model.reply("The second.")
    first = desk.ed.say(session, "first, please")
    await reached(gate)
    second = desk.ed.say(session, "too late", _meta=STEERS)
    await desk.ed.call("_quarterdeck/usage", sessionId=session)
    gate.open()
    assert (await first)["stopReason"] == "end_turn"
    assert (await second)["stopReason"] == "end_turn"
    assert "too late" not in desk.model.conversation[-2].text
    assert "too late" in desk.model.conversation[-1].text
    assert desk.ed.text().endswith("The second.")


async def test_model_effort_and_fast_mode_are_what_the_model_is_asked_with(desk: Desk) -> None:
    session = await desk.new()

    async def choose(option: str, value: Any, **more: Any) -> dict[str, Any]:
        answer = await desk.ed.call(
            "session/set_config_option", sessionId=session, configId=option, value=value, **more
        )
        return chosen(answer["configOptions"])

    assert (await choose("effort", "high"))["effort"] == "high"
    assert (await choose("fast", "on"))["fast"] == "on"
    desk.model.reply("Quickly.")
    await desk.ed.prompt(session, "be quick")
    asked = desk.model.conversation[-1].json
    assert (asked["speed"], asked["output_config"]["effort"]) == ("fast", "high")
    assert chosen(desk.ed.updates("config_option_update")[-1]["configOptions"])["fast"] == "on"
    await choose("fast", "off")
    now = await choose("model", "haiku")
    assert (now["model"], "fast" in now) == ("haiku", False)
    assert (await choose("effort", "default"))["effort"] != "high"
    desk.model.reply("Slowly.")
    await desk.ed.prompt(session, "take your time")
    asked = desk.model.conversation[-1].json
    assert "haiku" in asked["model"]
    assert asked.get("speed") is None
    assert asked.get("output_config", {}).get("effort") != "high"
    with pytest.raises(RefusedError, match="has no fast mode"):
        await choose("fast", "on")


async def test_the_agent_is_chosen_before_the_first_prompt_and_again_after_clear(desk: Desk) -> None:
    folder = desk.cwd / ".claude" / "agents"
    folder.mkdir(parents=True)
    for name in ("poet", "monk"):
        (folder / f"{name}.md").write_text(f"---\nname: {name}\ndescription: A {name}\n---\nAnswer as a {name}.\n")
    session = await desk.new()

    def offered() -> list[str]:
        options = desk.ed.updates("config_option_update", session=session)[-1]["configOptions"]
        return [each["value"] for one in options if one["id"] == "agent" for each in one["options"]]

    async def choose(agent: str) -> None:
        await desk.ed.call("session/set_config_option", sessionId=session, configId="agent", value=agent)

    async def say(text: str) -> str:
        desk.model.reply("Well.")
        await desk.ed.prompt(session, text)
        return str(desk.model.conversation[-1].json["system"])

    await desk.ed.until(lambda: desk.ed.updates("config_option_update", session=session) and "poet" in offered())
    await choose("poet")
    assert "Answer as a poet." in await say("hello")
    assert offered() == ["poet"]
    with pytest.raises(RefusedError, match="keeps its agent"):
        await choose("monk")
    await desk.ed.prompt(session, "/clear")
    assert "monk" in offered()
    await choose("monk")
    assert "Answer as a monk." in await say("hello again")


async def test_a_prompt_after_the_death_of_the_cli_knows_what_was_said_before(desk: Desk) -> None:
    before = set(children(desk.ed))
    session = await desk.new()
    desk.model.reply("Remembered.")
    await desk.ed.prompt(session, "The word is heliotrope.")
    (mine,) = set(children(desk.ed)) - before
    gate = desk.model.gate()
    desk.model.reply("It begins and it does not end.", Stall(after=3, until=gate))
    turn = desk.ed.say(session, "go on")
    await reached(gate)
    os.kill(mine, signal.SIGKILL)
    with pytest.raises(RefusedError, match="continues with the next prompt"):
        await turn
    gate.open()
    desk.model.reply("Heliotrope.")
    assert (await desk.ed.prompt(session, "Which word?"))["stopReason"] == "end_turn"
    assert "The word is heliotrope." in desk.heard
    assert desk.ed.text().endswith("Heliotrope.")


async def test_another_agent_goes_on_with_a_session_and_asks_where_there_are_no_forms(desk: Desk) -> None:
    session = await desk.new()
    desk.model.reply("Remembered.")
    await desk.ed.prompt(session, "The word is heliotrope.")
    await desk.ed.call("session/close", sessionId=session)
    options = [{"label": label, "description": label} for label in ("red", "blue")]
    asks = {"questions": [{"question": "Which?", "header": "Colour", "options": options, "multiSelect": False}]}
    where = {"sessionId": session, "cwd": str(desk.cwd), "mcpServers": []}
    async with desk.another() as ed:
        await ed.initialize()
        ed.allow("answer-1")
        await ed.call("session/load", **where)
        assert ed.text("user_message_chunk") == "The word is heliotrope."
        assert ed.text() == "Remembered."
        desk.model.reply(ToolUse("AskUserQuestion", asks))
        desk.model.reply("Blue it is.")
        await ed.prompt(session, "ask me")
        assert "The word is heliotrope." in desk.heard
        assert [one["name"] for one in ed.asked[0]["params"]["options"]] == ["red", "blue", "Skip"]
        assert '"Which?"="blue"' in next(iter(desk.model.conversation[-1].tool_results.values()))
    async with desk.another() as ed:
        await ed.initialize()
        await ed.call("session/resume", **where)
        assert ed.text() == ""
        desk.model.reply("Still blue.")
        await ed.prompt(session, "and now?")
        assert "The word is heliotrope." in desk.heard
        assert "Blue it is." in desk.heard


async def test_a_follow_up_runs_beside_a_background_agent_which_ends_by_itself(desk: Desk) -> None:
    gate = desk.model.gate()
    rule = desk.model.on(
        lambda request: request.kind == "subagent", "The helper looks and finds it.", Stall(after=3, until=gate)
    )
    session = await desk.new()
    helper = {"description": "Help", "prompt": "Look", "subagent_type": "general-purpose", "run_in_background": True}
    desk.model.reply(ToolUse("Agent", helper))
    desk.model.reply("It runs.")
    await desk.ed.prompt(session, "send someone")
    await reached(gate)
    desk.model.reply("Hello to you.")
    assert (await desk.ed.prompt(session, "hello"))["stopReason"] == "end_turn"
    assert desk.ed.call_of("Agent")["status"] == "in_progress"
    desk.model.reply("The helper has ended.")  # in a turn that the CLI begins by itself
    gate.open()
    await desk.ed.until(lambda: desk.ed.call_of("Agent")["status"] == "completed")
    await desk.ed.until(lambda: desk.ed.text().endswith("The helper has ended."))
    rule.times = 0


async def test_always_is_not_asked_again_whether_allowed_or_rejected(desk: Desk) -> None:
    for option, made in (("always-0", True), ("reject-always", False)):
        session = await desk.new()
        desk.ed.allow(option)
        file = desk.cwd / f"{option}.txt"
        for _ in range(2):
            desk.model.reply(ToolUse("Bash", {"command": f"touch {file.name}", "description": "Make a file"}))
            desk.model.reply("Well.")
            await desk.ed.prompt(session, "make it")
            assert file.exists() is made
            file.unlink(missing_ok=True)
        assert len(desk.ed.asked) == 1


async def test_files_are_rewound_to_before_a_prompt(desk: Desk) -> None:
    session, path = await desk.new(), desk.cwd / "rewound.txt"
    path.write_text("before\n")
    desk.model.reply(ToolUse("Read", {"file_path": str(path)}))
    desk.model.reply(ToolUse("Edit", {"file_path": str(path), "old_string": "before", "new_string": "after"}))
    desk.model.reply("Changed.")
    answer = await desk.ed.prompt(session, "change it")
    assert path.read_text() == "after\n"
    which = {"sessionId": session, "promptId": answer["_meta"]["quarterdeck"]["promptId"]}
    assert (await desk.ed.call("_quarterdeck/rewind_files", **which, dryRun=True))["canRewind"] is True
    assert path.read_text() == "after\n"
    await desk.ed.call("_quarterdeck/rewind_files", **which)
    assert path.read_text() == "before\n"


async def test_structured_output_is_in_the_answer(desk: Desk) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    options = {"claudeCode": {"options": {"outputFormat": {"type": "json_schema", "schema": schema}}}}
    session = await desk.new(_meta=options)
    desk.model.reply(ToolUse("StructuredOutput", {"n": 42}))
    answer = await desk.ed.prompt(session, "how many?")
    assert answer["_meta"]["quarterdeck"]["structuredOutput"] == {"n": 42}
    (offered,) = (one for one in desk.model.conversation[-1].json["tools"] if one["name"] == "StructuredOutput")
    assert offered["input_schema"]["properties"] == schema["properties"]


async def test_the_editors_servers_are_reached_with_their_variables_and_headers(desk: Desk) -> None:
    script = desk.folder / "server.py"
    script.write_text(SERVER_WITH_ENV)
    headers = [{"name": "X-Key", "value": "k"}]
    with McpPlace() as place:
        servers = [
            {
                "name": "local",
                "command": sys.executable,
                "args": ["-S", "-E", str(script)],
                "env": [{"name": "A", "value": "over stdio: "}],
            },
            {"type": "http", "name": "web", "url": f"{place.url}/mcp", "headers": headers},
            {"type": "sse", "name": "old", "url": f"{place.url}/sse", "headers": headers},
            {"name": "broken", "command": "/does/not/exist", "args": [], "env": []},
        ]
        session = await desk.new(mcpServers=servers)
        for name in ("local", "web", "old"):
            desk.model.reply(ToolUse(f"mcp__{name}__echo", {"text": f"hi {name}"}))
        desk.model.reply("Heard.")
        await desk.ed.prompt(session, "echo")
        said = {name: desk.ed.call_of(f"mcp__{name}__echo") for name in ("local", "web", "old")}
        assert {name: (one["status"], one["rawOutput"]["output"]) for name, one in said.items()} == {
            "local": ("completed", "over stdio: hi local"),
            "web": ("completed", "over the web: hi web"),
            "old": ("completed", "over the web: hi old"),
        }
        for path in ("/mcp", "/sse", "/messages"):
            assert {one.get("X-Key") or one.get("x-key") for one in place.headers[path]} == {"k"}, path
        told = [title for severity, title in notices(desk.ed) if severity == "warning"]
        assert any(title.startswith("MCP server broken: failed") for title in told)
        await desk.ed.call("session/close", sessionId=session)


async def test_a_server_that_needs_consent_has_the_editor_open_a_page(desk: Desk) -> None:
    script = desk.folder / "page.py"
    script.write_text(ASKS_FOR_A_PAGE)
    server = {"name": "page", "command": sys.executable, "args": ["-S", "-E", str(script)], "env": []}
    session = await desk.new(mcpServers=[server])
    desk.ed.replies["elicitation/create"] = lambda _: {"action": "accept"}
    desk.model.reply(ToolUse("mcp__page__consent", {}))
    desk.model.reply("Thank you.")
    await desk.ed.prompt(session, "ask for it")
    (asked,) = (one["params"] for one in desk.ed.asked if one["method"] == "elicitation/create")
    assert (asked["mode"], asked["url"], asked["message"]) == ("url", URL, "page: Your consent?")
    assert desk.ed.call_of("mcp__page__consent")["rawOutput"] == {"output": "accept"}
    done = await desk.ed.until(lambda: [f for f in desk.ed.frames if f.get("method") == "elicitation/complete"])
    assert done[0]["params"]["elicitationId"] == asked["elicitationId"]


async def test_a_command_of_the_project_is_offered_and_run(desk: Desk) -> None:
    commands = desk.cwd / ".claude" / "commands"
    commands.mkdir(parents=True, exist_ok=True)
    (commands / "greet.md").write_text("---\ndescription: Greets\nargument-hint: name\n---\nGreet $ARGUMENTS warmly.\n")
    session = await desk.new()

    def offered() -> dict[str, Any]:
        told = desk.ed.updates("available_commands_update", session=session)
        return {one["name"]: one for one in told[-1]["availableCommands"]} if told else {}

    await desk.ed.until(lambda: "greet" in offered())
    assert offered()["greet"]["input"]["hint"] == "name"
    desk.model.reply("Greetings.")
    await desk.ed.prompt(session, "/greet Ada")
    assert "Greet Ada warmly." in desk.heard


async def test_pictures_documents_and_embedded_files_reach_the_model(desk: Desk) -> None:
    session = await desk.new()
    pdf = base64.b64encode(b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF").decode()
    blocks = [
        {"type": "text", "text": "look"},
        {"type": "image", "mimeType": "image/png", "data": PNG},
        {"type": "resource", "resource": {"uri": "file:///a.pdf", "blob": pdf, "mimeType": "application/pdf"}},
        {"type": "resource", "resource": {"uri": "file:///b.py", "text": "print(1)", "mimeType": "text/x-python"}},
        {"type": "resource_link", "name": "c.py", "uri": "file:///c.py"},
    ]
    desk.model.reply("Seen.")
    await desk.ed.call("session/prompt", sessionId=session, prompt=blocks)
    given = [
        block
        for message in desk.model.conversation[-1].json["messages"]
        if message["role"] == "user" and not isinstance(message["content"], str)
        for block in message["content"]
    ]
    sources = {block["type"]: block["source"] for block in given if block["type"] in ("image", "document")}
    assert sources == {
        "image": {"type": "base64", "media_type": "image/png", "data": PNG},
        "document": {"type": "base64", "media_type": "application/pdf", "data": pdf},
    }
    texts = [block["text"] for block in given if block["type"] == "text"]
    assert "look" in texts
    assert any('<context ref="file:///b.py">\nprint(1)\n</context>' in text for text in texts)
    assert any("[@c.py](file:///c.py)" in text for text in texts)


TOLD_HOOKS = [
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PreToolUse",
    "SessionStart",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "UserPromptSubmit",
]
QUIET_HOOKS = ["Notification", "PreCompact", "SessionEnd"]
"""They run, but 2.1.325 does not say so to its host. ``Setup`` cannot be made to fire."""


async def test_hooks_of_settings_files_are_told_as_far_as_the_cli_tells_of_them(desk: Desk) -> None:
    ran = desk.folder / "ran"
    ran.mkdir()
    hooks = {
        event: [{"hooks": [{"type": "command", "command": f"touch {ran}/{event}; echo it is {event}"}]}]
        for event in (*TOLD_HOOKS, *QUIET_HOOKS)
    }
    settings = desk.home / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"hooks": hooks}))
    script = desk.folder / "asks.py"
    script.write_text(ECHO_SERVER)
    server = {"name": "asks", "command": sys.executable, "args": ["-S", "-E", str(script)], "env": []}
    rule = desk.model.on(lambda request: request.kind == "subagent", "The helper is done.")
    helper = {"description": "help", "prompt": "Help", "subagent_type": "general-purpose", "run_in_background": False}
    try:
        session = await desk.new(mcpServers=[server])
        desk.ed.replies["elicitation/create"] = lambda _: {"action": "accept", "content": {"name": "Bob"}}
        for call in (
            ToolUse("Bash", BASH),
            ToolUse("Bash", {"command": "exit 3"}),
            ToolUse("Agent", helper),
            ToolUse("mcp__asks__ask", {}),
        ):
            desk.model.reply(call)
        desk.model.reply("Done.")
        await desk.ed.prompt(session, "do it all")
        await desk.ed.prompt(session, "/compact")
        await desk.ed.call("session/close", sessionId=session)
        told = {title.removeprefix("Hook ").split(":")[0]: title for _, title in notices(desk.ed) if "it is" in title}
        assert sorted(told) == TOLD_HOOKS
        assert all(title.endswith(f"success\nit is {event}") for event, title in told.items())
        assert sorted(each.name for each in ran.iterdir()) == sorted([*TOLD_HOOKS, *QUIET_HOOKS])
    finally:
        rule.times = 0
        settings.unlink()


async def test_the_tools_that_the_model_has_are_calls_in_the_editor(desk: Desk) -> None:
    """Those of specification 003 that 2.1.325 still has; it finds and searches files with ``Bash``."""
    session, path = await desk.new(), desk.cwd / "tools.txt"
    book = desk.cwd / "a.ipynb"
    cell = {"cell_type": "code", "id": "c1", "source": "1", "metadata": {}, "outputs": [], "execution_count": None}
    book.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    gate = desk.model.gate()
    rule = desk.model.on(lambda request: request.kind == "subagent", "The helper is done.")
    waits = {"command": "tail -f /dev/null", "description": "Wait", "run_in_background": True}
    helper = {
        "description": "Help out",
        "prompt": "Help",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    options = [{"label": label, "description": label} for label in ("red", "blue")]
    asks = {"questions": [{"question": "Which?", "header": "Colour", "options": options, "multiSelect": False}]}
    task = {"subject": "Look", "description": "Look around", "activeForm": "Looking"}
    calls: list[tuple[str, dict[str, Any], str, str]] = [
        ("Write", {"file_path": str(path), "content": "one\n"}, "edit", "Write tools.txt"),
        ("Edit", {"file_path": str(path), "old_string": "one", "new_string": "1"}, "edit", "Edit tools.txt"),
        ("Read", {"file_path": str(book)}, "read", "Read a.ipynb"),
        ("NotebookEdit", {"notebook_path": str(book), "cell_id": "c1", "new_source": "2"}, "edit", "Edit a.ipynb"),
        ("Agent", helper, "think", "Help out"),
        ("AskUserQuestion", asks, "think", "Which?"),
        ("ExitPlanMode", {"plan": "1. Leap"}, "switch_mode", "Ready to code?"),
        ("Bash", waits, "execute", "tail -f /dev/null"),
    ]
    desk.ed.replies["elicitation/create"] = lambda _: {"action": "accept", "content": {"question_0": "blue"}}
    desk.ed.replies["session/request_permission"] = lambda asked: {
        "outcome": {"outcome": "selected", "optionId": asked["options"][0]["optionId"]}
    }
    await desk.ed.call("session/set_mode", sessionId=session, modeId="plan")
    await desk.ed.call("session/set_mode", sessionId=session, modeId="default")
    for name, given, _, _ in calls:
        if name == "ExitPlanMode":
            desk.model.reply(ToolUse("EnterPlanMode", {}))
        desk.model.reply(ToolUse(name, given))
    desk.model.reply(ToolUse("TaskCreate", task))
    desk.model.reply("It waits.", Stall(after=3, until=gate))
    turn = desk.ed.say(session, "use them all")
    await reached(gate)
    background = desk.ed.call_of("Bash")
    stop = {"task_id": background["_meta"]["quarterdeck"]["taskId"]}
    gate.open()
    await turn
    desk.model.reply(ToolUse("TaskStop", stop))
    desk.model.reply("Stopped.")
    await desk.ed.prompt(session, "stop it")
    await desk.ed.until(lambda: desk.ed.call_of("Bash")["status"] == "failed")
    for name, _, kind, title in calls:
        call = desk.ed.call_of(name)
        assert (call["kind"], call["title"]) == (kind, title), name
        assert call["status"] == ("failed" if name == "Bash" else "completed"), (name, call)
    assert desk.ed.call_of("TaskStop")["status"] == "completed"
    assert [one["entries"][0]["content"] for one in desk.ed.updates("plan")][:1] == ["Look"]
    assert path.read_text() == "1\n"
    rule.times = 0


LIMITS = {
    "anthropic-ratelimit-unified-status": "allowed_warning",
    "anthropic-ratelimit-unified-reset": "1900000000",
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
    "anthropic-ratelimit-unified-5h-utilization": "0.92",
    "anthropic-ratelimit-unified-5h-reset": "1900000000",
    "anthropic-ratelimit-unified-5h-surpassed-threshold": "0.9",
}


async def test_rate_limits_are_told_and_logging_out_forgets_the_login(tmp_path: Path) -> None:
    cwd, home = tmp_path / "repo", tmp_path / "home"
    login = home / ".claude" / ".credentials.json"
    login.parent.mkdir(parents=True)
    cwd.mkdir()
    token = {
        "accessToken": "made-up",
        "refreshToken": "made-up",
        "expiresAt": 4_000_000_000_000,
        "scopes": ["user:inference"],
    }
    login.write_text(json.dumps({"claudeAiOauth": token}))
    with ModelServer() as model:
        env = {**model.env(), "HOME": str(home), "SHELL": "/bin/bash", "CLAUDE_CODE_OAUTH_TOKEN": "made-up"}
        env.pop("ANTHROPIC_API_KEY", None)
        async with editor("--agent", real_cli().argv[-1], env=env) as ed:
            await ed.initialize(**EVERYTHING)
            session = await ed.new(cwd)
            model.reply("Nearly at the limit.", headers=LIMITS)
            await ed.prompt(session, "hi")
            assert ("warning", "Rate limit five_hour: allowed_warning, 92% used") in notices(ed)
            assert login.exists()
            assert await ed.call("logout") == {}
            assert not login.exists() or "made-up" not in login.read_text()


async def test_delegate_can_be_chosen_where_the_cli_has_it(tmp_path: Path) -> None:
    cwd, home = tmp_path / "repo", tmp_path / "home"
    cwd.mkdir()
    home.mkdir()
    with ModelServer() as model:
        env = {"HOME": str(home), "SHELL": "/bin/bash", **model.env()}
        async with editor("--agent", real_cli("2.1.52").argv[-1], env=env) as ed:
            await ed.initialize(**EVERYTHING)
            session = await ed.new(cwd)
            model.reply("Hello.")
            await ed.prompt(session, "hi")
            (mode,) = (one for one in ed.updates("config_option_update")[-1]["configOptions"] if one["id"] == "mode")
            assert "delegate" in [one["value"] for one in mode["options"]]
            await ed.call("session/set_config_option", sessionId=session, configId="mode", value="delegate")
            assert ed.updates("current_mode_update")[-1]["currentModeId"] == "delegate"
