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
from gateways.acp.published import schema_checker
from quarterdeck.testing.install import install_cli
from quarterdeck.testing.model import Error, ModelServer, Stall, Thinking, ToolUse

PAGE = Path(__file__).parents[3] / "docs" / "acp.md"
BEGIN, END = "<!-- beside: begin -->", "<!-- beside: end -->"
LIMIT_S = 90.0
CAPABILITIES: dict[str, Any] = {
    **EVERYTHING,
    "fs": {"readTextFile": True, "writeTextFile": True},
    "_meta": {"terminal_output": True},
}
METHODS = [
    *(f"session/{word}" for word in ("list", "close", "delete", "fork", "resume")),
    *(f"session/{word}" for word in ("archive", "unarchive", "status", "set_title")),
    *("auth/status", "providers/list", "logout"),
]
NO_SUCH_METHOD = -32601
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

    async def say(self, text: str) -> dict[str, Any]:
        async with asyncio.timeout(LIMIT_S):
            answer: dict[str, Any] = await self.ed.say(self.session, text)
            return answer

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
    stage.model.reply("We talked about files.")
    before = len(stage.ed.updates())
    await stage.say("/compact")
    stage.seen["compaction is reported"] = "ompact" in str(stage.ed.updates()[before:])


async def loading(stage: Stage) -> None:
    before = len(stage.ed.frames)
    await stage.ed.call("session/load", sessionId=stage.session, cwd=str(stage.cwd), mcpServers=[])
    stage.seen["loading an open session replays the conversation"] = "Made." in str(stage.ed.frames[before:])


async def sessions(stage: Stage) -> None:
    ed, where = stage.ed, {"cwd": str(stage.cwd), "mcpServers": []}
    for method in METHODS:
        try:
            await ed.call(method, sessionId="00000000-0000-4000-8000-000000000000", title="x", **where)
            served = True
        except RefusedError as error:
            served = error.code != NO_SUCH_METHOD
        stage.seen[f"`{method}`"] = served


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


PARTS: Sequence[Callable[[Stage], Awaitable[None]]] = (
    streaming, permissions, edits, questions, output, plans, agents, background, troubles, prompts, loading,
    surroundings, sessions, killed,
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
