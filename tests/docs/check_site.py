"""The site that ``make docs`` has built: complete, without the net, and with every public name in the reference."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest

import quarterdeck.client
import quarterdeck.policy
import quarterdeck.sync
import quarterdeck.timeline
import quarterdeck.wire

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"
FETCHED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=\"?(https?:[^\" >]+)")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    assert SITE.is_dir(), "make docs builds it"
    return {str(path.relative_to(SITE)): path.read_text("utf-8") for path in SITE.rglob("*.html")}


def test_every_document_is_a_page_that_the_start_leads_to(pages: dict[str, str]) -> None:
    documents = {str(path.relative_to(ROOT / "docs").with_suffix(".html")) for path in (ROOT / "docs").rglob("*.md")}
    assert documents <= set(pages)
    start = pages["index.html"]
    beside = {"404.html", *(page for page in pages if page.startswith("source/"))}
    assert sorted(page for page in set(pages) - beside if f'href="{page}"' not in start and page != "index.html") == []


def test_nothing_is_fetched_from_the_net(pages: dict[str, str]) -> None:
    assert {(page, url) for page, text in pages.items() for url in FETCHED.findall(text)} == set()
    assert [page for page, text in pages.items() if 'class="mermaid"' in text] == []  # drawn by a script from the net


def test_every_public_name_is_in_the_reference() -> None:
    assert public_names() - documented(SITE / "objects.inv") == set()


def test_the_site_holds_no_python_files() -> None:
    assert [str(path) for path in SITE.rglob("*") if path.name == "__pycache__" or path.suffix in (".py", ".pyc")] == []


def public_names() -> set[str]:
    rooms = (quarterdeck.client, quarterdeck.policy, quarterdeck.sync, quarterdeck.timeline, quarterdeck.wire)
    return {name for room in rooms for name in room.__all__}


def documented(inventory: Path) -> set[str]:
    """The last part of every name that the reference explains."""
    lines = zlib.decompress(inventory.read_bytes().split(b"\n", 4)[4]).decode().splitlines()
    return {line.split(" ", 1)[0].rpartition(".")[2] for line in lines}
