"""Every button that no longer story presses: what it does to the host, and what the page says then."""

from __future__ import annotations

import json
import os
import signal
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from playwright.async_api import Dialog, Page, expect

from e2e.server import server_config
from host.kit import pending, pid_of
from page.browser import window
from page.kit import BASH, Deck, deck, looked_at
from quarterdeck.host.requests import ListApprovals, Nothing, OfSession
from quarterdeck.host.resources import Approval

expect.set_options(timeout=45_000)
COLOURS = {"ask": "Which colours?", "options": ["red", "blue", "green"], "header": "Colour"}
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ELICITS = {"tool": "mcp__forms__ask", "input": {}, "elicit": {"message": "Your name?", "schema": FORM}}


async def decided(there: Deck) -> Approval:
    """The one request that was decided."""
    states = ListApprovals(state=["decided", "delivered", "applied"])
    (approval,) = (await there.there.host.list_approvals(states)).approvals
    return approval


async def accept(dialog: Dialog) -> None:
    await dialog.accept()


async def open_menu(page: Page, item: str) -> None:
    await page.get_by_label("More").click()
    await page.get_by_role("menuitem", name=item).click()


# Questions and forms


async def test_of_a_question_several_are_chosen_and_something_is_added(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, [{**COLOURS, "multi": True}, "Fine."]) as (there, page):
        await there.there.session()
        answer = page.get_by_role("button", name="Answer")
        await expect(answer).to_be_disabled()
        for colour in ("red", "green", "blue"):
            await page.locator(".choice", has_text=colour).click()
        await page.locator(".choice", has_text="blue").click()  # not that one after all
        await page.get_by_label("Something else").fill("teal")
        await answer.click()
        await expect(page.locator(".settled li")).to_contain_text("allowed by admin")
        assert ((await decided(there)).decision or {})["answers"] == {"Which colours?": ["red", "green", "teal"]}


async def test_a_question_is_answered_in_ones_own_words_or_skipped(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, [COLOURS, "Fine."], [COLOURS, "Then not."]) as (there, page):
        session = await there.there.session()
        await page.goto(f"{there.url}#/session/{session}")
        await page.locator(".choice", has_text="red").click()
        await page.get_by_label("Something else").fill("teal")
        await expect(page.get_by_role("radio", name="red")).not_to_be_checked()
        await page.get_by_role("button", name="Answer").click()
        await expect(page.locator(".answered dd")).to_have_text("teal")
        await expect(page.locator(".turn")).to_have_count(1)
        await page.get_by_label("Prompt").fill("again")
        await page.get_by_label("Prompt").press("Enter")
        await page.get_by_role("button", name="Skip").click()
        await expect(page.locator(".answered dd")).to_have_text(["teal", "skipped"])


async def test_a_form_is_declined(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, [ELICITS, "Then not."]) as (there, page):
        session = await there.there.session(options={"allowed_tools": ["mcp__forms"]})
        await page.goto(f"{there.url}#/session/{session}")
        await page.get_by_role("button", name="Decline").click()
        await expect(page.locator(".turn")).to_have_count(1)
        await expect(page.locator(".dim", has_text="forms asked: Your name?")).to_contain_text("decline")


async def test_a_page_to_visit_is_a_link_that_shows_where_it_leads(tmp_path: Path, browser_address: str) -> None:
    visit = {"subtype": "elicitation", "mcp_server_name": "shop", "message": "Sign in", "mode": "url"}
    asked = {**visit, "url": "https://shop.example/sign-in?x=1", "elicitation_id": "e1"}
    steps = [{"emit": {"type": "control_request", "request_id": "visit", "request": asked}}, {"wait_for": "never"}]
    async with looked_at(tmp_path, browser_address, steps) as (there, page):
        await there.there.session()
        await expect(page.locator(".visit b")).to_have_text("shop.example")
        link = page.locator(".visit a")
        await expect(link).to_have_attribute("href", "https://shop.example/sign-in?x=1")
        await expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
        await page.get_by_role("button", name="Accept").click()
        await expect(page.locator(".settled li")).to_contain_text("allowed by admin")


# Permissions


async def test_it_says_why_it_asks_and_a_rule_can_expire(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, [BASH, "Done."]) as (there, page):
        await there.there.session()
        await expect(page.locator(".reason")).to_have_text("Why it asks: No rule applies.")
        await page.keyboard.press("r")
        await page.get_by_label("Lasts").select_option(label="for an hour")
        await page.get_by_role("button", name="Allow with this rule").click()
        await expect(page.locator(".settled li")).to_contain_text("allowed")
        (grant,) = (await there.there.host.list_grants(Nothing())).grants
        assert grant.expires_at is not None
        assert timedelta(minutes=50) < grant.expires_at - datetime.now(UTC) <= timedelta(hours=1)
        await page.goto(f"{there.url}#/policy")
        await expect(page.locator("td[data-label=Until] time")).to_be_visible()


