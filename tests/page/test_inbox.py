"""The inbox: everything that waits, and each way to decide it."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, WebSocketRoute, expect

from host.kit import decide, pending
from page.browser import window
from page.kit import BASH, deck, looked_at
from quarterdeck.host.requests import Decide, Decision, ListApprovals, Nothing

TURN = ["I need a tool.", BASH, "Done."]
CALM = {"tool": "Bash", "input": {"command": "touch calm.txt"}}
RISKY = {"tool": "Bash", "input": {"command": "sudo rm -rf build"}}
RULES = [{"when": "clean", "steps": [RISKY, "Cleaned."]}, {"when": "go", "steps": [CALM, "Done."]}]
LONG_MS = 45_000
expect.set_options(timeout=LONG_MS)


async def waits(page: Page) -> None:
    await expect(page.locator(".approval")).to_be_visible()


async def test_the_link_from_the_terminal_signs_in_and_shows_what_waits(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address, TURN) as there, window(there.browser) as person:
        await there.there.session(name="errand")
        page = await person.page(await there.link())
        await waits(page)
        assert "code=" not in page.url
        await expect(page.locator(".approval .command")).to_have_text("touch made.txt")
        await expect(page.locator(".approval .from")).to_contain_text("errand")
        assert await page.title() == "(1) Quarterdeck"
        assert all(url.startswith(there.url) for url in person.requests)


async def test_allow_once_with_one_key_and_it_is_done(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, TURN) as (there, page):
        await there.there.session()
        await waits(page)
        await page.keyboard.press("a")
        await expect(page.locator(".settled li")).to_contain_text("allowed by admin")
        await expect(page.locator(".approval")).to_have_count(0)
        await expect(page.locator(".rows li")).to_have_count(0)
        await page.keyboard.press("u")
        await expect(page.locator(".toast.error")).to_contain_text("Too late to undo")


async def test_allow_with_exactly_this_rule(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, TURN) as (there, page):
        await there.there.session()
        await waits(page)
        await page.keyboard.press("r")
        await expect(page.locator("form.more code").first).to_have_text("Bash(touch made.txt)")
        await page.locator("form.more select").first.select_option("project")
        await page.get_by_role("button", name="Allow with this rule").click()
        await expect(page.locator(".settled li")).to_contain_text("allowed")
        grants = (await there.there.host.list_grants(Nothing())).grants
        assert [(grant.rule, grant.scope) for grant in grants] == [("Bash(touch made.txt)", "project")]


async def test_edit_then_allow(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, TURN) as (there, page):
        await there.there.session()
        await waits(page)
        await page.keyboard.press("e")
        await page.locator("form.more textarea").fill("touch other.txt")
        await page.get_by_role("button", name="Allow as edited").click()
        await expect(page.locator(".settled li")).to_contain_text("allowed")
        decided = (
            await there.there.host.list_approvals(ListApprovals(state=["decided", "delivered", "applied"]))
        ).approvals
        assert decided[0].decision is not None
        assert decided[0].decision["updated_input"]["command"] == "touch other.txt"


async def test_deny_with_a_note(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, TURN) as (there, page):
        await there.there.session()
        await waits(page)
        await page.keyboard.press("d")
        await page.get_by_label("Note for the model").fill("use git instead")
        await page.keyboard.press("Enter")
        await expect(page.locator(".settled li")).to_contain_text("denied by admin")
        decided = (
            await there.there.host.list_approvals(ListApprovals(state=["decided", "delivered", "applied"]))
        ).approvals
        assert decided[0].decision is not None
        assert decided[0].decision["message"] == "use git instead"


async def test_deny_and_stop_ends_the_turn(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, TURN) as (there, page):
        session = await there.there.session()
        await waits(page)
        await page.keyboard.press("x")
        await expect(page.locator(".settled li")).to_contain_text("denied")
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".turn")).to_contain_text("interrupted")


async def test_a_question_is_answered_with_a_choice(tmp_path: Path, browser_address: str) -> None:
    ask = {"ask": "Which colour?", "options": ["red", "blue"], "header": "Colour"}
    async with looked_at(tmp_path, browser_address, [ask, "Fine."]) as (there, page):
        session = await there.there.session()
        await expect(page.locator(".questions legend")).to_contain_text("Which colour?")
        await page.locator(".choice", has_text="blue").click()
        await page.get_by_role("button", name="Answer").click()
        await expect(page.locator(".settled li")).to_contain_text("allowed by admin")
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".answered dd")).to_have_text("blue")


async def test_a_plan_is_read_and_approved(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, [{"plan": "# Plan\n\n1. Look\n2. Leap"}, "Done."]) as (there, page):
        await there.there.session(permission_mode="plan")
        await expect(page.locator(".plan .markdown li")).to_have_count(2)
        await page.get_by_role("button", name="Approve").click()
        await expect(page.locator(".settled li")).to_contain_text("allowed by admin")


async def test_what_is_answered_elsewhere_vanishes_and_says_by_whom(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, TURN) as (there, page):
        await there.there.session()
        await waits(page)
        (approval,) = await pending(there.there.host)
        bob = await there.there.host.authenticate(
            (await there.there.token("approve", name="bob")).secret or "", via="grpc"
        )
        await there.there.host.decide(Decide(approval_id=approval.id, decision=Decision(decision="deny")), bob)
        await expect(page.locator(".settled li")).to_contain_text("denied by bob (grpc)")
        await expect(page.locator(".toast")).to_contain_text("denied by bob (grpc)")
        await expect(page.locator(".approval")).to_have_count(0)


async def test_of_two_people_one_decides_and_the_other_learns_who(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address, TURN) as there:
        ann, bob = await there.there.token("approve", name="ann"), await there.there.token("approve", name="bob")
        async with window(there.browser) as hers, window(there.browser) as his:
            one = await there.enter(hers, secret=ann.secret)
            other = await there.enter(his, secret=bob.secret)
            await there.there.session()
            await waits(one)
            await waits(other)
            await one.keyboard.press("a")
            await expect(other.locator(".settled li")).to_contain_text("allowed by ann")
            await expect(one.locator(".settled li")).to_contain_text("allowed by ann")
            decided = ListApprovals(state=["decided", "delivered", "applied"])
            (approval,) = (await there.there.host.list_approvals(decided)).approvals
            assert approval.decided_by is not None
            assert approval.decided_by.name == "ann"


class SlowLine:
    """A page's connection on which the news of the host's lists wait until they are let through; answers do not."""

    def __init__(self) -> None:
        self._held: list[Any] = []
        self._routes: list[WebSocketRoute] = []

    async def under(self, page: Page) -> None:
        await page.route_web_socket("**/v1/ws", self._connect)
        await page.reload()
        await page.wait_for_selector("html[data-link=online]")

    def _connect(self, route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        self._routes.append(route)

        def down(message: str | bytes) -> None:
            told = json.loads(message)
            news = [one for one in told if one.get("op") == "approval" and one["approval"]["state"] != "pending"]
            self._held += news
            route.send(json.dumps([one for one in told if one not in news]))

        server.on_message(down)

    def let_through(self) -> None:
        self._routes[-1].send(json.dumps(self._held))


async def test_who_presses_too_late_is_told_who_was_faster(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address, TURN) as there:
        ann, bob = await there.there.token("approve", name="ann"), await there.there.token("approve", name="bob")
        async with window(there.browser) as hers, window(there.browser) as his:
            one = await there.enter(hers, secret=ann.secret)
            other = await there.enter(his, secret=bob.secret)
            line = SlowLine()
            await line.under(other)
            await there.there.session()
            await waits(one)
            await waits(other)
            await one.keyboard.press("a")
            await expect(one.locator(".settled li")).to_contain_text("allowed by ann")
            await waits(other)  # he has not heard of it
            await other.keyboard.press("d")
            await other.get_by_label("Note for the model").fill("no")
            await other.keyboard.press("Enter")
            await expect(other.locator(".toast.error")).to_have_text(
                re.compile(r"^Too late: ann has decided this already \(allow\)\.")
            )
            line.let_through()
            await expect(other.locator(".approval")).to_have_count(0)
            await expect(other.locator(".settled li")).to_contain_text("allowed by ann")
            decided = ListApprovals(state=["decided", "delivered", "applied"])
            (approval,) = (await there.there.host.list_approvals(decided)).approvals
            assert approval.decided_by is not None
            assert (approval.decided_by.name, (approval.decision or {})["decision"]) == ("ann", "allow")


async def test_when_two_press_at_once_one_decides_and_both_see_the_same(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address, TURN) as there:
        names = ("ann", "bob")
        tokens = {name: await there.there.token("approve", name=name) for name in names}
        async with window(there.browser) as hers, window(there.browser) as his:
            pages = {
                name: await there.enter(person, secret=tokens[name].secret)
                for name, person in zip(names, (hers, his), strict=True)
            }
            await there.there.session()
            for page in pages.values():
                await waits(page)
            await asyncio.gather(pages["ann"].keyboard.press("a"), pages["bob"].keyboard.press("x"))
            for page in pages.values():
                await expect(page.locator(".settled li")).to_have_count(1)
                await expect(page.locator(".approval")).to_have_count(0)
            decided = ListApprovals(state=["decided", "delivered", "applied"])
            (approval,) = (await there.there.host.list_approvals(decided)).approvals
            assert approval.decided_by is not None
            first = approval.decided_by.name
            outcome = f"{'allowed' if first == 'ann' else 'denied'} by {first}"
            for page in pages.values():
                await expect(page.locator(".settled li")).to_contain_text(outcome)
            (late,) = set(names) - {first}
            await expect(pages[late].locator(".toast", has_text=first or "").first).to_be_visible()


async def test_several_at_once_are_shown_before_they_are_decided(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, TURN) as (there, page):
        for name in ("one", "two", "three"):
            await there.there.session(name=name)
        await expect(page.locator(".rows li")).to_have_count(3)
        await page.keyboard.press("b")
        await expect(page.locator(".covered li")).to_have_count(3)
        await page.get_by_label("Session").select_option(label="two")
        await expect(page.locator(".covered li")).to_have_count(1)
        await page.get_by_role("button", name="Deny these 1").click()
        await expect(page.locator(".settled li")).to_contain_text("denied by admin")
        await expect(page.locator(".toast").first).to_contain_text("1 denied.")
        await page.keyboard.press("b")
        await expect(page.locator(".covered li")).to_have_count(2)
        await page.get_by_role("button", name="Allow these 2 once").click()
        await expect(page.locator(".settled li")).to_have_count(3)
        await expect(page.locator(".toast").last).to_contain_text("2 allowed.")


async def test_what_comes_or_goes_while_several_are_looked_at_is_told_and_not_decided(
    tmp_path: Path, browser_address: str
) -> None:
    async with looked_at(tmp_path, browser_address, rules=RULES) as (there, page):
        host = there.there.host
        for name in ("one", "two", "three"):
            await there.there.session("go", name=name)
        await expect(page.locator(".rows li")).to_have_count(3)
        await page.keyboard.press("b")
        await expect(page.locator(".covered li")).to_have_count(3)
        await there.there.session("clean", name="late")
        await expect(page.locator(".come")).to_contain_text("1 more has come since.")
        await expect(page.locator(".covered li")).to_have_count(3)
        await decide(host, (await pending(host, count=4))[0])
        await expect(page.locator(".covered li")).to_have_count(2)
        await page.get_by_role("button", name="Allow these 2 once").click()
        await expect(page.locator(".settled li")).to_have_count(3)
        (left,) = (await host.list_approvals(ListApprovals())).approvals
        assert "sudo" in (left.summary or "")
        await there.there.session("go", name="five")
        await expect(page.locator(".rows li")).to_have_count(2)
        await page.keyboard.press("b")
        await expect(page.locator(".covered li")).to_have_count(2)
        await there.there.session("go", name="six")
        await page.get_by_role("button", name="Look again").click()
        await expect(page.locator(".covered li")).to_have_count(3)
        await expect(page.locator(".come")).to_have_count(0)


async def test_who_may_only_read_decides_nothing_several_at_once_either(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address, TURN) as there, window(there.browser) as person:
        page = await there.enter(person, secret=(await there.there.token("read")).secret)
        for _ in range(2):
            await there.there.session()
        await expect(page.locator(".rows li")).to_have_count(2)
        await page.keyboard.press("b")
        await expect(page.locator(".toast.error")).to_contain_text("approve")
        await expect(page.get_by_role("button", name="Allow these")).to_be_disabled()


async def test_of_several_it_says_which_were_late_and_which_were_refused(tmp_path: Path, browser_address: str) -> None:
    """Two sessions that may not be touched, and one that somebody else was faster with."""
    refused = {"code": "forbidden", "detail": "This token may not decide here."}
    late = {"code": "already_decided", "detail": "Decided.", "decided_by": "bob", "decision": "deny"}
    problems = [refused, late]

    def connect(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def up(message: str | bytes) -> None:
            told = json.loads(message)
            if told["op"] == "decide" and problems:
                route.send(json.dumps([{"op": "error", "ref": told["ref"], **problems.pop()}]))
            else:
                server.send(message)

        route.on_message(up)

    async with looked_at(tmp_path, browser_address, TURN) as (there, page):
        await page.route_web_socket("**/v1/ws", connect)
        await page.reload()
        for _ in range(3):
            await there.there.session()
        await expect(page.locator(".rows li")).to_have_count(3)
        await page.keyboard.press("b")
        await page.get_by_role("button", name="Allow these 3 once").click()
        await expect(page.locator(".toast").first).to_contain_text(
            "1 allowed, 1 decided by others first, 1 refused by the host."
        )
        await expect(page.locator(".toast.error")).to_contain_text("may not decide here")
        await expect(page.get_by_role("dialog")).to_be_visible()


async def test_what_is_dangerous_is_on_top_with_its_risky_part_marked(tmp_path: Path, browser_address: str) -> None:
    risky = {"tool": "Bash", "input": {"command": "echo go && sudo rm -rf build"}}
    async with looked_at(
        tmp_path, browser_address, rules=[{"when": "clean", "steps": [risky]}, {"when": "go", "steps": TURN}]
    ) as (
        there,
        page,
    ):
        await there.there.session("go")
        await expect(page.locator(".rows li")).to_have_count(1)
        await there.there.session("clean")
        await expect(page.locator(".rows li")).to_have_count(2)
        await expect(page.locator(".rows li").first).to_contain_text("delete")
        await page.locator(".rows li a").first.click()
        await expect(page.locator(".approval .risky").first).to_contain_text("sudo")


@pytest.mark.parametrize("scope", ["read"])
async def test_who_may_only_read_is_told_so(tmp_path: Path, browser_address: str, scope: str) -> None:
    async with deck(tmp_path, browser_address, TURN) as there, window(there.browser) as person:
        token = await there.there.token(scope)
        page = await there.enter(person, secret=token.secret)
        await there.there.session()
        await waits(page)
        await page.keyboard.press("a")
        await expect(page.locator(".toast.error")).to_be_visible()
        await waits(page)


async def test_what_comes_later_does_not_slip_under_the_finger(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, rules=RULES) as (there, page):
        await there.there.session("go")
        await waits(page)
        await there.there.session("clean")
        await expect(page.locator(".rows li")).to_have_count(2)
        await expect(page.locator(".rows li").first).to_contain_text("sudo")
        await expect(page.locator(".rows [aria-current]")).to_contain_text("calm")
        await page.keyboard.press("a")
        await expect(page.locator(".settled li")).to_contain_text("calm.txt")
        await expect(page.locator(".approval .command")).to_contain_text("sudo")


@pytest.mark.parametrize("how", ["keys", "clicks", "held"])
async def test_a_second_press_does_not_decide_what_took_the_place_of_the_first(
    tmp_path: Path, browser_address: str, how: str
) -> None:
    async with looked_at(tmp_path, browser_address, rules=RULES) as (there, page):
        for prompt in ("go", "clean"):
            await there.there.session(prompt)
        await expect(page.locator(".rows li")).to_have_count(2)
        await page.locator(".rows li", has_text="calm").locator("a").click()
        await expect(page.locator(".approval .command")).to_contain_text("calm")
        # Presses as soon as the other one is there, as a hand does that had not seen it.
        await page.evaluate(
            """(how) => {
              const press = (repeat) => document.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', repeat }));
              const allow = () => document.querySelector('.approval .buttons .primary').click();
              new MutationObserver(() => {
                const next = document.querySelector('.approval .command')?.textContent.includes('sudo');
                if (!next || globalThis.pressed) return;
                if (how === 'clicks') allow();
                else press(how === 'held');
                globalThis.pressed = true;
              }).observe(document.querySelector('.detail'), { childList: true, subtree: true });
              how === 'clicks' ? allow() : press(false);
            }""",
            how,
        )
        await page.wait_for_function("() => globalThis.pressed")
        await expect(page.locator(".settled li")).to_have_count(1)
        await expect(page.get_by_role("button", name="Allow once")).to_be_enabled()
        await expect(page.locator(".rows li")).to_have_count(1)
        await expect(page.locator(".settled li")).to_have_count(1)
        await page.keyboard.press("a")
        await expect(page.locator(".settled li")).to_have_count(2)


async def test_what_has_waited_long_is_as_urgent_as_what_is_dangerous(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, rules=RULES) as (there, page):
        for prompt in ("go", "clean"):
            await there.there.session(prompt)
        await expect(page.locator(".rows li").first).to_contain_text("sudo")
        await page.clock.install()
        await page.reload()
        await expect(page.locator(".rows li").first).to_contain_text("sudo")
        await page.clock.fast_forward("11:00")
        await expect(page.locator(".rows li").first).to_contain_text("calm")
