"""What a model, a tool, a file or a person writes is text: it runs and loads nothing, and looks like what it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from page.browser import window
from page.kit import deck, looked_at
from quarterdeck.host.requests import AddEvent, CreateSession, CreateToken, Settings

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
            await expect(page.get_by_role("button", name="Allow once")).to_be_enabled()
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


ODD_TODO = {"content": ATTACK, "status": "in_progress", "activeForm": ATTACK}
MORE = [
    {"tool": "TodoWrite", "input": {"todos": [ODD_TODO]}},
    {"agent": ATTACK, "description": SAFE_NAME, "background": False, "steps": [ATTACK]},
    {"tool": "mcp__evil__<b>", "input": {SAFE_NAME: ATTACK}, "result": ATTACK, "failed": True},
    {"plan": ATTACK},
    {"suggest": ATTACK},
    {"error": 400, "message": ATTACK},
]


async def test_no_other_field_that_somebody_can_fill_runs_or_loads_anything(
    tmp_path: Path, browser_address: str
) -> None:
    rules = [{"when": "more", "steps": MORE}, {"when": "die", "steps": [{"exit": 3, "stderr": ATTACK}]}]
    async with deck(tmp_path, browser_address, rules=rules) as there, window(there.browser) as person:
        host, cwd = there.there.host, there.there.place.cwd
        page = await there.enter(person)
        (cwd / SAFE_NAME).write_text("x")
        session = await there.there.session("more", name=SAFE_NAME)
        await host.add_event(AddEvent(session_id=session, type="ci", data={SAFE_NAME: ATTACK}))
        await host.set_alerts(Settings(settings={"alerts": [{"on": ["approval"], "command": ["/bin/echo", ATTACK]}]}))
        await expect(page.locator(".approval h2")).to_contain_text("mcp__evil__")
        await page.keyboard.press("r")
        await page.get_by_label("Another rule").fill(ATTACK)
        await harmless(page)
        await page.get_by_role("button", name="Allow with this rule").click()
        await expect(page.locator(".toast.error")).to_contain_text("onerror")
        await page.get_by_role("button", name="Allow once").click()
        await expect(page.locator(".approval .plan")).to_contain_text("onerror")
        await harmless(page)
        await expect(page.get_by_role("button", name="Approve")).to_be_enabled()
        await page.keyboard.press("a")
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".turn")).to_have_count(1)
        while await page.locator(".call > .head[aria-expanded=false]").count():
            await page.locator(".call > .head[aria-expanded=false]").first.click()
        for panel in ("Turns", "Plan", "Changes", "About"):
            await page.get_by_role("button", name=panel, exact=True).click()
            await harmless(page)
        await page.get_by_label("Conversation").evaluate("list => { list.scrollTop = 0; }")  # it may be out of sight
        await expect(page.locator(".notice", has_text="ci")).to_be_visible()
        await page.get_by_label("Prompt").fill("@<img")
        await expect(page.locator(".completion li")).to_contain_text("onerror")
        await harmless(page)
        await page.get_by_label("Prompt").fill("die")
        await page.get_by_label("Prompt").press("Enter")
        await expect(page.locator(".notice.error", has_text="onerror")).to_be_visible()
        for path in ("inbox", "sessions", "usage", "policy", "audit", "settings"):
            await page.goto(f"{there.url}#/{path}")
            await expect(page.locator("main h1").first).to_be_visible()
            await harmless(page)
        assert [url for url in person.requests if not url.startswith((there.url, "blob:"))] == []


async def test_an_exported_conversation_runs_and_loads_nothing_in_a_browser(
    tmp_path: Path, browser_address: str
) -> None:
    async with (
        deck(tmp_path, browser_address, [*TURN[:3], "Done."]) as there,
        window(there.browser, errors=True) as person,
    ):
        session = await there.there.session(ATTACK, name=SAFE_NAME, options={"allowed_tools": ["Read"]})
        await there.there.client().get(f"/v1/sessions/{session}/wait")
        exported = await there.there.client().get(f"/v1/sessions/{session}/export?format=html")
        file = tmp_path / "session.html"
        file.write_bytes(exported.body)
        page = await person.page(file.as_uri())
        await expect(page.locator("h1")).to_have_text(SAFE_NAME)
        assert (await page.locator("body").inner_text()).count("onerror=\"globalThis.pwned='img'\"") >= 3
        assert await page.evaluate("globalThis.pwned") is None
        assert await page.locator("script, img, svg, iframe, [onerror], [onload], a[href^=javascript]").count() == 0
        assert person.requests == [file.as_uri()]
        assert await page.evaluate("getComputedStyle(document.body).maxWidth") != "none"  # its own style is allowed
        await page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"pwned=1\">')")
        assert person.errors, "the policy of the document allows what it should not"
        assert await page.evaluate("globalThis.pwned") is None


@pytest.mark.parametrize(
    "fragment",
    [
        "/inbox/%3Cimg%20src=x%20onerror=alert(1)%3E",
        "/session/%00%ff",
        "/%3Cscript%3E",
        "/session/../../x",
        "/constructor",
    ],
)
async def test_a_link_with_nonsense_leads_to_a_page_that_says_so(
    tmp_path: Path, browser_address: str, fragment: str
) -> None:
    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        await page.goto(f"{there.url}#{fragment}")
        await expect(page.locator("nav")).to_be_visible()
        await expect(page.locator("main :is(h1, .empty)").first).to_be_visible()
        await harmless(page)


@pytest.mark.parametrize("word", ["constructor", "__proto__"])
async def test_a_question_with_the_name_of_a_property_is_a_question(
    tmp_path: Path, browser_address: str, word: str
) -> None:
    ask = {"ask": word, "options": ["toString", "valueOf"], "header": "x"}
    async with looked_at(tmp_path, browser_address, [ask, "Fine."]) as (there, page):
        session = await there.there.session()
        await page.locator(".choice", has_text="valueOf").click()
        await page.get_by_role("button", name="Answer").click()
        await expect(page.locator(".settled li")).to_have_count(1)
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator(".answered dd")).to_have_text("valueOf")


async def test_characters_that_cannot_be_seen_are_shown_as_their_codes(tmp_path: Path, browser_address: str) -> None:
    odd = "echo safe\u202egnp.exe\u200b #\u2066 \U000e0041 👩\u200d💻"
    async with looked_at(tmp_path, browser_address, [{"tool": "Bash", "input": {"command": odd}}]) as (there, page):
        await there.there.session(name="a\u202eb")
        command = page.locator(".approval .command")
        for code in ("U+202E", "U+200B", "U+2066", "U+E0041"):
            await expect(command).to_contain_text(f"⟨{code}⟩")
        await expect(command).to_contain_text("👩\u200d💻")
        await expect(page.locator(".from a")).to_have_text("a⟨U+202E⟩b")


async def test_markup_that_is_not_sanitised_is_refused_by_the_browser(tmp_path: Path, browser_address: str) -> None:
    """Trusted Types: what DOMPurify has not seen is no markup, and nobody else may make it so."""
    async with deck(tmp_path, browser_address, ["One."]) as there, window(there.browser, errors=True) as person:
        page = await there.enter(person)
        for attempt in (
            "document.body.innerHTML = '<b>x</b>'",
            "document.createElement('script').src = '/app/net/early.js'",
            "trustedTypes.createPolicy('another', { createHTML: (text) => text })",
        ):
            tried = f"() => {{ try {{ {attempt}; return 'done'; }} catch (error) {{ return error.name; }} }}"
            assert await page.evaluate(tried) == "TypeError", attempt
