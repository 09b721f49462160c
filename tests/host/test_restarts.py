"""The host is killed anywhere in what people with many sessions ask for, and asked again: all of it was done once."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import soak
from host.dying_fleet import PRESETS
from host.kit import LIMIT_S, Place, all_frames, told
from host.test_hostile_git import made
from quarterdeck.host.events import CustomEvent
from quarterdeck.host.requests import Export, ListSessions, Nothing, OfSession, Wait
from quarterdeck.timeline.events import PromptSent, TextCompleted

SCRIPT = str(Path(__file__).with_name("dying_fleet.py"))
TRANSACTIONS = 30
"""About as many as there are."""
MOMENTS = soak.part([sign * nth for nth in range(1, TRANSACTIONS + 1) for sign in (-1, 1)], 4)


async def run(place: Place, nth: int, file: Path) -> int:
    words = [SCRIPT, str(nth), str(place.folder), str(place.cwd), str(place.claude.path), str(file)]

    def child() -> subprocess.CompletedProcess[str]:
        env = json.dumps(place.claude.env)
        command = [sys.executable, *words]
        return subprocess.run(command, input=env, capture_output=True, text=True, timeout=LIMIT_S, check=False)

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
    await run(place, nth, exported)
    assert await run(place, 0, exported) == 0
    async with place.opened() as host:
        sessions = (await host.list_sessions(ListSessions(archived=None))).sessions
        by_name = {session.name: session for session in sessions}
        assert sorted(one.name for one in sessions) == ["one", "two"]
        one, two = by_name["one"], by_name["two"]
        assert (one.tags, Path(one.cwd).name, two.archived) == (["q"], f"{place.cwd.name}-side", True)
        await host.wait(Wait(session_id=one.id))
        frames = await all_frames(host, one.id)
        said = [event.text for event in told(frames, PromptSent)]
        assert [text.rpartition("\n")[2] for text in said] == ["go", "It failed.", "now"]
        assert len(told(frames, CustomEvent)) == 1
        assert [event.text for event in told(frames, TextCompleted)] == ["Turn 0.", "Turn 1.", "Turn 2."]
        waiting = (await host.list_prompts(OfSession(session_id=one.id))).prompts
        assert [prompt.content for prompt in waiting] == ["edited"]
        uploads = await asyncio.to_thread(list, host._uploads(one.id).iterdir())
        assert [(path.name, path.read_bytes()) for path in uploads] == [("a.txt", b"given")]
        imported = told(await all_frames(host, two.id), TextCompleted)
        assert [event.text for event in imported] == ["Said elsewhere."]
        assert (await host.get_presets(Nothing())).details["presets"].keys() == PRESETS["presets"].keys()
