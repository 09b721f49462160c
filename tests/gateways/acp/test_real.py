"""The same over the real Claude Code with a scripted model, driven by the official ACP library."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.kit import real_cli
from gateways.acp.editor import EVERYTHING, editor
from gateways.acp.npm import sdk_folder
from quarterdeck.testing.model import ModelServer, Stall, ToolUse

pytestmark = pytest.mark.real
CLIENT = Path(__file__).with_name("official_client.mjs")
BASH = {"command": "touch made.txt", "description": "Make a file"}


class Place:
    def __init__(self, folder: Path, model: ModelServer) -> None:
        self.model = model
        self.cwd = folder / "repo"
        self.cwd.mkdir()
        (folder / "home").mkdir()
        self.command = real_cli().argv[-1]
        self.env = {"HOME": str(folder / "home"), "SHELL": "/bin/bash", "PATH": os.environ["PATH"], **model.env()}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with ModelServer() as model:
        yield Place(tmp_path, model)


async def test_the_official_library_drives_a_session_with_permission_cancel_and_load(place: Place) -> None:
    sdk = sdk_folder()
    if sdk is None:
        pytest.skip("npm is missing, or cannot fetch the official ACP library")
    place.model.reply("I need a tool.", ToolUse("Bash", BASH))
    place.model.reply("Done.")
    place.model.reply("It begins and it does not end.", Stall(after=3, until=place.model.gate()))
    process = await asyncio.create_subprocess_exec(
        *("node", str(CLIENT), str(sdk), str(place.cwd)),
        *(sys.executable, "-m", "quarterdeck", "acp", "--agent", place.command),
        stdout=asyncio.subprocess.PIPE,
        env=place.env,
    )
    async with asyncio.timeout(120):
        printed, _ = await process.communicate()
    seen: dict[str, Any] = json.loads(printed)
    assert seen["initialize"]["agentInfo"]["name"] == "quarterdeck"
    assert (seen["first"]["stopReason"], seen["second"]["stopReason"]) == ("end_turn", "cancelled")
    assert len(seen["permissions"]) == 1
    assert (place.cwd / "made.txt").exists()
    loaded = [one["content"]["text"] for one in seen["loaded"] if one["sessionUpdate"] == "agent_message_chunk"]
    assert loaded[:2] == ["I need a tool.", "Done."]
    assert seen["exit"] == 0


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


async def test_a_question_and_a_fork_on_the_real_cli(place: Place, checker: Any) -> None:
    choices = [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]
    asked = {"questions": [{"question": "Which?", "header": "Colour", "options": choices, "multiSelect": False}]}
    place.model.reply(ToolUse("AskUserQuestion", asked))
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
