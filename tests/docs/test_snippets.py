"""Every snippet of the README, the guide and the how-to pages is part of a file that runs here as they show it."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from quarterdeck.testing.install import install_cli
from quarterdeck.testing.model import ModelServer, ToolUse
from terminal.kit import Place, Term

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "examples" / "guide"
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("index.md", "migration.md")),
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
]
FENCE = re.compile(r"(?:<!-- (examples/\S+) -->\n)?```(\w+)\n(.*?)```", re.DOTALL)
COLUMNS, ROWS = 200, 60
"""Wide enough for the long names of scratch folders: the pages show shorter ones."""

ANSWERS = {
    "first_edit.sh": ("Deny and stop", "y"),
    "claude_edit.sh": ("Deny and stop", "y"),
    "ask_me.sh": ("Skip", "2"),
    "plan.sh": ("Reject", "y"),
}
"""Script → what is on the screen when a person answers, and the key they press."""
WITH_CLAUDE = {"claude_edit.sh", "doctor.sh"}


class Snippet(NamedTuple):
    page: str
    file: str
    language: str
    code: str
    shown: tuple[str, ...]
    """What the page says that it prints, in one piece or several."""


def snippets() -> Iterator[Snippet]:
    for page in PAGES:
        found: list[Snippet] = []
        for file, language, code in FENCE.findall(page.read_text("utf-8")):
            if language == "text":
                found[-1] = found[-1]._replace(shown=(*found[-1].shown, code))
            elif language not in {"console", "diff"}:
                found.append(Snippet(str(page.relative_to(ROOT)), file, language, code, ()))
        yield from found


SNIPPETS = list(snippets())
SCRIPTS = sorted(path.name for path in GUIDE.glob("*.sh"))


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: f"{snippet.page}:{Path(snippet.file).name}")
def test_a_snippet_is_part_of_the_file_it_names(snippet: Snippet) -> None:
    assert snippet.file, f"a snippet of {snippet.page} names no file:\n{snippet.code}"
    lines = (ROOT / snippet.file).read_text("utf-8").splitlines(keepends=True)
    length = snippet.code.count("\n")
    assert snippet.code in [textwrap.dedent("".join(lines[at : at + length])) for at in range(len(lines))]


def test_every_file_of_the_guide_is_shown() -> None:
    shown = {Path(snippet.file).name for snippet in SNIPPETS}
    assert {path.name for path in GUIDE.iterdir() if path.is_file()} <= shown


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name not in WITH_CLAUDE])
def test_a_script_does_what_the_pages_show_on_the_simulator(name: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    (place.cwd / "hello.py").write_bytes((GUIDE / "hello.py").read_bytes())
    check(name, played(name, place))


@pytest.mark.real
@pytest.mark.parametrize("name", sorted(WITH_CLAUDE))
def test_a_script_does_what_the_pages_show_with_claude_code(name: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    notes = str(place.cwd / "project" / "notes.txt")
    with ModelServer() as model:
        model.reply(ToolUse("Read", {"file_path": notes}))
        model.reply(ToolUse("Edit", {"file_path": notes, "old_string": "appels", "new_string": "apples"}))
        model.reply("It is spelled *apples*.")
        place.env |= {"CLAUDE_BIN": install_cli().argv[-1], **model.env()}
        check(name, played(name, place))
        assert model.queued == (0 if name == "claude_edit.sh" else 3)


def test_the_test_of_the_guide_passes(tmp_path: Path) -> None:
    program = GUIDE / "test_with_the_simulator.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(program)]
    done = subprocess.run(
        [*command, "--rootdir", str(tmp_path), "-c", "/dev/null"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_the_commands_before_there_is_an_environment_are_those_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    typed = [line for page in PAGES for _, kind, code in FENCE.findall(page.read_text()) if kind == "console"
             for line in code.splitlines()]  # fmt: skip
    assert typed
    for line in typed:
        if made := re.fullmatch(r"\$ make (\w+)(?: +#.*)?", line):
            assert re.search(rf"^{made[1]}:.*##", makefile, re.MULTILINE), line
        else:
            assert line == "$ . .venv/bin/activate"
            assert "VENV := .venv\n" in makefile


def played(name: str, place: Place) -> list[str]:
    """What a person sees when they type this: the screen at each answer, and at the end."""
    place.env["PATH"] = f"{Path(sys.executable).parent}:{place.env['PATH']}"
    term = Term(["bash", "-e", str(GUIDE / name)], place.cwd, place.env, COLUMNS, ROWS)
    try:
        seen = []
        if name in ANSWERS:
            asked, key = ANSWERS[name]
            seen.append(term.until(asked))
            term.press(key)
        code = term.exit()
        assert code == 0, term.text
        return [*seen, term.text]
    finally:
        term.close()


def check(name: str, screens: list[str]) -> None:
    """Each piece of output on the pages is, line by line and in this order, on one of the screens."""
    pieces = [piece for snippet in SNIPPETS if Path(snippet.file).name == name for piece in snippet.shown]
    for piece in pieces:
        pattern = ".*".join(pattern_of(line) for line in piece.splitlines() if line.strip())
        assert any(re.search(pattern, screen, re.DOTALL) for screen in screens), f"{piece}\nis not in\n{screens[-1]}"


def pattern_of(line: str) -> str:
    """``…`` is anything; so are seconds, costs and the ids of sessions, which are other ones each time."""
    parts = (re.escape(part.strip()) for part in line.strip().split("…"))
    alike = re.sub(r"\d+\\\.\d+(s?)", r"\\d+\\.\\d+\1", "[^\n]*".join(parts))
    return re.sub(r"\b[0-9a-f]{8}\b", "[0-9a-f]{8}", alike)
