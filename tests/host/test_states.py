"""The states of a session: which comes first if several apply, and those that only some processes bring about."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from host.kit import Place, all_frames, decide, frames_until, kinds, pending, states_of, told
from quarterdeck.host.bodies import SessionBody
from quarterdeck.host.events import StatusChange
from quarterdeck.host.requests import ListApprovals, OfSession, WatchSession
from quarterdeck.host.state import state_of
from quarterdeck.timeline.events import DialogAsked
from quarterdeck.timeline.state import Auth, State

ODD_CLI = Path(__file__).parent / "odd_cli.py"
HOLDS: dict[str, dict[str, Any]] = {
    "crashed": {"process": "exited", "wanted": True},
    "stopped": {"process": "exited"},
    "parked": {"process": "exited", "parked": True},
    "starting": {"process": "starting"},
    "authenticating": {"auth": Auth(authenticating=True)},
    "limited": {"limited": True},
    "waiting": {"waiting": 1},
    "compacting": {"phase": "compacting"},
    "running": {"turn_started_at": 1.0},
    "idle": {},
}
"""State → what makes it true. A state takes precedence over all those after it, except that a session whose process is
gone is in one of the first three, which exclude each other."""


def state_with(facts: dict[str, Any]) -> str:
    body = SessionBody(process=facts.get("process", "running"), wanted=facts.get("wanted", False))
    body.parked = facts.get("parked", False)
    timeline = State()
    timeline.auth, timeline.phase = facts.get("auth"), facts.get("phase")
    timeline.turn_started_at = facts.get("turn_started_at")
    told = {"waiting": facts.get("waiting", 0), "limited": facts.get("limited", False)}
    return state_of(body, timeline, in_turn=False, **told)


@pytest.mark.parametrize("state", HOLDS)
def test_a_state_comes_before_all_that_follow_it(state: str) -> None:
    states = list(HOLDS)
    later = states[states.index(state) :]
    facts: dict[str, Any] = {}
    for one in reversed(later if state not in ("crashed", "stopped") else [state, *states[3:]]):
        facts |= HOLDS[one]
    assert state_with(facts) == state
    assert state_with(HOLDS[state]) == state


def saying(*lines: dict[str, Any], **odd: Any) -> dict[str, list[str]]:
    """A host's agents: Claude Code, which says these lines in each turn."""
    return {"claude": [sys.executable, str(ODD_CLI), json.dumps({"lines": lines, **odd})]}


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ({"type": "auth_status", "isAuthenticating": True, "output": ["Open the browser."]}, "authenticating"),
        ({"type": "system", "subtype": "status", "status": "compacting"}, "compacting"),
    ],
    ids=["signing in", "compacting"],
)
async def test_a_session_says_what_its_process_is_doing(tmp_path: Path, line: dict[str, Any], state: str) -> None:
    place = Place(tmp_path, keeper=False)
    async with place.opened(agents=saying(line, tool_name="Bash")) as host:
        session = await place.created(host)
        (asked,) = await pending(host)
        seen = [(await host.get_session(OfSession(session_id=session.id))).state]
        await decide(host, asked)
        async for frame in host.watch_session(WatchSession(session_id=session.id, previews=False)):
            seen += [event.state for event in frame.events if isinstance(event, StatusChange)]
            if "TurnEnded" in kinds([frame]):
                break
        assert state in seen


async def test_a_dialog_is_an_approval_and_its_answer_reaches_the_process(tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=False)
    dialog = {"subtype": "request_user_dialog", "dialog_kind": "refusal_fallback_prompt", "payload": {"why": "x"}}
    async with place.opened(agents=saying(request=dialog)) as host:
        session = await place.created(host)
        (asked,) = await pending(host)
        assert (asked.kind, asked.summary, asked.input) == ("dialog", "refusal_fallback_prompt", {"why": "x"})
        await decide(host, asked, "deny")
        frames = await frames_until(host, session.id, "idle")
        assert [event.request.kind for event in told(frames, DialogAsked)] == ["refusal_fallback_prompt"]
        assert states_of(frames)[:3] == ["pending", "decided", "delivered"]
        assert (await host.list_approvals(ListApprovals())).approvals == []
        assert len(await all_frames(host, session.id)) >= len(frames)
