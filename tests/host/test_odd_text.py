"""Text and numbers that no database keeps: a caller's are refused, Claude Code's are kept as far as they can be."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from host.kit import Place, decide, next_turn, pending
from quarterdeck.host import HostError
from quarterdeck.host.requests import (
    AddEvent,
    GetUsage,
    ListApprovals,
    OfSession,
    Search,
    SendPrompt,
    Settings,
    UpdateSession,
    Wait,
)

ODD_CLI = Path(__file__).parent / "odd_cli.py"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


@pytest.mark.parametrize("odd", ["a\0b", "a\ud800b"], ids=["NUL", "half a character"])
@pytest.mark.parametrize("field", ["name", "tags"])
async def test_a_name_that_cannot_be_kept_is_refused_and_the_session_goes_on(
    place: Place, field: str, odd: str
) -> None:
    place.claude.play(["One."], ["Two."])
    async with place.opened() as host:
        session = await place.created(host)
        await host.wait(Wait(session_id=session.id))
        change: dict[str, Any] = {field: odd if field == "name" else [odd]}
        with pytest.raises(HostError) as refused:
            await host.update_session(UpdateSession(session_id=session.id, model="other", **change))
        assert (refused.value.code, refused.value.details["field"]) == ("invalid", field)
        assert (await host.get_session(OfSession(session_id=session.id))).model != "other"
        await next_turn(host, session.id)


ODD: dict[str, dict[str, Any]] = {
    "a tool": {"tool_name": "mcp__a\0__b"},
    "a request": {"request_id": "r\0"},
    "a session": {"session_id": "s\0"},
    "a model": {"result": {"modelUsage": {"m\0": {"inputTokens": 1, "outputTokens": 1, "costUSD": 0.1}}}},
    "more tokens than there are": {"result": {"modelUsage": {"m": {"inputTokens": 10**30, "costUSD": 0.1}}}},
    "a cost of thirty digits": {"result": {"total_cost_usd": 1e30, "modelUsage": {"m": {"costUSD": 1e30}}}},
    "the largest cost": {"result": {"total_cost_usd": 1.7e308, "modelUsage": {"m": {"costUSD": 1.7e308}}}},
    "a cost below nothing": {"result": {"total_cost_usd": -1e30, "modelUsage": {"m": {"costUSD": -1e30}}}},
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
async def test_what_claude_code_says_ends_no_session(place: Place, odd: dict[str, Any]) -> None:
    agents = {"claude": [sys.executable, str(ODD_CLI), json.dumps(odd)]}
    async with place.opened(agents=agents) as host:
        session = await place.created(host)
        for _ in range(2):
            if "tool_name" in odd:
                (asked,) = await pending(host, session.id)
                assert asked.tool == odd["tool_name"]
                await decide(host, asked)
            await host.wait(Wait(session_id=session.id))
            state = await host.update_session(UpdateSession(session_id=session.id, name="goes on"))
            assert (state.state, state.state_reason) == ("idle", "")
            assert (await host.list_approvals(ListApprovals(session=session.id))).approvals == []
            await host.send_prompt(SendPrompt(session_id=session.id, content="again"))
        used = (await host.get_usage(GetUsage(by=["session", "model"]))).usage
        assert all(abs(one.cost_usd) < 10**15 for one in used)
        assert bool(used) is ("result" in odd)
    async with place.opened(agents=agents) as host:
        assert (await host.get_session(OfSession(session_id=session.id))).name == "goes on"


async def test_half_a_character_is_refused_wherever_a_program_passes_it(place: Place) -> None:
    half = "\ud800"
    place.claude.play(["One."])
    async with place.opened() as host:
        session = await place.created(host)
        await host.wait(Wait(session_id=session.id))
        for call in (
            host.search(Search(q=f"{half}a")),
            host.add_event(AddEvent(session_id=session.id, type=half)),
            host.add_event(AddEvent(session_id=session.id, type="ci", data={"a": half})),
            host.set_presets(Settings(settings={"presets": {"a": {"tags": [half]}}})),
            host.get_session(OfSession(session_id=half)),
        ):
            with pytest.raises(HostError) as refused:
                await call
            assert refused.value.code == "invalid"
        await host.update_session(UpdateSession(session_id=session.id, name="goes on"))
