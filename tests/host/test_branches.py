"""A conversation that is stopped, resumed, forked, cleared and set back, on the real CLI and on the simulator.

The frames say what happened; what the model was asked says what it still knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from host.kit import told
from host.staged import EVERYWHERE, Staged, Talk, staged_in
from quarterdeck.host import HostError
from quarterdeck.host.events import ProcessChanged, UsageReport
from quarterdeck.host.requests import CreateSession, Fork, GetUsage, OfSession, ReadEvents, Rewind
from quarterdeck.host.resources import Frame, TokenCounts
from quarterdeck.testing.model import ToolUse, Usage
from quarterdeck.timeline.events import ConversationReset, FilesRewound, TextCompleted

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(scope="module", params=EVERYWHERE)
def hosted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staged]:
    with staged_in(tmp_path_factory.mktemp("branches"), request.param) as staged:
        yield staged


@pytest.fixture
def staged(hosted: Staged) -> Staged:
    assert hosted.stage.share(), "an earlier test left a part of its script"
    return hosted


def texts(frames: list[Frame]) -> list[str]:
    return [event.text for event in told(frames, TextCompleted)]


def reports(frames: list[Frame]) -> list[Decimal]:
    return [event.cost_usd for event in told(frames, UsageReport)]


def known(conversation: str) -> list[str]:
    """Which of the words that were said in these tests the model has been told."""
    return [word for word in ("anchor", "barque") if f"The word is {word}." in conversation]


async def said(talk: Talk, prompt: str, answer: str, **usage: Any) -> list[Frame]:
    talk.staged.stage.reply(answer, **usage)
    return await talk.turn(prompt)


async def resumed(talk: Talk) -> None:
    await talk.host.stop(talk.of)
    assert (await talk.now()).state == "stopped"
    await talk.host.resume(talk.of)


async def test_a_stopped_session_is_resumed_with_everything_it_knew(staged: Staged) -> None:
    talk = await staged.talk()
    await said(talk, "The word is anchor.", "I will remember it.")
    before = await talk.now()
    await resumed(talk)
    frames = await said(talk, "Which word?", "It was anchor.")
    after = await talk.now()
    assert texts(frames) == ["It was anchor."]
    assert after.transcript_id == before.transcript_id
    assert known(await staged.conversation(talk)) == ["anchor"]
    assert after.seq > before.seq
    await talk.host.stop(talk.of)
    frames = await said(talk, "And now?", "Still anchor.")  # a prompt alone resumes it, too
    assert [event.state for event in told(frames, ProcessChanged)] == ["starting", "running"]
    assert texts(frames) == ["Still anchor."]
    await talk.host.stop(talk.of)


async def test_a_fork_knows_everything_or_everything_up_to_a_message(staged: Staged) -> None:
    talk = await staged.talk()
    first = await said(talk, "The word is anchor.", "Noted: anchor.")
    await said(talk, "The word is barque.", "Noted: barque.")
    parent = await talk.now()
    whole = Talk(staged, await staged.host.fork(Fork(session_id=talk.id)))
    await said(whole, "Which words?", "Both.")
    assert known(await staged.conversation(whole)) == ["anchor", "barque"]
    (item,) = [event.id for event in told(first, TextCompleted)]
    part = Talk(staged, await staged.host.fork(Fork(session_id=talk.id, at=item, name="only the first")))
    await said(part, "Which words?", "One.")
    assert known(await staged.conversation(part)) == ["anchor"]
    forks = [await whole.now(), await part.now()]
    assert [one.parent_id for one in forks] == [parent.id, parent.id]
    assert len({parent.transcript_id, *(one.transcript_id for one in forks)}) == 3
    assert forks[1].name == "only the first"
    await said(talk, "Still there?", "Yes.")
    assert known(await staged.conversation(talk)) == ["anchor", "barque"]
    assert "Which words?" not in await staged.conversation(talk)
    with pytest.raises(HostError) as unknown:
        await staged.host.fork(Fork(session_id=talk.id, at="no such message"))
    assert unknown.value.code == "not_found"
    for one in (talk, whole, part):
        await staged.host.stop(one.of)


async def test_files_are_set_back_to_what_they_were_at_a_prompt(staged: Staged) -> None:
    stage = staged.stage
    talk = await staged.talk(options={"enable_file_checkpointing": True}, permission_mode="acceptEdits")
    path = stage.cwd / "poem.txt"
    prompts: list[str] = []
    for words in ("first", "second"):
        stage.reply(ToolUse("Write", {"file_path": str(path), "content": words}))
        stage.reply("Written.")
        await talk.turn(f"write {words}")
        prompts.append(talk.prompt_id)
        assert path.read_text() == words
    would = await staged.host.rewind(Rewind(session_id=talk.id, to=prompts[1], dry_run=True))
    assert would.details["filesChanged"] == [str(path)]
    assert path.read_text() == "second"
    await talk.mark()
    before = talk.cursor
    await staged.host.rewind(Rewind(session_id=talk.id, to=prompts[1]))
    assert path.read_text() == "first"
    await said(talk, "and now?", "It is the first again.")
    since = ReadEvents(session_id=talk.id, after=before)
    (rewound,) = told((await staged.host.read_events(since)).frames, FilesRewound)
    assert rewound.prompt_id == prompts[1]
    assert not rewound.dry_run
    await staged.host.rewind(Rewind(session_id=talk.id, to=prompts[0]))
    assert not path.exists()
    with pytest.raises(HostError) as unknown:
        await staged.host.rewind(Rewind(session_id=talk.id, to=UNKNOWN))
    assert unknown.value.code in ("conflict", "cli_failed")
    await staged.host.stop(talk.of)


async def test_a_cleared_session_can_be_resumed_before_anything_is_said(staged: Staged) -> None:
    talk = await staged.talk()
    await said(talk, "The word is anchor.", "Noted.")
    before = (await talk.now()).transcript_id
    assert len(told(await talk.turn("/clear"), ConversationReset)) == 1
    after = (await talk.now()).transcript_id
    assert after != before
    assert (await staged.host.get_session(OfSession(session_id=str(before)))).id == talk.id
    await resumed(talk)
    await said(talk, "Which word?", "I know of none.")
    assert known(await staged.conversation(talk)) == []
    await staged.host.stop(talk.of)


async def test_usage_is_right_over_a_resume_a_clear_a_fork_and_a_sub_agent(staged: Staged) -> None:
    used = Usage(input_tokens=1_000, output_tokens=100)
    talk, costs = await staged.talk(), []
    costs += reports(await said(talk, "one", "One.", usage=used))
    await resumed(talk)
    costs += reports(await said(talk, "two", "Two.", usage=used))
    costs += reports(await talk.turn("/clear"))
    costs += reports(await said(talk, "three", "Three.", usage=used))
    await resumed(talk)
    stage = staged.stage
    task = {"description": "an errand", "prompt": "ERRAND please", "subagent_type": "general-purpose"}
    stage.reply(ToolUse("Task", {**task, "run_in_background": False}), usage=used)
    stage.reply("The errand is done.", usage=used)
    stage.reply("The helper is back.", usage=used)
    (with_helper,) = told(await talk.turn("delegate"), UsageReport)
    fork = Talk(staged, await staged.host.fork(Fork(session_id=talk.id)))
    forked = reports(await said(fork, "four", "Four.", usage=used))
    one = costs[0]
    assert one > 0
    assert [cost for cost in costs if cost] == [one, one, one]
    assert with_helper.cost_usd == 3 * one
    assert with_helper.tokens == TokenCounts(input=3_000, output=300)
    assert with_helper.beside == TokenCounts(input=1_000, output=100)
    assert forked == [one]
    by_session = {row.by["session"]: row for row in (await staged.host.get_usage(GetUsage(by=["session"]))).usage}
    assert by_session[talk.id].cost_usd == 6 * one == (await talk.now()).cost_usd
    assert by_session[fork.id].cost_usd == one == (await fork.now()).cost_usd
    assert by_session[talk.id].tokens == TokenCounts(input=6_000, output=600) == (await talk.now()).tokens
    for each in (talk, fork):
        await staged.host.stop(each.of)


async def test_a_session_made_of_a_transcript_counts_only_what_it_uses_itself(staged: Staged) -> None:
    used = Usage(input_tokens=1_000, output_tokens=100)
    talk = await staged.talk()
    (one,) = reports(await said(talk, "The word is anchor.", "Noted.", usage=used))
    transcript = (await talk.now()).transcript_id
    await staged.host.stop(talk.of)
    request = CreateSession(cwd=str(staged.cwd), resume=transcript)
    other = Talk(staged, await staged.host.create_session(request))
    assert reports(await said(other, "Which word?", "Anchor.", usage=used)) == [one]
    assert known(await staged.conversation(other)) == ["anchor"]
    assert (await other.now()).cost_usd == one
    await staged.host.stop(other.of)
