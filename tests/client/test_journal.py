"""The journal: everything said in either direction, in order, before anything is done about it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
from collections.abc import Awaitable, Sequence
from typing import Any, Literal, get_args

import pytest

import soak
from conversations import Recording, all_recordings
from inside import mute, say, use_journal
from quarterdeck import (
    LATER,
    ClaudeAgentOptions,
    HookMatcher,
    JournalEntry,
    JournalReader,
    PermissionResultAllow,
    ProcessExited,
    RequestEntry,
    ResultMessage,
    Session,
)
from quarterdeck.client.errors import JournalError
from quarterdeck.client.journal import Journal
from quarterdeck.protocol import AnswerReceived, Exited, LocalProtocolError, RequestFailed
from quarterdeck.timeline import Event, Timeline, fold
from quarterdeck.transport import ExitStatus, memory_pair
from quarterdeck.wire import (
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    SessionStateChangedMessage,
    TranscriptMirrorMessage,
    UserMessage,
    decode,
)

from .fake import FakeCli, init, result, session_and_cli, until

CUTS = soak.cases(1, in_soak=10)
NOT_READ = (ControlRequest, ControlResponse, ControlCancelRequest, TranscriptMirrorMessage, SessionStateChangedMessage)
"""What a program does not read: requests, the copy of the transcript for a session store, states nobody asked for."""
BASH = {"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t1"}


class Kept(JournalReader):
    """Keeps all of it."""

    def __init__(self) -> None:
        self.entries: list[JournalEntry] = []
        self.ends: list[str] = []

    def read(self, entries: Sequence[JournalEntry]) -> None:
        self.entries += entries

    def exited(self, exited: Exited, at: float) -> None:
        self.ends.append("exited")

    def closed(self) -> None:
        self.ends.append("closed")

    @property
    def lines(self) -> list[tuple[str, bytes]]:
        return [(entry.direction, entry.message.raw) for entry in self.entries]


class Follower(JournalReader):
    def __init__(self) -> None:
        self.timeline = Timeline()
        self.events: list[Event] = []

    def read(self, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            self.events += self.timeline.take(entry.direction, entry.message, at=entry.at)


def assistant(block: dict[str, Any]) -> dict[str, Any]:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [block], "usage": {}}
    return {"type": "assistant", "message": message, "session_id": "s", "uuid": block["type"]}


# Live and replayed


class Ours:
    """The CLI's end of a pair; what we said is not looked at."""

    def bytes_received(self, data: bytes) -> None: ...
    def eof_received(self) -> None: ...
    def exited(self, status: ExitStatus) -> None: ...


When = Literal["at once", "late", "never"]


async def played(recording: Recording, chance: random.Random, read: When) -> tuple[Kept, Follower, list[bytes]]:
    """The conversation again, through a session: its bytes cut anywhere, our lines where they stood. Also returns what
    the program has read."""
    near, far = memory_pair()
    await far.start(Ours())
    session = Session(transport=near)
    times = itertools.count()
    session.journal = Journal(session, clock=lambda: float(next(times)))
    kept, follower = Kept(), Follower()
    session.journal.add(kept)
    session.journal.add(follower)
    await session.attach(())
    for subtype in asked_in(recording):
        session.on_request(subtype, lambda *_: LATER)  # the answers are in the recording
    seen: list[bytes] = []
    reader = asyncio.ensure_future(_read(session, seen)) if read == "at once" else None
    waiting = b""
    for entry in recording.entries:
        if entry.eof:
            continue
        if entry.direction == "out":
            waiting += entry.line + b"\n"
            continue
        await _deliver(far, waiting, chance, session, kept)
        waiting = b""
        if entry.line.strip():
            say(session, entry.line.rstrip() + b"\n")  # also what this client would never say
    await _deliver(far, waiting, chance, session, kept)
    if read == "late":
        reader = asyncio.ensure_future(_read(session, seen))
        await asyncio.sleep(0)
    far.exit(ExitStatus(code=0))
    if reader is not None:
        with contextlib.suppress(ProcessExited):  # some recordings end in the middle of a turn
            await reader
    await session.close()
    return kept, follower, seen


async def _read(session: Session, seen: list[bytes]) -> None:
    async for batch in session.batches():
        seen += [message.raw for message in batch]


async def _deliver(far: Any, data: bytes, chance: random.Random, session: Session, kept: Kept) -> None:
    expected = session.journal.length + sum(1 for line in data.splitlines() if line.strip())
    while data:
        size = chance.choice([1, 7, 100, 1000, 65536])
        far.write(data[:size])
        data = data[size:]
        if chance.random() < 0.5:
            await asyncio.sleep(0)
    await until(lambda: session.journal.length >= expected)


def asked_in(recording: Recording) -> set[str]:
    lines = [decode(line) for line in recording.lines("out")]
    return {message.subtype for message in lines if isinstance(message, ControlRequest)}


def as_said(recording: Recording) -> list[tuple[str, bytes]]:
    said = [entry for entry in recording.entries if not entry.eof and entry.line.strip()]
    return [(entry.direction, entry.line.rstrip() if entry.direction == "in" else entry.line) for entry in said]


