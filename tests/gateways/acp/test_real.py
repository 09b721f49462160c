"""The same over the real Claude Code with a scripted model, driven by the official ACP library."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import soak
from chaos.kit import MARK, marked_processes
from e2e.kit import real_cli
from gateways.acp import beside
from gateways.acp.editor import EVERYTHING, OURS, editor
from gateways.acp.published import anchor, official_python, official_sdk
from gateways.acp.recorder import check_record
from gateways.acp.test_editor_tools import FILES, TERMINALS, Buffers, Terminals
from quarterdeck.testing.model import ModelServer, Stall, ToolUse
from simulated import until

pytestmark = pytest.mark.real
CLIENT = Path(__file__).with_name("official_client.mjs")
BASH = {"command": "touch made.txt", "description": "Make a file"}
LIMIT_S = 180.0
"""Of a stream that is held: longer than a busy machine takes to act on it."""


class Place:
    def __init__(self, folder: Path, model: ModelServer) -> None:
        self.model = model
        self.cwd = folder / "repo"
        self.cwd.mkdir()
        (folder / "home").mkdir()
        self.record = folder / "frames.ndjson"
        self.command = real_cli().argv[-1]
        self.env = {"HOME": str(folder / "home"), "SHELL": "/bin/bash", "PATH": os.environ["PATH"], **model.env()}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with ModelServer() as model:
        yield Place(tmp_path, model)


QUESTION = {
    "questions": [
        {
            "question": "Which?",
            "header": "Colour",
            "options": [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}],
            "multiSelect": False,
        }
    ]
}


def script_a_session(place: Place) -> None:
    """Permission, diff, question, plan, a turn that never ends, and one more for the fork."""
    model, path = place.model, place.cwd / "notes.txt"
    path.write_text("one\ntwo\nthree\n")
    model.reply("I need a tool.", ToolUse("Bash", BASH))
    model.reply("Done.")
    model.reply(ToolUse("Read", {"file_path": str(path)}))
    model.reply(ToolUse("Edit", {"file_path": str(path), "old_string": "two", "new_string": "2"}))
    model.reply("Changed.")
    model.reply(ToolUse("AskUserQuestion", QUESTION))
    model.reply("Blue it is.")
    model.reply(ToolUse("TaskCreate", {"subject": "Look", "description": "Look around", "activeForm": "Looking"}))
    model.reply("Planned.")
    model.reply("It begins and it does not end.", Stall(after=4, seconds=LIMIT_S, until=model.gate()))
    model.reply("Still here.")


STOPS = ["end_turn", "end_turn", "end_turn", "end_turn", "cancelled", "end_turn"]


def recorded(place: Place) -> list[str]:
    """The agent's command, with every frame written down on the way."""
    ours = (sys.executable, "-m", "quarterdeck", "acp", "--agent", place.command)
    return [sys.executable, str(Path(__file__).with_name("recorder.py")), str(place.record), *ours]


def check_session(place: Place, seen: dict[str, Any], checker: Any) -> None:
    """What either library has seen of it, as plain data."""
    frames = check_record(place.record, checker)
    assert frames["session/update"] >= len(seen["updates"])
    assert {"initialize", "session/new", "session/prompt", "session/load", "session/fork"} <= set(frames)
    assert {"session/request_permission", "elicitation/create"} <= set(frames)
    updates = seen["updates"]
    kinds = Counter(one["sessionUpdate"] for one in updates)
    assert seen["stops"] == STOPS
    assert kinds["agent_message_chunk"] > len(STOPS)
    assert (place.cwd / "made.txt").exists()
    assert (place.cwd / "notes.txt").read_text() == "one\n2\nthree\n"
    assert [one["toolCall"]["title"] for one in seen["permissions"]] == ["touch made.txt", "Edit notes.txt"]
    diffs = [each for one in updates for each in one.get("content") or () if isinstance(each, dict)]
    assert {"one\n2\nthree\n"} <= {one.get("newText") for one in diffs if one.get("type") == "diff"}
    assert len(seen["questions"]) == 1
    assert "blue" in str([one.get("rawOutput") for one in updates])
    plans = [one["entries"] for one in updates if one["sessionUpdate"] == "plan"]
    assert [entry["content"] for entry in plans[0]] == ["Look"]
    loaded = [one["content"]["text"] for one in seen["loaded"] if one["sessionUpdate"] == "agent_message_chunk"]
    assert loaded[:5] == ["I need a tool.", "Done.", "Changed.", "Blue it is.", "Planned."]
    assert seen["forked"]
    assert "Still here." in str(updates)
    assert seen["exit"] == 0


