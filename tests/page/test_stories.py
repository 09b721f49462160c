"""The main stories in the browser, each on the real CLI with a scripted model and on the simulator."""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from conformance.real import RealStage
from conformance.scenarios.questions import QUESTION
from conformance.stage import bash
from e2e.server import server_config
from host.staged import BOTH, Stage, host_over, stage_in
from page.browser import driven, window
from quarterdeck.gateways.http import Gateway, Server, Settings
from quarterdeck.host import Host
from quarterdeck.host.requests import CreateSession, CreateToken, ListSessions, OfSession
from quarterdeck.testing.model import Stall, ToolUse

pytestmark = pytest.mark.parametrize("kind", BOTH)
expect.set_options(timeout=45_000)
LIMIT_S = 120.0


@dataclass
class Story:
    """A host over a stage, and a person in front of it."""

    stage: Stage
    host: Host
    page: Page
    url: str

    async def session(self, prompt: str | None = None, **more: Any) -> str:
        return (await self.host.create_session(CreateSession(cwd=str(self.stage.cwd), prompt=prompt, **more))).id

    async def go(self, path: str) -> None:
        await self.page.goto(f"{self.url}#/{path}")

    async def say(self, text: str) -> None:
        box = self.page.get_by_label("Prompt")
        await box.fill(text)
        await box.press("Enter")

    @property
    def turns(self) -> Locator:
        return self.page.locator(".turn")

    async def texts(self) -> list[str]:
        return [text.strip() for text in await self.page.locator(".text-item .markdown").all_inner_texts()]


@asynccontextmanager
async def told(root: Path, kind: str, address: str) -> AsyncIterator[Story]:
    with stage_in(root / "stage", kind) as stage:
        async with asyncio.timeout(LIMIT_S), host_over(stage, keeper=False) as host, driven(address) as browser:
            token = await host.create_token(CreateToken(name="ann", scope="admin", may_bypass=True))
            async with Server(Gateway(host, Settings())) as server, window(browser) as person:
                name, port = await server.listen_tcp("127.0.0.1", 0)
                await person.context.add_init_script(f"sessionStorage.setItem('quarterdeck.token', '{token.secret}')")
                url = f"http://{name}:{port}/"
                page = await person.page(url)
                await expect(page.locator("html[data-link=online]")).to_be_attached()
                yield Story(stage, host, page, url)
            for one in (await host.list_sessions(ListSessions(limit=100))).sessions:
                await host.stop(OfSession(session_id=one.id))


async def test_from_a_new_session_to_an_approved_edit(tmp_path: Path, browser_address: str, kind: str) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        path = stage.cwd / "notes.md"
        await asyncio.to_thread(subprocess.run, ["git", "init", "-q"], cwd=stage.cwd, check=True)
        stage.reply("I write it **now**.", ToolUse("Write", {"file_path": str(path), "content": "one\ntwo\n"}))
        stage.reply("Written.")
        await story.go("sessions/new")
        await page.get_by_label("Folder").fill(str(stage.cwd))
        await page.get_by_label("Prompt").fill("write notes")
        await page.get_by_role("button", name="Start").click()
        await expect(page.locator(".asked .diff .plus")).to_have_count(2)
        await story.go("inbox")
        await expect(page.locator(".approval .diff .path")).to_contain_text("notes.md")
        await page.keyboard.press("a")
        await expect(page.locator(".settled li")).to_contain_text("allowed by ann")
        await page.go_back()
        await expect(story.turns).to_have_count(1)
        assert await story.texts() == ["I write it now.", "Written."]
        assert path.read_text() == "one\ntwo\n"
        await expect(page.locator(".session-head .cost")).to_contain_text("$")
        await expect(page.locator(".context meter")).to_have_attribute(
            "aria-label", re.compile(r"^\d+ % of \S+ tokens")
        )
        await expect(story.turns.locator("time")).to_have_text(re.compile(r"^\d\d:\d\d$"))
        await page.get_by_role("button", name="Changes").click()
        await expect(page.locator("div.changes .diff .path")).to_have_text("notes.md")
        await expect(page.locator("div.changes .plus .code")).to_have_text(["one", "two"])