async def test_what_led_to_a_request_stands_below_it(tmp_path: Path, browser_address: str) -> None:
    turns = [["An old answer."], ["I **need** a file.", BASH, "Done."]]
    async with looked_at(tmp_path, browser_address, *turns) as (there, page):
        session = await there.there.session("an old prompt")
        await there.there.client().get(f"/v1/sessions/{session}/wait")
        await there.there.client().post(f"/v1/sessions/{session}/prompts", {"content": "make <b>it</b>"})
        before = page.get_by_label("Before this")
        await expect(before.locator(".asked-for")).to_have_text("make <b>it</b>")
        await expect(before.locator(".markdown strong")).to_have_text("need")
        await expect(before).not_to_contain_text("old")
        await before.get_by_role("link").click()
        await expect(page.locator(".session-view .asked")).to_be_visible()


async def test_the_rules_in_force_are_listed_with_where_they_come_from(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address, ["One."]) as there, window(there.browser) as person:
        rules = {"permissions": {"ask": ["Bash(npm test:*)"], "deny": ["Read(./secrets/**)"]}}
        settings = there.there.place.cwd / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps(rules))
        await there.there.session()
        page = await there.enter(person, "policy")
        table = page.locator("section", has=page.get_by_role("heading", name="Rules in force"))
        for rule, says in (("Bash(npm test:*)", "ask"), ("Read(./secrets/**)", "deny")):
            row = table.locator("tr", has=page.get_by_text(rule, exact=True))
            await expect(row.locator(".decision-word")).to_have_text(says)
            await expect(row).to_contain_text("settings.json")
        await table.locator("summary").click()
        await expect(table.locator("details tr").nth(1)).to_be_visible()


async def test_a_request_that_ends_by_itself_says_how(tmp_path: Path, browser_address: str) -> None:
    """Withdrawn by an interrupt, lost with a process that is killed; the session says that it crashed, and why."""
    async with looked_at(tmp_path, browser_address, [BASH, "Done."], [BASH, "Done."]) as (there, page):
        host = there.there.host
        session = await there.there.session(name="errand")
        await expect(page.locator(".approval")).to_be_visible()
        await host.interrupt(OfSession(session_id=session))
        await expect(page.locator(".settled li")).to_contain_text("withdrawn")
        await expect(page.locator(".settled li button")).to_have_count(0)  # there is nothing to undo
        await there.there.client().post(f"/v1/sessions/{session}/prompts", {"content": "again"})
        await expect(page.locator(".approval")).to_be_visible()
        known = await host.get_session(OfSession(session_id=session))
        os.kill(await pid_of(host, known), signal.SIGKILL)
        await expect(page.locator(".settled li").first).to_contain_text("lost with its process")
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".session-head .state")).to_have_text("crashed")
        await expect(page.locator(".doing.problem")).to_contain_text("crashed: Claude Code ended with signal 9.")
        await expect(page.locator(".notice.error")).to_contain_text("the CLI exited in the middle of the turn")


# Sessions


async def test_the_list_says_what_each_does_with_which_model_at_what_cost_since_when(
    tmp_path: Path, browser_address: str
) -> None:
    steps = ["One.", {"usage": {"input_tokens": 500_000, "output_tokens": 7_000}}]
    async with looked_at(tmp_path, browser_address, turns=[[*steps, BASH, "Done."]], path="sessions") as (there, page):
        session = await there.there.session(name="errand", model="claude-sonnet-5-5")
        row = page.locator(".sessions tbody tr")
        await expect(row.locator(".doing-now")).to_have_text("asks: Bash touch made.txt")
        await expect(row).to_contain_text("sonnet-5-5")
        await expect(row.locator("td").last.locator("time")).to_have_text("now")
        (asked,) = await pending(there.there.host)
        await page.goto(f"{there.url}#/inbox/{asked.id}")
        await page.get_by_role("button", name="Allow once").click()
        await there.there.client().get(f"/v1/sessions/{session}/wait")
        known = await there.there.host.get_session(OfSession(session_id=session))
        assert known.cost_usd > Decimal("0.01")
        await expect(page.locator(".settled li")).to_have_count(1)  # the inbox goes on to what waits next
        await page.goto(f"{there.url}#/sessions")
        await expect(row.locator(".doing-now")).to_have_text("")
        await expect(row.locator("td.number").first).to_have_text(f"${known.cost_usd:.2f}")


