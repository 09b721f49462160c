"""The line breaks, the host dies: the page comes back by itself, and nothing is lost or shown twice."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.async_api import Page, WebSocketRoute, expect

from gateways.http.kit import Client
from host.kit import LIMIT_S, Place
from host.staged import BOTH, stage_in
from page.browser import driven, window
from page.kit import BASH, Deck, deck, looked_at
from quarterdeck.host.requests import OfToken
from quarterdeck.keeper import KeeperClient
from quarterdeck.testing.model import Stall
from remote.proxy import Proxy, proxied

expect.set_options(timeout=45_000)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@asynccontextmanager
async def serving(
    *, state: Path, port: int, agent: str, env: dict[str, str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    """``quarterdeck serve`` with a keeper, until it is killed."""
    command = [sys.executable, "-m", "quarterdeck", "serve", "--state", str(state), "--json"]
    process = await asyncio.create_subprocess_exec(
        *(*command, "--listen", f"127.0.0.1:{port}", "--agent", agent),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, **env},
    )
    try:
        assert process.stdout is not None
        json.loads(await process.stdout.readline())
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_turn_goes_on_under_an_open_page_when_the_host_is_killed_and_started_again(
    tmp_path: Path, browser_address: str
) -> None:
    place, port, gate = Place(tmp_path, keeper=True), free_port(), tmp_path / "gate"
    place.claude.play(["Before.", BASH, {"wait_for": str(gate)}, "After."])
    url = f"http://127.0.0.1:{port}/"
    host = {"state": place.folder, "port": port, "agent": str(place.claude.path), "env": place.claude.env}
    async with asyncio.timeout(2 * LIMIT_S), driven(browser_address) as browser, window(browser) as person:
        try:
            async with serving(**host) as first:
                secret = (place.folder / "token").read_text().strip()
                made = await Client(("127.0.0.1", port), secret).post(
                    "/v1/sessions", {"cwd": str(place.cwd), "prompt": "go"}
                )
                await person.context.add_init_script(f"sessionStorage.setItem('quarterdeck.token', '{secret}')")
                page = await person.page(f"{url}#/session/{made.json['id']}")
                await expect(page.locator(".asked")).to_be_visible()
                first.kill()
                await first.wait()
            await expect(page.locator(".link")).to_contain_text("Reconnecting")
            await page.locator(".asked").get_by_role("button", name="Allow once").click()
            await expect(page.locator(".link")).to_contain_text("1 to be sent")
            async with serving(**host):
                await expect(page.locator(".link[data-reconnects='1']")).to_be_visible()
                await expect(page.locator(".call.finished")).to_have_count(1)
                gate.touch()
                await expect(page.locator(".turn")).to_have_count(1)
                shown = [text.strip() for text in await page.locator(".text-item .markdown").all_inner_texts()]
                assert shown == ["Before.", "After."]
                await expect(page.locator(".prompt")).to_have_count(1)
                approvals = await Client(("127.0.0.1", port), secret).get("/v1/approvals?state=applied")
                assert len(approvals.json["approvals"]) == 1
        finally:
            await place.end_keeper()


@pytest.mark.parametrize("kind", BOTH)
async def test_a_host_that_is_killed_while_text_streams_leaves_no_piece_out_and_repeats_none(
    tmp_path: Path, browser_address: str, kind: str
) -> None:
    port, state = free_port(), tmp_path / "state"
    said = "First of all. " + "Words to read. " * 20
    with stage_in(tmp_path / "stage", kind) as stage:
        gate = stage.gate()
        stage.reply(said, Stall(after=12, until=gate), delta_size=8)
        options = stage.options()
        program = [options.cli_path] if isinstance(options.cli_path, str | Path) else list(options.cli_path or ())
        agent = tmp_path / "claude"
        agent.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, program))} "$@"\n')
        agent.chmod(0o755)
        host = {"state": state, "port": port, "agent": str(agent), "env": dict(options.env or {})}
        async with asyncio.timeout(3 * LIMIT_S), driven(browser_address) as browser, window(browser) as person:
            try:
                async with serving(**host) as first:
                    secret = (state / "token").read_text().strip()
                    client = Client(("127.0.0.1", port), secret)
                    made = await client.post("/v1/sessions", {"cwd": str(stage.cwd)})
                    await person.context.add_init_script(f"sessionStorage.setItem('quarterdeck.token', '{secret}')")
                    page = await person.page(f"http://127.0.0.1:{port}/#/session/{made.json['id']}")
                    await page.get_by_label("Prompt").fill("go")
                    await page.get_by_label("Prompt").press("Enter")
                    await expect(page.locator(".text-item.writing")).to_contain_text("First of all. Words")
                    first.kill()
                    await first.wait()
                await expect(page.locator(".link")).to_contain_text("Reconnecting")
                async with serving(**host):
                    await expect(page.locator(".link[data-reconnects='1']")).to_be_visible()
                    gate.open()
                    await expect(page.locator(".turn")).to_have_count(1)
                    assert await texts(page) == [said.strip()]
                    await expect(page.locator(".prompt")).to_have_count(1)
            finally:
                async with await KeeperClient.open(state / "keeper", take_over=True) as keeper:
                    await keeper.stop()


@asynccontextmanager
async def behind(root: Path, address: str, *turns: Any, **more: Any) -> AsyncIterator[tuple[Deck, Proxy, Page]]:
    """A deck with a person who looks at it through a line that can be cut."""
    async with (
        deck(root, address, *turns, **more) as there,
        proxied(there.there.tcp) as line,
        window(there.browser) as person,
    ):
        yield there, line, await Far(there, line).enter(person)


class Far(Deck):
    """A deck behind a line."""

    def __init__(self, near: Deck, line: Proxy) -> None:
        super().__init__(near.there, near.browser)
        self.line = line

    @property
    def url(self) -> str:
        return f"{self.line.url}/"


SHOWS = """(wanted) => {
  const said = [...document.querySelectorAll('.text-item .markdown')].map((one) => one.textContent).join('');
  return document.documentElement.dataset.link === 'online' && said.length >= wanted;
}"""


async def texts(page: Page) -> list[str]:
    return [text.strip() for text in await page.locator(".text-item .markdown").all_inner_texts()]


async def test_what_happened_while_the_page_was_cut_off_is_there_when_it_is_back_and_what_was_said_is_sent(
    tmp_path: Path, browser_address: str
) -> None:
    async with behind(tmp_path, browser_address, ["One."], ["Two."], ["Three."]) as (there, line, page):
        session = await there.there.session()
        await page.goto(f"{line.url}/#/session/{session}")
        await expect(page.locator(".turn")).to_have_count(1)
        line.accepting = False
        line.cut()
        await expect(page.locator(".link")).to_contain_text("Reconnecting")
        await there.there.client().post(f"/v1/sessions/{session}/prompts", {"content": "more"})
        await there.there.client().get(f"/v1/sessions/{session}/wait")
        await page.get_by_label("Prompt").fill("and more")
        await page.get_by_label("Prompt").press("Enter")
        await expect(page.locator(".link")).to_contain_text("1 to be sent")
        assert await texts(page) == ["One."]
        line.accepting = True
        await expect(page.locator(".link[data-reconnects='1']")).to_be_visible()
        await expect(page.locator(".turn")).to_have_count(3)
        assert await texts(page) == ["One.", "Two.", "Three."]
        prompts = [text.strip() for text in await page.locator(".prompt .text").all_inner_texts()]
        assert prompts == ["go", "more", "and more"]


async def test_a_line_that_breaks_again_and_again_loses_and_repeats_nothing(
    tmp_path: Path, browser_address: str
) -> None:
    """Cut at random while text streams, twenty times."""
    said = [f"Text {number}. " + "Words to read. " * 50 for number in range(7)]
    list_of = {"tool": "TodoWrite", "input": {"todos": []}}
    steps = [step for text in said for step in (text, list_of)][:-1]
    whole = sum(len(text.strip()) for text in said)
    places = sorted(Random(20).sample(range(1, whole), 20))
    async with behind(tmp_path, browser_address, turns=[steps], delta_size=4, delay_s=0.01) as (there, line, page):
        await page.set_viewport_size({"width": 1280, "height": 4_000})  # all of it is in the document
        session = await there.there.session(None)
        await page.goto(f"{line.url}/#/session/{session}")
        await page.get_by_label("Prompt").fill("go")
        await page.get_by_label("Prompt").press("Enter")
        for number, place in enumerate(places, 1):
            await page.wait_for_function(SHOWS, arg=place)
            line.cut()
            await expect(page.locator(f".link[data-reconnects='{number}']")).to_be_visible()
        await expect(page.locator(".turn")).to_have_count(1)
        assert await texts(page) == [text.strip() for text in said]
        await expect(page.locator(".prompt")).to_have_count(1)
        await expect(page.locator(".call")).to_have_count(len(said) - 1)
        ids = await page.locator("[data-call]").evaluate_all("all => all.map((one) => one.dataset.call)")
        items = (await there.there.client().get(f"/v1/sessions/{session}/timeline")).json["state"]["items"].values()
        assert ids == [one["id"] for one in items if one["type"] == "tool_call"]
        assert await texts(page) == [one["text"]["text"].strip() for one in items if one["type"] == "text"]


async def test_a_token_that_is_revoked_leads_back_to_the_door(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        await there.there.host.revoke_token(OfToken(token_id=there.there.admin.id))
        await expect(page.get_by_role("alert")).to_contain_text("no longer valid")
        fresh = await there.there.token("admin", name="fresh")
        await page.get_by_label("Token").fill(fresh.secret or "")
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.locator(".navigation")).to_be_visible()


async def test_a_line_that_swallows_everything_is_given_up_and_what_was_missed_is_shown(
    tmp_path: Path, browser_address: str
) -> None:
    async with behind(tmp_path, browser_address, ["One."], ["Two."]) as (there, line, page):
        session = await there.there.session()
        await page.clock.install()
        await page.goto(f"{line.url}/?again#/session/{session}")
        await expect(page.locator(".turn")).to_have_count(1)
        line.stall()
        await there.there.client().post(f"/v1/sessions/{session}/prompts", {"content": "more"})
        await there.there.client().get(f"/v1/sessions/{session}/wait")
        assert await texts(page) == ["One."]
        await page.clock.fast_forward("10:00")  # nobody has closed anything: it is too quiet
        await expect(page.locator(".link[data-reconnects='1']")).to_be_visible()
        await expect(page.locator(".turn")).to_have_count(2)
        assert await texts(page) == ["One.", "Two."]


async def test_a_browser_that_is_online_again_reconnects_at_once(tmp_path: Path, browser_address: str) -> None:
    async with behind(tmp_path, browser_address, ["One."]) as (there, line, page):
        await page.clock.install()
        await page.goto(f"{line.url}/?again#/sessions")
        await expect(page.locator("html[data-link=online]")).to_be_attached()
        await page.context.set_offline(True)
        line.cut()
        await expect(page.locator(".link")).to_contain_text("Reconnecting")
        now = await page.evaluate("Date.now()")
        await page.clock.pause_at(now + 1_000)  # no timer tries again
        await page.context.set_offline(False)
        await expect(page.locator(".link[data-reconnects='1']")).to_be_visible()
        await page.clock.resume()
        await there.there.session(name="errand")
        await expect(page.locator(".sessions tbody tr")).to_have_count(1)


async def test_lists_that_fail_say_why_and_are_asked_for_again(tmp_path: Path, browser_address: str) -> None:
    failing = True

    def connect(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def up(message: str | bytes) -> None:
            told = json.loads(message)
            if told["op"] == "list_approvals" and failing:
                error = {"op": "error", "ref": told["ref"], "code": "internal", "detail": "The disk is full."}
                route.send(json.dumps([error]))
            else:
                server.send(message)

        route.on_message(up)

    async with looked_at(tmp_path, browser_address, [BASH]) as (there, page):
        await there.there.session()
        await page.route_web_socket("**/v1/ws", connect)
        await page.reload()
        await expect(page.get_by_role("alert")).to_contain_text("The disk is full.")
        failing = False
        await page.get_by_role("button", name="Try again").click()
        await expect(page.locator(".approval")).to_be_visible()
        await expect(page.get_by_role("alert")).to_have_count(0)
