"""For everybody: axe finds nothing serious, keys reach everything, and 360 px are enough."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks._npm import package
from playwright.async_api import Page, expect

from page.kit import BASH, looked_at

expect.set_options(timeout=45_000)
AXE = "4.14.0"
VIEWS = ("inbox", "sessions", "sessions/new", "usage", "policy", "audit", "settings")


async def findings(page: Page, axe: str) -> list[str]:
    await page.evaluate(axe)
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    return [f"{one['id']}: {node['html'][:200]}" for one in serious for node in one["nodes"]]


@pytest.mark.parametrize("colours", ["light", "dark"])
async def test_axe_finds_nothing_serious_in_any_view(tmp_path: Path, browser_address: str, colours: str) -> None:
    folder = package("axe-core", AXE)
    if folder is None:
        pytest.skip("node or npm is not installed, or the registry cannot be reached")
    axe = (folder / "node_modules/axe-core/axe.min.js").read_text()
    async with looked_at(tmp_path, browser_address, ["Text with `code`.", BASH, "Done."]) as (there, page):
        await page.emulate_media(color_scheme=colours)  # type: ignore[arg-type]
        session = await there.there.session(name="errand")
        await expect(page.locator(".approval")).to_be_visible()
        for view in (*VIEWS, f"session/{session}"):
            await page.goto(f"{there.url}#/{view}")
            await expect(page.locator("main h1").first).to_be_visible()
            assert await findings(page, axe) == [], view


async def test_the_sheet_of_keys_names_what_can_be_done_here(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One.", BASH]) as (there, page):
        await there.there.session()
        await expect(page.locator(".approval")).to_be_visible()
        await page.keyboard.press("?")
        sheet = page.get_by_role("dialog")
        for does in ("Allow once", "Deny and stop the turn", "Next", "Start a session"):
            await expect(sheet.get_by_role("definition").get_by_text(does, exact=True)).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(sheet).to_have_count(0)
        await page.keyboard.press("g")
        await page.keyboard.press("s")
        await expect(page.locator("main h1")).to_have_text("Sessions")
        await page.keyboard.press("Enter")
        await expect(page.locator(".session-head")).to_be_visible()


async def test_on_a_phone_nothing_is_wider_than_the_screen_and_a_tap_decides(
    tmp_path: Path, browser_address: str
) -> None:
    long = {"tool": "Bash", "input": {"command": "touch " + "x" * 200, "description": "Say it"}}
    async with looked_at(tmp_path, browser_address, ["One.", long, "Done."]) as (there, page):
        await page.set_viewport_size({"width": 360, "height": 740})
        session = await there.there.session(name="an errand with quite a long name for a phone")
        for view in ("inbox", "sessions", f"session/{session}", "usage", "policy", "audit", "settings"):
            await page.goto(f"{there.url}#/{view}")
            await expect(page.locator("main h1").first).to_be_visible()
            assert await page.evaluate("document.documentElement.scrollWidth") <= 360, view
        await page.goto(f"{there.url}#/inbox")
        await page.locator(".rows a").click()
        await page.get_by_role("button", name="Allow once").click()
        await expect(page.locator(".settled li")).to_contain_text("allowed")
