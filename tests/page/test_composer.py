"""What is written and not sent yet is never lost: not by an upload, not by a host that refuses it."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from playwright.async_api import Page, Route, WebSocketRoute, expect

from page.kit import looked_at

expect.set_options(timeout=45_000)
DROP = """(files) => {
  const data = new DataTransfer();
  for (const [name, type] of files) data.items.add(new File([new Uint8Array([137, 80, 78, 71])], name, { type }));
  const event = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
  document.querySelector('.composer').dispatchEvent(event);
}"""


async def test_of_two_dropped_files_both_are_named_and_what_is_typed_meanwhile_stays(
    tmp_path: Path, browser_address: str
) -> None:
    let_through, asked = asyncio.Event(), asyncio.Event()

    async def slowly(route: Route) -> None:
        asked.set()
        await let_through.wait()
        await route.continue_()

    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        session = await there.there.session(None)
        await page.goto(f"{there.url}#/session/{session}")
        await page.route("**/uploads?**", slowly)
        box = page.get_by_label("Prompt")
        await box.fill("compare")
        await page.evaluate(DROP, [["one.txt", "text/plain"], ["two.txt", "text/plain"]])
        await asked.wait()
        await box.press_sequentially(" with care:")
        let_through.set()
        await expect(box).to_have_value(re.compile(r"^compare with care: @\S+one\.txt @\S+two\.txt $"))


async def test_a_file_that_cannot_be_uploaded_does_not_keep_the_next_from_it(
    tmp_path: Path, browser_address: str
) -> None:
    async def refuse(route: Route) -> None:
        if "one.txt" in route.request.url:
            await route.abort()
        else:
            await route.continue_()

    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        session = await there.there.session(None)
        await page.goto(f"{there.url}#/session/{session}")
        await page.route("**/uploads?**", refuse)
        await expect(page.get_by_label("Prompt")).to_be_visible()
        await page.evaluate(DROP, [["one.txt", "text/plain"], ["two.txt", "text/plain"]])
        await expect(page.get_by_label("Prompt")).to_have_value(re.compile(r"^@\S+two\.txt $"))
        await expect(page.locator(".toast.error")).to_be_visible()


class Refusing:
    """Between the page and its host: prompts wait, and then are refused."""

    def __init__(self) -> None:
        self._waiting: list[tuple[WebSocketRoute, int]] = []
        self.asked = asyncio.Event()

    async def stand_between(self, page: Page) -> None:
        await page.route_web_socket("**/v1/ws", self._connect)
        await page.reload()
        await page.wait_for_selector("html[data-link=online]")

    def _connect(self, route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def up(message: str | bytes) -> None:
            told: dict[str, Any] = json.loads(message)
            if told["op"] != "send_prompt":
                server.send(message)
                return
            self._waiting.append((route, told["ref"]))
            self.asked.set()

        route.on_message(up)

    def refuse(self) -> None:
        (route, ref) = self._waiting.pop()
        told = {"op": "error", "ref": ref, "code": "over_budget", "detail": "Its budget is used up."}
        route.send(json.dumps([told]))


async def test_a_prompt_that_is_refused_comes_back_with_its_pictures_before_what_was_typed_since(
    tmp_path: Path, browser_address: str
) -> None:
    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        session = await there.there.session(None)
        await page.goto(f"{there.url}#/session/{session}")
        line = Refusing()
        await line.stand_between(page)
        box = page.get_by_label("Prompt")
        await box.fill("look at this")
        await page.evaluate(DROP, [["dot.png", "image/png"]])
        await expect(page.locator(".pictures img")).to_have_count(1)
        await box.press("Enter")
        await line.asked.wait()
        await expect(box).to_have_value("")
        await expect(page.locator(".pictures img")).to_have_count(0)
        await box.fill("and that")
        await page.evaluate(DROP, [["spot.png", "image/png"]])
        await expect(page.locator(".pictures img")).to_have_count(1)
        line.refuse()
        await expect(page.locator(".toast.error")).to_contain_text("Its budget is used up.")
        await expect(box).to_have_value("look at this\nand that")
        names = page.locator(".pictures img")
        await expect(names).to_have_count(2)
        assert [await one.get_attribute("alt") for one in await names.all()] == ["dot.png", "spot.png"]
