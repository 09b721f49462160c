"""The host is killed while a session starts another one or waits for it: there is one child, and its answer arrives."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from client.real_cli import place as real_place
from host.dying_parent import TOOLS
from host.kit import LIMIT_S, Place, all_frames, told
from host.test_many_sessions_faults_real import a_host, a_keeper
from quarterdeck.host import Host
from quarterdeck.host.requests import ListSessions, OfSession, Wait
from quarterdeck.testing.model import Stall, ToolUse
from quarterdeck.timeline.events import PromptSent, ToolEnded

SCRIPT = str(Path(__file__).with_name("dying_parent.py"))
MOMENTS = ["created", "answered", "waiting"]
START = {"prompt": "Count the birds.", "name": "counter"}
WAIT = {"session": "counter"}


async def killed(moment: str, folder: Path, cwd: Path, cli: str, env: dict[str, str]) -> None:
    def child() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, SCRIPT, moment, str(folder), str(cwd), cli],
            input=json.dumps(env),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )

    done = await asyncio.to_thread(child)
    assert done.returncode == -signal.SIGKILL, done.stderr


async def check(host: Host) -> None:
    """What the next host has made of it."""
    sessions = {one.name: one for one in (await host.list_sessions(ListSessions())).sessions}
    assert len(sessions) == len((await host.list_sessions(ListSessions())).sessions)
    parent = sessions["parent"]
    done = await host.wait(Wait(session_id=parent.id, timeout_s=LIMIT_S))
    assert done.state == "idle"
    (child,) = [one for one in (await host.list_sessions(ListSessions())).sessions if one.parent_id == parent.id]
    assert child.name == "counter"
    assert [one.text for one in told(await all_frames(host, child.id), PromptSent)] == [START["prompt"]]
    ended = [one for one in told(await all_frames(host, parent.id), ToolEnded) if one.name.startswith(TOOLS)]
    started, waited = [str(one.output) for one in ended]
    assert child.id in started
    assert "Seven birds." in waited
    for one in (parent, child):
        await host.stop(OfSession(session_id=one.id))


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_start_and_a_wait_survive_the_host(tmp_path: Path, moment: str) -> None:
    place, gate = Place(tmp_path, keeper=True), tmp_path / "gate"
    lead = [{"tool": TOOLS + "start_session", "input": START}, {"tool": TOOLS + "wait_for_session", "input": WAIT}]
    place.claude.play(
        rules=[
            {"when": "lead", "steps": [*lead, "Counted."]},
            {"when": "birds", "steps": [{"wait_for": str(gate)}, "Seven birds."]},
        ]
    )
    await killed(moment, place.folder, place.cwd, str(place.claude.path), place.claude.env)
    gate.touch()
    async with place.opened() as host:
        await check(host)


@pytest.mark.real
@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_start_and_a_wait_survive_the_host_on_the_real_cli(tmp_path: Path, moment: str) -> None:
    state = tmp_path / "state"
    with real_place(tmp_path) as stage:
        gate = stage.model.gate()
        stage.model.on(
            lambda request: START["prompt"] in request.text and not request.tool_results,
            Stall(after=0, until=gate),
            "Seven birds.",
        )
        stage.model.reply(ToolUse(TOOLS + "start_session", START))
        stage.model.reply(ToolUse(TOOLS + "wait_for_session", WAIT))
        stage.model.reply("Counted.")
        options = stage.options()
        env = {**options.env, "PATH": os.environ["PATH"]}
        async with a_keeper(state):
            await killed(moment, state, stage.cwd, str(options.cli_path), env)
            gate.open()
            async with a_host(stage, state) as host:
                await check(host)
