"""On a phone: nothing hovers, everything is tapped."""

from __future__ import annotations

import asyncio
from pathlib import Path

from playwright.async_api import expect

from page.browser import window
from page.kit import BASH, deck

expect.set_options(timeout=45_000)
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


async def test_a_request_is_allowed_files_are_set_back_and_a_session_is_forked_by_tapping(
    tmp_path: Path, browser_address: str
) -> None:
    turns = [["First."], [{"tool": "Write", "input": {"file_path": "a.txt", "content": "new"}}, "Written."]]
    async with deck(tmp_path, browser_address, *turns) as there, window(there.browser, **PHONE) as person:
        file = there.there.place.cwd / "a.txt"
        session = await there.there.session(None, options={"enable_file_checkpointing": True})
        page = await there.enter(person, f"session/{session}")
        for number, prompt in enumerate(("hello", "write it"), 1):
            await page.get_by_label("Prompt").tap()
            await page.get_by_label("Prompt").fill(prompt)
            await page.get_by_role("button", name="Send", exact=True).tap()
            if prompt == "write it":
                await page.get_by_role("button", name="Allow once").tap()
            await expect(page.locator(".turn")).to_have_count(number)
        assert file.read_text() == "new"
        page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
        back = page.locator(".prompt", has_text="write it").locator(".at-message")
        await expect(back).to_have_css("opacity", "1")  # what takes a tap is seen
        await back.get_by_role("button", name="Rewind files to here").tap()
        await expect(page.locator(".toast").last).to_contain_text("set back")
        assert not file.exists()
        fork = page.locator(".text-item", has_text="First.").locator(".at-message")
        await expect(fork).to_have_css("opacity", "1")
        await fork.get_by_role("button", name="Fork from here").tap()
        await page.wait_for_function("(id) => !location.hash.includes(id)", arg=session)
        await expect(page.locator(".session-head")).to_be_visible()


async def test_a_browser_whose_notifications_throw_says_so_and_everything_else_goes_on(
    tmp_path: Path, browser_address: str
) -> None:
    stub = """
      globalThis.Notification = class { constructor() { throw new TypeError('Illegal constructor.'); } };
      Notification.permission = 'granted';
      Notification.requestPermission = async () => 'granted';
      Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
      localStorage.setItem('quarterdeck.notify', 'true');
    """
    async with deck(tmp_path, browser_address, [BASH]) as there, window(there.browser, **PHONE) as person:
        await person.context.add_init_script(stub)
        page = await there.enter(person, "settings")
        await there.there.session()
        await expect(page).to_have_title("(1) Quarterdeck")
        switch = page.get_by_label("Notify me about new requests")
        await switch.tap()
        await expect(switch).not_to_be_checked()
        await switch.tap()
        await expect(page.locator(".toast.error")).to_contain_text("cannot show notifications")
        await expect(switch).not_to_be_checked()