async def test_the_official_typescript_library_drives_a_whole_session(place: Place, checker: Any) -> None:
    sdk = official_sdk()
    script_a_session(place)
    process = await asyncio.create_subprocess_exec(
        *("node", str(CLIENT), str(sdk), str(place.cwd)),
        *recorded(place),
        stdout=asyncio.subprocess.PIPE,
        env=place.env,
        limit=64 * 1024 * 1024,
    )
    async with asyncio.timeout(180):
        printed, _ = await process.communicate()
    seen: dict[str, Any] = json.loads(printed)
    assert seen["initialize"]["agentInfo"]["name"] == "quarterdeck"
    check_session(place, seen, checker)


class PythonEditor:
    """A client of the official Python library, with what it was told as plain data."""

    def __init__(self) -> None:
        self.seen: dict[str, Any] = {"updates": [], "permissions": [], "questions": [], "stops": []}
        self.news = asyncio.Event()

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **more: Any) -> Any:
        from acp.schema import AllowedOutcome, RequestPermissionResponse

        call = tool_call.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.seen["permissions"].append({"toolCall": call})
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=options[0].option_id))

    async def create_elicitation(self, message: str, mode: Any, **more: Any) -> Any:
        from acp.schema import AcceptElicitationResponse

        self.seen["questions"].append(message)
        return AcceptElicitationResponse(action="accept", content={"question_0": "blue"})

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        self.seen["updates"].append(update.model_dump(mode="json", by_alias=True, exclude_none=True))
        self.news.set()

    def on_connect(self, conn: Any) -> None:
        pass

    async def until(self, word: str) -> None:
        while word not in str(self.seen["updates"]):
            self.news.clear()
            await self.news.wait()


async def test_the_official_python_library_drives_a_whole_session(place: Place, checker: Any) -> None:
    acp = official_python()
    from acp.schema import ClientCapabilities, ElicitationCapabilities, ElicitationFormCapabilities

    script_a_session(place)
    client = PythonEditor()
    seen, cwd = client.seen, str(place.cwd)
    command = recorded(place)
    limits = {"transport_kwargs": {"limit": 64 * 1024 * 1024}}
    async with (
        asyncio.timeout(180),
        acp.spawn_agent_process(client, *command, env=place.env, cwd=cwd, use_unstable_protocol=True, **limits) as (
            agent,
            process,
        ),
    ):
        forms = ElicitationCapabilities(form=ElicitationFormCapabilities())
        answer = await agent.initialize(protocol_version=1, client_capabilities=ClientCapabilities(elicitation=forms))
        assert answer.agent_info.name == "quarterdeck"
        session = (await agent.new_session(cwd=cwd, mcp_servers=[])).session_id

        async def say(text: str, to: str = session) -> None:
            done = await agent.prompt(session_id=to, prompt=[acp.text_block(text)])
            seen["stops"].append(done.stop_reason)

        for text in ("make a file", "change it", "ask me", "plan it"):
            await say(text)
        running = asyncio.ensure_future(say("never end"))
        await client.until("It begins")
        await agent.cancel(session_id=session)
        await running
        before = len(seen["updates"])
        await agent.load_session(cwd=cwd, session_id=session, mcp_servers=[])
        seen["loaded"] = seen["updates"][before:]
        forked = (await agent.fork_session(session_id=session, cwd=cwd)).session_id
        seen["forked"] = forked != session
        await say("and now?", forked)
        process.stdin.close()
        seen["exit"] = await process.wait()
    check_session(place, seen, checker)