async def test_text_comes_in_pieces_and_an_interrupt_keeps_what_was_said(
    tmp_path: Path, browser_address: str, kind: str
) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        gate = stage.gate()
        stage.reply("This is going to take a while, so ", Stall(after=5, until=gate), delta_size=8)
        await story.go(f"session/{await story.session()}")
        await story.say("go on")
        await expect(page.locator(".text-item.writing")).to_contain_text("This is")
        await page.get_by_role("button", name="Interrupt").click()
        await expect(page.locator(".turn.interrupted")).to_have_count(1)
        gate.open()
        await expect(page.locator(".text-item")).to_contain_text("This is")
        await expect(page.locator(".text-item.writing")).to_have_count(0)


async def test_a_command_is_edited_then_allowed_and_one_is_denied_with_a_note(
    tmp_path: Path, browser_address: str, kind: str
) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        stage.reply(bash("touch planned.txt"))
        stage.reply(bash("touch unwanted.txt"))
        stage.reply("Fine.")
        await story.session("go")
        await expect(page.locator(".approval .command")).to_have_text("touch planned.txt")
        await page.keyboard.press("e")
        await page.get_by_label("Command to run instead").fill("touch other.txt")
        await page.get_by_role("button", name="Allow as edited").click()
        await expect(page.locator(".approval .command")).to_have_text("touch unwanted.txt")
        await expect(page.get_by_role("button", name="Deny…")).to_be_enabled()
        await page.keyboard.press("d")
        await page.get_by_label("Note for the model").fill("use what is there")
        await page.keyboard.press("Enter")
        await expect(page.locator(".settled li")).to_have_count(2)
        await page.locator("a", has_text="Sessions").click()
        await expect(page.locator(".sessions .state")).to_have_text("idle")
        assert {one.name for one in stage.cwd.iterdir()} == {"other.txt"}
        assert "use what is there" in stage.heard[-1].text


async def test_a_rule_is_remembered_tried_on_the_past_and_revoked(
    tmp_path: Path, browser_address: str, kind: str
) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        stage.reply(bash("mkdir first"))
        stage.reply(bash("mkdir first/second"))
        stage.reply("Both.")
        await story.session("go")
        await expect(page.locator(".approval .command")).to_have_text("mkdir first")
        await page.keyboard.press("r")
        await page.get_by_label("Another rule").fill("Bash(mkdir:*)")
        await page.get_by_role("button", name="Allow with this rule").click()
        await expect(page.locator(".settled li")).to_contain_text("allowed")
        await story.go("sessions")
        await expect(page.locator(".sessions .state")).to_have_text("idle")
        assert (stage.cwd / "first" / "second").is_dir()
        await story.go("policy")
        await page.get_by_role("button", name="Revoke").click()
        await expect(page.locator("tr.over")).to_have_count(1)
        await page.get_by_label("Rule", exact=True).fill("Bash(mkdir:*)")
        await page.get_by_role("button", name="Try").click()
        await expect(page.locator(".try .verdict")).to_contain_text("changed 1 of the last 1 requests")
        await expect(page.locator(".try tbody tr")).to_contain_text("mkdir first")
        await page.get_by_label("Decision").select_option("deny")
        await page.get_by_role("button", name="Try").click()
        await expect(page.locator(".try tbody tr .against")).to_be_visible()


async def test_a_question_and_a_form_are_answered(tmp_path: Path, browser_address: str, kind: str) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        servers = {"st": server_config(stage.folder)}
        session = await story.session(options={"mcp_servers": servers, "allowed_tools": ["mcp__st__ask"]})
        stage.reply(ToolUse("AskUserQuestion", {"questions": [QUESTION]}))
        stage.reply("Good.")
        await story.go(f"session/{session}")
        await story.say("ask me")
        await expect(page.locator(".questions legend")).to_contain_text(QUESTION["question"])
        label = QUESTION["options"][0]["label"]
        await page.locator(".choice", has_text=label).click()
        await page.get_by_role("button", name="Answer").click()
        await expect(page.locator(".answered dd")).to_have_text(label)
        await expect(story.turns).to_have_count(1)
        stage.reply(ToolUse("mcp__st__ask", {}))
        stage.reply("Thank you.")
        await story.say("ask again")
        await expect(page.locator(".asked .questions")).to_contain_text("Your name?")
        await page.locator(".asked").get_by_role("textbox").fill("Bob")
        await page.locator(".asked").get_by_role("button", name="Send").click()
        await expect(story.turns).to_have_count(2)
        assert "Bob" in stage.heard[-1].text


