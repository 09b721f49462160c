"""Sessions that live in a running host: closing the editor loses nothing, and others see and answer, too."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.kit import real_cli
from gateways.acp.editor import FORMS, Editor, RefusedError, editor
from gateways.acp.test_editor_tools import FILES, Buffers
from host.kit import ASKS, decide, pending
from quarterdeck.cli.serve import own_token
from quarterdeck.gateways.http import Gateway, Server
from quarterdeck.host import Host
from quarterdeck.host.events import RawLine
from quarterdeck.host.requests import (
    CreateSession,
    ListApprovals,
    ListSessions,
    Nothing,
    OfApproval,
    OfSession,
    ReadEvents,
    SendPrompt,
    Wait,
)
from quarterdeck.remote import RemoteHost
from quarterdeck.testing.model import ModelServer, Stall, ToolUse
from simulated import Simulated, until

LIMIT_S = 60.0
LOOKS = {"tool": "Read", "input": {"file_path": "none"}}


class Deck:
    """A host that this user has running, and editors that find it by themselves."""

    def __init__(self, folder: Path, agent: str, env: Callable[[], dict[str, str]], cwd: Path) -> None:
        self.folder, self.cwd = folder, cwd
        self.state = folder / "quarterdeck"
        self.agent, self._env = agent, env

    def edit(self, *arguments: str) -> Any:
        env = {**self._env(), "XDG_STATE_HOME": str(self.folder)}
        return editor(*arguments, env=env)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Host]:
        async with Host(self.state, keeper=False, agents={"claude": self.agent}, env=self._env()) as host:
            await own_token(host, self.state)
            async with Server(Gateway(host)) as server:
                await server.listen_unix(self.state / "host.sock")
                yield host
                for session in (await host.list_sessions(ListSessions(limit=1_000))).sessions:
                    await host.stop(OfSession(session_id=session.id))

    def elsewhere(self) -> RemoteHost:
        """A browser, a terminal, a program."""
        return RemoteHost(self.state)


@contextlib.contextmanager
def short_folder() -> Any:
    """A Unix socket has a short path."""
    with tempfile.TemporaryDirectory(prefix="qd") as folder:
        yield Path(folder)


@pytest.fixture
def deck(fake: Simulated) -> Iterator[Deck]:
    with short_folder() as folder:
        yield Deck(folder, str(fake.path), lambda: fake.env, fake.cwd)


async def opened(ed: Editor, deck: Deck, **capabilities: Any) -> str:
    await ed.initialize(**capabilities)
    return await ed.new(deck.cwd)


async def only_session(host: Host) -> str:
    (found,) = (await host.list_sessions(ListSessions())).sessions
    return found.id


async def test_a_running_host_is_used_by_itself_and_its_session_outlives_the_editor(
    deck: Deck, fake: Simulated
) -> None:
    fake.play(["Before. ", LOOKS, fake.held, "After."], ["And on."])
    async with asyncio.timeout(LIMIT_S), deck.running() as host:
        async with deck.edit() as ed:
            session = await opened(ed, deck)
            assert session == await only_session(host)
            ed.say(session, "go")
            await ed.until(lambda: "Before." in ed.text())
            await asyncio.to_thread(until, fake.is_held)
            assert await ed.leave() == 0
        assert (await host.get_session(OfSession(session_id=session))).state == "running"
        async with deck.edit() as again:
            await again.initialize()
            await again.call("session/load", sessionId=session, cwd=str(deck.cwd), mcpServers=[])
            assert again.text("user_message_chunk") == "go"
            assert again.text() == "Before. "
            fake.release()
            await again.until(lambda: again.text() == "Before. After.")
            assert (await again.prompt(session, "and?"))["stopReason"] == "end_turn"
            assert again.text() == "Before. After.And on."
        prompts = [one["text"] for one in await said(host, session)]
        assert prompts == ["go", "and?"]


@pytest.mark.parametrize("where", ["in the host", "on disk"])
async def test_a_session_that_is_loaded_twice_at_once_is_attached_once(deck: Deck, fake: Simulated, where: str) -> None:
    fake.play(rules=[{"when": "before", "steps": ["Before."]}, {"when": "after", "steps": ["After."]}])
    async with asyncio.timeout(LIMIT_S), deck.running() as host:
        async with deck.edit(*([] if where == "in the host" else ["--no-host", "--agent", deck.agent])) as ed:
            session = await opened(ed, deck)
            await ed.prompt(session, "before")
        async with deck.edit() as ed:
            await ed.initialize()
            asked = {"sessionId": session, "cwd": str(deck.cwd), "mcpServers": []}
            await asyncio.gather(*(ed.call(f"session/{how}", **asked) for how in ("resume", "load", "resume")))
            assert ed.text() == "Before."
            assert (await ed.prompt(session, "after"))["stopReason"] == "end_turn"
            assert ed.text() == "Before.After."
            await only_session(host)


async def said(host: Host, session: str) -> list[dict[str, Any]]:
    frames = (await host.read_events(ReadEvents(session_id=session, limit=100_000))).frames
    return [
        {"text": event.text, "source": event.source}
        for frame in frames
        for event in frame.events
        if type(event).__name__ == "PromptSent"
    ]


async def test_a_permission_asked_in_the_editor_is_decided_elsewhere_and_vanishes_there(
    deck: Deck, fake: Simulated
) -> None:
    fake.play([ASKS, "Done."])
    async with asyncio.timeout(LIMIT_S), deck.running() as host, deck.elsewhere() as browser:
        async with deck.edit() as ed:
            session = await opened(ed, deck)
            turn = ed.say(session, "go")
            asked = await ed.until(lambda: ed.asked and ed.asked[0])
            (waiting,) = await pending(host)
            await decide(browser, waiting)  # type: ignore[arg-type]  # the same methods
            assert (await turn)["stopReason"] == "end_turn"
            await ed.until(lambda: ed.cancelled == [asked["id"]])
            ed.send({"id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": "reject"}}})  # late
            assert ed.call_of("Bash")["status"] == "completed"
            decided = await host.get_approval(OfApproval(approval_id=waiting.id))
            assert decided.decided_by is not None
            assert decided.decision is not None
            name = decided.decided_by.name
            assert name
            assert ed.text("agent_thought_chunk") == f"\n[info] Allowed by {name} (http): {decided.summary}\n"
            assert who_decided(ed, "Bash") == [{"kind": "token", "name": name, "via": "http", "decision": "allow"}]
            assert decided.decision["decision"] == "allow"
        assert (fake.cwd / "made.txt").exists()


def who_decided(ed: Editor, tool: str) -> list[dict[str, Any]]:
    """What the updates of a call say about who has decided it."""
    metas = [one["_meta"] for one in ed.updates("tool_call_update")]
    told = [one["quarterdeck"] for one in metas if one["claudeCode"]["toolName"] == tool and "quarterdeck" in one]
    return [one["decidedBy"] for one in told if "decidedBy" in one]


async def test_who_answered_a_question_or_sent_back_a_plan_elsewhere_is_a_notice_of_its_own(
    deck: Deck, fake: Simulated
) -> None:
    question = {"question": "Which?", "header": "It", "multiSelect": False}
    options = [{"label": "A", "description": ""}, {"label": "B", "description": ""}]
    asks = {"tool": "AskUserQuestion", "input": {"questions": [{**question, "options": options}]}}
    fake.play([asks, {"tool": "ExitPlanMode", "input": {"plan": "Do it."}}, "So be it."])
    async with asyncio.timeout(LIMIT_S), deck.running() as host, deck.elsewhere() as browser, deck.edit() as ed:
        session = await opened(ed, deck, **FORMS, session={"notices": {}})
        turn = ed.say(session, "go")
        await ed.until(lambda: len(ed.asked) == 1)
        (waiting,) = await pending(host)
        await decide(browser, waiting, answers={"Which?": "B"})  # type: ignore[arg-type]
        await ed.until(lambda: len(ed.asked) == 2)
        (waiting,) = await pending(host)
        await decide(browser, waiting, "deny", plan="revise", message="Think again.")  # type: ignore[arg-type]
        assert (await turn)["stopReason"] == "end_turn"
        titles = [one["title"].partition(" by ")[0] for one in ed.updates("notice")]
        assert titles == ["Answered", "Plan sent back"]
        assert len(ed.cancelled) == 2


async def test_a_permission_answered_in_the_editor_is_decided_for_everyone(deck: Deck, fake: Simulated) -> None:
    fake.play([ASKS, "Done."])
    async with asyncio.timeout(LIMIT_S), deck.running() as host:
        async with deck.edit() as ed:
            session = await opened(ed, deck)
            ed.allow()
            assert (await ed.prompt(session, "go"))["stopReason"] == "end_turn"
            assert who_decided(ed, "Bash") == []  # whoever answers here knows
        (one,) = (await host.list_approvals(ListApprovals(state=["applied", "delivered", "decided"]))).approvals
        assert one.decided_by is not None
        assert (one.decided_by.kind, one.decision and one.decision["decision"]) == ("token", "allow")


async def test_always_becomes_a_grant_of_the_host_for_exactly_what_was_said(deck: Deck, fake: Simulated) -> None:
    both = {"tool": "Bash", "input": {"command": "touch a && mkdir b", "description": "Make both"}}
    fake.play([ASKS, ASKS, both, "Done."])
    async with asyncio.timeout(LIMIT_S), deck.running() as host, deck.edit() as ed:
        session = await opened(ed, deck)

        def always(asked: dict[str, Any]) -> dict[str, Any]:
            chosen = next(one["optionId"] for one in asked["options"] if one["kind"] == "allow_always")
            return {"outcome": {"outcome": "selected", "optionId": chosen}}

        ed.replies["session/request_permission"] = lambda asked: (
            always(asked) if "made" in str(asked) else {"outcome": {"outcome": "cancelled"}}
        )
        assert (await ed.prompt(session, "go"))["stopReason"] == "end_turn"
        assert [one["params"]["toolCall"]["title"] for one in ed.asked] == ["touch made.txt", "touch a && mkdir b"]
        name = next(one["name"] for one in ed.asked[0]["params"]["options"] if one["kind"] == "allow_always")
        (grant,) = (await host.list_grants(Nothing())).grants
        assert grant.rule in name


@pytest.mark.parametrize("how", ["close", "kill"])
async def test_what_was_asked_when_the_editor_went_waits_for_it_or_for_others(
    deck: Deck, fake: Simulated, how: str
) -> None:
    fake.play([ASKS, "Done."])
    async with asyncio.timeout(LIMIT_S), deck.running() as host:
        async with deck.edit() as ed:
            session = await opened(ed, deck)
            ed.say(session, "go")
            await ed.until(lambda: ed.asked)
            if how == "kill":
                ed.process.kill()
                await ed.process.wait()
            else:
                await ed.leave()
        (waiting,) = await pending(host)
        assert (await host.get_session(OfSession(session_id=session))).state == "waiting"
        async with deck.edit() as again:
            await again.initialize()
            again.allow()
            await again.call("session/load", sessionId=session, cwd=str(deck.cwd), mcpServers=[])
            await again.until(lambda: again.text() == "Done.")
            assert [one["params"]["toolCall"]["title"] for one in again.asked] == ["touch made.txt"]
        assert (await host.get_approval(OfApproval(approval_id=waiting.id))).decision is not None


async def test_questions_and_plans_are_asked_and_answered_through_the_host(deck: Deck, fake: Simulated) -> None:
    question = {
        "question": "Which?",
        "header": "Colour",
        "options": [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}],
        "multiSelect": False,
    }
    fake.play(
        [{"tool": "AskUserQuestion", "input": {"questions": [question]}}, "Noted."],
        [{"tool": "ExitPlanMode", "input": {"plan": "1. Look"}}, "Going."],
    )
    async with asyncio.timeout(LIMIT_S), deck.running(), deck.edit() as ed:
        session = await opened(ed, deck, **FORMS)
        ed.replies["elicitation/create"] = lambda _: {"action": "accept", "content": {"question_0": "blue"}}
        await ed.prompt(session, "ask me")
        assert "blue" in str(ed.call_of("AskUserQuestion")["rawOutput"])
        ed.allow("acceptEdits")
        await ed.call("session/set_mode", sessionId=session, modeId="plan")
        await ed.prompt(session, "plan it")
        assert ed.updates("current_mode_update")[-1]["currentModeId"] == "acceptEdits"
        assert ed.text() == "Noted.Going."


async def test_what_others_say_to_the_session_is_shown_and_their_turn_ends_no_prompt_of_the_editor(
    deck: Deck, fake: Simulated
) -> None:
    fake.play(
        rules=[
            {"when": "theirs", "steps": ["For them. ", LOOKS, fake.held, "Over."]},
            {"when": "mine", "steps": [" For me."]},
        ]
    )
    async with asyncio.timeout(LIMIT_S), deck.running() as host, deck.edit() as ed:
        session = await opened(ed, deck)
        await host.send_prompt(SendPrompt(session_id=session, content="theirs"))
        await ed.until(lambda: "theirs" in ed.text("user_message_chunk") and "For them." in ed.text())
        await asyncio.to_thread(until, fake.is_held)
        turn = ed.say(session, "mine")
        await until_queued(host, session)
        fake.release()
        assert (await turn)["stopReason"] == "end_turn"
        assert ed.text() == "For them. Over. For me."
        assert ed.text("user_message_chunk") == "theirs"


async def until_queued(host: Host, session: str) -> None:
    while not (await host.list_prompts(OfSession(session_id=session))).prompts:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def test_cancel_stops_the_turn_that_runs_whoever_began_it(deck: Deck, fake: Simulated) -> None:
    fake.play([fake.held, "Never."])
    async with asyncio.timeout(LIMIT_S), deck.running() as host, deck.edit() as ed:
        session = await opened(ed, deck)
        await host.send_prompt(SendPrompt(session_id=session, content="theirs"))
        await asyncio.to_thread(until, fake.is_held)
        ed.notify("session/cancel", sessionId=session)
        await host.wait(Wait(session_id=session, timeout_s=LIMIT_S))


async def test_a_prompt_that_waits_behind_somebody_elses_turn_is_taken_back_without_stopping_that(
    deck: Deck, fake: Simulated
) -> None:
    fake.play(rules=[{"when": "theirs", "steps": [fake.held, "Over."]}, {"when": "mine", "steps": ["Never."]}])
    async with asyncio.timeout(LIMIT_S), deck.running() as host, deck.edit() as ed:
        session = await opened(ed, deck)
        await host.send_prompt(SendPrompt(session_id=session, content="theirs"))
        await asyncio.to_thread(until, fake.is_held)
        turn = ed.say(session, "mine")
        await until_queued(host, session)
        ed.notify("session/cancel", sessionId=session)
        assert (await turn)["stopReason"] == "cancelled"
        fake.release()
        await ed.until(lambda: ed.text() == "Over.")


async def test_two_editors_see_the_same_and_the_first_answer_counts(deck: Deck, fake: Simulated) -> None:
    fake.play([ASKS, "Done."])
    async with asyncio.timeout(LIMIT_S), deck.running(), deck.edit() as one, deck.edit() as other:
        session = await opened(one, deck)
        await other.initialize()
        await other.call("session/resume", sessionId=session, cwd=str(deck.cwd), mcpServers=[])
        turn = one.say(session, "go")
        await one.until(lambda: one.asked)
        asked = await other.until(lambda: other.asked and other.asked[0])
        other.send({"id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": "allow"}}})
        assert (await turn)["stopReason"] == "end_turn"
        await one.until(lambda: one.cancelled)
        await other.until(lambda: other.text() == "Done.")
        assert len(who_decided(one, "Bash")) == 1
        assert who_decided(other, "Bash") == []
        assert other.text("user_message_chunk") == "go"


async def test_a_session_that_is_stopped_or_dies_goes_on_with_the_next_prompt(deck: Deck, fake: Simulated) -> None:
    fake.play(["One."])
    async with asyncio.timeout(LIMIT_S), deck.running() as host, deck.edit() as ed:
        session = await opened(ed, deck)
        await ed.prompt(session, "go")
        await host.stop(OfSession(session_id=session))
        assert (await ed.prompt(session, "on"))["stopReason"] == "end_turn"
        assert ed.text() == "One.One."
        assert ed.text("user_message_chunk") == ""


async def test_sessions_of_the_host_are_listed_named_archived_forked_and_deleted(deck: Deck, fake: Simulated) -> None:
    fake.play(["Said."], ["Again."])
    cwd = str(deck.cwd)
    async with asyncio.timeout(LIMIT_S), deck.running() as host, deck.edit() as ed:
        await ed.initialize()
        made = await host.create_session(CreateSession(cwd=cwd, prompt="from a browser", name="theirs"))
        await host.wait(Wait(session_id=made.id, timeout_s=LIMIT_S))
        (listed,) = (await ed.call("session/list", cwd=cwd))["sessions"]
        assert (listed["sessionId"], listed["title"]) == (made.id, "theirs")
        assert (await ed.call("session/status", sessionId=made.id))["status"] == "open"
        await ed.call("session/set_title", sessionId=made.id, title="ours")
        assert (await host.get_session(OfSession(session_id=made.id))).name == "ours"
        forked = (await ed.call("session/fork", sessionId=made.id, cwd=cwd))["sessionId"]
        assert (await ed.prompt(forked, "go"))["stopReason"] == "end_turn"
        await ed.call("session/close", sessionId=forked)
        assert (await host.get_session(OfSession(session_id=forked))).state == "stopped"
        await ed.call("session/archive", sessionId=made.id)
        assert [one["sessionId"] for one in (await ed.call("session/list", cwd=cwd))["sessions"]] == [forked]
        archived = await ed.call("session/list", cwd=cwd, archived="only")
        assert [one["sessionId"] for one in archived["sessions"]] == [made.id]
        await ed.call("session/unarchive", sessionId=made.id)
        for one in (made.id, forked):
            await ed.call("session/delete", sessionId=one)
        assert (await ed.call("session/list", cwd=cwd))["sessions"] == []
        with pytest.raises(RefusedError):
            await ed.call("session/load", sessionId=made.id, cwd=cwd, mcpServers=[])


async def test_a_conversation_from_before_the_host_is_shown_whole_and_once(deck: Deck, fake: Simulated) -> None:
    fake.play(["Said."])
    cwd = str(deck.cwd)
    async with asyncio.timeout(LIMIT_S):
        async with deck.edit("--agent", deck.agent) as ed:
            session = await opened(ed, deck)
            await ed.prompt(session, "alone")
        async with deck.running() as host:
            async with deck.edit() as ed:
                await ed.initialize()
                assert [one["sessionId"] for one in (await ed.call("session/list"))["sessions"]] == [session]
                await ed.call("session/load", sessionId=session, cwd=cwd, mcpServers=[])
                assert ed.text("user_message_chunk") == "alone"
                await ed.prompt(session, "with a host")
            for _ in range(2):
                async with deck.edit() as ed:
                    await ed.initialize()
                    (one,) = (await ed.call("session/list"))["sessions"]
                    assert one["sessionId"] == await only_session(host)
                    await ed.call("session/load", sessionId=session, cwd=cwd, mcpServers=[])
                    assert ed.text("user_message_chunk") == "alonewith a host"
                    assert ed.text() == "Said.Said."
                    await ed.call("session/load", sessionId=session, cwd=cwd, mcpServers=[])
                    assert ed.text("user_message_chunk") == "alonewith a host" * 2


async def test_a_session_to_which_nothing_was_said_is_not_left_in_the_host(deck: Deck, fake: Simulated) -> None:
    fake.play(["Never."])
    async with asyncio.timeout(LIMIT_S), deck.running() as host:
        async with deck.edit() as ed:
            await opened(ed, deck)
            await ed.leave()
        assert (await host.list_sessions(ListSessions())).sessions == []


async def test_the_editors_files_are_used_while_it_is_there_and_a_turn_goes_on_without_them(
    deck: Deck, fake: Simulated
) -> None:
    path = deck.cwd / "notes.txt"
    path.write_text("saved\n")
    read = {"tool": "Read", "input": {"file_path": str(path)}}
    fake.play([read, fake.held, read, "Done."])
    async with asyncio.timeout(LIMIT_S), deck.running() as host:
        async with deck.edit() as ed:
            session = await opened(ed, deck, **FILES)
            buffers = Buffers(ed)
            buffers.unsaved[str(path)] = "unsaved\n"
            ed.allow()
            ed.say(session, "read it")
            await ed.until(lambda: any(one["method"] == "fs/read_text_file" for one in ed.asked))
            await asyncio.to_thread(until, fake.is_held)
        fake.release()
        await host.wait(Wait(session_id=session, timeout_s=LIMIT_S))
        assert await replaced(host, session) == ["unsaved\n"]  # of two reads: the editor had gone before the second


async def replaced(host: Host, session: str) -> list[str]:
    """What the model was given of a file in place of what is on disk."""
    frames = (await host.read_events(ReadEvents(session_id=session, limit=100_000, view="raw"))).frames
    lines = [json.loads(event.line) for frame in frames for event in frame.events if isinstance(event, RawLine)]
    answers = [line["response"].get("response") or {} for line in lines if line["type"] == "control_response"]
    outputs = [one.get("hookSpecificOutput", {}).get("updatedToolOutput") for one in answers]
    return [one["file"]["content"] for one in outputs if one is not None]


async def test_without_a_host_or_with_no_host_sessions_run_in_the_agent(deck: Deck, fake: Simulated) -> None:
    fake.play(["Here."])
    async with asyncio.timeout(LIMIT_S):
        async with deck.edit("--agent", deck.agent) as ed:
            assert (await ed.prompt(await opened(ed, deck), "go"))["stopReason"] == "end_turn"
        async with deck.running() as host, deck.edit("--agent", deck.agent, "--no-host") as ed:
            assert (await ed.prompt(await opened(ed, deck), "go"))["stopReason"] == "end_turn"
            assert (await host.list_sessions(ListSessions())).sessions == []
        assert (deck.state / "token").exists()
        (deck.state / "host.sock").unlink(missing_ok=True)
        await leave_a_dead_socket(deck.state / "host.sock")
        async with deck.edit("--agent", deck.agent) as ed:
            assert (await ed.prompt(await opened(ed, deck), "go"))["stopReason"] == "end_turn"


async def leave_a_dead_socket(path: Path) -> None:
    """As a host leaves it that was killed."""
    import socket

    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


async def test_a_host_that_was_named_and_does_not_answer_is_an_error_that_says_so(deck: Deck) -> None:
    deck.state.mkdir()
    async with deck.edit("--host", str(deck.state)) as ed:
        await ed.initialize()
        with pytest.raises(RefusedError, match="no host is running"):
            await ed.new(deck.cwd)


# The real Claude Code


@pytest.fixture
def model() -> Any:
    with ModelServer() as served:
        yield served


@pytest.fixture
def real_deck(tmp_path: Path, model: ModelServer) -> Any:
    cwd, home = tmp_path / "repo", tmp_path / "home"
    cwd.mkdir()
    home.mkdir()
    env = {"HOME": str(home), "SHELL": "/bin/bash", **model.env()}
    with short_folder() as folder:
        yield Deck(folder, real_cli().argv[-1], lambda: env, cwd)


@pytest.mark.real
async def test_an_editor_that_is_closed_in_a_turn_of_the_real_cli_finds_it_again(
    real_deck: Deck, model: ModelServer
) -> None:
    gate = model.gate()
    model.reply("It begins and it goes on. ", Stall(after=4, until=gate))
    model.reply("Then more.")
    async with asyncio.timeout(120), real_deck.running() as host:
        async with real_deck.edit() as ed:
            session = await opened(ed, real_deck)
            ed.say(session, "go")
            await ed.until(lambda: "It begins" in ed.text())
            await ed.leave()
        assert (await host.get_session(OfSession(session_id=session))).state == "running"
        async with real_deck.edit() as again:
            await again.initialize()
            await again.call("session/load", sessionId=session, cwd=str(real_deck.cwd), mcpServers=[])
            assert again.text("user_message_chunk") == "go"
            gate.open()
            await again.until(lambda: again.text() == "It begins and it goes on. ")
            assert (await again.prompt(session, "and?"))["stopReason"] == "end_turn"
            assert again.text() == "It begins and it goes on. Then more."


@pytest.mark.real
async def test_a_permission_of_the_real_cli_is_decided_from_elsewhere_after_the_agent_was_killed(
    real_deck: Deck, model: ModelServer
) -> None:
    model.reply(ToolUse("Bash", {"command": "touch made.txt", "description": "Make a file"}))
    model.reply("Done.")
    async with asyncio.timeout(120), real_deck.running() as host, real_deck.elsewhere() as browser:
        async with real_deck.edit() as ed:
            session = await opened(ed, real_deck)
            ed.say(session, "go")
            await ed.until(lambda: ed.asked)
            ed.process.kill()
            await ed.process.wait()
        (waiting,) = await pending(host)
        await decide(browser, waiting)  # type: ignore[arg-type]  # the same methods
        await host.wait(Wait(session_id=session, timeout_s=LIMIT_S))
        assert (real_deck.cwd / "made.txt").exists()
        async with real_deck.edit() as again:
            await again.initialize()
            await again.call("session/load", sessionId=session, cwd=str(real_deck.cwd), mcpServers=[])
            assert again.text() == "Done."
            assert again.call_of("Bash")["status"] == "completed"
            assert json.dumps(again.asked) == "[]"
