"""The host is killed anywhere in what people with many sessions ask for, and asked again: all of it was done once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Container
from pathlib import Path

import pytest

import soak
from client.real_cli import place as real_place
from host.dying_fleet import PRESETS
from host.kit import LIMIT_S, Place, all_frames, told
from host.test_hostile_git import made
from host.test_many_sessions_faults_real import a_host, a_keeper
from quarterdeck.host import Host
from quarterdeck.host.events import CustomEvent
from quarterdeck.host.requests import Export, ListSessions, Nothing, OfSession, Wait
from quarterdeck.timeline.events import PromptSent, TextCompleted

SCRIPT = str(Path(__file__).with_name("dying_fleet.py"))
TRANSACTIONS = 36
"""About as many as there are."""
MOMENTS = soak.part([sign * nth for nth in range(1, TRANSACTIONS + 1) for sign in (-1, 1)], 4)


async def run(nth: int, folder: Path, cwd: Path, cli: str, env: dict[str, str], file: Path) -> int:
    words = [SCRIPT, str(nth), str(folder), str(cwd), cli, str(file)]

    def child() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *words]
        return subprocess.run(
            command, input=json.dumps(env), capture_output=True, text=True, timeout=LIMIT_S, check=False
        )

    ended = await asyncio.to_thread(child)
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session in a file."""
    root = tmp_path_factory.mktemp("elsewhere")

    async def export() -> bytes:
        place = Place(root, keeper=False)
        place.claude.play(["Said elsewhere."])
        async with place.opened() as host:
            session = await place.created(host)
            await host.wait(Wait(session_id=session.id))
            return (await host.export_session(Export(session_id=session.id))).body

    file = root / "session.ndjson"
    file.write_bytes(asyncio.run(export()))
    return file


@pytest.mark.parametrize("nth", MOMENTS)
async def test_all_of_it_is_done_once_wherever_the_host_is_killed(tmp_path: Path, exported: Path, nth: int) -> None:
    place = Place(tmp_path, keeper=True)
    await asyncio.to_thread(made, place.cwd)
    place.claude.play(*[[f"Turn {number}."] for number in range(3)], ["One turn too many."])
    claude = (place.folder, place.cwd, str(place.claude.path), place.claude.env)
    await run(nth, *claude, exported)
    assert await run(0, *claude, exported) == 0
    async with place.opened() as host:
        await check(host, place.cwd, {3})


@pytest.mark.real
@pytest.mark.parametrize("nth", soak.part([sign * nth for nth in range(1, TRANSACTIONS + 1) for sign in (-1, 1)], 2))
async def test_all_of_it_is_done_once_on_the_real_cli(tmp_path: Path, exported: Path, nth: int) -> None:
    state = tmp_path / "state"
    with real_place(tmp_path) as stage:
        await asyncio.to_thread(made, stage.cwd)
        for number in range(3):
            stage.model.reply(f"Turn {number}.")
        options = stage.options()
        env = {**options.env, "PATH": os.environ["PATH"]}
        claude = (state, stage.cwd, str(options.cli_path), env)
        async with a_keeper(state):
            await run(nth, *claude, exported)
            assert await run(0, *claude, exported) == 0
            async with a_host(stage, state) as host:
                await check(host, stage.cwd, {2, 3})  # prompts that wait together may be one turn
                for session in (await host.list_sessions(ListSessions())).sessions:
                    await host.stop(OfSession(session_id=session.id))


async def check(host: Host, cwd: Path, turns: Container[int]) -> None:
    sessions = (await host.list_sessions(ListSessions(archived=None))).sessions
    by_name = {session.name: session for session in sessions}
    assert sorted(one.name for one in sessions) == ["one", "two"]
    one, two = by_name["one"], by_name["two"]
    assert (one.tags, Path(one.cwd).name, two.archived) == (["q"], f"{cwd.name}-side", True)
    await host.wait(Wait(session_id=one.id))
    frames = await all_frames(host, one.id)
    said = [event.text for event in told(frames, PromptSent)]
    assert [text.rpartition("\n")[2] for text in said] == ["go", "It failed.", "now"]
    assert len(told(frames, CustomEvent)) == 1
    answers = [event.text for event in told(frames, TextCompleted)]
    assert answers == [f"Turn {number}." for number in range(len(answers))]
    assert len(answers) in turns
    waiting = (await host.list_prompts(OfSession(session_id=one.id))).prompts
    assert [prompt.content for prompt in waiting] == ["edited"]
    uploads = await asyncio.to_thread(list, host._uploads(one.id).iterdir())
    assert [(path.name, path.read_bytes()) for path in uploads] == [("a.txt", b"given")]
    imported = told(await all_frames(host, two.id), TextCompleted)
    assert [event.text for event in imported] == ["Said elsewhere."]
    assert one.state == "parked"
    (mirrored,) = await asyncio.to_thread(list, (host.folder / "transcripts" / one.id).glob("*.jsonl"))
    assert mirrored.stem == one.transcript_id
    while not await asyncio.to_thread((host.folder / "told").exists):  # noqa: ASYNC110  # the next host delivers it
        await asyncio.sleep(0.02)
    notices = [json.loads(line) for line in (host.folder / "told").read_text().splitlines() if line]
    assert {(notice["kind"], notice["session_id"]) for notice in notices} == {("finished", one.id)}
    assert (await host.get_presets(Nothing())).details["presets"].keys() == PRESETS["presets"].keys()
