"""For everybody: axe finds nothing serious, keys reach everything, and 360 px are enough."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from host.kit import pending
from needs import from_npm
from page.kit import BASH, looked_at
from quarterdeck.host.requests import Settings

expect.set_options(timeout=45_000)
AXE = "4.14.0"
OVER_SESSIONS = ("sessions/new", "sessions/adopt", "sessions/import", "sessions?q=text")
VIEWS = ("inbox", "sessions", *OVER_SESSIONS, "usage", "policy", "audit", "settings")


async def findings(page: Page, axe: str) -> list[str]:
    await page.evaluate(axe)
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    return [f"{one['id']}: {node['html'][:200]}" for one in serious for node in one["nodes"]]


@pytest.mark.parametrize("colours", ["light", "dark"])
async def test_axe_finds_nothing_serious_in_any_view(tmp_path: Path, browser_address: str, colours: str) -> None:
    axe = (from_npm("axe-core", AXE) / "node_modules/axe-core/axe.min.js").read_text()
    async with looked_at(tmp_path, browser_address, ["Text with `code`.", BASH, "Done."]) as (there, page):
        await page.emulate_media(color_scheme=colours)  # type: ignore[arg-type]
        session = await there.there.session(name="errand")
        await expect(page.locator(".approval")).to_be_visible()
        for view in (*VIEWS, f"session/{session}"):
            await page.goto(f"{there.url}#/{view}")
            await expect(page.locator("main h1").first).to_be_visible()
            assert await findings(page, axe) == [], view


@pytest.mark.parametrize("width", [1280, 360])
async def test_axe_finds_nothing_serious_in_what_opens_over_or_beside_a_view(
    tmp_path: Path, browser_address: str, width: int
) -> None:
    axe = (from_npm("axe-core", AXE) / "node_modules/axe-core/axe.min.js").read_text()
    todo = {"tool": "TodoWrite", "input": {"todos": [{"content": "x", "status": "in_progress", "activeForm": "y"}]}}
    ask = {"ask": "Which colour?", "options": ["red", "blue"], "header": "Colour"}
    rules = [
        {"when": "bash", "steps": [{"thinking": "Hm."}, todo, BASH]},
        {"when": "ask", "steps": [ask]},
        {"when": "plan", "steps": [{"plan": "# Plan\n\n1. Look"}]},
    ]
    async with looked_at(tmp_path, browser_address, rules=rules) as (there, page):
        await page.set_viewport_size({"width": width, "height": 740})
        ids = {prompt: await there.there.session(prompt, name=prompt) for prompt in ("bash", "ask", "plan")}
        await there.there.session("bash")
        waiting = {one.session_id: one for one in await pending(there.there.host, count=4)}

        async def looks(view: str) -> None:
            assert await page.evaluate("document.documentElement.scrollWidth") <= width, view
            assert await findings(page, axe) == [], view

        for prompt, session in ids.items():
            await page.goto(f"{there.url}#/inbox/{waiting[session].id}")
            await expect(page.locator(".approval")).to_be_visible()
            await looks(prompt)
        await page.goto(f"{there.url}#/inbox/{waiting[ids['bash']].id}")
        for key in ("r", "e", "d"):
            await page.reload()
            await expect(page.locator(".approval")).to_be_visible()
            await page.keyboard.press(key)
            await expect(page.locator("form.more")).to_be_visible()
            await looks(f"inbox, {key}")
        await page.reload()
        await expect(page.locator(".approval")).to_be_visible()
        await page.keyboard.press("b")
        await expect(page.locator(".covered li")).to_have_count(2)
        await looks("several")
        await page.keyboard.press("Escape")
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog")).to_be_visible()
        await looks("keys")
        await page.keyboard.press("Escape")
        await page.goto(f"{there.url}#/session/{ids['bash']}")
        await expect(page.locator(".asked")).to_be_visible()
        for panel in ("Turns", "Plan", "Changes", "About"):
            await page.get_by_role("button", name=panel, exact=True).click()
            await expect(page.locator("aside.panel")).to_be_visible()
            await looks(panel)
        await page.get_by_role("button", name="About", exact=True).click()
        await page.keyboard.press("f")
        await looks("find")
        await page.get_by_label("Prompt").fill("/")
        await expect(page.locator(".completion li").first).to_be_visible()
        await looks("completion")
        await page.goto(f"{there.url}#/settings")
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_label("Token")).to_be_visible()
        await looks("the door")


@pytest.mark.parametrize("width", [1280, 360])
async def test_axe_finds_nothing_serious_in_menus_and_prompts_for_later(
    tmp_path: Path, browser_address: str, width: int
) -> None:
    axe = (from_npm("axe-core", AXE) / "node_modules/axe-core/axe.min.js").read_text()
    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        await page.set_viewport_size({"width": width, "height": 740})
        await page.goto(f"{there.url}#/session/{await there.there.session()}")

        async def looks(view: str) -> None:
            assert await page.evaluate("document.documentElement.scrollWidth") <= width, view
            assert await findings(page, axe) == [], view

        await page.get_by_label("More").click()
        await expect(page.get_by_role("menuitem").first).to_be_visible()
        await looks("menu")
        await page.keyboard.press("Escape")
        await page.get_by_label("Prompt").fill("a prompt for later " * 9)
        await page.get_by_role("button", name="Later…").click()
        await page.get_by_label("At a time").check()
        await looks("later")
        await page.get_by_role("button", name="Schedule").click()
        await expect(page.locator(".queue li")).to_be_visible()
        await looks("queue")
        await page.locator(".queue").get_by_role("button", name="Edit").click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        await looks("edit")


async def test_the_sheet_of_keys_names_what_can_be_done_here(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One.", BASH]) as (there, page):
        spoken = page.locator("main [role=status][aria-live=polite]")
        await expect(spoken).to_have_text("0 waiting")
        await there.there.session()
        await expect(page.locator(".approval")).to_be_visible()
        await expect(spoken).to_have_text("1 waiting")  # what a screen reader says of it
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
        preset = {"model": "opus", "about": "a preset " + "x" * 90}
        await there.there.host.set_presets(Settings(settings={"presets": {"y" * 90: preset}}))
        for view in (*VIEWS, f"session/{session}"):
            await page.goto(f"{there.url}#/{view}")
            await expect(page.locator("main h1").first).to_be_visible()
            if view == "sessions?q=text":
                await expect(page.locator(".hits")).to_be_visible()
            assert await page.evaluate("document.documentElement.scrollWidth") <= 360, view
        await page.goto(f"{there.url}#/inbox")
        await page.locator(".rows a").click()
        await page.get_by_role("button", name="Allow once").click()
        await expect(page.locator(".settled li")).to_contain_text("allowed")


async def test_a_session_says_aloud_that_an_answer_is_finished_and_that_something_waits(
    tmp_path: Path, browser_address: str
) -> None:
    async with looked_at(tmp_path, browser_address, ["The **first** answer."], [BASH, "Done."]) as (there, page):
        session = await there.there.session(None)
        await page.goto(f"{there.url}#/session/{session}")
        box = page.get_by_role("combobox", name="Prompt")
        spoken = page.locator("main [aria-live=polite]")
        await expect(spoken).to_have_count(1)
        await expect(spoken).to_have_text("")
        await box.fill("go")
        await box.press("Enter")
        await expect(spoken).to_have_text("Turn 1 has ended. The **first** answer.")
        await box.fill("on")
        await box.press("Enter")
        await expect(spoken).to_contain_text("Waits for you: Permission, Bash touch made.txt")
        assert await box.get_attribute("aria-controls") is None
        await box.fill("/")
        await expect(box).to_have_attribute("aria-controls", "completion")
        chosen = page.locator("#completion [aria-selected=true]")
        for key, at in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1)):
            await box.press(key)
            await expect(chosen).to_have_id(f"completion-{at}")
            await expect(box).to_have_attribute("aria-activedescendant", f"completion-{at}")
        await box.fill("")
        await box.press("Escape")
        await page.keyboard.press("?")
        keys = page.locator(".key-sheet kbd")
        for key in ("Enter", "Ctrl+Enter", "Shift+Enter", "Escape", "/", "@"):
            await expect(keys.get_by_text(key, exact=True).first).to_be_visible()