async def test_a_plan_is_sent_back_edited_and_approved_with_a_mode(
    tmp_path: Path, browser_address: str, kind: str
) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        path = stage.cwd / "leap.md"
        stage.reply(ToolUse("ExitPlanMode", {"plan": "1. Look"}))
        stage.reply(ToolUse("ExitPlanMode", {"plan": "1. Look\n2. Leap"}))
        stage.reply(ToolUse("Write", {"file_path": str(path), "content": "leapt"}))
        stage.reply("Leapt.")
        session = await story.session("plan it", permission_mode="plan")
        review = page.locator(".approval", has=page.get_by_role("button", name="Approve"))
        first = await review.get_attribute("data-approval")
        await page.get_by_label("What should change").fill("Add a second step.")
        await page.get_by_role("button", name="Send back").click()
        await expect(page.locator(".settled li")).to_contain_text("denied by ann")
        await expect(review.and_(page.locator(f":not([data-approval='{first}'])"))).to_be_visible()
        assert "Add a second step." in stage.heard[-1].text
        await expect(page.get_by_role("button", name="Edit")).to_be_enabled()
        await page.keyboard.press("e")
        await page.get_by_role("textbox", name="The plan").fill("1. Look twice\n2. Leap")
        await page.get_by_label("then").select_option("acceptEdits")
        await page.get_by_role("button", name="Approve").click()
        await expect(page.locator(".settled li")).to_have_count(2)
        await story.go(f"session/{session}")
        await expect(story.turns).to_have_count(1)
        assert path.read_text() == "leapt"
        assert any("1. Look twice" in heard.text for heard in stage.heard)
        await expect(page.get_by_label("Permission mode")).to_have_value("acceptEdits")
        answered = page.locator("details.answered summary")
        await expect(answered.first).to_contain_text("Plan sent back: Add a second step.")
        await expect(answered.last).to_contain_text("Plan approved")


async def test_the_plan_file_is_read_as_markdown_and_rejecting_it_ends_the_turn(
    tmp_path: Path, browser_address: str, kind: str
) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        stage.reply("I plan.")
        session = await story.session("hello", permission_mode="plan")
        await story.go(f"session/{session}")
        await expect(story.turns).to_have_count(1)
        file = re.search(r"/\S+/plans/\S+?\.md", str(stage.heard[-1]))
        assert file is not None, stage.heard[-1]
        stage.reply(ToolUse("Write", {"file_path": file[0], "content": "# Voyage\n\n1. Look\n2. Leap\n"}))
        stage.reply(ToolUse("ExitPlanMode", {}))
        await story.say("plan it")
        await expect(page.locator(".asked .plan h1")).to_have_text("Voyage")
        await expect(page.locator(".asked .plan li")).to_have_count(2)
        await page.get_by_role("button", name="Reject and stop").click()
        await expect(page.locator(".turn.interrupted")).to_have_count(1)


async def test_a_prompt_waits_for_its_turn_and_a_session_is_forked_at_an_answer(
    tmp_path: Path, browser_address: str, kind: str
) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        gate = stage.gate()
        stage.reply("The first ", Stall(after=1, until=gate), delta_size=4)
        stage.reply("The second.")
        session = await story.session()
        await story.go(f"session/{session}")
        await story.say("one")
        await stage.reached(gate)
        box = page.get_by_label("Prompt")
        await box.fill("two")
        await box.press("Control+Enter")
        await expect(page.locator(".queue li")).to_contain_text("two")
        gate.open()
        await expect(story.turns).to_have_count(2)
        await expect(page.locator(".queue li")).to_have_count(0)
        first = page.locator(".text-item").first
        await first.hover()
        await first.get_by_role("button", name="Fork from here").click()
        await expect(page.locator(".session-head")).to_be_visible()
        await page.wait_for_function("(id) => !location.hash.includes(id)", arg=session)
        stage.reply("Another way.")
        await story.say("three")
        await expect(page.locator(".text-item").last).to_contain_text("Another way.")


