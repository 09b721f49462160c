"""The line breaks, the host dies: the page comes back by itself, and nothing is lost or shown twice."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import expect

from gateways.http.kit import Client
from host.kit import LIMIT_S, Place
from page.browser import driven, window
from page.kit import BASH, looked_at

expect.set_options(timeout=45_000)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@asynccontextmanager
async def serving(place: Place, port: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """``quarterdeck serve`` with a keeper, until it is killed."""
    command = [sys.executable, "-m", "quarterdeck", "serve", "--state", str(place.folder), "--json"]
    process = await asyncio.create_subprocess_exec(
        *(*command, "--listen", f"127.0.0.1:{port}", "--agent", str(place.claude.path)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, **place.claude.env},
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
    async with asyncio.timeout(2 * LIMIT_S), driven(browser_address) as browser, window(browser) as person:
        try:
            async with serving(place, port) as first:
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
            async with serving(place, port):
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


async def test_what_happened_while_the_page_was_cut_off_is_there_when_it_is_back(
    tmp_path: Path, browser_address: str
) -> None:
    async with looked_at(tmp_path, browser_address, ["One."], ["Two."], ["Three."]) as (there, page):
        session = await there.there.session()
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".turn")).to_have_count(1)
        await page.context.set_offline(True)
        await there.there.client().post(f"/v1/sessions/{session}/prompts", {"content": "more"})
        await there.there.client().get(f"/v1/sessions/{session}/wait")
        await page.context.set_offline(False)
        await expect(page.locator(".turn")).to_have_count(2)
        shown = [text.strip() for text in await page.locator(".text-item .markdown").all_inner_texts()]
        assert shown == ["One.", "Two."]


async def test_a_token_that_is_revoked_leads_back_to_the_door(tmp_path: Path, browser_address: str) -> None:
    from quarterdeck.host.requests import OfToken

    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        await there.there.host.revoke_token(OfToken(token_id=there.there.admin.id))
        await expect(page.get_by_role("alert")).to_contain_text("no longer valid")
        fresh = await there.there.token("admin", name="fresh")
        await page.get_by_label("Token").fill(fresh.secret or "")
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.locator(".navigation")).to_be_visible()
