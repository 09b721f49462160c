"""Tried as a new user would: the host in a terminal, the link that it prints in a browser, and the page of the API."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect

from page.browser import Window, driven, window
from page.kit import BASH, deck
from quarterdeck.host.requests import CreateSession
from quarterdeck.remote import RemoteHost
from terminal.kit import CTRL_C, ESCAPE, Place, Term

LONG_MS = 45_000
expect.set_options(timeout=LONG_MS)
LINK = re.compile(r"http://127\.0\.0\.1:\d+\S*/#code=\S+")


@asynccontextmanager
async def terminal(root: Path, *words: str, steps: tuple[Any, ...] = ()) -> AsyncIterator[tuple[Place, Term]]:
    """A command of a person who has nothing but this program."""
    place = Place(root)
    if steps:
        place.plays(*steps)
    place.env["XDG_STATE_HOME"] = str(root / "state")
    term = Term([sys.executable, "-m", "quarterdeck", *words], place.cwd, place.env, 150, 30)
    try:
        yield place, term
    finally:
        await asyncio.to_thread(term.close)


async def printed_link(term: Term) -> str:
    (link,) = set(LINK.findall(await asyncio.to_thread(term.until, "#code=", "works once")))
    return str(link)


async def approved(person: Window, link: str, command: str) -> Page:
    """Open the link, look at what is asked, and allow it by its button."""
    page = await person.page(link)
    await expect(page.locator(".approval")).to_be_visible()
    await expect(page.locator(".approval")).to_contain_text(command)
    assert "code=" not in page.url
    await page.get_by_role("button", name="Allow once").click()
    await expect(page.locator(".settled li")).to_contain_text("allowed by")
    return page


async def test_serve_prints_a_link_that_a_browser_opens_once(tmp_path: Path, browser_address: str) -> None:
    words = ("serve", "--listen", "127.0.0.1:0", "--agent", "sim", "--no-keeper")
    turn = (BASH, "It is done.")
    async with terminal(tmp_path, *words, steps=turn) as (place, term), driven(browser_address) as browser:
        link = await printed_link(term)
        assert f"ready {link.partition('/#')[0]}" in term.text
        state = tmp_path / "state" / "quarterdeck"
        async with RemoteHost(state) as host, window(browser) as person, window(browser, errors=True) as other:
            await host.create_session(CreateSession(cwd=str(place.cwd), name="errand", prompt="go"))
            await approved(person, link, "touch made.txt")
            late = await other.page(link)
            await expect(late.locator("body")).to_contain_text("token")
            await expect(late.locator(".approval")).to_have_count(0)
        term.press(CTRL_C)
        assert await asyncio.to_thread(term.exit) == 0


async def test_the_demo_prints_a_link_that_answers_what_its_terminal_asks(tmp_path: Path, browser_address: str) -> None:
    async with terminal(tmp_path, "demo", "--serve") as (_, term), driven(browser_address) as browser:
        link = await printed_link(term)
        await asyncio.to_thread(term.until, "Allow this edit to notes.txt?")
        async with window(browser) as person:
            await approved(person, link, "notes.txt")
            await asyncio.to_thread(term.until, "no pending requests")
        term.press(ESCAPE)
        assert await asyncio.to_thread(term.exit) == 0
        assert "notes.txt is now: " in term.text


async def test_the_page_of_the_api_signs_in_sends_and_follows_a_stream(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address, ["Done."]) as there, window(there.browser) as person:
        page = await person.page((await there.link()).replace("/#", "/docs#"))
        await expect(page.locator("#who")).to_have_text("page of admin")
        assert page.url.endswith("/docs")
        answer = page.locator("#operation pre")

        async def chosen(name: str) -> None:
            await page.locator("nav button").filter(has_text=re.compile(rf"{name}$")).click()
            await expect(page.locator("#operation h2")).to_be_visible()

        await chosen("create_session")
        await page.locator("textarea").fill('{"cwd": "%s", "prompt": "go"}' % there.there.place.cwd)  # noqa: UP031
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(answer).to_contain_text("201")
        session = re.search(r'"id": "([^"]+)"', await answer.inner_text())
        assert session is not None
        await chosen("watch_session")
        await page.get_by_label("session_id").fill(session[1])
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(answer).to_contain_text("event: frame")
        await expect(answer).to_contain_text('"turn_ended"')
        await page.get_by_role("button", name="Stop", exact=True).click()
        await expect(answer).to_contain_text("(ended)")
        await chosen("get_session")
        await page.get_by_label("session_id").fill("nobody")
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(answer).to_contain_text('"code": "not_found"')
        assert all(url.startswith(there.url) for url in person.requests)
        person.errors = [one for one in person.errors if "404" not in one]


async def test_the_page_of_the_api_takes_a_token_by_hand(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address, ["Done."]) as there, window(there.browser, errors=True) as person:
        page = await person.page(f"{there.url}docs")
        await page.locator("nav button").filter(has_text=re.compile("list_sessions$")).click()
        answer = page.locator("#operation pre")
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(answer).to_contain_text("unauthenticated")
        await page.locator("#token").fill(there.there.admin.secret or "")
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(answer).to_contain_text('"sessions": []')
