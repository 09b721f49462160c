"""Conversations that come from a terminal and leave as documents, on the real CLI."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import soak
from client.real_cli import Place as RealPlace
from client.real_cli import place as real_place
from host.kit import LIMIT_S, all_frames, next_turn, told
from host.test_many_sessions_real import a_host, allowed_until_idle, of
from quarterdeck.host import Host, HostError
from quarterdeck.host.requests import (
    CreateSession,
    Export,
    ListSessions,
    ListTranscripts,
    OfTranscript,
)
from quarterdeck.testing.model import Stall, ToolUse
from quarterdeck.timeline.events import TextCompleted

pytestmark = pytest.mark.real

DYING = Path(__file__).with_name("dying_import.py")


async def in_a_terminal(stage: RealPlace, *words: str) -> asyncio.subprocess.Process:
    options = stage.options()
    return await asyncio.create_subprocess_exec(
        str(options.cli_path),
        *("-p", *words),
        cwd=stage.cwd,
        env={**options.env, "PATH": os.environ["PATH"]},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )


async def transcripts(host: Host, stage: RealPlace) -> list[str]:
    listed = (await host.list_transcripts(ListTranscripts(cwd=str(stage.cwd)))).details["transcripts"]
    return [one["session_id"] for one in listed]


async def test_a_conversation_that_only_a_terminal_has_had_is_adopted_once_no_process_has_it(tmp_path: Path) -> None:
    """The terminal's command line says nothing about the conversation: the CLI itself does, in its own folder."""
    with real_place(tmp_path) as stage:
        gate = stage.model.gate()
        stage.model.reply(Stall(after=0, until=gate), "Said in a terminal.")
        stage.model.reply("Said in the host.")
        async with a_host(stage, tmp_path / "state") as host:
            terminal = await in_a_terminal(stage, "remember the okapi")
            while not (found := await transcripts(host, stage)):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            adopt = OfTranscript(transcript_id=found[0])
            with pytest.raises(HostError) as refused:
                await host.adopt_transcript(adopt)
            assert (refused.value.code, refused.value.details["pid"]) == ("conflict", terminal.pid)
            gate.open()
            assert await terminal.wait() == 0
            adopted = await host.adopt_transcript(adopt)
            assert (adopted.state, adopted.transcript_id) == ("stopped", found[0])
            frames = await next_turn(host, adopted.id, "what was it?")
            assert "Said in the host." in [one.text for one in told(frames, TextCompleted)]
            shown = str(stage.model.conversation[-1].json)
            assert "remember the okapi" in shown
            assert "Said in a terminal." in shown
            with pytest.raises(HostError) as again:
                await host.adopt_transcript(adopt)
            assert again.value.details["session_id"] == adopted.id
            await host.stop(of(adopted))


async def test_a_terminal_that_was_killed_has_its_conversation_no_more(tmp_path: Path) -> None:
    """What it has said of itself stays behind."""
    with real_place(tmp_path) as stage:
        stage.model.reply(Stall(after=0, until=stage.model.gate()), "Never said.")
        async with a_host(stage, tmp_path / "state") as host:
            terminal = await in_a_terminal(stage, "hello")
            while not (found := await transcripts(host, stage)):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            terminal.kill()
            await terminal.wait()
            assert list(stage.home.glob(f".claude/sessions/{terminal.pid}.json"))
            assert (await host.adopt_transcript(OfTranscript(transcript_id=found[0]))).state == "stopped"


async def test_a_session_is_exported_as_a_document_and_a_killed_import_leaves_all_of_it_or_nothing(
    tmp_path: Path,
) -> None:
    with real_place(tmp_path) as stage:
        stage.model.reply(ToolUse("Bash", {"command": "echo '<b>42</b>'", "description": "Count"}))
        stage.model.reply("There are **42** <script>okapis</script>.")
        async with a_host(stage, tmp_path / "state") as host:
            session = await host.create_session(CreateSession(cwd=str(stage.cwd), prompt="How many?", name="okapis"))
            await allowed_until_idle(host, session)
            documents = {
                kind: (await host.export_session(Export(session_id=session.id, format=kind))).body
                for kind in ("md", "html", "ndjson")
            }
            texts = [one.text for one in told(await all_frames(host, session.id), TextCompleted)]
            await host.stop(of(session))
    markdown, page = documents["md"].decode(), documents["html"].decode()
    for said in ("How many?", "echo '<b>42</b>'", "**42** <script>okapis</script>"):
        assert said in markdown
    assert "How many?" in page
    assert "<script>okapis" not in page
    assert "okapis" in page.partition("How many?")[2]

    file = tmp_path / "okapis.ndjson"
    file.write_bytes(documents["ndjson"])
    whole = await asyncio.to_thread(imported, 0, tmp_path / "counted", file)
    count = int(whole.stdout)
    assert count > 4  # there are pages in between
    for nth in soak.part([sign * nth for nth in range(1, count + 1) for sign in (-1, 1)], 4):
        folder = tmp_path / f"killed at {nth}"
        before = await asyncio.to_thread(imported, nth, folder, file)
        assert before.returncode == -signal.SIGKILL, before.stderr
        async with Host(folder, keeper=False) as host:
            assert await texts_of_copies(host) in ([], [texts])
        again = await asyncio.to_thread(imported, 0, folder, file)
        assert again.returncode == 0, again.stderr
        async with Host(folder, keeper=False) as host:
            assert await texts_of_copies(host) == [texts]


def imported(nth: int, folder: Path, file: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(DYING), str(nth), str(folder), str(file)]
    env = {**os.environ, "PYTHONPATH": str(DYING.parents[1])}
    return subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False, env=env)


async def texts_of_copies(host: Host) -> list[list[str]]:
    copies = (await host.list_sessions(ListSessions(archived=None))).sessions
    return [[one.text for one in told(await all_frames(host, copy.id), TextCompleted)] for copy in copies]