async def test_files_are_set_back_to_a_prompt_after_a_look_at_which(
    tmp_path: Path, browser_address: str, kind: str
) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        path = stage.cwd / "poem.txt"
        await story.go("sessions/new")
        await page.get_by_label("Folder").fill(str(stage.cwd))
        await page.locator("select[name=permission_mode]").select_option("acceptEdits")
        await page.get_by_role("button", name="Start").click()
        await expect(page.locator(".session-head")).to_be_visible()
        for number, words in enumerate(("first", "second"), 1):
            stage.reply(ToolUse("Write", {"file_path": str(path), "content": words}))
            stage.reply("Written.")
            await story.say(f"write {words}")
            await expect(story.turns).to_have_count(number)
        asked: list[str] = []

        async def answer(dialog: Any) -> None:
            asked.append(dialog.message)
            await dialog.accept()

        page.on("dialog", answer)
        prompt = page.locator(".prompt", has_text="write second")
        await prompt.hover()
        await prompt.get_by_role("button", name="Rewind files to here").click()
        await expect(page.locator(".toast").last).to_contain_text("set back")
        assert "poem.txt" in asked[0]
        assert path.read_text() == "first"


async def test_a_sub_agent_is_nested_and_a_background_task_is_listed_and_stopped(
    tmp_path: Path, browser_address: str, kind: str
) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        task = {"description": "an errand", "prompt": "ERRAND please", "subagent_type": "general-purpose"}
        stage.reply(ToolUse("Task", {**task, "run_in_background": False}))
        stage.reply(bash("touch errand.txt"))
        stage.reply("The errand is done.")
        stage.reply("The helper is back.")
        session = await story.session()
        await story.go(f"session/{session}")
        await story.say("delegate")
        nested = page.locator(".call .sub-agent .children")
        await expect(nested.locator(".call")).to_be_visible()
        await page.get_by_role("button", name="Allow once").click()
        await expect(story.turns).to_have_count(1)
        await expect(page.locator(".sub-agent")).to_have_count(1)
        assert (stage.cwd / "errand.txt").exists()
        stage.reply(bash("sleep 50", run_in_background=True))
        stage.reply("It runs.")
        await story.say("in the background")
        await expect(page.locator(".text-item").last).to_contain_text("It runs.")
        await page.get_by_role("button", name="Plan").click()
        running = page.locator(".tasks li.running")
        await running.get_by_role("button", name="Stop").click()
        await expect(running).to_have_count(0)


async def test_a_commands_output_is_shown_while_it_runs(tmp_path: Path, browser_address: str, kind: str) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        # The simulator's shell has no loops.
        until = "until [ -e go ]; do sleep 0.1; done" if kind == "real" else "sleep 12"
        stage.reply(bash(f"echo the first line; {until}; echo the last line"))
        stage.reply("Done.")
        session = await story.session(options={"allowed_tools": ["Bash"]})
        await story.go(f"session/{session}")
        await story.say("run it")
        live = page.get_by_label("Output so far")
        await expect(live).to_contain_text("the first line")
        assert "the last line" not in await live.inner_text()
        await expect(page.locator(".call.running")).to_have_count(1)
        (stage.cwd / "go").touch()
        await expect(story.turns).to_have_count(1)
        await page.locator(".call .head").click()
        await expect(page.get_by_label("Output", exact=True)).to_contain_text("the last line")


async def test_a_conversation_is_found_by_its_text_and_one_of_a_terminal_is_continued(
    tmp_path: Path, browser_address: str, kind: str
) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        stage.reply("The lighthouse is dark.")
        session = await story.session("look")
        await expect(page.locator(".deck")).to_be_visible()
        await story.go(f"session/{session}")
        await expect(story.turns).to_have_count(1)
        await story.go("sessions?q=lighthouse")
        hit = page.locator(".hits a").first
        await expect(hit.locator("mark")).to_have_text("lighthouse")
        await hit.click()
        await expect(page.locator(".row:focus")).to_contain_text("The lighthouse is dark.")
        await story.host.delete_session(OfSession(session_id=session))
        await story.go("sessions/adopt")
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Search transcripts").fill("lighthouse")
        await dialog.get_by_role("button", name="Continue").click()
        await expect(page.locator(".session-head .state")).to_have_text("stopped")
        stage.reply("Now it shines.")
        await story.say("and now?")
        await expect(page.locator(".text-item").last).to_contain_text("Now it shines.")


