"""What a model, a tool, a file or a person writes is text: it runs and loads nothing, and looks like what it is."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Page, expect

from page.browser import window
from page.kit import deck, looked_at
from quarterdeck.host.requests import CreateSession, CreateToken

expect.set_options(timeout=45_000)
ATTACK = (
    "<img src=x onerror=\"globalThis.pwned='img'\"><script>globalThis.pwned='script'</script>"
    "<svg/onload=globalThis.pwned='svg'> [click](javascript:globalThis.pwned='link') "
    '![i](https://evil.example/i.png) <a href="javascript:alert(1)">x</a> <style>*{display:none}</style>'
)
SAFE_NAME = "<img src=x onerror=globalThis.pwned='name'>"
TURN = [
    {"thinking": ATTACK},
    ATTACK,
    {"tool": "Read", "input": {"file_path": SAFE_NAME}, "result": ATTACK},
    {"tool": "Edit", "input": {"file_path": SAFE_NAME, "old_string": ATTACK, "new_string": ATTACK + "2"}},
    {"tool": "Bash", "input": {"command": f"echo '{ATTACK}'", "description": ATTACK}},
    {"ask": ATTACK, "options": [SAFE_NAME, "other"], "header": "<b>h</b>"},
]


async def harmless(page: Page) -> None:
    assert await page.evaluate("globalThis.pwned") is None
    assert (
        await page.locator("main script, main style, main iframe, main object, main [onerror], main [onload]").count()
        == 0
    )
    links = await page.locator("main a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert [link for link in links if not str(link).startswith(("#/", "https://", "http://"))] == []
    assert await page.locator("main img:not([src^='blob:'])").count() == 0


async def test_nothing_that_others_wrote_runs_or_loads_anywhere(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address, TURN, ["Done."]) as there, window(there.browser) as person:
        host = there.there.host
        page = await there.enter(person)
        folder = there.there.place.cwd / "<img src=x onerror=globalThis.pwned=1>"
        folder.mkdir()
        made = await host.create_session(
            CreateSession(cwd=str(folder), prompt=ATTACK, name=SAFE_NAME, tags=[SAFE_NAME])
        )
        await host.create_token(CreateToken(name=SAFE_NAME, scope="read"))
        for kind in ("Edit", "Bash"):
            await expect(page.locator(".approval h2")).to_have_text(kind)
            await harmless(page)
            await page.keyboard.press("a")
        await expect(page.locator(".questions legend")).to_contain_text("onerror")
        await harmless(page)
        for path in (f"session/{made.id}", "sessions", "usage", "policy", "audit", "settings"):
            await page.goto(f"{there.url}#/{path}")
            await expect(page.locator("main h1").first).to_be_visible()
            await harmless(page)
        await page.goto(f"{there.url}#/session/{made.id}")
        await expect(page.locator(".text-item .markdown")).to_contain_text("onerror")
        await expect(page.locator(".markdown .image")).to_contain_text("not loaded")
        while await page.locator(".call > .head[aria-expanded=false]").count():
            await page.locator(".call > .head[aria-expanded=false]").first.click()
        await page.get_by_role("button", name="About").click()
        await harmless(page)
        assert [url for url in person.requests if not url.startswith((there.url, "blob:"))] == []


async def test_characters_that_cannot_be_seen_are_shown_as_their_codes(tmp_path: Path, browser_address: str) -> None:
    odd = "echo safe\u202egnp.exe\u200b #\u2066 \U000e0041 👩\u200d💻"
    async with looked_at(tmp_path, browser_address, [{"tool": "Bash", "input": {"command": odd}}]) as (there, page):
        await there.there.session(name="a\u202eb")
        command = page.locator(".approval .command")
        for code in ("U+202E", "U+200B", "U+2066", "U+E0041"):
            await expect(command).to_contain_text(f"⟨{code}⟩")
        await expect(command).to_contain_text("👩\u200d💻")
        await expect(page.locator(".from a")).to_have_text("a⟨U+202E⟩b")
