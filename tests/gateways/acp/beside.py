"""Our agent and claude-agent-acp in the same scripted conversation with the real CLI, and what an editor sees of each.

``PYTHONPATH=tests python -m gateways.acp.beside`` writes the table into ``docs/acp.md``. A test runs ours and compares;
in a soak, both.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks._npm import ANCHOR_VERSION, anchor_command

from gateways.acp.editor import EVERYTHING, OURS, Editor, RefusedError, editor
from gateways.acp.mcp_over_http import McpPlace
from gateways.acp.published import schema_checker
from gateways.acp.test_editor_tools import Terminals
from quarterdeck.testing.install import install_cli
from quarterdeck.testing.model import Error, ModelServer, Stall, Thinking, ToolUse

PAGE = Path(__file__).parents[3] / "docs" / "acp.md"
BEGIN, END = "<!-- beside: begin -->", "<!-- beside: end -->"
LIMIT_S = 90.0
CAPABILITIES: dict[str, Any] = {
    **EVERYTHING,
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "_meta": {"terminal_output": True},
}
SEEN_LIMIT_S = 20.0
"""After which something is taken not to come."""
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
HOOK_SAYS = "a word from the hook"
HOOKS = {"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": f"echo {HOOK_SAYS}"}]}]}}


class Stage:
    """One agent with a session, and the model it talks to."""

    def __init__(self, ed: Editor, model: ModelServer, cwd: Path) -> None:
        self.ed, self.model, self.cwd = ed, model, cwd
        self.session = ""
        self.seen: dict[str, bool] = {}
        self.buffers: dict[str, str] = {}
        """Of the editor: path → text."""
        self.env: dict[str, str] = {}
        self.arguments: Sequence[str] = ()
        self.command: Sequence[str] = ()

    async def say(self, text: str, session: str = "") -> dict[str, Any]:
        async with asyncio.timeout(LIMIT_S):
            answer: dict[str, Any] = await self.ed.say(session or self.session, text)
            return answer

    async def new(self, **more: Any) -> str:
        answer = await self.ed.call("session/new", cwd=str(self.cwd), **{"mcpServers": [], **more})
        return str(answer["sessionId"])

    async def choose(self, session: str, option: str, value: str) -> bool:
        """Whether the agent has the option, and takes the value."""
        with contextlib.suppress(RefusedError):
            await self.ed.call("session/set_config_option", sessionId=session, configId=option, value=value)
            return True
        return False

    async def answers(self, method: str, **params: Any) -> Any:
        """None if the agent refuses."""
        with contextlib.suppress(RefusedError):
            return await self.ed.call(method, **params)
        return None

    @property
    def heard(self) -> str:
        """All that the model was last sent."""
        return self.model.conversation[-1].body.decode()

    async def sees(self, condition: Callable[[], Any]) -> bool:
        """Whether it becomes true; bounded."""

        def look() -> bool:
            deadline = time.monotonic() + SEEN_LIMIT_S
            while not condition():
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.05)
            return True

        return await asyncio.to_thread(look)

    def position(self, words: str, *, method: str = "session/update") -> int:
        """Where a frame with these words stands; -1 if there is none."""
        found = (i for i, f in enumerate(self.ed.frames) if f.get("method") == method and words in str(f))
        return next(found, -1)


async def streaming(stage: Stage) -> None:
    stage.model.reply(Thinking("Let me think about it."), "Words come one after the other, and not all at once.")
    await stage.say("talk")
    stage.seen["text is streamed"] = len(stage.ed.updates("agent_message_chunk")) > 1
    stage.seen["thinking is shown"] = "Let me think" in stage.ed.text("agent_thought_chunk")
    stage.seen["tokens and cost"] = any(one.get("cost") for one in stage.ed.updates("usage_update"))
    stage.seen["slash commands"] = bool(stage.ed.updates("available_commands_update"))


async def permissions(stage: Stage) -> None:
    stage.model.reply("I need a tool.", ToolUse("Bash", {"command": "touch made.txt", "description": "Make a file"}))
    stage.model.reply("Made.")
    await stage.say("make a file")
    options = next(f["params"]["options"] for f in stage.ed.asked if f["method"] == "session/request_permission")
    kinds = {one["kind"] for one in options}
    stage.seen["a permission is asked"] = (stage.cwd / "made.txt").exists()
    asked = stage.position("touch made.txt", method="session/request_permission")
    stage.seen["text comes before the permission it leads to"] = 0 <= stage.position("tool.") < asked
    stage.seen["always allow, with the exact rule in its name"] = any(
        one["kind"] == "allow_always" and "touch made.txt" in one["name"] for one in options
    )
    stage.seen["reject always"] = "reject_always" in kinds


async def edits(stage: Stage) -> None:
    path = stage.cwd / "notes.txt"
    path.write_text("one\ntwo\nthree\n")
    stage.model.reply(ToolUse("Read", {"file_path": str(path)}))
    stage.model.reply(ToolUse("Edit", {"file_path": str(path), "old_string": "two", "new_string": "2"}))
    stage.model.reply("Changed.")
    before = len(stage.ed.asked)
    await stage.say("change it")
    updates = str(stage.ed.updates("tool_call", "tool_call_update"))
    stage.seen["an edit is a diff"] = "'type': 'diff'" in updates
    shown = [str(f) for f in stage.ed.asked[before:] if f["method"] == "session/request_permission"]
    stage.seen["the diff is shown before it is allowed"] = any("'type': 'diff'" in one for one in shown)
    stage.seen["results without notes meant for the model"] = "system-reminder" not in updates
    methods = [f["method"] for f in stage.ed.asked[before:]]
    stage.seen["files are read through the editor (fs/read_text_file)"] = "fs/read_text_file" in methods
    stage.seen["edits go through the editor (fs/write_text_file)"] = "fs/write_text_file" in methods


async def questions(stage: Stage) -> None:
    choices = [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]
    asked = {"questions": [{"question": "Which?", "header": "Colour", "options": choices, "multiSelect": False}]}
    stage.model.reply(ToolUse("AskUserQuestion", asked))
    stage.model.reply("Noted.")
    await stage.say("ask me")
    stage.seen["a question is a form"] = any(f["method"] == "elicitation/create" for f in stage.ed.asked)
    stage.model.reply(ToolUse("TaskCreate", {"subject": "Look", "description": "Look around", "activeForm": "Looking"}))
    stage.model.reply("Planned.")
    await stage.say("plan it")
    stage.seen["tasks appear as the plan"] = bool(stage.ed.updates("plan", "plan_update"))


async def output(stage: Stage) -> None:
    command = f"echo early; while [ ! -e {stage.cwd}/go ]; do sleep 0.05; done; echo late"
    stage.model.reply(ToolUse("Bash", {"command": command, "description": "Wait"}))
    stage.model.reply("Waited.")
    running = asyncio.ensure_future(stage.say("wait"))

    def told() -> bool:
        changes = stage.ed.updates("tool_call_update")
        return any("early\\n" in str({**one, "rawInput": None, "title": None}) for one in changes)

    try:
        async with asyncio.timeout(20):
            await stage.ed.until(told)
        early = True
    except TimeoutError:
        early = False
    (stage.cwd / "go").touch()
    await running
    stage.seen["a command's output while it runs"] = early


async def troubles(stage: Stage) -> None:
    stage.model.reply(Error(529, "overloaded"))
    stage.model.reply("At last.")
    before = len(stage.ed.frames)
    await stage.say("try")
    told = str([f for f in stage.ed.frames[before:] if f.get("method") == "session/update"])
    stage.seen["retries are shown"] = "529" in told or "retry" in told.lower()
    stage.model.reply("It begins " + "and goes on " * 50, Stall(after=8, seconds=LIMIT_S, until=stage.model.gate()))
    running = asyncio.ensure_future(stage.say("never end"))
    await stage.ed.until(lambda: "It begins" in stage.ed.text())
    stage.ed.notify("session/cancel", sessionId=stage.session)
    stage.seen["cancel ends the turn"] = (await running)["stopReason"] == "cancelled"
    over = asyncio.Event()
    stage.model.on(lambda request: request.kind == "main" and not over.is_set(), "I heard nothing.")
    try:
        blocks = [{"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}]
        await stage.ed.call("session/prompt", sessionId=stage.session, prompt=blocks)
        stage.seen["unsupported content is refused, not dropped"] = False
    except RefusedError:
        stage.seen["unsupported content is refused, not dropped"] = True
    over.set()


async def plans(stage: Stage) -> None:
    await stage.ed.call("session/set_mode", sessionId=stage.session, modeId="plan")
    stage.model.reply(ToolUse("ExitPlanMode", {"plan": "First look, then leap."}))
    stage.model.reply("Leaping.")
    before = len(stage.ed.frames)
    await stage.say("make a plan")
    told = stage.ed.frames[before:]
    asked = any(f.get("method") == "session/request_permission" for f in told)
    stage.seen["a plan is shown and reviewed before it is followed"] = asked and "then leap" in str(told)
    stage.seen["the mode follows the answer"] = any("current_mode_update" in str(f) for f in told)
    await stage.ed.call("session/set_mode", sessionId=stage.session, modeId="default")


async def agents(stage: Stage) -> None:
    task = {"description": "Look", "prompt": "Look around", "subagent_type": "general-purpose"}
    stage.model.reply(ToolUse("Agent", {**task, "run_in_background": False}))
    stage.model.reply("Words of the sub-agent.")
    stage.model.reply("It looked around.")
    before = len(stage.ed.updates())
    await stage.say("send someone")
    told = [one for one in stage.ed.updates()[before:] if "Words of the sub" in str(one)]
    apart = [one for one in told if one["sessionUpdate"].startswith("tool_call") or "parentToolUseId" in str(one)]
    stage.seen["sub-agent text is shown separately"] = bool(told) and apart == told


async def background(stage: Stage) -> None:
    command = f"while [ ! -e {stage.cwd}/later ]; do sleep 0.05; done; echo over"
    given = {"command": command, "description": "Wait", "run_in_background": True}
    stage.model.reply(ToolUse("Bash", given, id="toolu_01background"))
    stage.model.reply("It runs.")
    stage.model.reply("It has ended.")  # in the turn that the CLI begins by itself
    await stage.say("wait in the background")
    before = len(stage.ed.updates())
    (stage.cwd / "later").touch()

    def told() -> bool:
        changes = stage.ed.updates("tool_call_update")
        late = [one for one in stage.ed.updates()[before:] if one in changes and one.get("status") == "completed"]
        return any(one["toolCallId"] == "toolu_01background" for one in late)

    stage.seen["a background command's end is reported after the turn"] = await stage.sees(told)
    stage.seen["text from turns the CLI starts itself is shown"] = await stage.sees(
        lambda: "It has ended." in stage.ed.text()
    )


async def prompts(stage: Stage) -> None:
    """Pictures, several at once, several calls in one message, and requests that are taken back."""
    stage.model.reply("A dot.")
    picture = {"type": "image", "mimeType": "image/png", "data": PNG}
    before = len(stage.model.requests)
    await stage.ed.call("session/prompt", sessionId=stage.session, prompt=[picture, {"type": "text", "text": "What?"}])
    stage.seen["images reach the model"] = PNG in str([one.body for one in stage.model.requests[before:]])
    stage.model.reply("One.")
    stage.model.reply("Two.")
    both = await asyncio.gather(stage.say("first"), stage.say("second"))
    stage.seen["prompts wait their turn"] = [one["stopReason"] for one in both] == ["end_turn", "end_turn"]
    names = ("one", "two", "three")
    calls = [ToolUse("Bash", {"command": f"touch {name}.txt", "description": "Make a file"}) for name in names]
    stage.model.reply("Three of them.", *calls)
    stage.model.reply("Two of three.")
    stage.ed.replies["session/request_permission"] = lambda asked: _allow(asked, "touch two" not in str(asked))
    await stage.say("make three files")
    stage.ed.replies["session/request_permission"] = _allow
    made = [(stage.cwd / f"{name}.txt").exists() for name in names]
    stage.seen["rejecting one call leaves parallel calls running"] = made == [True, False, True]
    stage.model.reply("Taken back " + "and goes on " * 50, Stall(after=8, seconds=LIMIT_S, until=stage.model.gate()))
    running = stage.ed.say(stage.session, "take it back")
    await stage.ed.until(lambda: "Taken back" in stage.ed.text())
    stage.ed.notify("$/cancel_request", requestId=stage.ed.last_id)
    stage.seen["`$/cancel_request` ends the request"] = await stage.sees(running.done)
    if not running.done():
        stage.ed.notify("session/cancel", sessionId=stage.session)
    await asyncio.gather(running, return_exceptions=True)


async def surroundings(stage: Stage) -> None:
    told = str(stage.ed.updates())
    stage.seen["hook messages are shown"] = HOOK_SAYS in told
    before = len(stage.ed.updates())
    await stage.say("/compact")
    told = [one for one in stage.ed.updates()[before:] if one["sessionUpdate"] in _SAID]
    stage.seen["compaction is reported"] = "ompact" in str(told)


async def loading(stage: Stage) -> None:
    before = len(stage.ed.frames)
    await stage.ed.call("session/load", sessionId=stage.session, cwd=str(stage.cwd), mcpServers=[])
    stage.seen["loading an open session replays the conversation"] = "Made." in str(stage.ed.frames[before:])


async def choices(stage: Stage) -> None:
    """What can be chosen, and whether the model is asked with it."""
    agents = stage.cwd / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "poet.md").write_text("---\nname: poet\ndescription: Rhymes\n---\nYou answer in rhyme.\n")
    session = await stage.new()
    seen = stage.seen
    await stage.sees(lambda: "poet" in str(stage.ed.updates("config_option_update", session=session)))

    async def asked(text: str) -> dict[str, Any]:
        stage.model.reply("Well.")
        await stage.say(text, session)
        request: dict[str, Any] = stage.model.conversation[-1].json
        return request

    agent, fast = await stage.choose(session, "agent", "poet"), await stage.choose(session, "fast", "on")
    effort = await stage.choose(session, "effort", "high")
    request = await asked("hello")
    seen["the agent can be chosen"] = agent and "You answer in rhyme." in str(request["system"])
    seen["fast mode can be chosen"] = fast and request.get("speed") == "fast"
    seen["effort can be chosen"] = effort and request.get("output_config", {}).get("effort") == "high"
    await stage.choose(session, "model", "haiku")
    seen["the model can be chosen"] = "haiku" in (await asked("and now?"))["model"]
    await stage.ed.call("session/set_mode", sessionId=session, modeId="acceptEdits")
    before = len(stage.ed.asked)
    stage.model.reply(ToolUse("Write", {"file_path": str(stage.cwd / "accepted.txt"), "content": "x"}))
    await asked("write it")
    questions = [one for one in stage.ed.asked[before:] if one["method"] == "session/request_permission"]
    seen["the mode can be chosen"] = (stage.cwd / "accepted.txt").exists() and not questions


async def files(stage: Stage) -> None:
    """What the editor has and the disk has not."""
    path = stage.cwd / "unsaved.txt"
    path.write_text("on disk\n")
    stage.buffers[str(path)] = "in the buffer\n"
    stage.model.reply(ToolUse("Read", {"file_path": str(path)}))
    stage.model.reply("Read.")
    await stage.say("read it")
    stage.seen["unsaved changes are read"] = "in the buffer" in stage.heard
    embedded = {"uri": "file:///b.py", "text": "print(117)", "mimeType": "text/x-python"}
    blocks = [{"type": "text", "text": "look"}, {"type": "resource", "resource": embedded}]
    stage.model.reply("Seen.")
    await stage.ed.call("session/prompt", sessionId=stage.session, prompt=blocks)
    stage.seen["embedded files reach the model"] = "print(117)" in stage.heard
    terminals = Terminals(stage.ed)
    stage.model.reply(ToolUse("mcp__editor__terminal", {"command": "make all"}))
    stage.model.reply("Built.")
    await stage.say("build it")
    stage.seen["commands can run in the editor's terminal (terminal/create)"] = bool(terminals.created)


async def servers(stage: Stage) -> None:
    with McpPlace() as place:
        headers = [{"name": "X-Key", "value": "k"}]
        given = [
            {"type": "http", "name": "web", "url": f"{place.url}/mcp", "headers": headers},
            {"type": "sse", "name": "old", "url": f"{place.url}/sse", "headers": headers},
        ]
        session = await stage.new(mcpServers=given)
        for name in ("web", "old"):
            stage.model.reply(ToolUse(f"mcp__{name}__echo", {"text": f"hi {name}"}))
        stage.model.reply("Heard.")
        await stage.say("echo", session)
        keys = {
            one.get("X-Key") or one.get("x-key") for path in ("/mcp", "/sse") for one in place.headers.get(path, [{}])
        }
        called = all(f"over the web: hi {name}" in stage.heard for name in ("web", "old"))
        stage.seen["the editor's MCP servers are used (HTTP and SSE, with headers)"] = called and keys == {"k"}
        await stage.ed.call("session/close", sessionId=session)


async def outputs(stage: Stage) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    options = {"claudeCode": {"options": {"outputFormat": {"type": "json_schema", "schema": schema}}}}
    session = await stage.new(_meta=options)
    rule = stage.model.on(lambda request: request.kind == "main", ToolUse("StructuredOutput", {"n": 4217}), times=1)
    end = stage.model.on(lambda request: request.kind == "main", "It is 4217.")
    stage.seen["structured output is in the answer"] = "4217" in str(await stage.say("how many?", session))
    rule.times = end.times = 0
    path = stage.cwd / "rewound.txt"
    path.write_text("before\n")
    stage.model.reply(ToolUse("Read", {"file_path": str(path)}))
    stage.model.reply(ToolUse("Edit", {"file_path": str(path), "old_string": "before", "new_string": "after"}))
    stage.model.reply("Changed.")
    answer = await stage.say("change it")
    prompt = ((answer.get("_meta") or {}).get("quarterdeck") or {}).get("promptId")
    await stage.answers("_quarterdeck/rewind_files", sessionId=stage.session, promptId=prompt)
    stage.seen["files can be rewound to before a prompt"] = path.read_text() == "before\n"


async def deaths(stage: Stage) -> None:
    before = set(_clis(stage.ed.process.pid))
    session = await stage.new()
    stage.model.reply("Remembered.")
    await stage.say("The word is heliotrope.", session)
    for pid in set(_clis(stage.ed.process.pid)) - before:
        os.kill(pid, signal.SIGKILL)
    rule = stage.model.on(lambda request: request.kind == "main", "Heliotrope.")
    known = False
    for _ in range(2):  # the first may be the one that learns of it
        with contextlib.suppress(RefusedError, TimeoutError):
            async with asyncio.timeout(SEEN_LIMIT_S):
                await stage.ed.say(session, "Which word?")
                known = "The word is heliotrope." in stage.heard
        if known:
            break
    rule.times = 0
    stage.seen["after the death of Claude Code, a prompt continues the conversation"] = known


async def sessions(stage: Stage) -> None:
    """What a method is for, not only whether there is one."""
    seen, cwd = stage.seen, str(stage.cwd)
    session = await stage.new()
    stage.model.reply("Remembered.")
    await stage.say("The word is amaranth.", session)

    async def listed(**more: Any) -> dict[str, Any]:
        answer = await stage.answers("session/list", cwd=cwd, **more) or {"sessions": []}
        return {one["sessionId"]: one for one in answer["sessions"]}

    async def remembers(other: str) -> bool:
        rule = stage.model.on(lambda request: request.kind == "main", "Amaranth.")
        try:
            await stage.say("Which word?", other)
        except RefusedError:
            return False
        finally:
            rule.times = 0
        return "The word is amaranth." in stage.heard

    seen["`session/list`"] = session in await listed()
    fork = await stage.answers("session/fork", sessionId=session, cwd=cwd, mcpServers=[])
    seen["`session/fork`"] = fork is not None and await remembers(str(fork["sessionId"]))
    seen["`session/status`"] = (await stage.answers("session/status", sessionId=session) or {}).get("status") == "open"
    await stage.answers("session/set_title", sessionId=session, title="Mine")
    seen["`session/set_title`"] = (await listed()).get(session, {}).get("title") == "Mine"
    closed = await stage.answers("session/close", sessionId=session)
    seen["`session/close`"] = closed is not None and not await remembers(session)
    await stage.answers("session/resume", sessionId=session, cwd=cwd, mcpServers=[])
    seen["`session/resume`"] = await remembers(session)
    await stage.answers("session/close", sessionId=session)
    await stage.answers("session/archive", sessionId=session)
    seen["`session/archive`"] = session not in await listed()
    archived = await stage.answers("session/unarchive", sessionId=session) is not None
    seen["`session/unarchive`"] = archived and session in await listed()
    await stage.answers("session/delete", sessionId=session)
    seen["`session/delete`"] = seen["`session/list`"] and session not in await listed()
    seen["`auth/status`"] = (await stage.answers("auth/status") or {}).get("state") == "authenticated"
    seen["`providers/list`"] = bool((await stage.answers("providers/list") or {}).get("providers"))
    login = stage.cwd.parent / "home" / ".claude" / ".credentials.json"
    token = {"accessToken": "made-up", "refreshToken": "made-up", "expiresAt": 4_000_000_000_000, "scopes": []}
    login.write_text(json.dumps({"claudeAiOauth": token}))
    await stage.answers("logout")
    seen["`logout` forgets the login"] = not login.exists() or "made-up" not in login.read_text()


async def limits(stage: Stage) -> None:
    """With an agent of its own: Claude Code reports limits only for a subscription."""
    env = {name: value for name, value in stage.env.items() if name != "ANTHROPIC_API_KEY"}
    env["CLAUDE_CODE_OAUTH_TOKEN"] = "made-up"
    async with editor(*stage.arguments, env=env, command=stage.command, checker=None) as ed:
        await ed.initialize(**CAPABILITIES)
        session = await ed.new(stage.cwd)
        stage.model.reply("Nearly at the limit.", headers=LIMITS)
        await ed.prompt(session, "hi")
        told = [one for one in ed.updates() if one["sessionUpdate"] in _SAID]
        stage.seen["rate limits are shown"] = "five_hour" in str(told) or "limit" in str(told).replace(
            "at the limit", ""
        )


async def killed(stage: Stage) -> None:
    """In the middle of a command. What is left of it is ended here."""
    session = await stage.ed.new(stage.cwd)
    command = f"touch {stage.cwd}/runs; sleep 1000"
    stage.model.reply(ToolUse("Bash", {"command": command, "description": "Wait"}))
    stage.ed.say(session, "wait")
    await stage.sees((stage.cwd / "runs").exists)
    mark = str(stage.cwd)
    stage.ed.process.kill()
    await stage.ed.process.wait()
    stage.seen["a killed agent leaves no process behind"] = await stage.sees(lambda: not _at_work(mark))
    for pid in _at_work(mark):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _at_work(cwd: str) -> list[int]:
    """The processes that work in this folder."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                if str((folder / "cwd").readlink()) == cwd and int(folder.name) != os.getpid():
                    found.append(int(folder.name))
    return found