async def test_an_edit_on_the_real_cli_is_a_diff_and_its_cost_is_told(place: Place, checker: Any) -> None:
    path = place.cwd / "notes.txt"
    path.write_text("one\ntwo\nthree\n")
    place.model.reply(ToolUse("Read", {"file_path": str(path)}))
    place.model.reply(ToolUse("Edit", {"file_path": str(path), "old_string": "two", "new_string": "2"}))
    place.model.reply("Changed.")
    async with editor("--agent", place.command, env=place.env, checker=checker) as ed:
        await ed.initialize(**EVERYTHING)
        ed.allow()
        session = await ed.new(place.cwd)
        assert (await ed.prompt(session, "change it"))["stopReason"] == "end_turn"
        (diff,) = ed.call_of("Edit")["content"]
        assert (diff["oldText"], diff["newText"]) == ("one\ntwo\nthree\n", "one\n2\nthree\n")
        assert ed.text() == "Changed."
        assert ed.updates("usage_update")[-1]["size"] > 0
        assert path.read_text() == "one\n2\nthree\n"


async def test_a_denied_tool_leaves_those_beside_it_alone(place: Place, checker: Any) -> None:
    """Three calls in one message of the model: the second is rejected, the others run."""
    names = ("first", "second", "third")
    calls = [ToolUse("Bash", {"command": f"touch {name}.txt", "description": "Make a file"}) for name in names]
    place.model.reply("I need three.", *calls)
    place.model.reply("Two of three.")
    async with editor("--agent", place.command, env=place.env, checker=checker) as ed:
        ed.replies["session/request_permission"] = lambda asked: {
            "outcome": {
                "outcome": "selected",
                "optionId": "reject" if "second" in asked["toolCall"]["title"] else "allow",
            }
        }
        await ed.initialize()
        session = await ed.new(place.cwd)
        assert (await ed.prompt(session, "go"))["stopReason"] == "end_turn"
        assert "Two of three." in ed.text()
        assert [(place.cwd / f"{name}.txt").exists() for name in names] == [True, False, True]


async def test_a_question_and_a_fork_on_the_real_cli(place: Place, checker: Any) -> None:
    place.model.reply(ToolUse("AskUserQuestion", QUESTION))
    place.model.reply("Blue it is.")
    place.model.reply("Still blue.")
    async with editor("--agent", place.command, env=place.env, checker=checker) as ed:
        await ed.initialize(**EVERYTHING)
        ed.replies["elicitation/create"] = lambda _: {"action": "accept", "content": {"question_0": "blue"}}
        session = await ed.new(place.cwd)
        await ed.prompt(session, "ask me")
        assert "blue" in str(ed.call_of("AskUserQuestion")["rawOutput"])
        forked = (await ed.call("session/fork", sessionId=session, cwd=str(place.cwd)))["sessionId"]
        assert (await ed.prompt(forked, "and now?"))["stopReason"] == "end_turn"
        assert ed.text() == "Blue it is.Still blue."


async def test_claude_reads_what_is_not_saved_and_the_editor_gets_what_claude_edits(place: Place, checker: Any) -> None:
    path = place.cwd / "notes.txt"
    path.write_text("saved\n")
    edit = {"file_path": str(path), "old_string": "unsaved", "new_string": "edited"}
    place.model.reply(ToolUse("Read", {"file_path": str(path)}))
    place.model.reply(ToolUse("mcp__editor__save", {"file_path": str(path)}))
    place.model.reply(ToolUse("Read", {"file_path": str(path)}))
    place.model.reply(ToolUse("Edit", edit))
    place.model.reply("Changed.")
    async with editor("--agent", place.command, env=place.env, checker=checker) as ed:
        await ed.initialize(**FILES)
        buffers = Buffers(ed)
        buffers.unsaved[str(path)] = "unsaved\n"
        ed.allow()
        session = await ed.new(place.cwd)
        turn = ed.say(session, "change it")
        await ed.until(lambda: buffers.written)
        assert path.read_text() == "unsaved\n"
        buffers.unsaved[str(path)] = "unsaved\n"  # the buffer goes on showing what it did until the editor is told
        assert (await turn)["stopReason"] == "end_turn"
        assert b"1\\tunsaved" in place.model.conversation[1].body
        assert b"The editor has unsaved changes in this file" in place.model.conversation[1].body
        assert buffers.written[-1] == (str(path), "edited\n")
        assert ed.call_of("Edit")["status"] == "completed"