@pytest.mark.parametrize("read", get_args(When))
async def test_live_and_replay_give_the_same_timeline_whatever_the_chunks(read: When) -> None:
    chance = random.Random(soak.SEED)
    for recording in all_recordings():
        said = as_said(recording)
        for _ in range(CUTS):
            kept, follower, seen = await played(recording, chance, read)
            assert kept.lines == said, recording.id
            _, replayed = fold([(entry.at, entry.direction, entry.message.raw) for entry in kept.entries])
            assert follower.events == replayed, recording.id
            content = [entry.message for entry in kept.entries if entry.direction == "out"]
            read_by_program = [message.raw for message in content if not isinstance(message, NOT_READ)]
            assert seen == ([] if read == "never" else read_by_program), recording.id


async def test_a_request_is_told_after_the_text_before_it_in_the_same_chunk() -> None:
    follower = Follower()
    asked = asyncio.Event()

    async def decide(*_: Any) -> PermissionResultAllow:
        asked.set()
        return PermissionResultAllow()

    async with session_and_cli(ClaudeAgentOptions(can_use_tool=decide)) as (session, cli):
        session.journal.add(follower)
        cli.side.say(init())
        cli.side.say(assistant({"type": "text", "text": "I will look."}))
        cli.side.say(assistant({"type": "tool_use", "id": "t1", "name": "Bash", "input": BASH["input"]}))
        cli.ask("can_use_tool", **BASH)
        await asked.wait()
    kinds = [type(event).__name__ for event in follower.events]
    assert kinds.index("TextCompleted") < kinds.index("ToolCalled") < kinds.index("PermissionAsked")


# What entries are


async def test_entries_count_every_line_and_their_time_never_goes_back() -> None:
    times = iter([5.0, 4.0, 6.0, *range(7, 100)])
    kept = Kept()
    async with session_and_cli() as (session, cli):
        use_journal(session, Journal(session, clock=lambda: float(next(times))))
        session.journal.add(kept)
        await session.send("hi")
        await cli.expect(UserMessage)
        cli.say(init())
        cli.say(result())
        await until(lambda: len(kept.entries) == 3)
    assert [entry.index for entry in kept.entries] == [0, 1, 2]
    assert [entry.direction for entry in kept.entries] == ["in", "out", "out"]
    assert [entry.at for entry in kept.entries] == [5.0, 5.0, 6.0]


async def test_a_request_can_be_answered_where_it_is_read() -> None:
    requests: list[RequestEntry] = []

    class Answers(JournalReader):
        def read(self, entries: Sequence[JournalEntry]) -> None:
            requests.extend(entry for entry in entries if isinstance(entry, RequestEntry))

    async with session_and_cli(ClaudeAgentOptions(can_use_tool=lambda *_: LATER)) as (session, cli):
        session.journal.add(Answers())
        cli.ask("can_use_tool", **BASH)
        await until(session.pending)
        requests[0].answer(PermissionResultAllow())
        answered = await cli.expect(AnswerReceived)
        assert answered.answer["behavior"] == "allow"
        with pytest.raises(LocalProtocolError, match="already answered"):
            requests[0].answer(PermissionResultAllow())


async def test_readers_are_told_of_the_end() -> None:
    kept = Kept()
    async with session_and_cli() as (session, _):
        session.journal.add(kept)
    assert kept.ends == ["exited", "closed"]


# Readers that fail, readers that want to be waited for


async def test_a_reader_that_fails_is_dismissed_and_the_session_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    class Clumsy(JournalReader):
        def read(self, entries: Sequence[JournalEntry]) -> None:
            raise RuntimeError("oh")

    async with session_and_cli() as (session, cli):
        session.journal.add(Clumsy())
        for _ in range(2):
            turn = session.prompt("hi")
            await turn.send()
            await cli.expect(UserMessage)
            cli.say(init(), result())
            await turn
    assert caplog.text.count("was removed") == 1


class Durable(JournalReader):
    """Keeps lines when it is told to."""

    required = True

    def __init__(self) -> None:
        self.commits: list[asyncio.Future[None]] = []
        self.entries: list[JournalEntry] = []

    def read(self, entries: Sequence[JournalEntry]) -> Awaitable[None]:
        self.entries += entries
        self.commits.append(asyncio.get_running_loop().create_future())
        return self.commits[-1]

    def commit(self) -> None:
        for future in self.commits:
            if not future.done():
                future.set_result(None)


async def test_nothing_is_dispatched_or_written_before_it_is_kept() -> None:
    durable, asked = Durable(), asyncio.Event()

    async def decide(*_: Any) -> PermissionResultAllow:
        asked.set()
        return PermissionResultAllow()

    async with session_and_cli(ClaudeAgentOptions(can_use_tool=decide)) as (session, cli):
        session.journal.add(durable)
        sending = asyncio.ensure_future(session.send("hi"))
        await until(lambda: durable.entries)
        await asyncio.sleep(0)
        assert cli.nothing_came()
        durable.commit()
        await cli.expect(UserMessage)
        await sending
        cli.say(init())
        cli.ask("can_use_tool", **BASH)
        await until(lambda: len(durable.entries) == 3)
        assert session.pending() == {}
        durable.commit()
        await asked.wait()
        await until(lambda: len(durable.entries) == 4)
        assert cli.nothing_came()
        durable.commit()
        assert (await cli.expect(AnswerReceived)).answer["behavior"] == "allow"
        durable.commit()