def _clis(agent: int) -> list[int]:
    """The processes of Claude Code below an agent."""
    parents: dict[int, int] = {}
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if b"stream-json" in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))

    def is_below(pid: int) -> bool:
        while pid > 1:
            pid = parents.get(pid, 0)
            if pid == agent:
                return True
        return False

    return [pid for pid in found if is_below(pid)]


_SAID = frozenset({"compaction_update", "notice", "agent_message_chunk", "agent_thought_chunk"})
LIMITS = {
    "anthropic-ratelimit-unified-status": "allowed_warning",
    "anthropic-ratelimit-unified-reset": "1900000000",
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
    "anthropic-ratelimit-unified-5h-utilization": "0.92",
    "anthropic-ratelimit-unified-5h-reset": "1900000000",
    "anthropic-ratelimit-unified-5h-surpassed-threshold": "0.9",
}

PARTS: Sequence[Callable[[Stage], Awaitable[None]]] = (
    streaming, permissions, edits, questions, output, plans, agents, background, troubles, prompts, loading,
    surroundings, choices, files, servers, outputs, deaths, sessions, limits, killed,
)  # fmt: skip


async def features(command: Sequence[str], folder: Path) -> dict[str, bool]:
    """Feature → whether an editor sees it with this agent."""
    cwd, home = folder / "repo", folder / "home"
    for each in (cwd, home):
        each.mkdir(parents=True)
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text(json.dumps(HOOKS))
    cli = install_cli().argv[-1]
    with ModelServer() as model:
        env = {"HOME": str(home), "SHELL": "/bin/bash", "CLAUDE_CODE_EXECUTABLE": cli, **model.env()}
        arguments = ("--agent", cli) if tuple(command) == OURS else ()
        checker = schema_checker() if tuple(command) == OURS else None
        async with editor(*arguments, env=env, command=command, checker=checker) as ed:
            buffers: dict[str, str] = {}  # a file that is open stays as it was until the editor is told
            ed.replies["fs/read_text_file"] = lambda asked: {
                "content": buffers.setdefault(asked["path"], Path(asked["path"]).read_text())
            }
            ed.replies["fs/write_text_file"] = lambda asked: buffers.update({asked["path"]: asked["content"]}) or {}
            ed.replies["elicitation/create"] = lambda _: {"action": "accept", "content": {"question_0": "blue"}}
            ed.replies["session/request_permission"] = _allow
            await ed.initialize(**CAPABILITIES)
            stage = Stage(ed, model, cwd)
            stage.buffers, stage.env, stage.arguments, stage.command = buffers, env, arguments, command
            stage.session = await ed.new(cwd)
            for part in PARTS:
                await part(stage)
    return stage.seen


