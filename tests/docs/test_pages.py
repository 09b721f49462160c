"""Each page's snippets work as printed, one after the other, in one folder."""

from __future__ import annotations

import re
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.pages import PAGES, READ, ROOT, RUN, Reader, Snippet, snippets
from needs import real_cli
from quarterdeck.testing.model import ModelServer, ToolUse

WITH_CLAUDE = {"guide/claude.md", "how-to/trouble.md"}
"""Pages that are about the real CLI."""
REAL = WITH_CLAUDE | {"testing.md"}
FEW = 3
"""Snippets that may be marked as not run."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT)).removeprefix("docs/")


RUNNABLE = [page for page in PAGES if any(one.language in RUN or one.language in READ for one in snippets(page))]
ON_THE_SIMULATOR = [page for page in RUNNABLE if name_of(page) not in REAL]
EXCERPTS = [(page, one) for page in PAGES for one in snippets(page) if one.excerpt_of]


@pytest.fixture
def folder() -> Iterator[Path]:
    """With a short name, as on the pages: long ones are wrapped."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        yield Path(made)


@pytest.mark.parametrize("page", ON_THE_SIMULATOR, ids=name_of)
def test_a_page_can_be_followed_from_top_to_bottom(page: Path, folder: Path) -> None:
    follow(page, folder)


@pytest.mark.real
@pytest.mark.parametrize("page", [page for page in RUNNABLE if name_of(page) in REAL], ids=name_of)
def test_a_page_about_the_real_cli_can_be_followed(page: Path, folder: Path) -> None:
    if name_of(page) not in WITH_CLAUDE:
        follow(page, folder)
        return
    notes = str(folder / "repo" / "project" / "notes.txt")
    with ModelServer() as model:
        model.reply(ToolUse("Read", {"file_path": notes}))
        model.reply(ToolUse("Edit", {"file_path": notes, "old_string": "appels", "new_string": "apples"}))
        model.reply("It is spelled *apples*.")
        follow(page, folder, {"CLAUDE_BIN": real_cli().argv[-1], **model.env()})
        assert model.queued == (0 if page.name == "claude.md" else 3)


def follow(page: Path, folder: Path, env: dict[str, str] | None = None) -> None:
    reader = Reader(folder, env)
    try:
        for snippet in snippets(page):
            reader.follow(snippet)
    finally:
        reader.close()
    assert reader.place.left_running() == []


@pytest.mark.parametrize(
    ("page", "snippet"), EXCERPTS, ids=[f"{name_of(page)}:{Path(one.mark).name}" for page, one in EXCERPTS]
)
def test_an_excerpt_is_part_of_the_file_it_names(page: Path, snippet: Snippet) -> None:
    lines = without_host((ROOT / str(snippet.excerpt_of)).read_text("utf-8")).splitlines(keepends=True)
    length = snippet.code.count("\n")
    assert snippet.code in [textwrap.dedent("".join(lines[at : at + length])) for at in range(len(lines))]


def without_host(program: str) -> str:
    """The examples run on a host, too, with ``--host``; the pages show them without."""
    program = re.sub(r"RemoteHost\(HOST\) if HOST else |(, )?\bhost=HOST\b", "", program)
    return re.sub(r"from _where import HOST\n|from quarterdeck.remote import RemoteHost\n", "", program)


def test_few_snippets_are_not_run_and_each_has_a_reason() -> None:
    reasons = [(name_of(page), one.not_run) for page in PAGES for one in snippets(page) if one.not_run is not None]
    assert len(reasons) <= FEW, reasons
    assert all(reason for _, reason in reasons)


def test_the_commands_before_there_is_an_environment_are_those_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    typed = [line for page in PAGES for one in snippets(page) if one.language == "console"
             for line in one.code.splitlines()]  # fmt: skip
    assert typed
    for line in typed:
        if made := re.fullmatch(r"\$ make (\w+)(?: +#.*)?", line):
            assert re.search(rf"^{made[1]}:.*##", makefile, re.MULTILINE), line
        else:
            assert line in ("$ . .venv/bin/activate", "$ pip install pytest")
            assert "VENV := .venv\n" in makefile
