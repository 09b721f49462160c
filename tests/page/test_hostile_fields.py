"""Every text that the host hands to the page, in every view, is an attack: names, schemas, outputs, keys of objects."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from playwright.async_api import Page, WebSocketRoute, expect

from host.kit import frames_until, pending
from page.browser import window
from page.kit import BASH, Deck, deck
from page.test_hostile import harmless
from quarterdeck.host.requests import AddEvent, CreateToken, Settings, UpdateSession

expect.set_options(timeout=45_000)
EVIL = "globalThis.pwned=1"
ATTACK = (
    f"<img src=x onerror={EVIL}><svg/onload={EVIL}><script>{EVIL}</script><style>*{{display:none}}</style>"
    f"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror={EVIL}&gt;'>"
    f"</table></mtext></math><iframe srcdoc='<script>parent.pwned=1</script>'></iframe>"
    f"${{{EVIL}}} {{{{constructor.constructor('{EVIL}')()}}}} [a](javascript:{EVIL}) <javascript:{EVIL}> "
    f"[b](data:text/html,<script>{EVIL}</script>) [c](vbscript:x) ![d](https://evil.example/d.png) "
    f'[e](https://evil.example/"onmouseover="{EVIL}) \u202e\u2066\u200b\U000e0041&#x202e;&#8203;%E2%80%AE'
)
KEPT = re.compile(
    "op|ref|type|id|ids|epoch|state|kind|status|activity|source|resume|level|format|decision|behavior|scope|layer|mode|"
    "today|with_rule|decided|media_type|cursor|next_cursor|at|via|outcome|group|permission_mode|day|.*_(id|ids|at|usd)"
)
"""What says how a thing is to be read, and what it is called by: no text of anybody's."""
PATCH = f"""diff --git a/{ATTACK} b/{ATTACK}
--- a/{ATTACK}
+++ b/{ATTACK}
@@ -1,2 +1,2 @@
 {ATTACK}
-{ATTACK} old
+{ATTACK} new
"""


def poisoned(value: Any, key: str = "") -> Any:
    """The same shape; all that is text, and names of fields that others choose, end with the attack."""
    if isinstance(value, str):
        return PATCH if key == "diff" else value if KEPT.fullmatch(key) else value + ATTACK
    if isinstance(value, list):
        return [poisoned(one, key) for one in value]
    if not isinstance(value, dict):
        return value
    found = {name: poisoned(one, name) for name, one in value.items()}
    if key in ("input", "data", "details"):
        found |= {ATTACK: ATTACK, "__proto__": {"polluted": ATTACK}, "constructor": {"prototype": {"polluted": 1}}}
    return found


