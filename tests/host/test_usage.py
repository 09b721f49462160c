"""What sessions use and what they may: usage, budgets."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from host.kit import LIMIT_S, Place, end_keeper, frames_until, next_turn, told
from host.staged import BOTH, host_over, stage_in
from quarterdeck.host import Host, HostError
from quarterdeck.host.budgets import state_of_budget
from quarterdeck.host.events import BudgetChanged, UsageReport
from quarterdeck.host.requests import (
    CreateSession,
    GetUsage,
    ListSessions,
    Nothing,
    OfSession,
    SendPrompt,
    Settings,
    UpdateSession,
)
from quarterdeck.host.resources import Session
from quarterdeck.host.times import usd
from quarterdeck.host.turn_meter import Prices
from quarterdeck.store.records import Usage
from quarterdeck.timeline.state import Cost
from quarterdeck.timeline.usage import add_result
from quarterdeck.wire import ResultMessage, decode


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


async def total(host: Host, *by: Any) -> list[tuple[dict[str, str], Decimal]]:
    request = GetUsage(by=list(by)) if by else GetUsage()
    return [(row.by, row.cost_usd) for row in (await host.get_usage(request)).usage]


async def costs_of(host: Host, session: Session, *prompts: str) -> list[Decimal]:
    """What each of these turns cost, in a new process if none is running."""
    frames = [frame for prompt in prompts for frame in await next_turn(host, session.id, prompt)]
    return [one.cost_usd for one in told(frames, UsageReport)]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("keeper", [True, False], ids=["keeper", "no keeper"])
async def test_usage_adds_up_over_turns_a_stop_a_clear_and_restarts(tmp_path: Path, kind: str, keeper: bool) -> None:
    """Every turn costs the same, whatever its process has counted before."""
    with stage_in(tmp_path / "stage", kind) as stage:
        for _ in range(8):
            stage.reply("Done.")
        costs: list[Decimal] = []
        async with asyncio.timeout(LIMIT_S), host_over(stage, keeper=keeper) as host:
            session = await host.create_session(CreateSession(cwd=str(stage.cwd)))
            costs += await costs_of(host, session, "one", "two")
            await host.stop(OfSession(session_id=session.id))
            costs += await costs_of(host, session, "three", "/clear", "four")
        async with asyncio.timeout(LIMIT_S), host_over(stage, keeper=keeper) as host:
            costs += await costs_of(host, session, "five", "/clear", "six")
        async with asyncio.timeout(LIMIT_S), host_over(stage, keeper=keeper) as host:
            costs += await costs_of(host, session, "seven")
            assert costs[0] > 0
            assert [cost for cost in costs if cost] == 7 * costs[:1]
            whole = 7 * costs[0]
            assert await total(host, "session") == [({"session": session.id}, whole)]
            assert (await host.get_session(OfSession(session_id=session.id))).cost_usd == whole
            await host.stop(OfSession(session_id=session.id))
        if keeper:
            await end_keeper(stage.folder / "state")


async def test_usage_is_grouped_as_asked(place: Place) -> None:
    place.claude.play(["One."])
    async with place.opened() as host:
        sessions = [await place.created(host), await place.created(host)]
        for session in sessions:
            await frames_until(host, session.id, "idle")
        ((day, whole),) = await total(host)
        assert day == {"day": datetime.now(UTC).strftime("%Y-%m-%d")}
        by_session = await total(host, "session")
        assert {row["session"] for row, _ in by_session} == {session.id for session in sessions}
        assert sum((cost for _, cost in by_session), Decimal(0)) == whole > 0
        ((model, cost),) = await total(host, "model", "cwd")
        assert (cost, model["cwd"]) == (whole, str(place.cwd.resolve()))
        assert (await host.get_usage(GetUsage(to=datetime(2020, 1, 1, tzinfo=UTC)))).usage == []
        with pytest.raises(HostError):
            await host.get_usage(GetUsage(by=[]))


async def test_a_budget_that_is_reached_takes_no_new_prompts(place: Place) -> None:
    place.claude.play(["One."], ["Two."])
    async with place.opened() as host:
        session = await place.created(host, budget_usd=Decimal("0.000001"))
        given, change = told(await frames_until(host, session.id, "idle"), BudgetChanged)
        assert (given.state, given.budget_usd, given.spent_usd) == ("set", Decimal("0.000001"), 0)
        assert (change.state, change.scope, change.budget_usd) == ("reached", "session", Decimal("0.000001"))
        assert change.spent_usd > 0
        with pytest.raises(HostError, match="used up") as refused:
            await host.send_prompt(SendPrompt(session_id=session.id, content="more"))
        assert refused.value.code == "budget_reached"


async def test_a_budget_that_comes_near_its_end_is_told_once(place: Place) -> None:
    place.claude.play(["One."], ["Two."], ["Three."])
    async with place.opened() as host:
        first = await place.created(host)
        (report,) = told(await frames_until(host, first.id, "idle"), UsageReport)
        budget = report.cost_usd * Decimal("2.3")
        session = await place.created(host, budget_usd=budget)
        frames = await frames_until(host, session.id, "idle")
        frames += await next_turn(host, session.id)
        frames += await next_turn(host, session.id)
        assert [one.state for one in told(frames, BudgetChanged)] == ["set", "near", "reached"]


async def test_the_budget_of_the_host_holds_for_all_sessions_and_survives_a_restart(place: Place) -> None:
    place.claude.play(["One."], ["Two."])
    async with place.host() as host:
        other = await place.created(host, prompt=None)
        set_ = await host.set_budgets(Settings(settings={"day_usd": "0.000001"}))
        assert set_.details["day_usd"] == "0.000001"
        session = await place.created(host)
        (change,) = told(await frames_until(host, session.id, "idle"), BudgetChanged)
        assert (change.state, change.scope) == ("reached", "host")
        for one in (session, other):
            with pytest.raises(HostError) as refused:
                await host.send_prompt(SendPrompt(session_id=one.id, content="more"))
            assert refused.value.code == "budget_reached"
    async with place.opened() as host:
        known = (await host.get_budgets(Nothing())).details
        assert known["day_usd"] == "0.000001"
        assert Decimal(known["spent"]["day_usd"]) == change.spent_usd
        with pytest.raises(HostError, match="host's budget"):
            await host.send_prompt(SendPrompt(session_id=session.id, content="more"))
        await host.set_budgets(Settings(settings={}))
        await next_turn(host, session.id)


@pytest.mark.parametrize(
    "bad",
    [{"day_usd": "-1"}, {"week_usd": "1"}, {"day_usd": "much"}, {"day_usd": "NaN"}, {"month_usd": "Infinity"}],
    ids=str,
)
async def test_budgets_that_make_no_sense_are_refused(place: Place, bad: dict[str, Any]) -> None:
    async with place.opened() as host:
        with pytest.raises(HostError) as refused:
            await host.set_budgets(Settings(settings=bad))
        assert refused.value.code == "invalid"


@pytest.mark.parametrize("bad", ["NaN", "sNaN", "Infinity", "1e400", "-1"])
async def test_a_session_has_no_budget_that_cannot_be_compared(place: Place, bad: str) -> None:
    place.claude.play(["One."])
    async with place.opened() as host:
        session = await place.created(host, None)
        with pytest.raises(HostError) as created:
            await place.created(host, budget_usd=Decimal(bad))
        with pytest.raises(HostError) as changed:
            await host.update_session(UpdateSession(session_id=session.id, budget_usd=Decimal(bad)))
        for refused in (created.value, changed.value):
            assert (refused.code, refused.details["field"]) == ("invalid", "budget_usd")
        assert [one.id for one in (await host.list_sessions(ListSessions())).sessions] == [session.id]


def messages(gate: Path, count: int) -> list[Any]:
    """A turn of several model calls, which waits in the end."""
    return [*[{"tool": "TodoWrite", "input": {"todos": []}}] * count, {"wait_for": str(gate)}, "Never said."]


async def test_a_turn_that_uses_up_the_sessions_budget_is_interrupted_and_the_next_prompt_refused(
    place: Place, tmp_path: Path
) -> None:
    place.claude.play(["One."], messages(tmp_path / "gate", 6))
    async with place.opened() as host:
        first = await place.created(host)
        (report,) = told(await frames_until(host, first.id, "idle"), UsageReport)  # from which the price is learned
        await host.update_session(UpdateSession(session_id=first.id, budget_usd=report.cost_usd * 3))
        frames = await next_turn(host, first.id, "work")
        changes = told(frames, BudgetChanged)
        assert [(one.state, one.scope) for one in changes[:2]] == [("near", "session"), ("interrupted", "session")]
        assert changes[1].spent_usd >= report.cost_usd * 3
        assert "Never said." not in str(frames)
        await host.update_session(UpdateSession(session_id=first.id, budget_usd=report.cost_usd))
        with pytest.raises(HostError) as refused:
            await host.send_prompt(SendPrompt(session_id=first.id, content="more"))
        assert refused.value.code == "budget_reached"


async def test_a_day_that_others_have_used_up_interrupts_the_turns_that_run(place: Place, tmp_path: Path) -> None:
    place.claude.play(messages(tmp_path / "gate", 1), rules=[{"when": "short", "steps": ["Short."]}])
    async with place.opened() as host:
        running = await place.created(host, "long")
        while not (tmp_path / "gate.reached").exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await host.set_budgets(Settings(settings={"day_usd": "0.000001"}))
        frames = await frames_until(host, running.id, "idle")
        changes = [(one.state, one.scope) for one in told(frames, BudgetChanged)]
        assert changes[:2] == [("near", "host"), ("interrupted", "host")]
        with pytest.raises(HostError) as refused:
            await host.send_prompt(SendPrompt(session_id=running.id, content="more"))
        assert refused.value.code == "budget_reached"


def test_a_price_is_learned_from_what_was_billed_and_guessed_by_family_before() -> None:
    prices = Prices()
    assert (prices.of("claude-haiku-4-5"), prices.of("mystery")) == (1e-6, 0.0)
    prices.learn("mystery", Usage(input_tokens=1_000, output_tokens=100, cost_nano_usd=3_000_000))
    assert prices.of("mystery") == pytest.approx(2e-6)
    prices.learn("mystery", Usage())  # a result that says nothing changes nothing
    assert prices.of("mystery") == pytest.approx(2e-6)


@pytest.mark.parametrize("cost", ["0.000001", "0.0000013", "0.1", "0.0123457"])
def test_ten_thousand_turns_reach_a_budget_exactly(cost: str) -> None:
    """Claude Code reports binary fractions. Their sum is off by less than a millionth, to which amounts are rounded."""
    spent, budget, turns = Cost(), Decimal(cost) * 10_000, 10_000
    used = {"m": {"inputTokens": 1, "outputTokens": 1, "costUSD": float(cost)}}
    for number in range(1, turns + 1):
        line = {"type": "result", "subtype": "success", "uuid": str(number), "model_usage_since_last_result": used}
        message = decode(json.dumps(line).encode())
        assert isinstance(message, ResultMessage)
        add_result(spent, message)
        if number == turns - 1:
            assert state_of_budget(budget, usd(spent.total_usd)) == "near"
    assert usd(spent.total_usd) == budget
    assert state_of_budget(budget, usd(spent.total_usd)) == "reached"
