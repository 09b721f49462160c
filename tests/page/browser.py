"""Debian's Chromium for the tests of the page: one for each worker, a context of its own for each test."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, async_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = "Chromium is not installed (.ci/browser installs it where that is possible)"
START_S = 60.0
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
    "--hide-scrollbars",
]


@contextmanager
def chromium() -> Iterator[str]:
    """A browser that waits for orders; the address to give them at."""
    assert CHROMIUM is not None, MISSING
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        env = {**os.environ, "HOME": profile}
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
        try:
            yield _address(process, Path(profile) / "DevToolsActivePort")
        finally:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[bytes], told: Path) -> str:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        assert process.poll() is None, "Chromium has ended"
        if told.exists() and (lines := told.read_text().splitlines()):
            return f"http://127.0.0.1:{lines[0]}"
        time.sleep(0.02)
    raise AssertionError("Chromium does not say where it listens")


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
    assert errors or opened.errors == []