async def test_what_is_said_in_a_turn_is_heard_in_it_and_after_deny_and_stop_another_mode_counts(
    tmp_path: Path, browser_address: str, kind: str
) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        stage.reply(bash("touch one.txt"))
        stage.reply(bash("touch two.txt"))
        await story.go(f"session/{await story.session('go')}")
        await expect(page.locator(".asked .command")).to_have_text("touch one.txt")
        await page.get_by_label("Prompt").fill("mind the reef")
        await page.get_by_role("button", name="Steer").click()
        await expect(page.locator(".prompt", has_text="mind the reef")).to_be_visible()
        await page.get_by_role("button", name="Allow once").click()
        await expect(page.locator(".asked .command")).to_have_text("touch two.txt")
        assert "mind the reef" in stage.heard[-1].text
        await expect(story.turns).to_have_count(0)  # it is still the same one
        await page.get_by_role("button", name="Deny and stop").click()
        await expect(page.locator(".turn.interrupted")).to_have_count(1)
        assert {one.name for one in stage.cwd.iterdir()} == {"one.txt"}
        await page.get_by_label("Permission mode").select_option("acceptEdits")
        await expect(page.get_by_label("Permission mode")).to_have_value("acceptEdits")
        stage.reply(ToolUse("Write", {"file_path": str(stage.cwd / "log.txt"), "content": "aground"}))
        stage.reply("Written.")
        await story.say("write the log")
        await expect(story.turns).to_have_count(2)
        assert (stage.cwd / "log.txt").read_text() == "aground"


async def test_a_dropped_image_reaches_the_model(tmp_path: Path, browser_address: str, kind: str) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        stage.reply("A dot.")
        await story.go(f"session/{await story.session()}")
        await expect(page.get_by_label("Prompt")).to_be_visible()
        await page.evaluate(DROP, PIXEL)
        await expect(page.locator(".pictures img")).to_have_count(1)
        await story.say("what is this?")
        await expect(story.turns).to_have_count(1)
        assert await story.texts() == ["A dot."]
        assert "what is this?" in stage.heard[-1].text
        if isinstance(stage, RealStage):
            (sent,) = [one for one in _blocks(stage.model.conversation[-1].messages) if one.get("type") == "image"]
            assert sent["source"]["media_type"] == "image/png"


def _blocks(messages: list[Any]) -> list[dict[str, Any]]:
    return [block for one in messages if isinstance(one["content"], list) for block in one["content"]]


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
DROP = """(pixel) => {
  const data = new DataTransfer();
  const bytes = Uint8Array.from(atob(pixel), (one) => one.charCodeAt(0));
  data.items.add(new File([bytes], 'dot.png', { type: 'image/png' }));
  const event = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
  document.querySelector('.composer').dispatchEvent(event);
}"""


async def test_of_two_windows_one_decides_and_the_rest_is_decided_at_once(
    tmp_path: Path, browser_address: str, kind: str
) -> None:
    async with told(tmp_path, kind, browser_address) as story:
        stage, page = story.stage, story.page
        token = await story.host.create_token(CreateToken(name="bob", scope="approve"))
        browser = page.context.browser
        assert browser is not None
        for number in (1, 2, 3):
            stage.reply(bash(f"touch {number}.txt"))
            await story.session("go")
            await expect(page.locator(".rows li")).to_have_count(number)
        for _ in range(3):
            stage.reply("Done.")
        async with window(browser) as his:
            await his.context.add_init_script(f"sessionStorage.setItem('quarterdeck.token', '{token.secret}')")
            other = await his.page(story.url)
            await expect(other.locator(".rows li")).to_have_count(3)
            await other.locator(".rows li", has_text="2.txt").locator("a").click()
            await expect(other.locator(".approval .command")).to_have_text("touch 2.txt")
            await other.keyboard.press("a")
            await expect(page.locator(".settled li")).to_contain_text("allowed by bob")
            await page.keyboard.press("b")
            await expect(page.locator(".covered li")).to_have_count(2)
            await page.get_by_role("button", name="Allow these 2 once").click()
            await expect(other.locator(".settled li").first).to_contain_text("allowed by ann")
            await expect(other.locator(".settled li")).to_have_count(3)
        await story.go("sessions")
        await expect(page.locator(".sessions .state", has_text="idle")).to_have_count(3)
        assert {one.name for one in stage.cwd.iterdir()} == {"1.txt", "2.txt", "3.txt"}
