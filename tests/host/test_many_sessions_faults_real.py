"""Many sessions and their faults on the real CLI: the limit, the appointed time, children, alerts."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from client.real_cli import Place as RealPlace
from client.real_cli import place as real_place
from host.kit import LIMIT_S, Clock, all_frames, decide, lives, pending, told
from host.test_alerts import Receiver, failures
from inside import worked_on
from quarterdeck.host import Host, HostError
from quarterdeck.host.events import BudgetChanged, ProcessChanged
from quarterdeck.host.lifetimes import AFTER_THE_LIMIT
from quarterdeck.host.requests import (
    CreateSession,
    HostTools,
    Lifecycle,
    ListSessions,
    OfSession,
    SendPrompt,
    Settings,
    UpdatePrompt,
    Wait,
)
from quarterdeck.host.resources import Session
from quarterdeck.host.times import moment
from quarterdeck.keeper import KeeperClient
from quarterdeck.testing.model import Error, Stall, ToolUse, Usage
from quarterdeck.timeline.events import PromptSent, TextCompleted

pytestmark = pytest.mark.real

START = "mcp__quarterdeck__start_session"
DYING_AT_THE_LIMIT = Path(__file__).with_name("dying_limited.py")


def of(session: Session) -> OfSession:
    return OfSession(session_id=session.id)


@asynccontextmanager
async def a_host(
    stage: RealPlace, state: Path, *, env: dict[str, str] | None = None, **more: Any
) -> AsyncIterator[Host]:
    options = stage.options()
    given = {**(options.env if env is None else env), "PATH": os.environ["PATH"]}
    async with asyncio.timeout(2 * LIMIT_S):
        async with Host(state, agents={"claude": str(options.cli_path)}, env=given, **more) as host:
            yield host


@asynccontextmanager
async def a_keeper(state: Path) -> AsyncIterator[None]:
    """Ended with everything it has, whatever happens."""
    try:
        yield
    finally:
        async with await KeeperClient.open(state / "keeper", take_over=True) as client:
            await client.stop()


async def until(is_so: Callable[[], Awaitable[object]]) -> None:
    while not await is_so():  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def said(host: Host, session: Session) -> list[str]:
    return [one.text for one in told(await all_frames(host, session.id), PromptSent)]


async def pid_of(host: Host, session: Session) -> int:
    return [one.pid for one in told(await all_frames(host, session.id), ProcessChanged) if one.pid][-1]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    one = Receiver()
    yield one
    one.close()


def at_the_limit(resets: int) -> Error:
    headers = {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": str(resets),
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
        "anthropic-ratelimit-unified-5h-utilization": "1.0",
        "anthropic-ratelimit-unified-5h-reset": str(resets),
    }
    return Error(429, "This request would exceed your account's rate limit.", headers=headers)


async def test_two_sessions_of_an_account_at_its_limit_go_on_by_themselves_though_the_host_is_killed(
    tmp_path: Path, receiver: Receiver
) -> None:
    clock, state = Clock(), tmp_path / "state"
    clock.now = time.time() - 1_000
    with real_place(tmp_path) as stage:
        resets = int(time.time())
        stage.model.on(lambda request: AFTER_THE_LIMIT in request.last_user_text, "After.")
        stage.model.on(lambda request: "the second" in request.last_user_text, "Second.")
        stage.model.reply(at_the_limit(resets))
        env = {name: value for name, value in stage.options().env.items() if name != "ANTHROPIC_API_KEY"}
        env |= {"CLAUDE_CODE_OAUTH_TOKEN": "scripted-token", "CLAUDE_CODE_MAX_RETRIES": "0", "PATH": os.environ["PATH"]}
        words = [str(DYING_AT_THE_LIMIT), str(state), str(stage.cwd), str(stage.options().cli_path), receiver.url]

        def killed() -> list[str]:
            done = subprocess.run(
                [sys.executable, *words, str(clock.now)],
                input=json.dumps(env),
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
                check=False,
            )
            assert done.returncode == -signal.SIGKILL, done.stderr
            ids: list[str] = json.loads(done.stdout)
            return ids

        async with a_keeper(state):
            ids = await asyncio.to_thread(killed)
            async with a_host(stage, state, env=env, clock=clock) as host:
                first, second = [await host.get_session(OfSession(session_id=one)) for one in ids]
                for now in (first, second):
                    assert now.state == "limited"
                    assert now.state_until is not None
                    assert int(now.state_until.timestamp()) == resets
                assert (await said(host, first), await said(host, second)) == (["the first"], [])
                assert [one.content for one in (await host.list_prompts(of(second))).prompts] == ["the second"]
                clock.now = resets + 1.0
                await until(lambda: _has_said(host, first, "After."))
                await until(lambda: _has_said(host, second, "Second."))
                assert await said(host, first) == ["the first", AFTER_THE_LIMIT]
                assert await said(host, second) == ["the second"]
                await receiver.until(2)
                for one in (first, second):
                    await host.stop(of(one))
        assert {(one["kind"], one["session_id"]) for one in receiver.notices} == {("limited", one) for one in ids}
        assert len({headers["Quarterdeck-Delivery"] for headers, _ in receiver.got}) == 2


async def _has_said(host: Host, session: Session, text: str) -> bool:
    return text in [one.text for one in told(await all_frames(host, session.id), TextCompleted)]


async def test_two_prompts_of_one_second_a_clock_set_back_and_a_restart_in_between(tmp_path: Path) -> None:
    clock, state = Clock(), tmp_path / "state"
    with real_place(tmp_path) as stage:
        for text in ("Begun.", "One.", "Two.", "Three."):
            stage.model.reply(text)
        async with a_keeper(state):
            async with a_host(stage, state, clock=clock) as host:
                session = await host.create_session(CreateSession(cwd=str(stage.cwd), prompt="begin"))
                await host.wait(Wait(session_id=session.id))
                due = moment(clock.now + 3_600)
                sent = [
                    await host.send_prompt(SendPrompt(session_id=session.id, content=text, not_before=due))
                    for text in ("first", "second", "third")
                ]
                await host.update_prompt(
                    UpdatePrompt(session_id=session.id, prompt_id=sent[1].prompt_id, content="second, edited")
                )
                clock.now -= 86_400
                host.tend()
            async with a_host(stage, state, clock=clock) as host:
                assert await said(host, session) == ["begin"]
                await host.update_prompt(UpdatePrompt(session_id=session.id, prompt_id=sent[2].prompt_id, position=0))
                clock.now += 90_001
                await until(lambda: _has_said(host, session, "Three."))
                assert await said(host, session) == ["begin", "third", "first", "second, edited"]
                clock.now -= 7_200
                host.tend()
                clock.now += 14_400
                host.tend()
                assert (await host.list_prompts(of(session))).prompts == []
                await host.stop(of(session))
        assert stage.model.queued == 0


async def test_two_sessions_that_are_due_at_the_same_second_both_go_on_though_one_is_parked(tmp_path: Path) -> None:
    clock, state = Clock(), tmp_path / "state"
    with real_place(tmp_path) as stage:
        for prompt, answer in (("begin", "Begun."), ("the waking one", "Awake."), ("the idle one", "Idle no more.")):
            stage.model.on(lambda request, prompt=prompt: prompt in request.last_user_text, answer)
        async with a_keeper(state):
            async with a_host(stage, state, clock=clock) as host:
                parks, stays = Lifecycle(park_s=600.0), Lifecycle(park_s=None)
                sleeper, other = [
                    await host.create_session(CreateSession(cwd=str(stage.cwd), prompt="begin", lifecycle=life))
                    for life in (parks, stays)
                ]
                due = moment(clock.now + 86_400)
                for session, text in ((sleeper, "the waking one"), (other, "the idle one")):
                    await host.wait(Wait(session_id=session.id))
                    await host.send_prompt(SendPrompt(session_id=session.id, content=text, not_before=due))
                while (await host.get_session(of(sleeper))).state != "parked" or worked_on(host):
                    clock.now += 60.0
                    await asyncio.sleep(0.02)
                assert (await host.get_session(of(other))).state == "idle"
            async with a_host(stage, state, clock=clock) as host:
                clock.now = due.timestamp()
                await until(lambda: _has_said(host, sleeper, "Awake."))
                await until(lambda: _has_said(host, other, "Idle no more."))
                assert await said(host, sleeper) == ["begin", "the waking one"]
                assert await said(host, other) == ["begin", "the idle one"]
                for session in (sleeper, other):
                    await host.stop(of(session))


async def test_a_parent_that_is_killed_while_the_host_is_away_takes_its_ten_children_along(tmp_path: Path) -> None:
    state, restarts = tmp_path / "state", Lifecycle(restarts=0)
    with real_place(tmp_path) as stage:
        stage.model.on(lambda request: "I am a child" in request.text, "Ready.")
        stage.model.reply(
            *[ToolUse(START, {"prompt": "I am a child.", "name": f"child {number}"}) for number in range(10)]
        )
        stage.model.reply("All started.")

        async def children(host: Host) -> list[Session]:
            listed = (await host.list_sessions(ListSessions(limit=100))).sessions
            return [one for one in listed if one.parent_id == session.id]

        async with a_keeper(state):
            async with a_host(stage, state) as host:
                create = CreateSession(
                    cwd=str(stage.cwd),
                    prompt="go",
                    host_tools=HostTools(sessions=10),
                    options={"allowed_tools": [START]},
                    lifecycle=restarts,
                )
                session = await host.create_session(create)
                await host.wait(Wait(session_id=session.id, timeout_s=2 * LIMIT_S))
                parent_pid = await pid_of(host, session)
                pids = [await pid_of(host, one) for one in await children(host)]
            os.kill(parent_pid, signal.SIGKILL)
            while lives(parent_pid):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert len([pid for pid in pids if lives(pid)]) == 10
            async with a_host(stage, state) as host:

                async def are_stopped() -> bool:
                    return [one.state for one in await children(host)] == ["stopped"] * 10

                await until(are_stopped)
                assert (await host.get_session(of(session))).state == "crashed"
                assert [pid for pid in pids if lives(pid)] == []


async def test_a_webhook_is_told_of_an_approval_a_turn_and_a_crash_though_it_hangs_and_redirects_first(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quarterdeck.host.alert_operations.RETRIES_S", (0.01, 0.01, 0.02))
    monkeypatch.setattr("quarterdeck.host.alert_delivery.TRY_S", 1.0)
    receiver.answers = [0, 302]
    with real_place(tmp_path) as stage:
        stage.model.reply(ToolUse("Bash", {"command": "touch made.txt", "description": "Make"}))
        stage.model.reply("Made.")
        async with a_host(stage, tmp_path / "state", keeper=False) as host:
            inside = {"on": ["finished"], "url": "http://[::1]:9/"}  # nobody has listed that address
            told_of = {"on": ["approval", "finished", "crashed"], "url": receiver.url}
            settings = {"alerts": [told_of, inside], "private_hosts": ["127.0.0.0/8"]}
            await host.set_alerts(Settings(settings=settings))
            create = CreateSession(cwd=str(stage.cwd), prompt="go", lifecycle=Lifecycle(restarts=0))
            session = await host.create_session(create)
            (asked,) = await pending(host, session.id)
            await receiver.until(3)
            assert len({headers["Quarterdeck-Delivery"] for headers, _ in receiver.got}) == 1
            await decide(host, asked)
            await host.wait(Wait(session_id=session.id))
            await receiver.until(4)
            os.kill(await pid_of(host, session), signal.SIGKILL)
            kinds = [one["kind"] for one in await receiver.until(5)]
            assert kinds == ["approval"] * 3 + ["finished", "crashed"]
            assert "private address" in (await failures(host))[0]


async def test_a_day_that_one_session_has_used_up_is_used_up_for_all_also_after_a_restart(tmp_path: Path) -> None:
    with real_place(tmp_path) as stage:
        stage.model.reply("One.")
        async with a_host(stage, tmp_path / "state", keeper=False) as host:
            first = await host.create_session(CreateSession(cwd=str(stage.cwd), prompt="say one"))
            await host.wait(Wait(session_id=first.id))
            spent = (await host.get_session(of(first))).cost_usd
            await host.set_budgets(Settings(settings={"day_usd": str(spent * 2)}))
            heard = tmp_path / "heard"
            command = {"on": ["budget"], "command": ["/bin/sh", "-c", 'cat >> "$0"; echo >> "$0"', str(heard)]}
            await host.set_alerts(Settings(settings={"alerts": [command]}))
            gate = stage.model.gate()
            for _ in range(3):
                stage.model.reply(ToolUse("TodoWrite", {"todos": []}), usage=Usage(input_tokens=100_000))
            stage.model.reply(Stall(after=0, until=gate), "Never said.")
            other = await host.create_session(CreateSession(cwd=str(stage.cwd), prompt="work"))
            await host.wait(Wait(session_id=other.id))
            changes = told(await all_frames(host, other.id), BudgetChanged)
            assert [(one.state, one.scope) for one in changes[:2]] == [("near", "host"), ("interrupted", "host")]
            assert not await _has_said(host, other, "Never said.")
            await until(lambda: asyncio.to_thread(heard.exists))
            assert {json.loads(line)["kind"] for line in heard.read_text().splitlines() if line} == {"budget"}
            gate.open()
        async with a_host(stage, tmp_path / "state", keeper=False) as host:
            with pytest.raises(HostError) as refused:
                await host.send_prompt(SendPrompt(session_id=first.id, content="more"))
            assert refused.value.code == "budget_reached"
            await host.set_budgets(Settings(settings={"day_usd": "1000"}))
            # Not queued: an early interrupt leaves replies to the other session unused.
            stage.model.on(lambda request: "more" in request.last_user_text, "Two.")
            await host.send_prompt(SendPrompt(session_id=first.id, content="more"))
            await until(lambda: _has_said(host, first, "Two."))
