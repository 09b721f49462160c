"""Markdown as the page renders it: in parts as in one go, and links and characters as what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from page.kit import looked_at

BLOCKS = [
    "# Title\n\nA paragraph with `code` and **bold**.",
    "1. one\n\n2. two\n\n   more of two\n\n3. three",
    "- tight\n- list\n  - nested\n\n  loose end",
    "```python\ndef f():\n\n    return '```'\n```",
    "~~~\nno language\n\n~~~",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "> quoted\n>\n> - list\n\n***",
    "    indented code\n\n    goes on",
    "Setext\n======\n\nline one\nline two\\\nline three",
]
LONG = "\n\n".join(f"{block}\n\nBetween, number {number}." for number in range(40) for block in BLOCKS)
WHOLE_AND_PARTS = """async (text) => {
  const { rendered, renderedInParts } = await import('/app/parts/markdown_library.js');
  const html = (blocks) => [...blocks].map((one) => one.outerHTML);
  return [html(rendered(text).children), [...renderedInParts(text)].flatMap((part) => html(part.children))];
}"""
WRITTEN_THEN_FINISHED = """async (text) => {
  const { rendered, renderedInParts } = await import('/app/parts/markdown_library.js');
  const { lastBorder, Replacing } = await import('/app/parts/markdown_blocks.js');
  const place = document.createElement('div');
  let kept = 0;
  for (let end = 7; end < text.length; end += 7) { // as it was written, piece by piece
    const border = lastBorder(text.slice(0, end), kept);
    if (border > kept) place.append(...rendered(text.slice(kept, border)).children);
    kept = border;
  }
  place.append(...rendered(text.slice(kept)).children);
  const before = new Set(place.children);
  const replacing = new Replacing(place);
  for (const part of renderedInParts(text)) replacing.put(part);
  replacing.end();
  const same = [...place.children].filter((one) => before.has(one)).length;
  const html = (blocks) => [...blocks].map((one) => one.outerHTML);
  return [html(rendered(text).children), html(place.children), same];
}"""
LINKS = """async (text) => {
  const { rendered } = await import('/app/parts/markdown_library.js');
  const place = document.createElement('div');
  place.append(rendered(text));
  return [...place.querySelectorAll('a')].map((one) => [one.textContent, one.dataset.host ?? '']);
}"""


async def test_a_long_text_in_parts_is_the_same_as_in_one_go(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address) as (_, page):
        for text in (*BLOCKS, "\n\n".join(BLOCKS), LONG, ""):
            whole, parts = await page.evaluate(WHOLE_AND_PARTS, text)
            assert parts == whole, text[:80]
        book = LONG * 10  # longer than what is parsed at a time
        whole, parts = await page.evaluate(WHOLE_AND_PARTS, book)
        assert len(parts) >= len(whole)


async def test_a_text_that_was_written_piece_by_piece_ends_as_if_it_had_come_whole(
    tmp_path: Path, browser_address: str
) -> None:
    async with looked_at(tmp_path, browser_address) as (_, page):
        for text in (*BLOCKS, "\n\n".join(BLOCKS), LONG):
            whole, finished, same = await page.evaluate(WRITTEN_THEN_FINISHED, text)
            assert finished == whole, text[:80]
        assert same > len(whole) / 2  # what looked right already was left alone


async def test_a_link_shows_where_it_leads_unless_its_text_is_that_address(
    tmp_path: Path, browser_address: str
) -> None:
    cases: dict[str, list[Any]] = {
        "https://a.example/x": ["https://a.example/x", ""],
        "[docs](https://a.example)": ["docs", "a.example"],
        "[https://good.example](https://evil.example)": ["https://good.example", "evil.example"],
        "[https://evil.example.good.example](https://evil.example)": [
            "https://evil.example.good.example",
            "evil.example",
        ],
        "[good.example/?evil.example](https://evil.example)": ["good.example/?evil.example", "evil.example"],
        "[evil.example **and good**](https://evil.example)": ["evil.example and good", "evil.example"],
        "<https://good.example@evil.example/>": ["https://good.example@evil.example/", "evil.example"],
        "[x](https://аpple.example)": ["x", "xn--pple-43d.example"],
        "[a&#x202e;b](https://a.example)": ["a⟨U+202E⟩b", "a.example"],
        "https://a.example/%E2%80%AEgnp": ["https://a.example/⟨U+202E⟩gnp", ""],
    }
    async with looked_at(tmp_path, browser_address) as (_, page):
        for text, shown in cases.items():
            assert await page.evaluate(LINKS, text) == [shown], text