FORM = {
    "type": "object",
    "required": [ATTACK, "__proto__"],
    "properties": {
        ATTACK: {"type": "string", "title": ATTACK, "description": ATTACK, "default": ATTACK},
        "__proto__": {"type": "string", "title": "constructor", "enum": [ATTACK, "__proto__", "toString"]},
        "constructor": {"type": "boolean", "title": ATTACK, "description": {"__html": ATTACK}},
        "toString": {"type": "integer", "title": {"toString": "not a function"}},
        "valueOf": {"type": ATTACK, "title": ["<b>", {"type": "script", "props": {"children": EVIL}}]},
        "nothing": None,
    },
}
QUESTION = {
    "text": ATTACK,
    "header": ATTACK,
    "choices": [{"label": ATTACK, "description": ATTACK, "preview": ATTACK}, {"label": "__proto__"}],
}
ASKED: list[dict[str, Any]] = [
    {"kind": "elicitation", "input": {"server": ATTACK, "form": FORM}},
    {"kind": "elicitation", "input": {"server": ATTACK, "url": f"javascript:{EVIL}"}},
    {"kind": "elicitation", "input": {"server": ATTACK, "url": f"https://good.example@evil.example/{ATTACK}"}},
    {"kind": "elicitation", "input": {"server": ATTACK, "form": {"properties": ATTACK, "required": ATTACK}}},
    {"kind": "questions", "questions": [QUESTION, {**QUESTION, "several": True}]},
    {"kind": "plan_review", "plan": ATTACK, "input": {"plan": ATTACK}},
    {"kind": "dialog", "input": {"__html": ATTACK, ATTACK: {"__html": ATTACK}}},
    {"kind": "permission", "tool": f"mcp__{ATTACK}__{ATTACK}", "reason": ATTACK, "risk": f"high: {ATTACK}"},
    {"kind": "permission", "tool": "Bash", "input": {"command": ATTACK, "description": ATTACK}},
    {"kind": "permission", "tool": "Edit", "diffs": [{"path": ATTACK, "kind": ATTACK, "hunks": [], "left_out": 3}]},
    {"kind": "__proto__", "input": {"a": ATTACK}},
]
WHAT_SHOWS = {"text": {"text": ATTACK}, "about": ATTACK, "label": ATTACK, "name": ATTACK}
ITEMS: list[dict[str, Any]] = [
    {"type": "hook", "event": ATTACK, "name": ATTACK, "outcome": "failed", "output": {"text": ATTACK}},
    {"type": "hook", "event": "constructor", "name": "__proto__", "outcome": ATTACK},
    {"type": "elicitation", "server": ATTACK, "message": ATTACK, "action": ATTACK, "status": "answered"},
    {"type": "questions", "questions": [QUESTION], "answers": {"__proto__": ATTACK}, "status": "answered"},
    {"type": "plan_review", "plan": ATTACK, "note": ATTACK, "status": "answered", "approved": False},
    {"type": "dialog", "kind": ATTACK, "status": "answered"},
    {"type": "notice", "kind": "custom", "text": ATTACK, "details": {"data": {ATTACK: ATTACK, "__html": ATTACK}}},
    {"type": "notice", "kind": "unknown", "text": ATTACK, "details": {"raw": ATTACK}},
    {"type": "notice", "kind": "constructor", "level": "__proto__", "text": ATTACK},
    {"type": "notice", "kind": "told_model", "text": ATTACK},
    {"type": "tool_call", **WHAT_SHOWS, "name": f"mcp__{ATTACK}", "status": "failed", "input": {ATTACK: ATTACK}},
    {"type": "tool_call", **WHAT_SHOWS, "status": "__proto__", "output": {"text": ATTACK}, "reason": ATTACK},
    {"type": "tool_call", **WHAT_SHOWS, "status": "failed", "policy": {"decision": ATTACK, "reason": ATTACK}},
    {"type": "tool_call", **WHAT_SHOWS, "status": "failed", "input": {"command": ATTACK}, "agent_type": ATTACK},
    {"type": "text", "done": True, "text": {"text": ATTACK}},
    {"type": "thinking", "done": True, "text": {"text": ATTACK}},
    {"type": "prompt", "source": "constructor", "text": {"text": ATTACK}, "attachments": [ATTACK]},
    {"type": "turn", "number": 1, "outcome": "__proto__", "error": ATTACK, "tokens": {}},
]


