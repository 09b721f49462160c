"""The browser's windows: a context of its own for each person in a test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, async_playwright


@dataclass
class Window:
    """A context of the browser: one person. What goes wrong in its pages is kept."""

    context: BrowserContext
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    async def page(self, url: str) -> Page:
        page = await self.context.new_page()
        page.on("pageerror", lambda error: self.errors.append(f"{error}"))
        page.on("console", self._said)
        page.on("request", lambda request: self.requests.append(request.url))
        await page.goto(url)
        return page

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error" and "WebSocket connection" not in message.text and "ERR_" not in message.text:
            self.errors.append(message.text)


@asynccontextmanager
async def driven(address: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(address)
        yield browser
        await browser.close()


@asynccontextmanager
async def window(browser: Browser, *, errors: bool = False, **more: Any) -> AsyncIterator[Window]:
    """A window of one person; ``errors``: those of the page are what the test is about."""
    context = await browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **more})
    context.set_default_timeout(30_000)
    opened = Window(context)
    yield opened
    await context.close()
    assert errors or not opened.errors, opened.errors
