"""One session in the browser: what it says and does, and what can be said to it."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

from playwright.async_api import expect

from page.kit import BASH, looked_at
from quarterdeck.host.requests import OfSession

expect.set_options(timeout=45_000)
EDIT = {"tool": "Write", "input": {"file_path": "notes.md", "content": "one\ntwo\n"}}


async def reached(gate: Path) -> None:
    """Until the simulator waits at the gate, in the middle of its turn."""
    while not gate.with_name(f"{gate.name}.reached").exists():  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def test_a_session_is_started_from_the_page_and_its_answer_is_markdown(
    tmp_path: Path, browser_address: str
) -> None:
    said = "# Title\n\nSome **bold** text and a [link](https://example.org/x).\n\n```\ncode\n```"
    async with looked_at(tmp_path, browser_address, [said], path="sessions/new") as (there, page):
        await page.get_by_label("Folder").fill(str(there.there.place.cwd))
        await page.get_by_label("Prompt").fill("hello there")
        await page.get_by_label("Name").fill("first")
        await page.get_by_role("button", name="Start").click()
        await expect(page.locator(".markdown h1")).to_have_text("Title")
        await expect(page.locator(".markdown strong")).to_have_text("bold")
        link = page.locator(".markdown a")
        await expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
        await expect(link).to_have_attribute("data-host", "example.org")
        await expect(page.locator(".session-head .name")).to_have_text("first")
        await expect(page.locator(".turn")).to_contain_text("Turn 1")
        await page.get_by_role("button", name="Turns").click()
        await expect(page.locator(".turns li")).to_contain_text("hello there")


async def test_text_appears_while_it_is_written_and_the_finished_text_replaces_it(
    tmp_path: Path, browser_address: str
) -> None:
    said = "First **paragraph**.\n\n" + "Some more words to read. " * 60
    async with looked_at(tmp_path, browser_address, turns=[[said]], delta_size=4, delay_s=0.01) as (there, page):
        session = await there.there.session(None)
        await page.goto(f"{there.url}#/session/{session}")
        await page.get_by_label("Prompt").fill("go")
        await page.get_by_label("Prompt").press("Enter")
        await expect(page.locator(".text-item.writing strong")).to_have_text("paragraph")
        await expect(page.locator(".turn")).to_have_count(1)
        await expect(page.locator(".text-item")).to_have_count(1)
        await expect(page.locator(".text-item.writing")).to_have_count(0)
        assert (await page.locator(".text-item .markdown").inner_text()).count("Some more words") == 60


async def test_an_edit_is_asked_with_its_diff_and_decided_inside_the_session(
    tmp_path: Path, browser_address: str
) -> None:
    async with looked_at(tmp_path, browser_address, ["I write.", EDIT, "Done."]) as (there, page):
        await asyncio.to_thread(subprocess.run, ["git", "init", "-q"], cwd=there.there.place.cwd, check=True)
        session = await there.there.session()
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".asked .diff .plus")).to_have_count(2)
        await page.locator(".asked").get_by_role("button", name="Allow once").click()
        await expect(page.locator(".call.finished")).to_be_visible()
        await expect(page.locator(".turn")).to_be_visible()
        await page.get_by_role("button", name="Changes").click()
        await expect(page.locator("div.changes .diff .path")).to_have_text("notes.md")
        await expect(page.locator("div.changes .diff .kind")).to_have_text("create")
        await expect(page.locator("div.changes .plus .code")).to_have_text(["one", "two"])


async def test_what_a_session_changed_is_one_diff_with_new_renamed_and_odd_files(
    tmp_path: Path, browser_address: str
) -> None:
    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        cwd = there.there.place.cwd
        (cwd / "kept.txt").write_text("one\ntwo\n")
        (cwd / "gone.txt").write_text("x\n")
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "x"]):
            await asyncio.to_thread(subprocess.run, ["git", *words], cwd=cwd, check=True)
        session = await there.there.session()
        (cwd / "kept.txt").write_text("one\nthree\n")
        (cwd / "gone.txt").unlink()
        (cwd / "a new one.txt").write_text("fresh\n--- not a header\n")
        (cwd / "picture.png").write_bytes(b"\x89PNG\0\0")
        (cwd / "empty.txt").touch()
        (cwd / "large.txt").write_text("x" * 1_100_000)
        (cwd / "link.txt").symlink_to("/etc/passwd")
        await page.goto(f"{there.url}#/session/{session}")
        await page.keyboard.press("v")
        file = page.locator("div.changes .diff")
        await expect(file.locator(".path")).to_have_text(
            ["gone.txt", "kept.txt", "a new one.txt", "empty.txt", "picture.png"]
        )
        await expect(file.locator(".kind")).to_have_text(["delete", "", "create", "create", "create"])
        await expect(file.nth(2).locator(".plus .code")).to_have_text(["fresh", "--- not a header"])
        await expect(file.nth(3)).to_contain_text("No lines.")
        await expect(file.nth(4)).to_contain_text("A binary file.")
        await expect(page.locator("div.changes .bar")).to_contain_text("5 files +3 −2")
        await expect(page.locator("div.changes section li")).to_have_text(["large.txt", "link.txt"])


async def test_the_composer_completes_sends_queues_and_interrupts(tmp_path: Path, browser_address: str) -> None:
    gate = tmp_path / "gate"
    async with looked_at(tmp_path, browser_address, ["Hello."], [{"wait_for": str(gate)}, "Never."]) as (
        there,
        page,
    ):
        session = await there.there.session()
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".turn")).to_have_count(1)
        box = page.get_by_label("Prompt")
        await box.fill("/")
        await expect(page.locator(".completion li").first).to_be_visible()
        await box.fill("a second thing")
        await box.press("Enter")
        await expect(page.locator(".prompt")).to_have_count(2)
        await expect(page.get_by_role("button", name="Steer")).to_be_visible()
        await reached(gate)
        await box.fill("for later")
        await box.press("Control+Enter")
        await expect(page.locator(".queue li")).to_contain_text("for later")
        await page.locator(".queue").get_by_role("button", name="Withdraw").click()
        await expect(page.locator(".queue li")).to_have_count(0)
        await page.get_by_role("button", name="Interrupt").click()
        await expect(page.locator(".turn.interrupted")).to_have_count(1)


async def test_an_image_is_pasted_and_sent(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["Seen."], ["Nice."]) as (there, page):
        session = await there.there.session(None)
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.get_by_label("Prompt")).to_be_visible()
        await page.evaluate(
            """() => {
              const bytes = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]);
              const data = new DataTransfer();
              data.items.add(new File([bytes], 'dot.png', { type: 'image/png' }));
              const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
              document.querySelector('.composer textarea').dispatchEvent(event);
            }"""
        )
        await expect(page.locator(".pictures img")).to_have_count(1)
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator(".prompt")).to_contain_text("1 attached: image/png")


async def test_sub_agents_are_nested_and_found(tmp_path: Path, browser_address: str) -> None:
    under = {"content": "Look under the carpet", "status": "pending", "activeForm": "Looking"}
    agent = {
        "agent": "look around",
        "description": "errand",
        "background": False,
        "steps": [{"tool": "TodoWrite", "input": {"todos": [under]}}, "I looked behind the sofa."],
    }
    async with looked_at(tmp_path, browser_address, ["I send someone.", agent, "Back."]) as (there, page):
        session = await there.there.session()
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".turn")).to_be_visible()
        inside = page.locator(".sub-agent .children")
        await expect(inside).to_be_hidden()
        await page.keyboard.press("f")
        await page.get_by_label("Find in this session").fill("carpet")
        await expect(page.locator(".find")).to_contain_text("1 of 1")
        await expect(inside.locator(".row:focus .call")).to_be_visible()
        await expect(inside).to_contain_text("look around")
        await page.keyboard.press("p")
        await expect(page.locator(".todo")).to_contain_text("Look under the carpet")
        await expect(page.locator(".panel.plan h4")).to_contain_text("errand")


async def test_the_list_of_sessions_follows_them_and_searches(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["I need a tool.", BASH, "Done."], path="sessions") as (
        there,
        page,
    ):
        one = await there.there.session(name="alpha")
        await there.there.session(name="beta")
        await expect(page.locator(".sessions tbody tr.waiting")).to_have_count(2)
        await page.get_by_label("Search sessions").fill("alph")
        await expect(page.locator(".sessions tbody tr")).to_have_count(1)
        await there.there.host.stop(OfSession(session_id=one))
        await expect(page.locator(".sessions tbody tr .state")).to_have_text("stopped")
        await page.locator(".sessions tbody tr a").click()
        await page.locator(".menu summary").click()
        await page.get_by_role("menuitem", name="Archive").click()
        await page.goto(f"{there.url}#/sessions")
        await expect(page.locator(".sessions tbody tr")).to_have_count(1)
        await page.get_by_role("button", name="Archive").click()
        await expect(page.locator(".sessions tbody tr")).to_contain_text("alpha")
