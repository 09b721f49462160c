"""What the host tells about a session by itself: its budget, its transcript, its account's limits."""

from __future__ import annotations

import asyncio
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from gateways.http.kit import served
from host.kit import Clock
from page.browser import driven, window
from page.kit import Deck, looked_at
from page.test_fold import by_the_page
from quarterdeck.host.requests import Lifecycle, Nothing, OfSession, UpdateSession
from quarterdeck.host.requests import Settings as HostSettings

expect.set_options(timeout=45_000)


@pytest.mark.parametrize(
    ("state", "scope", "told"),
    [
        ("near", "session", "The session's budget of $2.00 is nearly used up ($1.70 spent)."),
        ("near", "host", "The host's budget of $2.00 is nearly used up ($1.70 spent)."),
        ("reached", "session", "The session's budget of $2.00 is used up: no further prompt is sent ($1.70 spent)."),
        ("interrupted", "host", "The host's budget of $2.00 is used up: the turn was stopped ($1.70 spent)."),
        ("set", "session", None),
    ],
)
def test_a_budget_says_whose_it_is_and_what_follows(state: str, scope: str, told: str | None) -> None:
    event = {"type": "budget_changed", "at": 1.0, "state": state, "budget_usd": "2", "spent_usd": "1.7", "scope": scope}
    (seen,) = by_the_page([{"frames": [{"session": "s", "seq": 1, "at": 1.0, "events": [event]}]}])
    assert [(item["text"], item["level"]) for item in seen["items"]] == ([] if told is None else [(told, "warning")])


async def test_a_session_at_its_budget_says_so_and_goes_on_when_it_is_raised(
    tmp_path: Path, browser_address: str
) -> None:
    turns: list[Any] = [["One."], ["Two."]]
    async with looked_at(tmp_path, browser_address, *turns) as (there, page):
        host = there.there.host
        session = await there.there.session()
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".turn")).to_have_count(1)
        spent = (await host.get_session(OfSession(session_id=session))).cost_usd
        assert spent
        await page.locator(".session-head .cost").click()
        await page.get_by_label("Budget, USD").fill(str(spent / 2))
        await page.locator(".panel").get_by_role("button", name="Save").click()
        await expect(page.locator(".toast").last).to_contain_text("in all")
        await page.get_by_label("Prompt").fill("more")
        await page.get_by_label("Prompt").press("Enter")
        await expect(page.locator(".toast.error")).to_contain_text("budget")
        await expect(page.get_by_label("Prompt")).to_have_value("more")  # what was typed is not lost
        await page.get_by_label("Budget, USD").fill("5")
        await page.locator(".panel").get_by_role("button", name="Save").click()
        await expect(page.locator(".session-head .cost")).to_contain_text("of $5.00")
        await page.get_by_label("Prompt").press("Enter")
        await expect(page.locator(".turn")).to_have_count(2)
        await page.get_by_label("Budget, USD").fill("")
        await page.locator(".panel").get_by_role("button", name="Save").click()
        await expect(page.locator(".session-head .cost")).not_to_contain_text("of")
        assert (await host.get_session(OfSession(session_id=session))).budget_usd is None


async def test_a_turn_that_is_stopped_by_a_budget_says_why(tmp_path: Path, browser_address: str) -> None:
    gate = tmp_path / "gate"
    todo = {"tool": "TodoWrite", "input": {"todos": []}}
    async with looked_at(tmp_path, browser_address, ["One."], [*[todo] * 6, {"wait_for": str(gate)}, "Never."]) as (
        there,
        page,
    ):
        host = there.there.host
        session = await there.there.session()
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".turn")).to_have_count(1)
        spent = (await host.get_session(OfSession(session_id=session))).cost_usd or Decimal(0)
        await host.update_session(UpdateSession(session_id=session, budget_usd=spent * 3))
        await page.get_by_label("Prompt").fill("work")
        await page.get_by_label("Prompt").press("Enter")
        stopped = page.locator(".notice.warning", has_text="The session's budget of")
        await expect(stopped.filter(has_text="used up: the turn was stopped")).to_be_visible()
        await expect(page.locator(".turn.interrupted")).to_have_count(1)
        await page.reload()  # from the snapshot, which does not have it
        await expect(stopped.filter(has_text="used up: the turn was stopped")).to_be_visible()


async def test_a_limited_account_says_until_when_and_how_full_it_is(tmp_path: Path, browser_address: str) -> None:
    resets = time.time() + 3 * 86_400
    told = {"status": "rejected", "rateLimitType": "five_hour", "resetsAt": resets, "utilization": 1.0}
    async with looked_at(tmp_path, browser_address, [{"rate_limit": told}, "Limited."]) as (there, page):
        session = await there.there.session()
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".session-head .state")).to_have_text("limited")
        shown = await page.evaluate("(at) => new Date(at * 1000).toLocaleTimeString([], {minute: '2-digit'})", resets)
        await expect(page.locator(".session-head .until")).to_contain_text(f":{int(shown):02d}")
        await expect(page.locator(".doing.problem")).to_contain_text(
            "limited: The account's rate limit is reached. The limit ends at"
        )
        await page.goto(f"{there.url}#/sessions")
        await expect(page.locator(".sessions tbody .until")).to_contain_text("until")
        await page.goto(f"{there.url}#/usage")
        await expect(page.get_by_label("Rate limits").locator("p.problem")).to_contain_text("five hours: 100 % used")
        await expect(page.get_by_label("Rate limits").locator("meter")).to_have_js_property("value", 1)
        assert (await there.there.host.get_limits(Nothing())).details["accounts"]


@pytest.mark.parametrize("what", ["continued", "restored"])
async def test_what_happened_to_the_transcript_meanwhile_is_told(
    tmp_path: Path, browser_address: str, what: str
) -> None:
    clock = Clock()
    parks = Lifecycle(park_s=50.0)
    async with served(tmp_path, clock=clock) as there, driven(browser_address) as browser, window(browser) as person:
        there.place.claude.play(["One."], ["Two."])
        session = await there.session(lifecycle=parks)
        of = OfSession(session_id=session)
        while (now := await there.host.get_session(of)).state != "parked":
            clock.now += 1.0
            await asyncio.sleep(0.01)
        (path,) = await asyncio.to_thread(list, there.place.cwd.parent.rglob(f"{now.transcript_id}.jsonl"))
        copy = there.place.folder / "transcripts" / session / path.name
        while not copy.exists() or copy.read_bytes() != path.read_bytes():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        if what == "restored":
            path.unlink()
        else:
            with path.open("a") as file:
                file.write(path.read_text().splitlines()[-1] + "\n")
        page = await Deck(there, browser).enter(person, f"session/{session}")
        await expect(page.locator(".session-head .state")).to_have_text("parked")
        await page.get_by_label("Prompt").fill("and now?")
        await page.get_by_label("Prompt").press("Enter")
        words = {
            "continued": "The conversation was continued elsewhere, e.g. in a terminal: 1 record",
            "restored": "Claude Code's transcript was gone. The host put its copy back.",
        }
        await expect(page.locator(".notice.warning")).to_contain_text(words[what])
        await expect(page.locator(".turn")).to_have_count(2)
        await page.reload()
        await expect(page.locator(".notice.warning")).to_contain_text(words[what])


async def test_the_hosts_budget_for_the_day_is_told_in_the_session_that_uses_it_up(
    tmp_path: Path, browser_address: str
) -> None:
    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        await there.there.host.set_budgets(HostSettings(settings={"day_usd": "0.000001"}))
        session = await there.there.session()
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".notice.warning").last).to_contain_text("The host's budget of $0.0000 is used up")
