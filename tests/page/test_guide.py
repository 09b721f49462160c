"""docs/page.md, from `make run` to an approved edit, as somebody with a terminal and a browser follows it."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

from playwright.async_api import expect

from page.browser import driven, window
from terminal.kit import ESCAPE, Term

expect.set_options(timeout=45_000)


async def test_the_guide_leads_from_make_run_to_an_approved_edit(tmp_path: Path, browser_address: str) -> None:
    """The command is the one that ``make run`` runs."""
    home = tmp_path / "home"
    home.mkdir()
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"}
    more = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    term = Term([sys.executable, "-m", "quarterdeck", "demo", "--serve"], tmp_path, {**env, **more}, 140, 40)
    try:
        seen = await asyncio.to_thread(term.until, "http://127.0.0.1:", "#code=", "Allow this edit to notes.txt?")
        link = re.search(r"http://127\.0\.0\.1:\d+/#code=\S+", seen)
        assert link is not None, seen
        async with driven(browser_address) as browser, window(browser) as person:
            page = await person.page(link[0])
            await page.locator(".rows a", has_text="notes.txt").click()
            await expect(page.locator(".approval .diff .path")).to_contain_text("notes.txt")
            await expect(page.locator(".approval .diff .plus")).not_to_have_count(0)
            await expect(page.locator(".approval .reason")).to_be_visible()
            await page.keyboard.press("o")
            await expect(page.locator(".asked").get_by_role("button", name="Allow once")).to_be_visible()
            await page.go_back()
            await expect(page.get_by_role("button", name="Allow once")).to_be_enabled()
            await page.keyboard.press("a")
            await expect(page.locator(".settled li")).to_contain_text("notes.txt")
            await expect(page.locator(".settled li")).to_contain_text("allowed by")
        await asyncio.to_thread(term.until, "no pending requests")
        term.press(ESCAPE)
        assert await asyncio.to_thread(term.exit) == 0
        assert "allow by page of local: Edit" in term.text
        assert "notes.txt is now: " in term.text
        assert "Remember to water the flowers." in term.text
    finally:
        term.close()
