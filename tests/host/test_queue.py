"""Prompts that wait: held by the host or by the CLI, changed, taken back, and kept over a restart."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from host.kit import ASKS, LIMIT_S, Place, all_frames, decide, frames_until, kill, pending, pid_of
from quarterdeck.host import Host, HostError
from quarterdeck.host.events import QueueChanged
from quarterdeck.host.limits import Limits
from quarterdeck.host.requests import OfPrompt, OfSession, SendPrompt, UpdatePrompt, Wait
from quarterdeck.host.resources import Prompt
from quarterdeck.store import Commit, Committed
from quarterdeck.store.errors import StoreError
from quarterdeck.timeline.events import PromptSent, TextCompleted

Answered = Callable[[Committed | StoreError], None]


@pytest.fixture(params=[True, False], ids=["keeper", "no keeper"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=request.param)


@pytest.fixture
def alone(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


async def say(host: Host, session: str, text: str, priority: str = "later", **more: Any) -> str:
    request = SendPrompt(session_id=session, content=text, priority=priority)  # type: ignore[arg-type]
    return (await host.send_prompt(request, **more)).prompt_id


async def waiting(host: Host, session: str) -> list[Prompt]:
    return (await host.list_prompts(OfSession(session_id=session))).prompts


async def idle(host: Host, session: str) -> None:
    await host.wait(Wait(session_id=session, for_=["idle"], timeout_s=LIMIT_S))


async def said(host: Host, session: str) -> list[str]:
    """What was said to the model, in order."""
    frames = await all_frames(host, session)
    return [event.text for frame in frames for event in frame.events if isinstance(event, PromptSent)]


async def test_prompts_for_later_are_held_and_each_gets_a_turn_of_its_own(place: Place) -> None:
    place.claude.play([ASKS, "First."], ["Second."], ["Third."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        second, third = await say(host, session.id, "two"), await say(host, session.id, "three")
        assert [(one.id, one.state) for one in await waiting(host, session.id)] == [
            (second, "queued"),
            (third, "queued"),
        ]
        await decide(host, approval)
        await idle(host, session.id)
        assert await said(host, session.id) == ["go", "two", "three"]
        assert await waiting(host, session.id) == []
        frames = await all_frames(host, session.id)
        told = [event for frame in frames for event in frame.events if isinstance(event, QueueChanged)]
        assert [len(event.prompts) for event in told] == [1, 2, 1, 0]
        texts = [event.text for frame in frames for event in frame.events if isinstance(event, TextCompleted)]
        assert texts == ["First.", "Second.", "Third."]


async def test_what_waits_can_be_edited_reordered_and_taken_back(alone: Place) -> None:
    alone.claude.play([ASKS, "One."], ["Two."], ["Three."])
    async with alone.opened() as host:
        session = await alone.created(host)
        (approval,) = await pending(host)
        first, second, third = [await say(host, session.id, text) for text in ("a", "b", "c")]
        await host.update_prompt(UpdatePrompt(session_id=session.id, prompt_id=third, position=0, content="C"))
        await host.withdraw_prompt(OfPrompt(session_id=session.id, prompt_id=second))
        assert [one.id for one in await waiting(host, session.id)] == [third, first]
        with pytest.raises(HostError, match="no queued prompt") as gone:
            await host.withdraw_prompt(OfPrompt(session_id=session.id, prompt_id=second))
        assert gone.value.code == "not_found"
        await decide(host, approval)
        await idle(host, session.id)
        assert await said(host, session.id) == ["go", "C", "a"]
        with pytest.raises(HostError) as begun:
            await host.withdraw_prompt(OfPrompt(session_id=session.id, prompt_id=first))
        assert begun.value.code == "conflict"


async def test_a_prompt_that_the_cli_has_queued_is_shown_and_can_be_taken_back(place: Place) -> None:
    place.claude.play([ASKS, "Done."], ["Unexpected."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        steering = await say(host, session.id, "also this", "next")
        assert [(one.id, one.state) for one in await waiting(host, session.id)] == [(steering, "sent")]
        await host.withdraw_prompt(OfPrompt(session_id=session.id, prompt_id=steering))
        assert await waiting(host, session.id) == []
        await decide(host, approval)
        await idle(host, session.id)
        frames = await all_frames(host, session.id)
        texts = [event.text for frame in frames for event in frame.events if isinstance(event, TextCompleted)]
        assert texts == ["Done."]


async def test_a_scheduled_prompt_waits_for_its_time(alone: Place) -> None:
    alone.claude.play([ASKS, "One."], ["Two."])
    async with alone.opened() as host:
        session = await alone.created(host)
        (approval,) = await pending(host)
        prompt = await say(host, session.id, "tomorrow")
        far = datetime.now(UTC) + timedelta(days=1)
        changed = await host.update_prompt(UpdatePrompt(session_id=session.id, prompt_id=prompt, not_before=far))
        assert changed.not_before == far
        await decide(host, approval)
        await idle(host, session.id)
        assert [one.id for one in await waiting(host, session.id)] == [prompt]
        soon = datetime.now(UTC) + timedelta(seconds=0.2)
        await host.update_prompt(UpdatePrompt(session_id=session.id, prompt_id=prompt, not_before=soon))
        while await said(host, session.id) != ["go", "tomorrow"]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await idle(host, session.id)


async def test_the_queue_survives_the_host_and_is_worked_off_by_the_next(tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=True)
    place.claude.play([ASKS, "One."], ["Two."])
    async with asyncio.timeout(LIMIT_S), place.host() as host:
        session = await place.created(host)
        await pending(host)
        prompt = await say(host, session.id, "later")
    async with place.opened() as host:
        assert [(one.id, one.state) for one in await waiting(host, session.id)] == [(prompt, "queued")]
        (approval,) = await pending(host)
        await decide(host, approval)
        await idle(host, session.id)
        assert await said(host, session.id) == ["go", "later"]


async def test_a_prompt_is_uncertain_when_its_process_dies_and_sent_again_if_it_never_arrived(
    alone: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(alone.cwd.parent / "home" / ".claude"))
    alone.claude.play([ASKS, "One."], ["Two."], ["Three."])
    async with alone.opened() as host:
        session = await alone.created(host)
        await pending(host)
        prompt = await say(host, session.id, "and this", "next")
        await kill(host, session)
        await frames_until(host, session.id, "crashed")
        assert [(one.id, one.state) for one in await waiting(host, session.id)] == [(prompt, "uncertain")]
        await host.resume(OfSession(session_id=session.id))
        while await waiting(host, session.id):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        assert await said(host, session.id) == ["go", "and this", "and this"]


async def test_an_uncertain_prompt_that_is_in_the_transcript_was_delivered_and_is_not_sent_again(
    alone: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = alone.cwd.parent / "home" / ".claude"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home))
    alone.claude.play([ASKS, "One."], ["Two."], ["Three."])
    async with alone.opened() as host:
        session = await alone.created(host)
        await pending(host)
        arrived = await say(host, session.id, "and this", "next")
        lost = await say(host, session.id, "and that", "next")
        await kill(host, session)
        await frames_until(host, session.id, "crashed")
        found = [(one.id, one.state) for one in await waiting(host, session.id)]
        assert found == [(arrived, "uncertain"), (lost, "uncertain")]
        transcript = (await host.get_session(OfSession(session_id=session.id))).transcript_id
        (path,) = await asyncio.to_thread(list, home.glob(f"projects/*/{transcript}.jsonl"))
        last = json.loads(path.read_text().splitlines()[-1])
        message = {"role": "user", "content": "and this"}
        record = {**last, "type": "user", "uuid": arrived, "parentUuid": last.get("uuid"), "message": message}
        with path.open("a") as file:  # what Claude Code writes before it reports that it has started
            file.write(json.dumps(record) + "\n")
        await host.resume(OfSession(session_id=session.id))
        while await waiting(host, session.id):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        assert await said(host, session.id) == ["go", "and this", "and that", "and that"]


async def test_a_prompt_whose_process_dies_while_it_is_written_down_is_accepted_and_uncertain(place: Place) -> None:
    place.claude.play(["One."], ["Two."])
    async with place.opened() as host:
        session = await place.created(host)
        await idle(host, session.id)
        submit, pid = host.store.submit, await pid_of(host, session)

        def killed_meanwhile(one: Commit, answered: Answered) -> None:
            host.store.submit = submit  # type: ignore[method-assign]
            os.kill(pid, signal.SIGKILL)
            killed.append(asyncio.ensure_future(submit_later(one, answered)))

        async def submit_later(one: Commit, answered: Answered) -> None:
            while Path(f"/proc/{pid}").exists():  # noqa: ASYNC110, ASYNC240
                await asyncio.sleep(0.01)
            submit(one, answered)

        killed: list[asyncio.Future[None]] = []
        host.store.submit = killed_meanwhile  # type: ignore[method-assign]
        prompt = await say(host, session.id, "and this", "next", key="k")
        await host.wait(Wait(session_id=session.id, for_=["crashed"], timeout_s=LIMIT_S))
        assert [(one.id, one.state) for one in await waiting(host, session.id)] == [(prompt, "uncertain")]
        assert await say(host, session.id, "and this", "next", key="k") == prompt


async def test_a_queue_that_is_full_refuses_more(alone: Place) -> None:
    alone.claude.play([ASKS, "One."])
    async with alone.opened(limits=Limits(queue=1)) as host:
        session = await alone.created(host)
        await pending(host)
        await say(host, session.id, "a")
        with pytest.raises(HostError, match="prompts are queued") as full:
            await say(host, session.id, "b")
        assert (full.value.code, full.value.details["limit"]) == ("busy", "queue")


async def test_a_prompt_with_a_key_is_said_once(alone: Place) -> None:
    alone.claude.play(["One."], ["Two."])
    async with alone.opened() as host:
        session = await alone.created(host, prompt=None)
        ids = await asyncio.gather(*(say(host, session.id, "hello", "next", key="k") for _ in range(5)))
        await idle(host, session.id)
        assert len(set(ids)) == 1
        assert await said(host, session.id) == ["hello"]
        with pytest.raises(HostError, match="another request") as other:
            await say(host, session.id, "something else", "next", key="k")
        assert other.value.code == "conflict"
