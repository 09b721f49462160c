"""Search over all sessions' text in the browser: what is found leads to its place."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Page, expect

from host.kit import frames_until
from page.kit import Deck, looked_at

expect.set_options(timeout=45_000)
LONG = 320
"""More items than a snapshot has."""


async def searched(page: Page, there: Deck, words: str) -> None:
    """The index is made beside the log: the page asks again until it has everything."""
    await page.goto(f"{there.url}#/sessions")
    await page.get_by_label("Search sessions").fill(words)
    await expect(page.locator(".hits a").first).to_be_visible()
    await expect(page.locator(".hits")).not_to_contain_text("not indexed yet")


async def test_words_of_an_answer_lead_to_it_and_back_to_the_results(tmp_path: Path, browser_address: str) -> None:
    rules = [
        {"when": "lamp", "steps": ["The lantern hangs in the binnacle."]},
        {"when": "rope", "steps": ["A bowline holds."]},
    ]
    async with looked_at(tmp_path, browser_address, rules=rules) as (there, page):
        for prompt, name in (("lamp", "Lamps"), ("rope", "Ropes")):
            session = await there.there.session(prompt, name=name)
            await frames_until(there.there.host, session, "idle")
        await searched(page, there, "binnacle")
        hit = page.locator(".hits a")
        await expect(hit).to_have_count(1)
        await expect(hit).to_contain_text("Lamps")
        await expect(hit.locator("mark")).to_have_text("binnacle")
        await hit.click()
        row = page.locator(".row:focus")
        await expect(row).to_contain_text("The lantern hangs")
        await page.go_back()
        await expect(page.get_by_label("Search sessions")).to_have_value("binnacle")
        await expect(page.locator(".hits mark")).to_have_text("binnacle")


async def test_a_place_before_what_is_loaded_is_loaded_and_shown(tmp_path: Path, browser_address: str) -> None:
    steps = ["The albatross came first.", *[f"Line {number}." for number in range(LONG)]]
    async with looked_at(tmp_path, browser_address, steps) as (there, page):
        session = await there.there.session("go", name="Voyage")
        await frames_until(there.there.host, session, "idle")
        await searched(page, there, "albatross")
        await page.keyboard.press("Enter")
        await expect(page.locator(".row:focus")).to_contain_text("The albatross came first.")
        await expect(page.locator(".earlier")).to_have_count(0)


async def test_find_and_turns_say_that_there_are_earlier_items_and_load_them(
    tmp_path: Path, browser_address: str
) -> None:
    steps = ["The albatross came first.", *[f"Line {number}." for number in range(LONG)]]
    async with looked_at(tmp_path, browser_address, steps) as (there, page):
        session = await there.there.session("set sail", name="Voyage")
        await frames_until(there.there.host, session, "idle")
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".turn")).to_have_count(1)
        await page.keyboard.press("t")
        await expect(page.get_by_role("button", name="Show earlier turns")).to_be_visible()
        await expect(page.locator(".turns li")).to_have_count(0)
        await page.keyboard.press("f")
        await page.get_by_label("Find in this session").fill("albatross")
        await expect(page.locator(".find [role=status]")).to_have_text("nothing found")
        await page.get_by_role("button", name="Search earlier items").click()
        await expect(page.locator(".find [role=status]")).to_have_text("1 of 1")
        await expect(page.locator(".row:focus")).to_contain_text("The albatross came first.")
        await expect(page.get_by_role("button", name="Search earlier items")).to_have_count(0)
        await page.locator(".turns li button", has_text="set sail").click()
        await expect(page.locator(".row:focus")).to_contain_text("set sail")


async def test_keys_go_through_sessions_and_places(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["A compass and a sextant."]) as (there, page):
        session = await there.there.session("look for the sextant", name="sextant")
        await frames_until(there.there.host, session, "idle")
        await searched(page, there, "sextant")
        await expect(page.locator(".sessions tbody tr")).to_have_count(1)
        await page.get_by_role("heading", name="Sessions").click()
        places = await page.locator(".hits a").count()
        for _ in range(places):
            await page.keyboard.press("j")
        await expect(page.locator(".hits a").last).to_have_attribute("aria-current", "true")
        await page.keyboard.press("Enter")
        await expect(page.locator(".session-head")).to_be_visible()