class Hostile:
    """Between the page and its host: changes what the host says."""

    def __init__(self, session: str) -> None:
        self.session = session

    async def stand_between(self, page: Page) -> None:
        await page.route_web_socket("**/v1/ws", self._connected)

    def _connected(self, route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        asked: dict[int, str] = {}

        def up(message: str | bytes) -> None:
            told = json.loads(message)
            asked[told["ref"]] = told["op"]
            if told["op"] == "create_session":
                refused = {"op": "error", "code": "invalid", "detail": ATTACK, "hint": ATTACK}
                route.send(json.dumps([{**refused, "ref": told["ref"]}]))
            else:
                server.send(message)

        def down(message: str | bytes) -> None:
            said = []
            for one in json.loads(message):
                changed = poisoned(one)
                if "result" in one:
                    self._add(asked.get(one["ref"], ""), changed["result"])
                said.append(changed)
            route.send(json.dumps(said))

        route.on_message(up)
        server.on_message(down)

    def _add(self, op: str, result: dict[str, Any]) -> None:
        if op == "list_approvals":
            one = {
                "session_id": self.session,
                "state": "pending",
                "summary": ATTACK,
                "asked_at": "2026-01-01T00:00:00Z",
            }
            result["approvals"] += [
                {**one, "id": f"evil{at}", "request_id": f"r{at}", **asked} for at, asked in enumerate(ASKED)
            ]
        if op == "get_timeline":
            state = result["state"]
            for at, item in enumerate(ITEMS):
                state["items"][f"item{at}\"]'"] = {"id": f"item{at}\"]'", "at": 1.0, **item}
            server = {"name": ATTACK, "status": ATTACK, "error": ATTACK}
            state["session"] = {**state.get("session", {}), "model": ATTACK, "mcp_servers": {ATTACK: server}}
            task = {"id": "__proto__", "description": ATTACK, "doing": ATTACK, "kind": ATTACK, "summary": ATTACK}
            state["tasks"] = {**state.get("tasks", {}), "__proto__": task}
            state["plans"] = {"": {"source": ATTACK, "entries": [{"text": ATTACK, "status": "__proto__"}]}}
            state["suggestion"] = ATTACK
            state["retry"] = {"attempt": 1, "error": ATTACK}
        if op == "get_presets":
            preset = {"about": ATTACK, "model": ATTACK, "permission_mode": ATTACK, "budget_usd": ATTACK}
            preset |= {"tags": [ATTACK], "options": {ATTACK: ATTACK}, "policy": {ATTACK: ATTACK}}
            result["presets"] = {ATTACK: preset, "__proto__": preset, "constructor": {"about": {"__html": ATTACK}}}
        if op == "search":
            place = {
                "session_id": self.session,
                "name": ATTACK,
                "cwd": ATTACK,
                "excerpt": f"a \x02{ATTACK}\x03{ATTACK}",
            }
            result["hits"] = [{**place, "seq": 1, "kind": "text"}, {**place, "seq": 2, "kind": "__proto__"}]
            result["hits"].append({**place, "seq": 3, "kind": "tool", "excerpt": f"\x03{ATTACK}\x02\x02{ATTACK}"})
        if op == "list_transcripts":
            one = {"summary": ATTACK, "cwd": ATTACK, "git_branch": ATTACK, "excerpt": ATTACK, "last_modified": 1}
            result["transcripts"] = [
                {**one, "session_id": f'evil"]{ATTACK}', "adopted_as": None},
                {**one, "session_id": "b", "adopted_as": f"javascript:{EVIL}"},
            ]
        if op == "list_prompts":
            prompt = {"state": "queued", "by": ATTACK, "not_before": "2099-01-01T00:00:00Z"}
            result["prompts"] = [
                {**prompt, "id": "p1", "content": ATTACK},
                {**prompt, "id": "p2", "content": [{"type": "text", "text": ATTACK}], "not_before": ATTACK},
            ]
        if op == "get_info":
            command = {"name": ATTACK, "description": ATTACK, "argument_hint": ATTACK}
            result |= {"commands": [command], "tools": [ATTACK], "agents": [ATTACK], "skills": [ATTACK]}
            result["models"] = [{"value": ATTACK, "name": ATTACK}]


WATCHED = """
globalThis.violations = [];
document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
  violations.push(`${violatedDirective} ${blockedURI}`);
});
"""
UNSEEN = r"""() => {
  const odd = /[\u202a-\u202e\u2066-\u2069\u200b]|\udb40[\udc00-\udfff]/;
  const labels = [...document.querySelectorAll('[title],[aria-label],[placeholder]')];
  const named = (one) => ['title', 'aria-label', 'placeholder'].map((name) => one.getAttribute(name) ?? '').join();
  return [document.body.textContent, ...labels.map(named)].filter((text) => odd.test(text));
}"""


async def is_only_text(page: Page) -> None:
    await harmless(page)
    assert await page.evaluate("globalThis.violations") == []
    assert await page.evaluate("[({}).polluted, Object.keys(Object.prototype).length]") == [None, 0]
    assert await page.evaluate(UNSEEN) == []


RULES = [{"when": "hello", "steps": ["Hello."]}, {"when": "go", "steps": ["One.", BASH, "Done."]}]


async def _made(there: Deck) -> str:
    """A session in which something waits, and what the other views list."""
    host = there.there.host
    (there.there.place.cwd / "note.txt").write_text("x")
    done = await there.there.session("hello", name="greeting")
    await frames_until(host, done, "idle")
    session = await there.there.session("go", name="errand", budget_usd=Decimal(5))
    await pending(host)
    await host.add_event(AddEvent(session_id=session, type="ci", data={"a": "b"}))
    await host.update_session(UpdateSession(session_id=session, tags=["one"]))
    await host.create_token(CreateToken(name="phone", scope="approve"))
    await host.set_alerts(Settings(settings={"alerts": [{"on": ["approval"], "command": ["/bin/echo", "x"]}]}))
    return session


@asynccontextmanager
async def attacked(root: Path, address: str) -> AsyncIterator[tuple[Deck, Page, str]]:
    """A page to which everything comes poisoned, and its session; afterwards nothing outside was asked for."""
    async with deck(root, address, rules=RULES) as there, window(there.browser) as person:
        session = await _made(there)
        await person.context.add_init_script(WATCHED)
        page = await there.enter(person)
        await Hostile(session).stand_between(page)
        yield there, page, session
        assert [url for url in person.requests if not url.startswith((there.url, "blob:"))] == []


async def test_whatever_is_asked_is_text(tmp_path: Path, browser_address: str) -> None:
    async with attacked(tmp_path, browser_address) as (there, page, _):
        await page.goto(f"{there.url}?again#/inbox")
        await expect(page.locator(".rows li")).to_have_count(len(ASKED) + 1)
        await is_only_text(page)
        for at, asked in enumerate(ASKED):
            await page.goto(f"{there.url}?again#/inbox/evil{at}")
            await expect(page.locator(f'.approval[data-approval="evil{at}"]')).to_be_visible()
            await is_only_text(page)
            if asked["kind"] == "permission":
                for name in ("Allow with rule…", "Edit…", "Deny…"):
                    await page.get_by_role("button", name=name).click()
                    await is_only_text(page)
                    if await page.get_by_label("Input to use instead").count():
                        await page.get_by_label("Input to use instead").fill(f"\u202e{ATTACK}")
                        await page.get_by_role("button", name="Allow as edited").click()
                        await expect(page.locator(".approval .problem")).to_contain_text("JSON")
                        await is_only_text(page)


async def test_whatever_is_in_a_session_is_text(tmp_path: Path, browser_address: str) -> None:
    async with attacked(tmp_path, browser_address) as (there, page, session):
        await page.goto(f"{there.url}?again#/session/{session}")
        await expect(page.locator(".text-item .markdown").last).to_contain_text("onerror")
        await expect(page.locator(".doing")).to_contain_text("Retry 1: <img")
        for folded in (".call > .head[aria-expanded=false]", "main details:not([open]) > summary"):
            while await page.locator(folded).count():
                # All at once: what is clicked one by one may be drawn anew, and gone, in between.
                await page.evaluate(
                    """(folded) => {
                        document.querySelectorAll(folded).forEach((one) => one.click());
                        return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
                    }""",
                    folded,
                )
        await is_only_text(page)
        for panel in ("Turns", "Plan", "Changes", "About"):
            await page.get_by_role("button", name=panel, exact=True).click()
            await expect(page.locator("aside.panel")).to_be_visible()
            await is_only_text(page)
        for typed in ("/", "@"):
            await page.get_by_label("Prompt", exact=True).fill(typed)
            await expect(page.locator(".completion li").first).to_contain_text("onerror")
            await is_only_text(page)


async def test_whatever_the_other_views_list_is_text(tmp_path: Path, browser_address: str) -> None:
    async with attacked(tmp_path, browser_address) as (there, page, _):
        for path in ("sessions", "sessions/new", "usage", "audit", "settings", "policy"):
            await page.goto(f"{there.url}?again#/{path}")
            await expect(page.locator("main h1").first).to_be_visible()
            await expect(page.locator("main")).to_contain_text("onerror")
            await is_only_text(page)
        await page.get_by_label("Folder").fill(str(there.there.place.cwd))
        await page.locator(".explain input.code").fill("rm -rf x")
        await page.get_by_role("button", name="Explain").click()
        await expect(page.locator(".explain .verdict")).to_contain_text("onerror")
        await page.get_by_label("Rule", exact=True).fill("Bash(touch made.txt)")
        await page.get_by_role("button", name="Try").click()
        await expect(page.locator(".try .verdict")).to_be_visible()
        await is_only_text(page)


async def test_whatever_is_found_offered_or_waits_is_text(tmp_path: Path, browser_address: str) -> None:
    async with attacked(tmp_path, browser_address) as (there, page, session):
        await page.goto(f"{there.url}?again#/sessions/new")
        chooser = page.locator("select[name=preset]")
        await expect(chooser.locator("option")).to_have_count(4)
        for value in (ATTACK, "__proto__", "constructor"):
            await chooser.select_option(value)
            await expect(page.locator("dialog [role=status]")).to_contain_text("onerror")
            await is_only_text(page)
        await page.get_by_label("Folder").fill(str(there.there.place.cwd))
        await page.get_by_role("button", name="Start").click()
        await expect(page.locator("dialog .problem")).to_contain_text("onerror")
        await is_only_text(page)
        await page.goto(f"{there.url}?again#/settings")
        await expect(page.locator(".presets tbody tr")).to_have_count(3)
        await is_only_text(page)
        await page.goto(f"{there.url}?again#/sessions?q=hello")
        await expect(page.locator(".hits li")).to_have_count(3)
        await expect(page.locator(".hits mark").first).to_contain_text("onerror")
        await is_only_text(page)
        await page.goto(f"{there.url}?again#/sessions/adopt")
        await expect(page.locator(".adopt li")).to_have_count(1)
        await page.get_by_label("Search transcripts").fill("x")
        await expect(page.locator(".adopt li")).to_have_count(2)
        await is_only_text(page)
        assert await page.get_by_role("link", name="Open").evaluate("(one) => one.protocol") == "http:"
        await page.goto(f"{there.url}?again#/session/{session}")
        await expect(page.locator(".queue li")).to_have_count(2)
        await is_only_text(page)
        await page.locator(".queue li").first.get_by_role("button", name="Edit").click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        await is_only_text(page)


async def test_an_imported_session_is_text(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address, rules=RULES) as there, window(there.browser) as person:
        session = await there.there.session("hello", name="greeting")
        await frames_until(there.there.host, session, "idle")
        whole = (await there.there.client().get(f"/v1/sessions/{session}/export?format=ndjson")).body.decode()
        evil = json.dumps(ATTACK)[1:-1]
        file = tmp_path / "evil.ndjson"
        file.write_text(whole.replace("Hello.", evil).replace('"name":"greeting"', f'"name":"{evil}"'))
        assert whole != file.read_text()
        await person.context.add_init_script(WATCHED)
        page = await there.enter(person, "sessions/import")
        await page.get_by_label("File").set_input_files(file)
        await page.get_by_role("button", name="Import").click()
        await expect(page.locator(".text-item .markdown").last).to_contain_text("onerror")
        await expect(page.locator(".session-head h1")).to_contain_text("onerror")
        await is_only_text(page)
        await page.goto(f"{there.url}#/sessions?q=onerror")
        await expect(page.locator(".hits mark").first).to_be_visible()
        await is_only_text(page)
        assert [url for url in person.requests if not url.startswith((there.url, "blob:"))] == []


async def test_a_form_with_names_of_properties_is_answered_field_by_field(tmp_path: Path, browser_address: str) -> None:
    async with attacked(tmp_path, browser_address) as (there, page, _):
        await page.add_init_script(
            "{ const send = WebSocket.prototype.send; globalThis.sent = [];"
            " WebSocket.prototype.send = function (said) { sent.push(JSON.parse(said)); send.call(this, said); }; }"
        )
        await page.goto(f"{there.url}?again#/inbox/evil0")
        form = page.locator("form.questions")
        await form.locator("select").select_option("toString")
        await form.get_by_role("checkbox").check()
        await form.get_by_role("button", name="Send").click()
        await page.wait_for_function("() => sent.some((one) => one.op === 'decide')")
        answers = await page.evaluate("JSON.stringify(sent.find((one) => one.op === 'decide').answers)")
        assert json.loads(answers) == {ATTACK: ATTACK, "__proto__": "toString", "constructor": True}
