"""The snippets of a page, and a folder in which they are followed from top to bottom, as a reader would.

A comment above a snippet says what a test has to know, and is not shown on the page:

=====================================  ==============================================================================
``<!-- examples/FILE -->``             an excerpt of that file, which has a test of its own
``<!-- save as FILE -->``              the reader saves it under this name
``<!-- press KEY at TEXT -->``         the reader presses KEY when TEXT is on the screen
``<!-- not run: REASON -->``
=====================================  ==============================================================================
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from quarterdeck.testing.install import default_cache_dir
from quarterdeck.testing.sim import executable
from terminal.kit import LIMIT_S, Place, Term

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = {"benchmarks.md", "commands.md", "compatibility.md"}
"""Their command lines are checked one by one (test_command_lines.py)."""
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted(DOCS.glob("*.md")) if page.name not in GENERATED),
    *sorted((DOCS / "guide").glob("*.md")),
    *sorted((DOCS / "how-to").glob("*.md")),
]
RUN = ("sh", "python")
_FENCE = re.compile(r"(?:<!-- ([^>]*?) -->\n)?```(\w+)\n(.*?)```", re.DOTALL)
COLUMNS, ROWS = 120, 60
"""Wide enough that nothing the pages show is wrapped, too narrow for two columns of a diff."""

SHELL = 'exec 3<>"$1"; set -e; while read -r file <&3; do . "$file"; printf "\\n<<%s>>\\n" "${file##*/}"; done'
KERNEL = """
import pathlib, sys
names = {"__name__": "page"}
for line in sys.stdin:
    path = pathlib.Path(line.strip())
    exec(compile(path.read_text(), path.name, "exec"), names)
    print(f"<<{path.name}>>", flush=True)
"""
"""The Python of a page runs in one plain interpreter. Its tests do not: pytest runs each in a file of its own."""


class Snippet(NamedTuple):
    mark: str
    """The comment above it."""
    language: str
    code: str
    shown: tuple[str, ...] = ()
    """What the page says that it prints, in one piece or several."""

    @property
    def excerpt_of(self) -> str | None:
        return self.mark if self.mark.startswith("examples/") else None

    @property
    def not_run(self) -> str | None:
        return self.mark.removeprefix("not run: ") if self.mark.startswith("not run: ") else None

    @property
    def is_test(self) -> bool:
        return self.language == "python" and re.search(r"^(async )?def test_", self.code, re.MULTILINE) is not None


def snippets(page: Path) -> list[Snippet]:
    found: list[Snippet] = []
    for mark, language, code in _FENCE.findall(page.read_text("utf-8")):
        if language == "text" and found:
            found[-1] = found[-1]._replace(shown=(*found[-1].shown, code))
        else:
            found.append(Snippet(mark, language, code))
    return found


class Reader:
    """Follows a page in a folder of its own. ``claude`` is the simulator unless ``env`` says otherwise."""

    def __init__(self, folder: Path, env: dict[str, str] | None = None) -> None:
        self.place = Place(folder)
        bin_folder = folder / "bin"
        claude = executable(folder=bin_folder)
        self.place.env |= {
            "PATH": f"{Path(sys.executable).parent}:{bin_folder}:{self.place.env['PATH']}",
            "CLAUDE_BIN": str(claude),
            "QUARTERDECK_CACHE": str(default_cache_dir()),
            **(env or {}),
        }
        self._folder = folder / "snippets"
        self._folder.mkdir()
        self._count = 0
        fifo = folder / "blocks"
        os.mkfifo(fifo)
        self._shell = Term(["bash", "-c", SHELL, "bash", str(fifo)], self.place.cwd, self.place.env, COLUMNS, ROWS)
        self._to_shell = os.open(fifo, os.O_RDWR)
        self._python: subprocess.Popen[str] | None = None
        self._errors = (folder / "python-errors").open("w+")

    def close(self) -> None:
        os.close(self._to_shell)
        self._shell.close()
        if self._python is not None:
            self._python.communicate(timeout=LIMIT_S)
        self._errors.close()
        self.place.close()

    def follow(self, snippet: Snippet) -> None:
        """Do what a reader does with this snippet; fails if it does not work, or shows other things than the page."""
        if snippet.mark.startswith("save as "):
            (self.place.cwd / snippet.mark.removeprefix("save as ")).write_text(snippet.code)
        if snippet.language not in RUN or snippet.excerpt_of or snippet.not_run:
            return
        if snippet.is_test:
            screens = [self._pytest(snippet)]
        elif snippet.language == "python":
            screens = [self._run_python(snippet)] if not snippet.mark.startswith("save as ") else [""]
        else:
            screens = list(self._run_shell(snippet))
        for piece in snippet.shown:
            check(piece, screens)

    def _file(self, code: str, suffix: str) -> Path:
        self._count += 1
        path = self._folder / f"{suffix}_{self._count}.{suffix}"
        path.write_text(code)
        return path

    def _run_shell(self, snippet: Snippet) -> Iterator[str]:
        """What a person sees: the screen at the answer, and at the end."""
        path = self._file(snippet.code, "sh")
        before = len(self._shell.text.rstrip())
        os.write(self._to_shell, f"{path}\n".encode())
        if pressed := re.fullmatch(r"press (\S+) at (.+)", snippet.mark):
            yield self._shell.until(pressed[2])
            self._shell.press(pressed[1])
        seen = self._shell.until(f"<<{path.name}>>")
        yield seen[before:]

    def _run_python(self, snippet: Snippet) -> str:
        if self._python is None:
            self._python = subprocess.Popen(
                [sys.executable, "-W", "error", "-c", KERNEL],
                cwd=self.place.cwd,
                env=self.place.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
            )
        assert self._python.stdin is not None
        assert self._python.stdout is not None
        path = self._file(snippet.code, "py")
        self._python.stdin.write(f"{path}\n")
        self._python.stdin.flush()
        said = ""
        while f"<<{path.name}>>" not in said:
            line = self._python.stdout.readline()
            self._errors.seek(0)
            assert line, f"{snippet.code}\n{said}\n{self._errors.read()}"
            said += line
        return said

    def _pytest(self, snippet: Snippet) -> str:
        path = self.place.cwd / "test_page.py"
        path.write_text(snippet.code)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(path)]
        done = subprocess.run(
            [*command, "--rootdir", str(self.place.cwd), "-c", "/dev/null"],
            cwd=self.place.cwd,
            env=self.place.env,
            capture_output=True,
            text=True,
            timeout=3 * LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(r"\d passed", done.stdout)
        assert "skipped" not in done.stdout
        return done.stdout


def check(piece: str, screens: list[str]) -> None:
    """The output on the page is, line by line and in this order, on one of the screens."""
    pattern = ".*".join(pattern_of(line) for line in piece.splitlines() if line.strip())
    assert any(re.search(pattern, screen, re.DOTALL) for screen in screens), f"{piece}\nis not in\n{screens[-1]}"


def pattern_of(line: str) -> str:
    """``…`` is anything; so are seconds, costs and the ids of sessions, which are other ones each time."""
    parts = (re.escape(part.strip()) for part in line.strip().split("…"))
    alike = re.sub(r"\d+\\\.\d+(s?)", r"\\d+\\.\\d+\1", "[^\n]*".join(parts))
    return re.sub(r"\b[0-9a-f]{8}\b", "[0-9a-f]{8}", alike)
