"""A host under operations in any order, with restarts in between: what it shows is always consistent with its log."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Literal

import msgspec
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import soak
from host.kit import LIMIT_S, Place, all_frames, told
from quarterdeck.host import Host, HostError
from quarterdeck.host.events import ApprovalChanged, PolicyDecided, QueueChanged, StatusChange
from quarterdeck.host.requests import (
    Decide,
    Decision,
    Fork,
    ListApprovals,
    ListSessions,
    OfPrompt,
    OfSession,
    SendPrompt,
)
from quarterdeck.host.resources import Session
from quarterdeck.timeline.events import PromptSent

NUMBER = st.integers(min_value=0, max_value=9)
PROMPT = st.sampled_from(["talk", "ask", "hold"])
EXPECTED = {"not_running", "conflict", "already_decided", "withdrawn", "not_found", "busy"}
"""What an operation may be refused with because of what happened just before it."""
NEXT = {
    "pending": {"decided", "withdrawn", "stranded"},
    "decided": {"delivered", "undeliverable"},
    "delivered": {"applied"},
}
SESSIONS = 4


class HostMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.place = Place(self.root, keeper=True)
        asks = {"tool": "Bash", "input": {"command": "echo ran >> ran.txt", "description": "Note it"}}
        self.place.claude.play(
            rules=[
                {"when": "ask", "steps": ["I will.", asks, "Done."]},
                {"when": "hold", "steps": [{"wait_for": str(self.root / "never")}, "Held."]},
                {"when": "talk", "steps": ["Hello."]},
            ]
        )
        self.runner = asyncio.Runner()
        self.host: Host = self.run(self.place.host().open())
        self.ids: list[str] = []
        self.stopped: set[str] = set()
        """Sessions that were stopped last, and told nothing since."""
        self.prompts: dict[str, str] = {}
        """Prompts that were taken → their session."""
        self.seen: dict[str, list[bytes]] = {}
        """Frames as they were read before."""

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        async def bounded() -> Any:
            async with asyncio.timeout(LIMIT_S):
                return await work

        return self.runner.run(bounded())

    def attempt(self, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return self.run(work)
        except HostError as error:
            assert error.code in EXPECTED, error
            return None

    def one(self, number: int) -> str:
        return self.ids[number % len(self.ids)]

    # Operations

    @precondition(lambda self: len(self.ids) < SESSIONS)
    @rule(prompt=st.none() | PROMPT)
    def create(self, prompt: str | None) -> None:
        self.ids.append(self.run(self.place.created(self.host, prompt)).id)

    @precondition(lambda self: self.ids)
    @rule(number=NUMBER, prompt=PROMPT, priority=st.sampled_from(["next", "later", "now"]))
    def send(self, number: int, prompt: str, priority: Literal["next", "later", "now"]) -> None:
        session = self.one(number)
        request = SendPrompt(session_id=session, content=prompt, priority=priority)
        accepted = self.attempt(self.host.send_prompt(request))
        self.stopped.discard(session)
        if accepted is not None:
            assert accepted.prompt_id not in self.prompts
            self.prompts[accepted.prompt_id] = session

    @precondition(lambda self: self.prompts)
    @rule(number=NUMBER)
    def withdraw(self, number: int) -> None:
        prompt = list(self.prompts)[number % len(self.prompts)]
        self.attempt(self.host.withdraw_prompt(OfPrompt(session_id=self.prompts[prompt], prompt_id=prompt)))

    @rule(number=NUMBER, decision=st.sampled_from(["allow", "deny"]))
    def decide(self, number: int, decision: Literal["allow", "deny"]) -> None:
        found = self.run(self.host.list_approvals(ListApprovals())).approvals
        if found:
            request = Decide(approval_id=found[number % len(found)].id, decision=Decision(decision=decision))
            self.attempt(self.host.decide(request))

    @precondition(lambda self: self.ids)
    @rule(number=NUMBER)
    def interrupt(self, number: int) -> None:
        self.attempt(self.host.interrupt(OfSession(session_id=self.one(number))))

    @precondition(lambda self: self.ids)
    @rule(number=NUMBER)
    def stop(self, number: int) -> None:
        session = self.one(number)
        self.run(self.host.stop(OfSession(session_id=session)))
        self.stopped.add(session)

    @precondition(lambda self: self.ids)
    @rule(number=NUMBER)
    def resume(self, number: int) -> None:
        session = self.one(number)
        self.run(self.host.resume(OfSession(session_id=session)))
        self.stopped.discard(session)

    @precondition(lambda self: 0 < len(self.ids) < SESSIONS)
    @rule(number=NUMBER)
    def fork(self, number: int) -> None:
        try:
            self.ids.append(self.run(self.host.fork(Fork(session_id=self.one(number)))).id)
        except HostError as error:
            assert error.code in {"conflict", "cli_failed"}, error  # there is no transcript yet
            listed = self.run(self.host.list_sessions(ListSessions())).sessions
            self.ids += [one.id for one in listed if one.id not in self.ids]

    @rule()
    def restart(self) -> None:
        self.run(self.host.close())
        self.host = self.run(self.place.host().open())

    # What always holds

    @invariant()
    def everything_fits(self) -> None:
        for session in self.ids:
            self.run(self.check(session))

    async def check(self, session: str) -> None:
        now = await self.host.get_session(OfSession(session_id=session))
        frames = await all_frames(self.host, session)
        assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
        written = [msgspec.json.encode(frame) for frame in frames]
        before = self.seen.get(session, [])
        assert written[: len(before)] == before, "a frame that was shown has changed"
        self.seen[session] = written
        if session in self.stopped:
            assert now.state in ("stopped", "crashed"), now.state_reason
        self.check_approvals(frames)
        self.check_state(now, frames)
        self.check_prompts(session, frames)

    def check_approvals(self, frames: Any) -> None:
        last: dict[str, str] = {}
        for event in told(frames, ApprovalChanged):
            one = event.approval
            assert one.state == "pending" if one.id not in last else one.state in NEXT[last[one.id]]
            last[one.id] = one.state
        policy = [(event.tool_use_id, event.asked_in) for event in told(frames, PolicyDecided)]
        assert len(policy) == len(set(policy))

    def check_state(self, now: Session, frames: Any) -> None:
        changes = told(frames, StatusChange)
        assert all(one.state != other.state for one, other in itertools.pairwise(changes))
        assert all(one.state == other.before for one, other in itertools.pairwise(changes))
        if changes and len(frames) == now.seq:
            assert changes[-1].state == now.state

    def check_prompts(self, session: str, frames: Any) -> None:
        known = {event.id for event in told(frames, PromptSent)}
        known |= {prompt.id for event in told(frames, QueueChanged) for prompt in event.prompts}
        assert {prompt for prompt, owner in self.prompts.items() if owner == session} <= known

    def teardown(self) -> None:
        try:
            for session in self.ids:
                self.run(self.host.stop(OfSession(session_id=session)))
                assert self.run(self.host.get_session(OfSession(session_id=session))).state in ("stopped", "crashed")
            left = self.run(self.host.list_approvals(ListApprovals(state=["pending", "decided"]))).approvals
            assert left == [], "nobody waits for these any more"
        finally:
            self.run(self.host.close())
            self.run(self.place.end_keeper())
            self.runner.close()
            shutil.rmtree(self.root, ignore_errors=True)


def test_operations_in_any_order_leave_a_host_that_agrees_with_its_log() -> None:
    limits = settings(
        max_examples=soak.cases(4, in_soak=150),
        stateful_step_count=soak.cases(12, in_soak=40),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink] if soak.ON else [Phase.generate],
    )
    run_state_machine_as_test(seed(soak.SEED)(HostMachine), settings=limits)
