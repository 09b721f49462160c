"""Ways to a session besides a prompt: presets, a conversation from a terminal, a file; and the way out as a file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from host.kit import frames_until
from page.browser import window
from page.kit import Deck, deck, looked_at
from quarterdeck.host.requests import CreateToken, ListTranscripts, Nothing, OfSession, Settings

expect.set_options(timeout=45_000)
REVIEW = {"about": "Reads only", "model": "haiku", "permission_mode": "plan", "budget_usd": "2.5"}


async def presets_of(there: Deck) -> dict[str, Any]:
    found: dict[str, Any] = (await there.there.host.get_presets(Nothing())).details["presets"]
    return found


async def test_a_preset_is_chosen_where_a_session_is_started(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["Hello."]) as (there, page):
        host = there.there.host
        await host.set_presets(Settings(settings={"presets": {"review": REVIEW}}))
        await page.goto(f"{there.url}#/sessions/new")
        await page.locator("select[name=preset]").select_option("review")
        await expect(page.locator("dialog [role=status]")).to_contain_text("Reads only")
        await expect(page.get_by_label("Model")).to_have_attribute("placeholder", "haiku")
        await page.get_by_label("Folder").fill(str(there.there.place.cwd))
        await page.get_by_label("Budget in USD").fill("9")
        await page.get_by_role("button", name="Start").click()
        await expect(page.locator(".session-head .cost")).to_contain_text("of $2.50")
        (session,) = (await there.there.client().get("/v1/sessions")).json["sessions"]
        assert (session["permission_mode"], session["budget_usd"]) == ("plan", "2.5")


async def test_what_is_filled_in_is_saved_as_a_preset_and_removed_in_the_settings(
    tmp_path: Path, browser_address: str
) -> None:
    async with looked_at(tmp_path, browser_address, ["Hello."]) as (there, page):
        await there.there.host.set_presets(Settings(settings={"presets": {"old": {"model": "opus"}}}))
        await page.goto(f"{there.url}#/sessions/new")
        await page.get_by_label("Model").fill("sonnet")
        await page.locator("select[name=permission_mode]").select_option("acceptEdits")
        await page.get_by_role("button", name="Save as preset…").click()
        await page.keyboard.type("quick edits")
        await page.keyboard.press("Enter")
        await expect(page.locator(".toast")).to_contain_text("Saved the preset quick edits.")
        await expect(page.locator("select[name=preset]")).to_have_value("quick edits")
        saved = await presets_of(there)
        assert saved["old"] == {"model": "opus"}
        assert saved["quick edits"]["model"] == "sonnet"
        assert saved["quick edits"]["permission_mode"] == "acceptEdits"
        page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
        await page.goto(f"{there.url}#/settings")
        await page.get_by_role("button", name="Remove quick edits").click()
        await expect(page.locator(".presets tbody tr")).to_have_count(1)
        assert await presets_of(there) == {"old": {"model": "opus"}}


async def test_somebody_who_may_not_set_presets_is_told_and_may_use_them(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["Hello."]) as (there, _):
        host = there.there.host
        await host.set_presets(Settings(settings={"presets": {"review": REVIEW}}))
        token = await host.create_token(CreateToken(name="bo", scope="operate"))
        async with window(there.browser) as other:
            page = await there.enter(other, "sessions/new", secret=token.secret)
            await page.get_by_role("button", name="Save as preset…").click()
            await page.get_by_label("Name of the preset").fill("mine")
            await page.get_by_role("button", name="Save", exact=True).click()
            await expect(page.locator(".toast.error")).to_be_visible()
            assert set(await presets_of(there)) == {"review"}
            await page.locator("select[name=preset]").select_option("review")
            await page.get_by_label("Folder").fill(str(there.there.place.cwd))
            await page.get_by_role("button", name="Start").click()
            await expect(page.locator(".session-head .cost")).to_contain_text("of $2.50")


async def test_a_conversation_from_a_terminal_is_found_by_its_text_and_continued(
    tmp_path: Path, browser_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with looked_at(tmp_path, browser_address, ["The reef is near."]) as (there, page):
        host = there.there.host
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(there.there.place.cwd.parent / "home" / ".claude"))
        session = await there.there.session("look out")
        await frames_until(host, session, "idle")
        while not (await host.list_transcripts(ListTranscripts(q="reef"))).details["transcripts"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # the CLI writes its transcript when it can
        await host.delete_session(OfSession(session_id=session))
        await page.goto(f"{there.url}#/sessions")
        await page.get_by_label("More").focus()
        await page.keyboard.press("Enter")
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name="Continue from a terminal")
        await dialog.get_by_label("Search transcripts").fill("nowhere at all")
        await expect(dialog).to_contain_text("No conversations found")
        await dialog.get_by_label("Search transcripts").fill("reef")
        await expect(dialog.locator("li")).to_contain_text("look out")
        await dialog.get_by_role("button", name="Continue").click()
        await expect(page.locator(".session-head .state")).to_have_text("stopped")
        await page.get_by_label("Prompt").fill("I am back")
        await page.keyboard.press("Enter")
        await expect(page.locator(".turn")).to_have_count(1)
        await page.goto(f"{there.url}#/sessions/adopt")
        await expect(dialog).to_contain_text("No conversations found")
        await dialog.get_by_label("Search transcripts").fill("reef")
        await expect(dialog.get_by_role("link", name="Open")).to_have_count(1)


async def exported(page: Page, name: str, folder: Path) -> Path:
    await page.get_by_label("More").click()
    async with page.expect_download() as download:
        await page.get_by_role("menuitem", name=f"Export as {name}").click()
    path = folder / (await download.value).suggested_filename
    await (await download.value).save_as(path)
    return path


async def test_a_session_leaves_as_a_file_whole_and_comes_back_from_it(tmp_path: Path, browser_address: str) -> None:
    lines = [f"Line {number}." for number in range(300)]  # more rows than a part of an export has
    async with looked_at(tmp_path, browser_address, lines) as (there, page):
        session = await there.there.session("count", name="Ship's log")
        await frames_until(there.there.host, session, "idle")
        await page.goto(f"{there.url}#/session/{session}")
        for name, ending in (("Markdown", "md"), ("HTML", "html"), ("NDJSON", "ndjson")):
            path = await exported(page, name, tmp_path)
            assert path.suffix == f".{ending}"
            text = path.read_text()
            assert all(line in text for line in lines), name
        assert json.loads(path.read_text().splitlines()[0])["name"] == "Ship's log"
        await page.goto(f"{there.url}#/sessions/import")
        dialog = page.get_by_role("dialog", name="Import a session")
        await dialog.get_by_label("File").set_input_files(path)
        await dialog.get_by_label("Name").fill("From elsewhere")
        await dialog.get_by_role("button", name="Import").click()
        await expect(page.locator(".session-head")).to_contain_text("From elsewhere")
        await expect(page.locator(".text-item").last).to_contain_text("Line 299.")
        assert session not in page.url


async def test_a_file_that_is_no_session_is_refused_with_its_line(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address, ["One."]) as there, window(there.browser, errors=True) as person:
        page = await there.enter(person, "sessions/import")
        path = tmp_path / "evil.ndjson"
        path.write_text('{"quarterdeck_session":1,"id":"x","cwd":"/","created_at":1}\n<img src=x onerror=alert(1)>\n')
        dialog = page.get_by_role("dialog", name="Import a session")
        await dialog.get_by_label("File").set_input_files(path)
        await dialog.get_by_role("button", name="Import").click()
        await expect(dialog.get_by_role("alert")).not_to_be_empty()
        await expect(dialog.get_by_role("button", name="Import")).to_be_enabled()
        assert await page.locator("img[src=x]").count() == 0
