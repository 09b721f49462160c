"""Retention on the real CLI: the host forgets old rows by itself, and the conversation does not notice."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from client.real_cli import place as real_place
from host.kit import Clock, all_frames, decide, next_turn, pending, told
from host.test_many_sessions_faults_real import until
from host.test_many_sessions_real import a_host, of
from quarterdeck.host import Host, retaining, session_log
from quarterdeck.host.events import Gap
from quarterdeck.host.requests import CreateSession, Export, ImportSession, SendPrompt, Wait
from quarterdeck.host.resources import Session
from quarterdeck.store.queries import Retention
from quarterdeck.testing.model import ToolUse

pytestmark = pytest.mark.real

YEAR_S = 365 * 86_400.0


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """What happens once an hour happens at once; what a snapshot covers, which alone may go, is soon most of it."""
    monkeypatch.setattr(retaining, "FIRST_S", 0.01)
    monkeypatch.setattr(retaining, "EVERY_S", 0.05)
    monkeypatch.setattr(session_log, "SNAPSHOT_ROWS", 3)


async def first_row(host: Host, session: Session) -> int:
    head = await host.store.head(session.id)
    assert head is not None
    return head.first_seq


async def has_all(host: Host, session: Session, *words: str) -> bool:
    shown = str((await host.get_timeline(of(session))).state)
    return all(word in shown for word in words)


async def test_rows_go_by_age_and_the_conversation_goes_on_over_a_restart(tmp_path: Path) -> None:
    clock = Clock()
    clock.now = time.time()
    with real_place(tmp_path) as stage:
        for text in ("The first word is anchor.", "The second is barque.", "Both."):
            stage.model.reply(text)
        async with a_host(stage, tmp_path / "state", clock=clock) as host:
            session = await host.create_session(CreateSession(cwd=str(stage.cwd), prompt="one"))
            await host.wait(Wait(session_id=session.id))
            await next_turn(host, session.id, "two")
            await host.stop(of(session))
            before = await host.get_timeline(of(session))
            assert await first_row(host, session) == 1
            clock.now += YEAR_S

            async def have_gone() -> bool:
                return await first_row(host, session) > 1

            await until(have_gone)
            assert (await host.get_timeline(of(session))).state == before.state
            first = (await all_frames(host, session.id))[0]
            assert isinstance(first.events[0], Gap)
            assert first.events[0].reason == "retention"
        async with a_host(stage, tmp_path / "state", clock=clock) as host:
            assert [one.reason for one in told(await all_frames(host, session.id), Gap)] == ["retention"]
            await host.send_prompt(SendPrompt(session_id=session.id, content="which words?"))
            await until(lambda: has_all(host, session, "anchor", "barque", "Both."))
            assert "barque" in str(stage.model.conversation[-1].json)
            exported = await host.export_session(Export(session_id=session.id))
            copy = (await host.import_session(ImportSession(body=exported.body))).session
            assert copy is not None
            assert await has_all(host, copy, "Both.")  # of the rows that were left
            await host.stop(of(session))


async def test_the_oldest_rows_of_a_large_session_go_but_not_those_of_what_is_asked(tmp_path: Path) -> None:
    with real_place(tmp_path) as stage:
        stage.model.reply("Long. " * 5_000)
        stage.model.reply(ToolUse("Bash", {"command": "touch made.txt", "description": "Make"}))
        stage.model.reply("Made.")
        kept = Retention(row_age_s=None, row_bytes=2_000)
        async with a_host(stage, tmp_path / "state", retention=kept) as host:
            session = await host.create_session(CreateSession(cwd=str(stage.cwd), prompt="one"))
            await host.wait(Wait(session_id=session.id))
            await host.send_prompt(SendPrompt(session_id=session.id, content="make it"))
            (asked,) = await pending(host, session.id)

            async def have_gone() -> bool:
                return await first_row(host, session) > 1

            await until(have_gone)
            assert (await host.get_session(of(session))).state == "waiting"
            await decide(host, asked)
            assert (await host.wait(Wait(session_id=session.id))).state == "idle"
            assert (stage.cwd / "made.txt").exists()
            await host.stop(of(session))