async def test_a_session_is_compacted_and_taken_out_of_the_archive(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        session = await there.there.session(name="errand")
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".turn")).to_have_count(1)
        await open_menu(page, "Compact the context")
        await expect(page.locator(".notice", has_text="Compacted").first).to_be_visible()
        await open_menu(page, "Stop the process")
        await expect(page.locator(".session-head .state")).to_have_text("stopped")
        await open_menu(page, "Archive")
        await page.get_by_label("More").click()
        await expect(page.get_by_role("menuitem", name="Unarchive")).to_be_visible()
        assert (await there.there.host.get_session(OfSession(session_id=session))).archived
        await page.get_by_role("menuitem", name="Unarchive").click()
        await page.goto(f"{there.url}#/sessions")
        await expect(page.locator(".sessions tbody tr")).to_contain_text("errand")


async def test_a_tool_server_is_disabled_enabled_and_connected_again(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        servers = {"st": server_config(tmp_path)}
        session = await there.there.session(options={"mcp_servers": servers})
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".turn")).to_have_count(1)
        await page.get_by_role("button", name="About").click()
        status = page.locator(".panel .tasks .tag")
        await expect(status).to_have_text("connected")
        for button, then in (("Disable", "disabled"), ("Enable", "connected"), ("Reconnect", "connected")):
            await page.get_by_role("button", name=button).click()
            await expect(status).to_have_text(then)
        await expect(page.locator(".toast.error")).to_have_count(0)


# Settings and usage


async def test_a_token_is_revoked_and_a_month_has_a_budget(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address, ["One."]) as there, window(there.browser) as person:
        phone = await there.there.token("approve", name="phone")
        page = await there.enter(person, "settings")
        page.on("dialog", accept)
        row = page.locator("tr", has_text="phone")
        await row.get_by_role("button", name="Revoke").click()
        await expect(row).to_have_count(0)
        assert (await there.there.client(phone.secret).get("/v1/sessions")).status == 401
        await page.get_by_label("Per month, USD").fill("200")
        await page.locator("form", has_text="Per month").get_by_role("button", name="Save").click()
        await expect(page.locator(".toast").last).to_contain_text("Budgets saved")
        await page.goto(f"{there.url}#/usage")
        await expect(page.get_by_label("This month: $0 of $200.00")).to_be_visible()


async def test_usage_is_told_by_model(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        session = await there.there.session(model="claude-sonnet-5-5")
        await there.there.client().get(f"/v1/sessions/{session}/wait")
        await page.goto(f"{there.url}#/usage")
        await expect(page.locator(".ranking", has_text="By model").locator("li")).to_contain_text("sonnet-5-5")


async def test_notifications_are_switched_on_only_if_the_browser_allows_them(
    tmp_path: Path, browser_address: str
) -> None:
    stub = """
      globalThis.answer = 'denied';
      globalThis.Notification = class { static get permission() { return globalThis.answer; } };
      Notification.requestPermission = async () => globalThis.answer;
    """
    async with deck(tmp_path, browser_address, ["One."]) as there, window(there.browser) as person:
        await person.context.add_init_script(stub)
        page = await there.enter(person, "settings")
        switch = page.get_by_label("Notify me about new requests")
        await switch.click()
        await expect(page.locator(".toast.error")).to_contain_text("does not allow notifications")
        kept = "localStorage.getItem('quarterdeck.notify')"
        await expect(switch).not_to_be_checked()
        assert await page.evaluate(kept) != "true"
        await page.evaluate("globalThis.answer = 'granted'")
        await switch.click()
        await expect(switch).to_be_checked()
        await page.wait_for_function(f"() => {kept} === 'true'")
        await switch.click()
        await expect(switch).not_to_be_checked()


async def test_a_dialog_of_the_cli_is_shown_and_cancelled(tmp_path: Path, browser_address: str) -> None:
    asked = {"subtype": "request_user_dialog", "dialog_kind": "trust", "payload": {"folder": "/srv/shop"}}
    steps = [{"emit": {"type": "control_request", "request_id": "dialog", "request": asked}}, {"wait_for": "never"}]
    async with looked_at(tmp_path, browser_address, steps) as (there, page):
        await there.there.session()
        await expect(page.locator(".approval .fields")).to_contain_text("/srv/shop")
        await page.get_by_role("button", name="Cancel").click()
        await expect(page.locator(".settled li")).to_contain_text("denied by admin")
