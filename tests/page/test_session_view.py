"""What the view of a session shows beside its text: panels, cards, modes; and that it stays quick when it is long."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, Page, WebSocketRoute, expect

from page.browser import window
from page.kit import BASH, Deck, deck, looked_at
from quarterdeck.host.requests import OfSession

expect.set_options(timeout=45_000)
TODOS = [
    {"content": "Look around", "status": "completed", "activeForm": "Looking around"},
    {"content": "Leap", "status": "in_progress", "activeForm": "Leaping"},
]
MANY = 10_000


async def test_thinking_is_folded_a_list_is_kept_and_every_turn_can_be_jumped_to(
    tmp_path: Path, browser_address: str
) -> None:
    turns = [
        [{"thinking": "Deep thoughts."}, "One. " * 400, {"tool": "TodoWrite", "input": {"todos": TODOS}}],
        ["Two."],
    ]
    async with looked_at(tmp_path, browser_address, *turns) as (there, page):
        session = await there.there.session("the first")
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".turn")).to_have_count(1)
        thought = page.locator("details.thinking")
        await expect(thought.locator(".text")).to_be_hidden()
        await thought.locator("summary").click()
        await expect(thought.locator(".text")).to_have_text("Deep thoughts.")
        await page.keyboard.press("p")
        await expect(page.locator(".todo .completed")).to_contain_text("Look around")
        await expect(page.locator(".todo .in_progress")).to_contain_text("Leaping")
        await page.get_by_label("Prompt").fill("the second")
        await page.get_by_label("Prompt").press("Enter")
        await expect(page.locator(".turn")).to_have_count(2)
        await page.get_by_role("button", name="Turns").click()
        await expect(page.locator(".turns li")).to_have_count(2)
        await page.locator(".turns li button").first.click()
        await expect(page.locator(".prompt", has_text="the first")).to_be_in_viewport()
        await page.get_by_role("button", name="Newest").click()
        await expect(page.locator(".turn").last).to_be_in_viewport()


async def test_mode_and_model_are_switched_and_the_session_says_so(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        session = await there.there.session()
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".turn")).to_have_count(1)
        await page.get_by_label("Permission mode").select_option("plan")
        wanted = await page.get_by_label("Model").locator("option").nth(1).get_attribute("value")
        await page.get_by_label("Model").select_option(wanted)
        while True:
            known = await there.there.host.get_session(OfSession(session_id=session))
            if known.permission_mode == "plan" and known.model == wanted:
                break
            await asyncio.sleep(0.02)
        await page.reload()
        await expect(page.get_by_label("Permission mode")).to_have_value("plan")


async def test_a_session_is_stopped_resumed_renamed_and_deleted_from_its_menu(
    tmp_path: Path, browser_address: str
) -> None:
    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        session = await there.there.session(name="errand")
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".session-head .state")).to_have_text("idle")
        for item, state in (("Stop the process", "stopped"), ("Resume", "idle")):
            await page.get_by_label("More").click()
            await page.get_by_role("menuitem", name=item).click()
            await expect(page.locator(".session-head .state")).to_have_text(state)
            await expect(page.get_by_role("menuitem")).to_have_count(0)
        await page.get_by_role("button", name="errand").click()
        await page.get_by_label("Name of the session").fill("voyage")
        await page.keyboard.press("Enter")
        await expect(page.locator(".session-head h1")).to_have_text("voyage")
        page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
        await page.get_by_label("More").click()
        await page.get_by_role("menuitem", name="Delete…").click()
        await expect(page.locator("main h1")).to_have_text("Sessions")
        await expect(page.locator(".sessions tbody tr")).to_have_count(0)


async def test_what_is_said_during_a_turn_steers_it(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One.", BASH, "Done."]) as (there, page):
        session = await there.there.session()
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.get_by_role("button", name="Allow once")).to_be_visible()
        await page.get_by_label("Prompt").fill("mind the reef")
        await page.get_by_role("button", name="Steer").click()
        await expect(page.locator(".prompt").last).to_contain_text("mind the reef")
        await page.get_by_role("button", name="Allow once").click()
        await expect(page.locator(".turn").first).to_be_visible()
        await expect(page.locator(".text-item", has_text="Done.")).to_be_visible()


async def test_a_diff_is_shown_unified_or_side_by_side(tmp_path: Path, browser_address: str) -> None:
    edit = {"tool": "Edit", "input": {"file_path": "a.txt", "old_string": "one two", "new_string": "one three"}}
    async with looked_at(tmp_path, browser_address, [edit, "Done."]) as (there, page):
        (there.there.place.cwd / "a.txt").write_text("one two\n")
        await there.there.session()
        diff = page.locator(".approval .diff")
        await expect(diff.locator(".minus mark")).to_have_text("two")
        await expect(diff.locator(".plus mark")).to_have_text("three")
        await expect(diff.locator("table.unified")).to_be_visible()
        await page.keyboard.press("s")
        await expect(diff.locator("table.split tr")).to_have_count(1)
        await page.reload()
        await expect(diff.locator("table.split")).to_be_visible()


async def test_files_are_completed_and_an_image_is_dropped(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["Seen."]) as (there, page):
        (there.there.place.cwd / "landing_page.md").write_text("x")
        session = await there.there.session(None)
        await page.goto(f"{there.url}#/session/{session}")
        box = page.get_by_label("Prompt")
        await box.press_sequentially("see @landing")
        await expect(page.locator(".completion li")).to_have_text("landing_page.md")
        await box.press("Tab")
        await expect(box).to_have_value("see @landing_page.md ")
        await page.evaluate(
            """() => {
              const data = new DataTransfer();
              data.items.add(new File([new Uint8Array([137, 80, 78, 71])], 'dot.png', { type: 'image/png' }));
              const event = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
              document.querySelector('.composer').dispatchEvent(event);
            }"""
        )
        await expect(page.locator(".pictures img")).to_have_count(1)
        await box.press("Enter")
        await expect(page.locator(".prompt")).to_contain_text("1 attached")
        await expect(page.locator(".pictures img")).to_have_count(0)


async def test_a_dropped_file_is_uploaded_and_named_in_the_prompt(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        session = await there.there.session(None)
        await page.goto(f"{there.url}#/session/{session}")
        box = page.get_by_label("Prompt")
        await box.fill("read")
        await page.evaluate(
            """() => {
              const data = new DataTransfer();
              data.items.add(new File(['depth: 12 fathoms'], 'soundings.txt', { type: 'text/plain' }));
              const event = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
              document.querySelector('.composer').dispatchEvent(event);
            }"""
        )
        await expect(box).to_have_value(re.compile(r"^read @\S+soundings\.txt $"))
        path = (await box.input_value()).removeprefix("read @").strip()
        assert (tmp_path / path).read_text() == "depth: 12 fathoms"


async def test_a_session_starts_in_a_completed_folder_and_a_worktree_and_its_fork_is_below_it(
    tmp_path: Path, browser_address: str
) -> None:
    async with looked_at(tmp_path, browser_address, ["One."], ["Two."], path="sessions/new") as (there, page):
        cwd = there.there.place.cwd
        (cwd / "deeper").mkdir()
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "x"]):
            await asyncio.to_thread(subprocess.run, ["git", *words], cwd=cwd, check=True)
        folder = page.get_by_label("Folder")
        await folder.fill(f"{cwd}/")
        await expect(page.locator(f'#folders option[value="{cwd}/deeper"]')).to_be_attached()
        await folder.fill(str(cwd))
        await page.get_by_label("Worktree").fill("side")
        await page.get_by_label("Name").fill("parent")
        await page.get_by_role("dialog").get_by_label("Prompt").fill("hello")
        await page.get_by_role("button", name="Start").click()
        await expect(page.locator(".turn")).to_have_count(1)
        await expect(page.locator(".session-head .path")).to_contain_text("worktree")
        await page.locator(".menu summary").click()
        await page.get_by_role("menuitem", name="Fork").click()
        await expect(page.locator(".toast")).to_contain_text("Forked")
        await page.goto(f"{there.url}#/sessions")
        rows = page.locator(".sessions tbody tr")
        await expect(rows).to_have_count(2)
        await expect(rows.nth(0).locator("a")).to_have_text("parent")
        await expect(rows.nth(1).locator("a")).to_contain_text("↳")


async def answered(page: Page, change: Any) -> list[WebSocketRoute]:
    """Every connection of the page, with the host's snapshots changed on their way."""
    routes: list[WebSocketRoute] = []

    def connected(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        asked: set[int] = set()
        routes.append(route)

        def up(message: str | bytes) -> None:
            told = json.loads(message)
            if told.get("op") == "get_timeline":
                asked.add(told["ref"])
            server.send(message)

        def down(message: str | bytes) -> None:
            told = json.loads(message)
            for one in told:
                if one.get("ref") in asked and "result" in one:
                    change(one["result"]["state"])
            route.send(json.dumps(told))

        route.on_message(up)
        server.on_message(down)

    await page.route_web_socket("**/v1/ws", connected)
    return routes


async def test_ten_thousand_items_are_in_the_list_and_few_of_them_in_the_document(
    tmp_path: Path, browser_address: str
) -> None:
    def fill(state: dict[str, Any]) -> None:
        items: dict[str, Any] = {}
        for number in range(MANY):
            text = {"text": f"Item number {number}."}
            what = {"type": "prompt"} if number % 100 == 0 else {"type": "text", "done": True}
            items[f"i{number}"] = {"id": f"i{number}", "at": 1.0, "text": text, **what}
        state["items"] = items

    async with deck(tmp_path, browser_address, ["One."]) as there, window(there.browser) as person:
        session = await there.there.session()
        page = await there.enter(person)
        routes = await answered(page, fill)
        await page.goto(f"{there.url}?again#/session/{session}")
        await expect(page.locator(".text-item", has_text="Item number 9999.")).to_be_in_viewport()
        assert await page.locator(".scroller > .row").count() < 200
        await page.keyboard.press("f")
        await page.get_by_label("Find in this session").fill("number 4321.")
        await expect(page.locator(".text-item", has_text="Item number 4321.")).to_be_in_viewport()
        assert await page.locator(".scroller > .row").count() < 200
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Turns").click()
        await expect(page.locator(".turns li")).to_have_count(MANY // 100)
        await page.locator(".turns li button").nth(12).click()
        await expect(page.locator(".prompt", has_text="Item number 1200.")).to_be_in_viewport()
        await page.keyboard.press("End")
        await expect(page.locator(".text-item", has_text="Item number 9999.")).to_be_in_viewport()

        def said(text: str) -> None:
            event = {"type": "text_added", "id": "new", "at": 2.0, "text": text}
            routes[-1].send(json.dumps([{"op": "preview", "ref": f"session {session} 1", "events": [event]}]))

        said("".join(f"Line {number}.\n\n" for number in range(80)) + "Last.")
        await expect(page.get_by_text("Last.", exact=True)).to_be_in_viewport()  # the end is followed
        await page.locator(".scroller").hover()
        await page.mouse.wheel(0, -400)
        await expect(page.get_by_role("button", name="Newest")).to_be_visible()
        top = await page.locator(".scroller").evaluate("one => one.scrollTop")
        said("\n\nAfter the last.")
        await expect(page.get_by_text("After the last.", exact=True)).to_have_count(1)
        assert await page.locator(".scroller").evaluate("one => one.scrollTop") == top  # who reads is left alone
        await page.get_by_role("button", name="Newest").click()
        await expect(page.get_by_text("After the last.", exact=True)).to_be_in_viewport()


async def test_a_gap_in_the_log_draws_the_session_anew(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address, ["One.", BASH, "Done."]) as there, window(there.browser) as person:
        session = await there.there.session()
        page = await there.enter(person)
        routes = await answered(page, lambda state: None)
        await page.goto(f"{there.url}?again#/session/{session}")
        await expect(page.locator(".asked")).to_be_visible()
        routes[-1].send(json.dumps([{"op": "gap", "ref": f"session {session} 1"}]))
        await page.locator(".asked").get_by_role("button", name="Allow once").click()
        await expect(page.locator(".turn")).to_have_count(1)
        assert await page.locator(".text-item").count() == 2
        assert await page.locator(".prompt").count() == 1


FIRST = {"tool": "Bash", "input": {"command": "touch first.txt"}}
SECOND = {"tool": "Bash", "input": {"command": "touch second.txt"}}
ERRAND = {"agent": "run an errand", "description": "errand", "background": True}


@asynccontextmanager
async def two_requests(root: Path, address: str) -> AsyncIterator[tuple[Deck, Page, Locator, Locator]]:
    """A session that asks two things: itself, and then, further up on the page, a sub-agent."""
    gate = root / "gate"
    errand = {**ERRAND, "steps": [{"wait_for": str(gate)}, SECOND, "Back."]}
    async with looked_at(root, address, [errand, FIRST, "Done."]) as (there, page):
        session = await there.there.session()
        await page.goto(f"{there.url}#/session/{session}")
        older = page.locator(".asked", has_text="first.txt").last
        newer = page.locator(".asked", has_text="second.txt").last
        await expect(older.locator("kbd").first).to_be_visible()
        gate.touch()
        await expect(newer).to_be_visible()
        yield there, page, older, newer


async def ran(there: Deck, page: Page, name: str) -> None:
    await expect(page.locator(".call.finished", has_text=name).first).to_be_attached()
    assert (there.there.place.cwd / name).exists()


async def test_of_two_requests_in_a_session_keys_decide_the_marked_one(tmp_path: Path, browser_address: str) -> None:
    async with two_requests(tmp_path, browser_address) as (there, page, older, newer):
        await newer.locator("h2").click()  # whoever clicks on it means it
        await expect(newer.locator(".keyed")).to_be_visible()
        await expect(newer.locator("kbd")).to_have_count(5)
        await expect(older.locator("kbd")).to_have_count(0)
        await page.keyboard.press("a")
        await ran(there, page, "second.txt")
        await expect(page.locator(".asked")).to_have_count(1)
        assert not (there.there.place.cwd / "first.txt").exists()
        await expect(older.locator("kbd")).to_have_count(5)  # it gets them back
        await page.keyboard.press("a")
        await ran(there, page, "first.txt")


async def test_a_newer_request_does_not_take_the_keys(tmp_path: Path, browser_address: str) -> None:
    async with two_requests(tmp_path, browser_address) as (there, page, older, newer):
        await expect(older.locator("kbd")).to_have_count(5)
        await expect(newer.locator("kbd")).to_have_count(0)
        await page.evaluate(
            """() => {
              const press = () => document.dispatchEvent(new KeyboardEvent('keydown', { key: 'a' }));
              // And once more as soon as the other one has them, as a hand does that had not seen it.
              new MutationObserver(() => {
                if (globalThis.again || !document.querySelector('.keyed')?.textContent.includes('second')) return;
                press();
                globalThis.again = true;
              }).observe(document.querySelector('.scroller'), { childList: true, subtree: true, attributes: true });
              press();
            }"""
        )
        await ran(there, page, "first.txt")
        await page.wait_for_function("() => globalThis.again")
        await expect(newer.locator("kbd")).to_have_count(5)
        assert not (there.there.place.cwd / "second.txt").exists()
        await page.keyboard.press("a")
        await ran(there, page, "second.txt")


async def test_a_request_that_is_folded_away_has_no_keys(tmp_path: Path, browser_address: str) -> None:
    async with two_requests(tmp_path, browser_address) as (there, page, older, newer):
        await newer.locator("h2").click()
        await expect(newer.locator("kbd")).to_have_count(5)
        # Pressed before the browser has told of it.
        await page.locator(".sub-agent summary").evaluate(
            """(summary) => {
              summary.click();
              summary.parentElement.open = false;
              document.dispatchEvent(new KeyboardEvent('keydown', { key: 'a' }));
            }"""
        )
        await expect(older.locator("kbd")).to_have_count(5)
        await page.keyboard.press("a")
        await ran(there, page, "first.txt")
        assert not (there.there.place.cwd / "second.txt").exists()
