"""A host, and people who look at it with a browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page

from gateways.http.kit import Served, served
from page.browser import Window, driven, window

BASH = {"tool": "Bash", "input": {"command": "touch made.txt", "description": "Make a file"}}


class Deck:
    """A served host and the browser."""

    def __init__(self, there: Served, browser: Browser) -> None:
        self.there = there
        self.browser = browser

    @property
    def url(self) -> str:
        host, port = self.there.tcp
        return f"http://{host}:{port}/"

    async def link(self, path: str = "") -> str:
        """As ``quarterdeck serve`` prints it."""
        caller = await self.there.host.authenticate(self.there.admin.secret or "", via="http")
        return f"{self.url}#code={self.there.gateway.codes.issue(caller)}"

    async def enter(self, person: Window, path: str = "", *, secret: str | None = None) -> Page:
        """The page as somebody who is signed in sees it, at a place of it."""
        secret = secret or self.there.admin.secret
        await person.context.add_init_script(f"sessionStorage.setItem('quarterdeck.token', '{secret}')")
        page = await person.page(f"{self.url}#/{path}")
        await page.wait_for_selector("html[data-link=online]")
        return page


@asynccontextmanager
async def deck(root: Path, address: str, *turns: Any, **more: Any) -> AsyncIterator[Deck]:
    async with served(root, turns=list(turns[0]) if turns else ["Done."]) as there, driven(address) as browser:
        if len(turns) > 1 or more:
            there.place.claude.play(*more.pop("turns", turns), **more)
        yield Deck(there, browser)


@asynccontextmanager
async def looked_at(
    root: Path, address: str, *turns: Any, path: str = "", **more: Any
) -> AsyncIterator[tuple[Deck, Page]]:
    """A deck with one person in front of it."""
    async with deck(root, address, *turns, **more) as there, window(there.browser) as person:
        yield there, await there.enter(person, path)
