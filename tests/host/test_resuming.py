"""A host without a keeper is killed in the middle of a turn: its process goes too, and the session resumes.

On the real CLI with a scripted model, and on the simulator.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.stage import Stage, bash
from host.kit import LIMIT_S, all_frames, decide, frames_until, pending, told
from host.staged import BOTH, host_over, stage_in
from host.test_recovery import MOMENTS, TEXT, killed_at
from quarterdeck.host import HostError
from quarterdeck.host.events import ApprovalChanged, ProcessChanged, StatusChange
from quarterdeck.host.requests import OfApproval, OfSession, SendPrompt
from quarterdeck.timeline.events import PromptSent, TurnEnded

RUNS = bash("echo ran >> log.txt")
RUNS_LONG = bash("echo ran >> log.txt; sleep 2")
"""Long enough to be killed in the middle of it."""
ENDS = {"permission": "stranded", "decided": "undeliverable"}
"""What becomes of an approval with its process, by the moment of its death."""


@pytest.fixture(params=BOTH)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    with stage_in(tmp_path / "stage", request.param) as stage:
        yield stage


def killed(stage: Stage, moment: str) -> str:
    stage.reply(TEXT, RUNS_LONG, delta_size=20)
    options = stage.options()
    session = killed_at(moment, stage.folder / "state", stage.cwd, options.cli_path, options.env, keeper=False)
    limit = time.monotonic() + LIMIT_S
    while _works_in(stage.cwd) and time.monotonic() < limit:
        time.sleep(0.01)  # a CLI whose host is gone takes the next reply before it ends
    return session


def _works_in(folder: Path) -> bool:
    for process in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if process.readlink() == folder:
                return True
    return False


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_session_without_a_keeper_resumes_where_its_killed_host_left_it(moment: str, stage: Stage) -> None:
    session = killed(stage, moment)
    of = OfSession(session_id=session)
    async with asyncio.timeout(LIMIT_S), host_over(stage, keeper=False) as host:
        lost = await host.get_session(of)
        assert lost.state == "crashed"
        before = await all_frames(host, session)
        assert told(before, StatusChange)[-1].remedies[:1] == ["resume"]
        former = {event.approval.id: event.approval for event in told(before, ApprovalChanged)}
        if moment in ENDS:
            (approval,) = former.values()
            assert approval.state == ENDS[moment]
            with pytest.raises(HostError) as late:
                await decide(host, await host.get_approval(OfApproval(approval_id=approval.id)))
            assert late.value.code == ("withdrawn" if moment == "permission" else "already_decided")
        if moment == "tool":
            assert len(told(before, ProcessChanged)[-1].unfinished) == 1
        stage.reply(RUNS_LONG if moment == "permission" else RUNS)  # the same question again
        stage.reply("Done.")
        await host.send_prompt(SendPrompt(session_id=session, content="go on"))
        (again,) = await pending(host, session)
        assert again.id not in former
        assert again.replaces == (next(iter(former)) if moment == "permission" else None)
        ran = (stage.cwd / "log.txt").read_text() if (stage.cwd / "log.txt").exists() else ""
        assert ran == ("ran\n" if moment == "tool" else "")
        await decide(host, again)
        await frames_until(host, session, "idle", after=f"{lost.epoch}-{lost.seq}")
        frames = await all_frames(host, session)
        assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
        assert [event.text for event in told(frames, PromptSent)] == ["go", "go on"]
        assert len(told(frames, TurnEnded)) == 1
        assert (stage.cwd / "log.txt").read_text() == ran + "ran\n"
        assert (await host.get_session(of)).transcript_id == lost.transcript_id
        await host.stop(of)
