"""What people with many sessions ask for, each line end to end on the real CLI with a scripted model."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from client.real_cli import Place as RealPlace
from client.real_cli import place as real_place
from host.kit import LIMIT_S, Clock, all_frames, decide, next_turn, told
from inside import worked_on
from quarterdeck.host import Host, HostError
from quarterdeck.host.events import BudgetChanged, CustomEvent, TranscriptNoticed
from quarterdeck.host.requests import (
    AddEvent,
    CreateSession,
    DeleteWorktree,
    Export,
    ImportSession,
    Lifecycle,
    ListApprovals,
    ListTranscripts,
    Nothing,
    OfSession,
    OfTranscript,
    Search,
    SendPrompt,
    Settings,
    UpdateSession,
    Upload,
    Wait,
)
from quarterdeck.host.resources import Session
from quarterdeck.host.times import moment
from quarterdeck.policy import Policy
from quarterdeck.testing.model import Stall, ToolUse, Usage
from quarterdeck.timeline.events import PromptSent, TextCompleted

pytestmark = pytest.mark.real


def of(session: Session) -> OfSession:
    return OfSession(session_id=session.id)


@asynccontextmanager
async def a_host(stage: RealPlace, state: Path, **more: Any) -> AsyncIterator[Host]:
    options = stage.options()
    env = {**options.env, "PATH": os.environ["PATH"]}
    more.setdefault("keeper", False)
    async with asyncio.timeout(LIMIT_S * 2):
        async with Host(state, agents={"claude": str(options.cli_path)}, env=env, **more) as host:
            yield host


async def allowed_until_idle(host: Host, session: Session) -> None:
    while (await host.wait(Wait(session_id=session.id, for_=["idle", "waiting"]))).state == "waiting":
        for approval in (await host.list_approvals(ListApprovals(session=session.id))).approvals:
            await decide(host, approval)


def remove(folder: Path, name: str) -> None:
    (path,) = folder.rglob(name)
    path.unlink()


def committed(folder: Path) -> None:
    me = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*me, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


async def test_a_preset_a_worktree_an_upload_an_event_the_diff_the_search_and_a_copy(tmp_path: Path) -> None:
    with real_place(tmp_path) as stage:
        (stage.cwd / "a.txt").write_text("one\n")
        (stage.cwd / ".worktreeinclude").write_text(".env\n")
        (stage.cwd / ".gitignore").write_text(".env\n")
        (stage.cwd / ".env").write_text("KEY=1\n")
        committed(stage.cwd)
        allow = Policy.from_rules(allow=["Bash(cat:*)", "Bash(cp:*)"])
        async with a_host(stage, tmp_path / "state", policy=allow) as host:
            await host.set_presets(Settings(settings={"presets": {"work": {"tags": ["p"], "budget_usd": "50"}}}))
            create = CreateSession(cwd=str(stage.cwd), worktree="side", preset="work", name="okapi hunt")
            session = await host.create_session(create)
            tree = Path(session.cwd)
            assert (tree.name, session.tags, session.budget_usd) == ("repo-side", ["p"], Decimal(50))
            uploaded = Upload(session_id=session.id, name="notes.txt", media_type="text/plain", body=b"from outside\n")
            place = (await host.upload(uploaded)).details["path"]
            stage.model.reply(ToolUse("Bash", {"command": f"cat {place}", "description": "Read"}))
            stage.model.reply(ToolUse("Bash", {"command": "cp .env a.txt", "description": "Copy"}))
            stage.model.reply("The zebra has stripes.")
            await host.send_prompt(SendPrompt(session_id=session.id, content="Where is the giraffe?"))
            await allowed_until_idle(host, session)
            assert "from outside" in str(stage.model.conversation[-1].json)
            diff = (await host.get_diff(of(session))).details
            assert "-one\n+KEY=1\n" in diff["diff"]
            with pytest.raises(HostError, match="uncommitted"):
                await host.delete_worktree(DeleteWorktree(path=str(tree)))

            stage.model.reply("Noted.")
            event = AddEvent(session_id=session.id, type="ci", data={"job": "lint"}, prompt="The job lint failed.")
            await host.add_event(event)
            frames = await all_frames(host, session.id)
            while "Noted." not in [one.text for one in told(frames, TextCompleted)]:
                await asyncio.sleep(0.02)
                frames = await all_frames(host, session.id)
            (custom,) = told(frames, CustomEvent)
            assert custom.prompt_id in [one.id for one in told(frames, PromptSent)]
            assert "External event 'ci' from" in stage.model.conversation[-1].text

            for word, kind in (("zebra", "text"), ("giraffe", "prompt"), ("okapi", "session"), ("lint", "event")):
                while not (hits := (await host.search(Search(q=word))).hits):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
                assert kind in {one.kind for one in hits}
                assert {one.session_id for one in hits} == {session.id}
            body = (await host.export_session(Export(session_id=session.id))).body
            copy = (await host.import_session(ImportSession(body=body))).session
            assert copy is not None
            assert [one.text for one in told(await all_frames(host, copy.id), TextCompleted)] == [
                one.text for one in told(await all_frames(host, session.id), TextCompleted)
            ]
            await host.stop(of(session))
            await host.delete_worktree(DeleteWorktree(path=str(tree), force=True))


async def test_a_parked_session_is_woken_at_its_time_by_the_next_host_and_what_a_terminal_did_is_noticed(
    tmp_path: Path,
) -> None:
    clock = Clock()
    parks = Lifecycle(park_s=600.0)
    with real_place(tmp_path) as stage:
        gate = stage.model.gate()
        stage.model.reply("One.")
        stage.model.reply(Stall(after=0, until=gate), "In a terminal.")
        for text in ("Two.", "Three."):
            stage.model.reply(text)

        async def parked(host: Host, session: Session) -> Session:
            while (now := await host.get_session(of(session))).state != "parked" or worked_on(host):
                clock.now += 60.0
                await asyncio.sleep(0.02)
            return now

        async with a_host(stage, tmp_path / "state", clock=clock) as host:
            session = await host.create_session(CreateSession(cwd=str(stage.cwd), prompt="say one", lifecycle=parks))
            await host.wait(Wait(session_id=session.id))
            due = moment(clock.now + 86_400)
            await host.send_prompt(SendPrompt(session_id=session.id, content="at last", not_before=due))
            was = await parked(host, session)
            options = stage.options()
            terminal = await asyncio.create_subprocess_exec(
                str(options.cli_path),
                *("-p", "go on", "--resume", str(was.transcript_id)),
                cwd=stage.cwd,
                env={**options.env, "PATH": os.environ["PATH"]},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
            )
            while len(stage.model.conversation) < 2:  # noqa: ASYNC110  # it is in its turn
                await asyncio.sleep(0.02)
            with pytest.raises(HostError) as refused:
                await host.send_prompt(SendPrompt(session_id=session.id, content="too soon"))
            assert (refused.value.code, refused.value.details["pid"]) == ("conflict", terminal.pid)
            assert (await host.get_session(of(session))).state == "parked"
            gate.open()
        said, _ = await asyncio.wait_for(terminal.communicate(), LIMIT_S)
        assert b"In a terminal." in said
        clock.now += 90_000
        async with a_host(stage, tmp_path / "state", clock=clock) as host:
            frames = await all_frames(host, session.id)
            while "Two." not in [one.text for one in told(frames, TextCompleted)]:
                await asyncio.sleep(0.02)
                frames = await all_frames(host, session.id)
            assert [one.text for one in told(frames, PromptSent)] == ["say one", "at last"]
            (noticed,) = told(frames, TranscriptNoticed)
            assert (noticed.what, noticed.records > 0) == ("continued", True)
            assert "In a terminal." in str(stage.model.conversation[-1].json)
            again = await parked(host, session)
            await asyncio.to_thread(remove, stage.home, f"{again.transcript_id}.jsonl")
            (restored,) = told(await next_turn(host, session.id, "still there?"), TranscriptNoticed)
            assert restored.what == "restored"
            assert "at last" in str(stage.model.conversation[-1].json)
            await host.stop(of(session))


async def test_a_turn_over_its_budget_is_interrupted_and_a_conversation_of_a_terminal_is_adopted(
    tmp_path: Path,
) -> None:
    with real_place(tmp_path) as stage:
        stage.model.reply("One.")
        async with a_host(stage, tmp_path / "state") as host:
            session = await host.create_session(CreateSession(cwd=str(stage.cwd), prompt="say one"))
            await host.wait(Wait(session_id=session.id))
            spent = (await host.get_session(of(session))).cost_usd
            assert spent > 0
            await host.update_session(UpdateSession(session_id=session.id, budget_usd=spent * Decimal("1.5")))
            gate = stage.model.gate()
            for _ in range(3):
                stage.model.reply(ToolUse("TodoWrite", {"todos": []}), usage=Usage(input_tokens=100_000))
            stage.model.reply(Stall(after=0, until=gate), "Never said.")
            frames = await next_turn(host, session.id, "work")
            assert [one.state for one in told(frames, BudgetChanged)][:2] == ["near", "interrupted"]
            with pytest.raises(HostError) as refused:
                await host.send_prompt(SendPrompt(session_id=session.id, content="more"))
            assert refused.value.code == "budget_reached"
            transcript = (await host.get_session(of(session))).transcript_id
            await host.delete_session(of(session))
            listed = (await host.list_transcripts(ListTranscripts(cwd=str(stage.cwd)))).details["transcripts"]
            assert transcript in [one["session_id"] for one in listed]
            adopted = await host.adopt_transcript(OfTranscript(transcript_id=str(transcript)))
            gate.open()
            stage.model.reply("Welcome back.")
            await next_turn(host, adopted.id, "hello again")
            assert "say one" in str(stage.model.conversation[-1].json)
            assert (await host.get_limits(Nothing())).details is not None
            await host.stop(of(adopted))
