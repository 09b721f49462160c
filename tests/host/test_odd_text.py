"""Text and numbers that no database keeps: a caller's are refused, Claude Code's are kept as far as they can be."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.kit import Place, all_frames, decide, frames_until, next_turn, pending, told
from quarterdeck.host import HostError
from quarterdeck.host.events import RawLine
from quarterdeck.host.requests import (
    AddEvent,
    Export,
    GetUsage,
    ListApprovals,
    OfSession,
    ReadEvents,
    Search,
    SendPrompt,
    Settings,
    UpdateSession,
    Wait,
)
from quarterdeck.host.whole_text import encode_whole, whole_text
from quarterdeck.timeline.events import TextCompleted

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


HALF = "x\ud800y"
"""What JavaScript leaves when it cuts a text in the middle of a character."""
WHOLE = "x\ufffdy"


async def test_half_a_character_of_claude_code_is_kept_in_the_log_and_shown_as_a_replacement(place: Place) -> None:
    block = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": HALF, HALF: 1}}
    said = {"id": "m", "type": "message", "role": "assistant", "model": HALF, "usage": {}}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": HALF}}
    lines = [
        {"type": "stream_event", "event": {"type": "message_start", "message": {**said, "content": []}}},
        {
            "type": "stream_event",
            "event": {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        },
        {"type": "stream_event", "event": delta},
        {"type": "assistant", "message": {**said, "content": [{"type": "text", "text": HALF}, block]}},
    ]
    rule = {"toolName": "Bash", "ruleContent": HALF}
    asked = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": HALF}, "tool_use_id": "t"}
    suggested = [{"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}]
    request = {**asked, "decision_reason": HALF, "blocked_path": HALF, "permission_suggestions": suggested}
    result = {"result": HALF, "modelUsage": {HALF: {"inputTokens": 1, "costUSD": 0.1}}}
    odd = json.dumps({"lines": lines, "request": request, "result": result})
    async with place.opened(agents={"claude": [sys.executable, str(ODD_CLI), odd]}) as host:
        session = await place.created(host)
        (approval,) = await pending(host, session.id)
        assert (approval.input, approval.reason, approval.blocked_path) == ({"command": WHOLE}, WHOLE, WHOLE)
        await decide(host, approval)
        live = await frames_until(host, session.id, "idle")
        (text,) = told(live, TextCompleted)
        assert text.text == WHOLE
        assert msgspec.json.encode(await all_frames(host, session.id)) == msgspec.json.encode(live)
        exports = [await host.export_session(Export(session_id=session.id, format=one)) for one in ("md", "html")]
        assert all(WHOLE in one.body.decode() for one in exports)
        (used,) = (await host.get_usage(GetUsage(by=["model"]))).usage
        assert used.by == {"model": WHOLE}
        raw = (await host.read_events(ReadEvents(session_id=session.id, view="raw", limit=1_000))).frames
        assert any("x\\ud800y" in event.line for event in told(raw, RawLine))
    async with place.opened() as host:
        assert (await host.get_session(OfSession(session_id=session.id))).state == "stopped"
        assert msgspec.json.encode((await all_frames(host, session.id))[: len(live)]) == msgspec.json.encode(live)


ANY_TEXT = st.text(st.characters(codec=None, categories=None), max_size=12)


@given(st.recursive(ANY_TEXT, lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner), max_leaves=8))
def test_a_json_text_is_made_whole_and_changes_in_nothing_else(value: Any) -> None:
    line = json.dumps(value).encode()
    whole = json.loads(whole_text(line))
    json.dumps(whole, ensure_ascii=False).encode()  # every character of it can be encoded
    as_text = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert json.dumps(whole, ensure_ascii=False) == as_text or len(json.dumps(whole)) < len(line)
    assert msgspec.json.decode(encode_whole(value)) == whole
    if as_text == json.dumps(value, ensure_ascii=False):
        assert whole_text(line) == line


async def test_half_a_character_is_refused_wherever_a_program_passes_it(place: Place) -> None:
    half = "\ud800"
    place.claude.play(["One."])
    async with place.opened() as host:
        session = await place.created(host)
        await host.wait(Wait(session_id=session.id))
        for call in (
            host.search(Search(q=f"{half}a")),
            host.send_prompt(SendPrompt(session_id=session.id, content=half)),
            host.add_event(AddEvent(session_id=session.id, type=half)),
            host.add_event(AddEvent(session_id=session.id, type="ci", data={"a": half})),
            host.set_presets(Settings(settings={"presets": {"a": {"tags": [half]}}})),
            host.get_session(OfSession(session_id=half)),
        ):
            with pytest.raises(HostError) as refused:
                await call
            assert refused.value.code == "invalid"
        await host.update_session(UpdateSession(session_id=session.id, name="goes on"))