async def test_lines_keep_their_order_while_they_wait() -> None:
    durable = Durable()
    async with session_and_cli() as (session, cli):
        session.journal.add(durable)
        for number in range(5):
            cli.say({"type": "system", "subtype": "note", "number": number})
            await until(lambda count=number + 1: len(durable.commits) == count)
        for future in reversed(durable.commits):
            future.set_result(None)
        numbers = [(await session.next_message()).data["number"] for _ in range(5)]  # type: ignore[union-attr]
        durable.commit()
    assert numbers == [0, 1, 2, 3, 4]


async def test_a_session_whose_lines_cannot_be_kept_ends_and_says_why() -> None:
    durable = Durable()
    async with session_and_cli() as (session, cli):
        session.journal.add(durable)
        cli.say(init())
        await until(lambda: durable.commits)
        durable.commits[0].set_exception(OSError("disk full"))
        with pytest.raises(JournalError, match="disk full"):
            await session.next_message()


async def test_a_required_reader_that_raises_ends_the_session() -> None:
    class Broken(JournalReader):
        required = True

        def read(self, entries: Sequence[JournalEntry]) -> None:
            raise OSError("no room")

    async with session_and_cli() as (session, cli):
        session.journal.add(Broken())
        cli.say(init())
        with pytest.raises(JournalError, match="no room"):
            await session.next_message()


async def test_closing_does_not_wait_for_a_reader_that_never_keeps() -> None:
    durable = Durable()
    async with session_and_cli() as (session, cli):
        session.journal.add(durable)
        cli.say(init())
        await until(lambda: durable.commits)
    assert session.closed


# A session taken up in the middle


async def moved(cli: FakeCli, options: ClaudeAgentOptions, kept: Kept) -> tuple[Session, FakeCli]:
    """Another session, made from the record of the first, with the same CLI."""
    other = FakeCli()
    other.side = cli.side
    await other.start()
    session = Session(options, transport=other.near)
    await session.attach(kept.entries)
    return session, other


async def test_a_session_goes_on_from_its_journal_in_the_middle_of_a_turn() -> None:
    kept = Kept()
    later = ClaudeAgentOptions(can_use_tool=lambda *_: LATER)
    async with session_and_cli(later) as (first, cli):
        first.journal.add(kept)
        prompt = await first.send("hi")
        await cli.expect(UserMessage)
        cli.say(init())
        request_id = cli.ask("can_use_tool", **BASH)
        await until(first.pending)
        inputs: list[dict[str, Any]] = []

        async def decide(tool: str, given: dict[str, Any], context: Any) -> PermissionResultAllow:
            inputs.append(given)
            return PermissionResultAllow()

        second, other = await moved(cli, ClaudeAgentOptions(can_use_tool=decide), kept)
        answered = await other.expect(AnswerReceived)
        assert (answered.request_id, answered.answer["behavior"]) == (request_id, "allow")
        assert inputs == [BASH["input"]]
        assert second.turn_state is first.turn_state
        assert second.session_id == first.session_id
        assert second.journal.length == kept.entries[-1].index + 2  # no handshake, only the answer
        other.say(result())
        messages = [await second.next_message()]
        assert isinstance(messages[0], ResultMessage)
        assert prompt in kept.entries[0].message.raw.decode()
        await second.close()


async def test_a_request_that_nobody_serves_is_refused_after_the_record() -> None:
    kept = Kept()
    async with session_and_cli() as (first, cli):
        first.journal.add(kept)
        with mute(first):  # it dies before it can refuse
            cli.ask("never_heard_of")
            await until(lambda: kept.entries)
            second, other = await moved(cli, ClaudeAgentOptions(), kept)
            failed = await other.expect(RequestFailed)
        assert "Unsupported control request" in failed.error
        await second.close()


async def test_a_hook_that_waited_is_asked_again_under_its_old_id() -> None:
    kept, calls = Kept(), []

    async def hang(*_: Any) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    async def answer(*given: Any) -> dict[str, Any]:
        calls.append(given[1])
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}

    def options(callback: Any) -> ClaudeAgentOptions:
        return ClaudeAgentOptions(hooks={"PreToolUse": [HookMatcher(hooks=[callback])]})

    async with session_and_cli(options(hang)) as (first, cli):
        first.journal.add(kept)
        event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}, "tool_use_id": "t1"}
        request_id = cli.ask("hook_callback", callback_id="hook_0", input=event, tool_use_id="t1")
        await until(first.pending)
        second, other = await moved(cli, options(answer), kept)
        answered = await other.expect(AnswerReceived)
        assert answered.request_id == request_id
        assert answered.answer["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert calls == ["t1"]
        await second.close()
