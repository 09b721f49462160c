"""The documents build as a site: strictly, without the net, and with every public name in the reference."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import quarterdeck.client
import quarterdeck.policy
import quarterdeck.sync
import quarterdeck.timeline
import quarterdeck.wire

ROOT = Path(__file__).parents[2]
FETCHED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=\"?(https?:[^\" >]+)")


def test_the_site_is_built_without_a_warning_and_has_everything(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr

    pages = {str(path.relative_to(site)): path.read_text("utf-8") for path in site.rglob("*.html")}
    documents = {str(path.relative_to(ROOT / "docs").with_suffix(".html")) for path in (ROOT / "docs").rglob("*.md")}
    assert documents <= set(pages)
    assert {(page, url) for page, text in pages.items() for url in FETCHED.findall(text)} == set()
    assert [page for page, text in pages.items() if 'class="mermaid"' in text] == []  # drawn by a script from the net

    start = pages["index.html"]
    beside = {"404.html", *(page for page in pages if page.startswith("source/"))}
    assert sorted(page for page in set(pages) - beside if f'href="{page}"' not in start and page != "index.html") == []
    assert public_names() - documented(site / "objects.inv") == set()


def public_names() -> set[str]:
    rooms = (quarterdeck.client, quarterdeck.policy, quarterdeck.sync, quarterdeck.timeline, quarterdeck.wire)
    return {name for room in rooms for name in room.__all__}


def documented(inventory: Path) -> set[str]:
    """The last part of every name that the reference explains."""
    lines = zlib.decompress(inventory.read_bytes().split(b"\n", 4)[4]).decode().splitlines()
    return {line.split(" ", 1)[0].rpartition(".")[2] for line in lines}
