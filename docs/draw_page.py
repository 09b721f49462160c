"""Takes the pictures of the page for README and docs/page.md: each view in light, dark and on a phone.

``PYTHONPATH=tests:. python docs/draw_page.py [FOLDER]`` (default: docs/assets/page). Needs Chromium.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks._browser import chromium

from gateways.http.kit import served
from host.kit import decide, pending
from page.browser import driven, window
from page.kit import Deck
from quarterdeck.host.requests import Remember

ASSETS = Path(__file__).parent / "assets" / "page"
LOOKS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}},
    "phone": {"color_scheme": "light", "viewport": {"width": 360, "height": 740}},
}
KEPT = {"inbox-light", "inbox-dark", "inbox-phone", "session-light", "session-dark", "sessions-light", "usage-light"}
"""Those that the documents show; all of them are taken with a folder of one's own."""
BEFORE = "def total(items):\n    sum = 0\n    for item in items:\n        sum += item.price\n    return sum\n"
AFTER = "def total(items):\n    return sum(item.price * item.quantity for item in items)\n"
NEW_FILE = "# Discounts by quantity.\nRATES = {10: 0.05, 100: 0.1}\n\n\ndef rate(quantity):\n    return 0\n"
EDIT = {"tool": "Edit", "input": {"file_path": "shop.py", "old_string": BEFORE, "new_string": AFTER}}
SAID = """The total ignores quantities. `total()` adds prices only, so an order of **three** lamps costs as much as one:

1. read `shop.py` and its test
2. multiply by `quantity`
3. run the tests

```python
sum(item.price * item.quantity for item in items)
```
"""
STALE = "`build/` still has objects of **v1.4**, and the linker takes them. I empty it and list what goes."
CLEAN = {"command": "cd build && sudo rm -rf ./* | tee log.txt", "description": "Clean the build folder"}
ASK = {"ask": "Which colour should the button have?", "options": ["Blue", "Green"], "header": "Button"}
PLAN = "# Move to the new API\n\n1. Add the client\n2. Port the callers\n3. Remove the old one"
LOG = {"command": "git log --oneline v1.4..HEAD | head -40 > notes.txt", "description": "Collect the commits"}
LONG_NAME = "Write the release notes of 1.5 from the commits since the last tag, grouped by area"
RULES = [
    {"when": "total", "steps": [SAID, {"tool": "Read", "input": {"file_path": "shop.py"}}, EDIT, "Fixed."]},
    {"when": "(?i)clean", "steps": [STALE, {"tool": "Bash", "input": CLEAN}]},
    {"when": "colour", "steps": [ASK]},
    {"when": "plan", "steps": [{"plan": PLAN}]},
    {"when": "hello", "steps": ["Hello. What shall we do?", {"usage": {"input_tokens": 1800, "output_tokens": 240}}]},
    {"when": "notes", "steps": ["I look at what has changed.", {"tool": "Bash", "input": LOG}, "Written."]},
    {"when": "tests", "steps": ["I run them.", {"tool": "Bash", "input": {"command": "npm test"}, "result": "ok"}]},
]


async def drawn(folder: Path, address: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        async with served(Path(root), limit_s=600) as there, driven(address) as browser:
            there.place.claude.play(rules=RULES)
            cwd = there.place.cwd
            (cwd / "shop.py").write_text(BEFORE)
            for words in (
                ["init", "-q"],
                ["add", "."],
                ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
            ):
                await asyncio.to_thread(subprocess.run, ["git", *words], cwd=cwd, check=True)
            done = await there.session("hello", name="Scratch")
            await there.client().get(f"/v1/sessions/{done}/wait")
            fixing = await there.session("Why is the total wrong?", name="Fix the order total")
            await there.client().get(f"/v1/sessions/{fixing}/wait?for=waiting")
            tested = await there.session("tests", name="Nightly tests", tags=["ci"])
            (asked,) = await pending(there.host, tested)
            await decide(there.host, asked, remember=Remember(rule="Bash(npm test)", scope="project"))
            for prompt, name in (
                ("Clean the build folder and build again. It still links the old objects.", "Clean the build"),
                ("colour", "New button"),
                ("plan", "New API"),
                ("notes", LONG_NAME),
            ):
                await there.session(prompt, name=name)
            views = {"inbox": "inbox", "session": f"session/{fixing}", "sessions": "sessions"}
            (cwd / "discounts.py").write_text(NEW_FILE)
            rest = {
                "changes": f"session/{fixing}",
                "usage": "usage",
                "policy": "policy",
                "audit": "audit",
                "settings": "settings",
                "new": "sessions/new",
                "search": "sessions?q=total",
                "adopt": "sessions/adopt",
                "import": "sessions/import",
            }
            for look, options in LOOKS.items():
                async with window(browser, **options) as person:
                    page = await Deck(there, browser).enter(person)
                    await page.wait_for_selector(".rows li:nth-child(5)")
                    for name, path in {**views, **rest}.items():
                        if folder == ASSETS and f"{name}-{look}" not in KEPT:
                            continue
                        await page.goto(f"{Deck(there, browser).url}#/{path}")
                        await page.wait_for_load_state("networkidle")
                        if name == "inbox" and look == "phone":
                            await page.locator(".rows a").first.click()
                        if name == "changes":
                            await page.keyboard.press("v")
                            await page.wait_for_selector(".changes .diff")
                        await page.wait_for_timeout(700)
                        await page.screenshot(path=folder / f"{name}-{look}.png")
            (asked, *_) = [one for one in await pending(there.host) if one.session_id == fixing]
            await decide(there.host, asked)


if __name__ == "__main__":
    place = Path(sys.argv[1]) if sys.argv[1:] else ASSETS
    place.mkdir(parents=True, exist_ok=True)
    with chromium() as where:
        asyncio.run(drawn(place, where))