def _allow(asked: dict[str, Any], yes: bool = True) -> dict[str, Any]:
    chosen = next(one for one in asked["options"] if one["kind"] == ("allow_once" if yes else "reject_once"))
    return {"outcome": {"outcome": "selected", "optionId": chosen["optionId"]}}


def table(ours: dict[str, bool], anchor: dict[str, bool]) -> str:
    words = {True: "yes", False: "no", None: "–"}
    lines = [f"| what an editor sees | quarterdeck | claude-agent-acp {ANCHOR_VERSION} |", "|---|---|---|"]
    lines += [f"| {name} | {words[has]} | {words[anchor.get(name)]} |" for name, has in ours.items()]
    return "\n".join(lines)


def written() -> str:
    """The table as the page has it."""
    return PAGE.read_text("utf-8").split(BEGIN)[1].split(END)[0].strip()


def compared() -> list[str]:
    """The first column of it."""
    return [line.split(" | ")[0].removeprefix("| ") for line in written().splitlines()[2:]]


async def both(folder: Path) -> tuple[dict[str, bool], dict[str, bool]]:
    anchor = anchor_command()
    if anchor is None:
        raise SystemExit("claude-agent-acp cannot be installed: node or npm is missing")
    return await features(OURS, folder / "ours"), await features(anchor, folder / "anchor")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        ours, anchor = asyncio.run(both(Path(folder)))
    text = PAGE.read_text("utf-8")
    made = f"{BEGIN}\n{table(ours, anchor)}\n{END}"
    PAGE.write_text(re.sub(f"{BEGIN}.*?{END}", lambda _: made, text, flags=re.DOTALL), "utf-8")


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", os.pathsep.join(sys.path))
    main()
