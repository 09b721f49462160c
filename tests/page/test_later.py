"""Prompts for later in the browser: at a time or when idle; listed, edited, moved, sent now, withdrawn."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.async_api import Page, expect

from host.kit import frames_until
from page.kit import BASH, Deck, looked_at
from quarterdeck.host.requests import OfSession
from quarterdeck.host.resources import Prompt

expect.set_options(timeout=45_000)


async def waiting(there: Deck, session: str) -> list[Prompt]:
    return list((await there.there.host.list_prompts(OfSession(session_id=session))).prompts)


async def write_for_later(page: Page, text: str) -> None:
    await page.get_by_label("Prompt", exact=True).fill(text)
    await page.keyboard.press("Control+Shift+Enter")
    await expect(page.get_by_role("dialog", name="Send later")).to_be_visible()


async def test_a_prompt_for_a_time_is_listed_edited_and_withdrawn(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        session = await there.there.session("go")
        await frames_until(there.there.host, session, "idle")
        await page.goto(f"{there.url}#/session/{session}")
        await write_for_later(page, "weigh anchor")
        at = datetime.now(UTC) + timedelta(days=2)
        zone = await page.evaluate("() => -new Date().getTimezoneOffset()")
        shown = (at + timedelta(minutes=zone)).strftime("%Y-%m-%dT%H:%M")
        await page.get_by_label("At a time").check()
        await page.get_by_label("Time", exact=True).fill(shown)
        await page.get_by_role("button", name="Schedule").click()
        row = page.locator(".queue li")
        await expect(row).to_contain_text("weigh anchor")
        await expect(row.locator("time")).to_be_visible()
        (kept,) = await waiting(there, session)
        assert kept.not_before == at.replace(second=0, microsecond=0)
        await row.get_by_role("button", name="Edit").click()
        dialog = page.get_by_role("dialog", name="Edit the prompt")
        await expect(dialog.get_by_label("Time", exact=True)).to_have_value(shown)
        await dialog.get_by_label("Prompt").fill("weigh both anchors")
        await dialog.get_by_role("button", name="Save").click()
        await expect(row).to_contain_text("weigh both anchors")
        await page.reload()
        await expect(row).to_contain_text("weigh both anchors")
        await row.get_by_role("button", name="Withdraw").click()
        await expect(row).to_have_count(0)
        assert await waiting(there, session) == []


async def test_what_waits_for_a_time_can_be_sent_now(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One."], ["Aye."]) as (there, page):
        session = await there.there.session("go")
        await frames_until(there.there.host, session, "idle")
        await page.goto(f"{there.url}#/session/{session}")
        await write_for_later(page, "make sail")
        await page.get_by_label("At a time").check()
        await page.get_by_role("button", name="Schedule").click()
        await page.locator(".queue").get_by_role("button", name="Send now").click()
        await expect(page.locator(".text-item").last).to_contain_text("Aye.")
        await expect(page.locator(".queue li")).to_have_count(0)


async def test_prompts_for_when_it_is_idle_wait_in_the_order_that_was_chosen(
    tmp_path: Path, browser_address: str
) -> None:
    turns = (["One.", BASH, "Done."], ["Answer A."], ["Answer B."])
    async with looked_at(tmp_path, browser_address, *turns) as (there, page):
        session = await there.there.session("go")
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.get_by_role("button", name="Allow once")).to_be_visible()
        for text in ("first", "second"):
            await write_for_later(page, text)
            await page.get_by_label("When idle").check()
            await page.get_by_role("button", name="Schedule").click()
            await expect(page.locator(".queue li", has_text=text)).to_be_visible()
        await page.locator(".queue li", has_text="second").get_by_role("button", name="Move up").click()
        await expect(page.locator(".queue li").first).to_contain_text("second")
        await page.get_by_role("button", name="Allow once").click()
        await expect(page.locator(".text-item").last).to_contain_text("Answer B.")
        prompts = await page.locator(".prompt").all_inner_texts()
        assert ["second" in prompts[-2], "first" in prompts[-1]] == [True, True]