async def test_the_editors_terminal_on_the_real_cli(place: Place, checker: Any) -> None:
    place.model.reply(ToolUse("mcp__editor__terminal", {"command": "make all"}))
    place.model.reply("Built.")
    async with editor("--agent", place.command, env=place.env, checker=checker) as ed:
        await ed.initialize(**TERMINALS)
        terminals = Terminals(ed)
        ed.allow()
        session = await ed.new(place.cwd)
        assert (await ed.prompt(session, "build"))["stopReason"] == "end_turn"
        assert [one["args"][1] for one in terminals.created] == ["make all"]
        assert ed.call_of("mcp__editor__terminal")["content"] == [{"type": "terminal", "terminalId": "term-1"}]
        assert list(place.model.conversation[-1].tool_results.values()) == ["built"]


async def test_an_ask_rule_for_bash_has_the_person_asked_although_the_terminal_is_allowed(
    place: Place, checker: Any
) -> None:
    rules = {"allow": ["mcp__editor__terminal"], "ask": ["Bash(make deploy:*)"]}
    settings = Path(place.env["HOME"]) / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"permissions": rules}))
    for command in ("make all", "make deploy", "rm -rf /"):
        place.model.reply(ToolUse("mcp__editor__terminal", {"command": command}))
    place.model.reply("Built.")
    async with editor("--agent", place.command, env=place.env, checker=checker) as ed:
        await ed.initialize(**TERMINALS)
        terminals = Terminals(ed)
        ed.allow("reject")
        assert (await ed.prompt(await ed.new(place.cwd), "build"))["stopReason"] == "end_turn"
        asked = [
            one["params"]["toolCall"]["title"] for one in ed.asked if one["method"] == "session/request_permission"
        ]
        assert asked == ["make deploy", "rm -rf /"]
        assert [one["args"][1] for one in terminals.created] == ["make all"]


async def test_an_agent_that_is_killed_leaves_nothing_of_the_real_cli_not_even_what_its_shell_started(
    place: Place,
) -> None:
    mark = uuid.uuid4().hex
    reached = place.cwd / "reached"
    command = f"(setsid sleep 1000 &); touch {reached}; sleep 1000"
    place.model.reply(ToolUse("Bash", {"command": command, "description": "Wait"}))
    async with editor("--agent", place.command, env={**place.env, MARK: mark}) as ed:
        await ed.initialize()
        ed.allow()
        ed.say(await ed.new(place.cwd), "go")
        await asyncio.to_thread(until, reached.exists)
        assert len(marked_processes(mark)) > 3
        ed.process.kill()
        await ed.process.wait()
    await asyncio.to_thread(until, lambda: marked_processes(mark) == [])


async def test_an_editor_sees_everything_that_the_page_compares(tmp_path: Path) -> None:
    seen = await beside.features(OURS, tmp_path / "ours")
    assert [name for name, has in seen.items() if not has] == []
    assert list(seen) == beside.compared()


@pytest.mark.skipif(not soak.ON, reason="the other agent is a peer, not ours: compared in make soak")
async def test_both_agents_are_as_the_page_says(tmp_path: Path) -> None:
    anchor()
    assert beside.table(*await beside.both(tmp_path)) == beside.written()
