"""The host is killed anywhere in what people with many sessions ask for, and asked again: all of it was done once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Container
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import soak
from client.real_cli import place as real_place
from host.dying_fleet import PRESETS
from host.kit import LIMIT_S, Place, all_frames, told
from host.test_hostile_git import made
from host.test_many_sessions_faults_real import a_host, a_keeper
from quarterdeck.host import Host
from quarterdeck.host.events import CustomEvent
from quarterdeck.host.requests import Export, InFolder, ListSessions, Nothing, OfSession, Search, Wait
from quarterdeck.timeline.events import PromptSent, TextCompleted

SCRIPT = str(Path(__file__).with_name("dying_fleet.py"))
TRANSACTIONS = {"sim": 68, "real": 74}
"""At least as many as there are: what arrives together is one transaction, so their number differs between runs ..."""
SPREAD = 18
"""... by no more than this."""


def moments(kind: str, in_test: int) -> list[int]:
    every = [sign * nth for nth in range(1, TRANSACTIONS[kind] + 1) for sign in (-1, 1)]
    early = [nth for nth in every if abs(nth) <= TRANSACTIONS[kind] - SPREAD]
    return every if soak.ON else soak.part(early, in_test)


NextHost = Callable[[], AbstractAsyncContextManager[Host]]


class Fleet:
    """Where the program runs, and what it gets."""

    def __init__(self, kind: str, state: Path, cwd: Path, cli: str, env: dict[str, str], file: Path) -> None:
        self.kind = kind
        self.cwd = cwd
        self._claude = (state, cwd, cli)
        self._cli, self._env, self._file = cli, env, file
        self.transcript = ""

    async def prepared(self, home: Path) -> Fleet:
        """With a repository, and a conversation that a terminal has had."""
        await asyncio.to_thread(made, self.cwd)
        there = {"cwd": self.cwd, "env": self._env}
        await asyncio.to_thread(self._run, [self._cli, "-p", "from a terminal"], "", there)
        (transcript,) = await asyncio.to_thread(lambda: list(home.rglob("projects/*/*.jsonl")))
        self.transcript = transcript.stem
        return self

    async def run(self, nth: int) -> int | None:
        """How many transactions there were; None if it was killed in the nth."""
        words = [sys.executable, SCRIPT, str(nth), *map(str, self._claude), str(self._file), self.transcript]
        ended = await asyncio.to_thread(self._run, words, json.dumps(self._env), {})
        if ended.returncode == -signal.SIGKILL:
            assert nth
            return None
        assert ended.returncode == 0, ended.stderr
        return int(ended.stdout)

    async def run_and_repeat(self, nth: int) -> None:
        """Kill it once, and let it begin again."""
        done = await self.run(nth)
        if done is not None:  # it had fewer transactions
            assert TRANSACTIONS[self.kind] - SPREAD <= done < abs(nth)
        assert await self.run(0) is not None

    def _run(self, words: list[str], given: str, more: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, input=given, capture_output=True, text=True, timeout=LIMIT_S, check=False, **more)


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


@asynccontextmanager
async def simulated(tmp_path: Path, file: Path) -> AsyncIterator[tuple[Fleet, Place]]:
    place = Place(tmp_path, keeper=True)
    place.claude.play(*[[f"Turn {number}."] for number in range(3)], ["One turn too many."])
    env = {**place.claude.env, "PATH": os.environ["PATH"]}
    fleet = Fleet("sim", place.folder, place.cwd, str(place.claude.path), env, file)
    yield await fleet.prepared(tmp_path / "claude"), place


@pytest.mark.parametrize("nth", moments("sim", 4))
async def test_all_of_it_is_done_once_wherever_the_host_is_killed(tmp_path: Path, exported: Path, nth: int) -> None:
    async with simulated(tmp_path, exported) as (fleet, place):
        await fleet.run_and_repeat(nth)
        async with place.opened() as host:
            await check(host, fleet, {3})


async def test_the_host_can_be_killed_in_every_transaction(tmp_path: Path, exported: Path) -> None:
    async with simulated(tmp_path, exported) as (fleet, place):
        count = await fleet.run(0)
        assert count is not None
        assert TRANSACTIONS["sim"] - SPREAD <= count <= TRANSACTIONS["sim"]
        async with place.opened() as host:
            await check(host, fleet, {3})


@asynccontextmanager
async def real(tmp_path: Path, file: Path) -> AsyncIterator[tuple[Fleet, NextHost]]:
    state = tmp_path / "state"
    with real_place(tmp_path) as stage:
        for text in ("In a terminal.", *(f"Turn {number}." for number in range(3))):
            stage.model.reply(text)
        options = stage.options()
        env = {**options.env, "PATH": os.environ["PATH"]}
        fleet = Fleet("real", state, stage.cwd, str(options.cli_path), env, file)
        async with a_keeper(state):
            yield await fleet.prepared(stage.home), lambda: a_host(stage, state)


async def check_and_stop(host: Host, fleet: Fleet) -> None:
    await check(host, fleet, {2, 3})  # prompts that wait together may be one turn
    for session in (await host.list_sessions(ListSessions())).sessions:
        await host.stop(OfSession(session_id=session.id))


@pytest.mark.real
@pytest.mark.parametrize("nth", moments("real", 2))
async def test_all_of_it_is_done_once_on_the_real_cli(tmp_path: Path, exported: Path, nth: int) -> None:
    async with real(tmp_path, exported) as (fleet, next_host):
        await fleet.run_and_repeat(nth)
        async with next_host() as host:
            await check_and_stop(host, fleet)


@pytest.mark.real
@pytest.mark.skipif(not soak.ON, reason="only the soak needs all transactions on the real CLI")
async def test_the_host_can_be_killed_in_every_transaction_on_the_real_cli(tmp_path: Path, exported: Path) -> None:
    async with real(tmp_path, exported) as (fleet, next_host):
        count = await fleet.run(0)
        assert count is not None
        assert TRANSACTIONS["real"] - SPREAD <= count <= TRANSACTIONS["real"]
        async with next_host() as host:
            await check_and_stop(host, fleet)


async def check(host: Host, fleet: Fleet, turns: Container[int]) -> None:
    sessions = (await host.list_sessions(ListSessions(archived=None))).sessions
    adopted, one, two = sorted(sessions, key=lambda session: session.name)
    assert (adopted.name, adopted.transcript_id, adopted.state) == ("from a terminal", fleet.transcript, "stopped")
    assert (one.name, two.name, one.tags, two.archived) == ("one", "two", ["q"], True)
    trees = (await host.list_worktrees(InFolder(cwd=str(fleet.cwd)))).details["worktrees"]
    assert [Path(tree["path"]).name for tree in trees] == [fleet.cwd.name, f"{fleet.cwd.name}-side"]
    assert Path(one.cwd).name == f"{fleet.cwd.name}-side"
    assert not fleet.cwd.with_name(f"{fleet.cwd.name}-gone").exists()
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
    for words, session in (("failed", one), ("said elsewhere", two), ("terminal", adopted)):
        while not (hits := (await host.search(Search(q=words))).hits):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        assert [hit.session_id for hit in hits] == [session.id]
    assert one.state == "parked"
    (mirrored,) = await asyncio.to_thread(list, (host.folder / "transcripts" / one.id).glob("*.jsonl"))
    assert mirrored.stem == one.transcript_id
    while not await asyncio.to_thread((host.folder / "told").exists):  # noqa: ASYNC110  # the next host delivers it
        await asyncio.sleep(0.02)
    notices = [json.loads(line) for line in (host.folder / "told").read_text().splitlines() if line]
    assert {(notice["kind"], notice["session_id"]) for notice in notices} == {("finished", one.id)}
    assert (await host.get_presets(Nothing())).details["presets"].keys() == PRESETS["presets"].keys()
