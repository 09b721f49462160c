"""Code is coloured and never changed: whatever it is cut into, together it is what it was."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from random import Random

from playwright.async_api import expect

import needs
from page.kit import looked_at
from quarterdeck.gateways.http.page_joining import FOLDER

expect.set_options(timeout=45_000)
LANGUAGES = ("py", "ts", "rs", "sh", "sql", "yaml", "unknown", "")
ALPHABET = ["'", '"', "`", "\\", "#", "/", "*", "-", "\n", " ", "a", "if", "1", "$", "{", "é", "👩‍🚀", "</", "\u202e"]
SCRIPT = """
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
const { pieces } = await import(pathToFileURL(process.argv[1]));
for await (const line of createInterface({ input: process.stdin })) {
  const { text, language } = JSON.parse(line);
  console.log(JSON.stringify(pieces(text, language)));
}
"""


def cut(asked: list[tuple[str, str]]) -> list[list[dict[str, str]]]:
    lines = "".join(json.dumps({"text": text, "language": language}) + "\n" for text, language in asked)
    command = ["node", "--input-type=module", "-e", SCRIPT, str(FOLDER / "parts" / "code.js")]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, timeout=60)
    return [json.loads(line) for line in done.stdout.split("\n") if line]


@needs.program("node")
def test_the_pieces_of_any_text_are_the_text() -> None:
    random = Random(9)
    asked = [
        ("".join(random.choices(ALPHABET, k=random.randrange(60))), random.choice(LANGUAGES)) for _ in range(2_000)
    ]
    asked += [("/*" * 9_000, "ts"), ("'\\" * 9_000, "py"), ("x" * 30_000, "py")]  # none of it takes long
    for (text, language), found in zip(asked, cut(asked), strict=True):
        assert "".join(piece["text"] for piece in found) == text, language


@needs.program("node")
def test_comments_strings_numbers_and_keywords_are_told_apart() -> None:
    (python, script) = cut([("if x: # why\n y = 'a' + 12", "py"), ("const a = `b`; // c", "ts")])
    assert [(one["text"], one["kind"]) for one in python if one["kind"]] == [
        ("if", "keyword"),
        ("# why", "comment"),
        ("'a'", "string"),
        ("12", "number"),
    ]
    assert [(one["text"], one["kind"]) for one in script if one["kind"]] == [
        ("const", "keyword"),
        ("`b`", "string"),
        ("// c", "comment"),
    ]


async def test_a_diff_and_a_finished_block_of_code_are_coloured(tmp_path: Path, browser_address: str) -> None:
    said = "So:\n\n```python\nreturn None  # <b>\n```\n\n```\nreturn plain\n```"
    edit = {"tool": "Edit", "input": {"file_path": "a.py", "old_string": "return one", "new_string": "return two"}}
    async with looked_at(tmp_path, browser_address, [said, edit, "Done."]) as (there, page):
        (there.there.place.cwd / "a.py").write_text("return one\n")
        session = await there.there.session()
        await page.goto(f"{there.url}#/session/{session}")
        block = page.locator(".markdown pre").first
        await expect(block.locator(".code-keyword")).to_have_text(["return", "None"])
        await expect(block.locator(".code-comment")).to_have_text("# <b>")
        await expect(page.locator(".markdown pre").last.locator("span")).to_have_count(0)
        diff = page.locator(".asked .diff")
        await expect(diff.locator(".minus .code-keyword")).to_have_text("return")
        await expect(diff.locator(".plus mark")).to_have_text("two")
        await expect(diff.locator(".plus .code")).to_have_text("return two")
