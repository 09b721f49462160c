"""The life of processes on the real CLI: crashed and started again, parked and resumed, at the account's limit."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Literal

import pytest

from client.real_cli import place as real_place
from host.kit import LIMIT_S, Clock, all_frames, next_turn, told
from quarterdeck.host import Host
from quarterdeck.host.events import ProcessChanged
from quarterdeck.host.lifetimes import AFTER_THE_LIMIT
from quarterdeck.host.requests import CreateSession, Lifecycle, OfSession, SendPrompt, Wait
from quarterdeck.host.resources import Session
from quarterdeck.testing.model import Error
from quarterdeck.timeline.events import PromptSent, TurnEnded

pytestmark = pytest.mark.real


async def in_state(host: Host, session: Session, state: str) -> Session:
    while (now := await host.get_session(OfSession(session_id=session.id))).state != state:  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    return now


async def test_a_process_is_started_again_after_a_crash_and_given_up_when_it_is_idle(tmp_path: Path) -> None:
    clock = Clock()
    with real_place(tmp_path) as stage:
        for text in ("One.", "Two.", "Three."):
            stage.model.reply(text)
        options = stage.options()
        env = {**options.env, "PATH": os.environ["PATH"]}
        host = Host(tmp_path / "state", keeper=False, agents={"claude": str(options.cli_path)}, env=env, clock=clock)
        async with asyncio.timeout(LIMIT_S), host:
            lifecycle = Lifecycle(restarts=1, park_s=600.0)
            create = CreateSession(cwd=str(stage.cwd), prompt="say one", lifecycle=lifecycle)
            session = await host.create_session(create)
            await host.wait(Wait(session_id=session.id))
            running = [one.pid for one in told(await all_frames(host, session.id), ProcessChanged) if one.pid]
            os.kill(running[0], signal.SIGKILL)
            crashed = await in_state(host, session, "crashed")
            assert crashed.state_until is not None
            clock.now += 1.0  # the first restart is due
            await in_state(host, session, "idle")
            await next_turn(host, session.id, "say two")
            assert "say one" in stage.model.conversation[-1].text

            while (now := await host.get_session(OfSession(session_id=session.id))).state != "parked":
                clock.now += 60.0
                await asyncio.sleep(0.02)
            await next_turn(host, session.id, "say three")
            assert "say two" in stage.model.conversation[-1].text
            assert (await host.get_session(OfSession(session_id=session.id))).transcript_id == now.transcript_id
            changes = told(await all_frames(host, session.id), ProcessChanged)
            assert [one.generation for one in changes if one.state == "running"] == [1, 2, 3]
            await host.stop(OfSession(session_id=session.id))


@pytest.mark.parametrize("limited", ["wait", "continue"])
async def test_at_the_accounts_limit_a_session_waits_until_it_is_over_and_goes_on_by_itself(
    tmp_path: Path, limited: Literal["wait", "continue"]
) -> None:
    clock = Clock()
    clock.now = time.time() - 1_000  # so that the limit is over for Claude Code, and for the host when the test says so
    with real_place(tmp_path) as stage:
        resets = str(int(time.time()))
        limits = {
            "anthropic-ratelimit-unified-status": "rejected",
            "anthropic-ratelimit-unified-reset": resets,
            "anthropic-ratelimit-unified-representative-claim": "five_hour",
            "anthropic-ratelimit-unified-5h-utilization": "1.0",
            "anthropic-ratelimit-unified-5h-reset": resets,
        }
        stage.model.reply(Error(429, "This request would exceed your account's rate limit.", headers=limits))
        stage.model.reply("After.")
        options = stage.options()
        given = {name: value for name, value in options.env.items() if name != "ANTHROPIC_API_KEY"}
        env = {**given, "PATH": os.environ["PATH"], "CLAUDE_CODE_OAUTH_TOKEN": "scripted-token"}
        env["CLAUDE_CODE_MAX_RETRIES"] = "0"
        host = Host(tmp_path / "state", keeper=False, agents={"claude": str(options.cli_path)}, env=env, clock=clock)
        async with asyncio.timeout(LIMIT_S), host:
            create = CreateSession(cwd=str(stage.cwd), prompt="first", lifecycle=Lifecycle(limited=limited))
            session = await host.create_session(create)
            now = await in_state(host, session, "limited")
            assert now.state_until is not None
            assert str(int(now.state_until.timestamp())) == resets
            if limited == "wait":
                sent = await host.send_prompt(SendPrompt(session_id=session.id, content="second"))
                (waiting,) = (await host.list_prompts(OfSession(session_id=session.id))).prompts
                assert (waiting.id, waiting.state) == (sent.prompt_id, "queued")
            clock.now += 2_000
            while len(told(await all_frames(host, session.id), TurnEnded)) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            frames = await all_frames(host, session.id)
            second = "second" if limited == "wait" else AFTER_THE_LIMIT
            assert [event.text for event in told(frames, PromptSent)] == ["first", second]
            assert stage.model.queued == 0
            await host.stop(OfSession(session_id=session.id))
