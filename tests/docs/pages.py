"""The snippets of a page, and a folder in which they are followed from top to bottom, as a reader would.

A comment above a snippet says what a test has to know, and is not shown on the page:

=====================================  ==============================================================================
``<!-- examples/FILE -->``             an excerpt of that file, which has a test of its own
``<!-- save as FILE -->``              the reader saves it under this name
``<!-- press KEY at TEXT -->``         the reader presses KEY when TEXT is seen; several are separated by ``;``
``<!-- until TEXT -->``                it keeps running, in another terminal, until the page ends; TEXT: it is ready
``<!-- with an open host -->``         in its Python, ``host`` is an open one
``<!-- not run: REASON -->``
=====================================  ==============================================================================

Places that a reader's machine has and this one may not are replaced while a page is followed: see ``Reader.placed``.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import textwrap
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from quarterdeck.testing.install import default_cache_dir
from quarterdeck.testing.sim import executable
from terminal.kit import CTRL_C, ESCAPE, LIMIT_S, Place, Term

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
READ: dict[str, Callable[[str], Any]] = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
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
WITH_HOST = """
import asyncio
from quarterdeck.host import Host

async def with_host():
    async with Host("state", keeper=False) as host:
{code}

asyncio.run(with_host())
"""
KEYS = {"Ctrl-C": CTRL_C, "Ctrl-D": "\x04", "Esc": ESCAPE}


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
    def ready(self) -> str | None:
        """What it says when it is ready, if it goes on until the end of the page."""
        return self.mark.removeprefix("until ") if self.mark.startswith("until ") else None

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
        self._background: list[Term] = []
        self._ports = free_ports(2)

    def close(self) -> None:
        if self._background:  # the sessions of a host outlive it
            subprocess.run(
                ["bash", "-c", 'ids=$(quarterdeck ps --all --quiet) && [ -n "$ids" ] && quarterdeck stop $ids'],
                cwd=self.place.cwd,
                env=self.place.env,
                capture_output=True,
                timeout=LIMIT_S,
                check=False,
            )
        for term in reversed(self._background):
            term.press(CTRL_C)
            term.exit()
            term.close()
        os.close(self._to_shell)
        self._shell.close()
        if self._python is not None:
            self._python.communicate(timeout=LIMIT_S)
        self._errors.close()
        self.place.close()

    def follow(self, snippet: Snippet) -> None:
        """Do what a reader does with this snippet; fails if it does not work, or shows other things than the page."""
        if snippet.language in READ:
            READ[snippet.language](snippet.code)
        if snippet.mark.startswith("save as "):
            (self.place.cwd / snippet.mark.removeprefix("save as ")).write_text(snippet.code)
        if snippet.language not in RUN or snippet.excerpt_of or snippet.not_run:
            return
        snippet = snippet._replace(code=self.placed(snippet.code))
        if snippet.ready:
            screens = [self._start(snippet, snippet.ready)]
        elif snippet.is_test:
            screens = [self._pytest(snippet)]
        elif snippet.language == "python":
            screens = [self._run_python(snippet)] if not snippet.mark.startswith("save as ") else [""]
        else:
            screens = list(self._run_shell(snippet))
        for piece in snippet.shown:
            check(piece, screens)

    def placed(self, code: str) -> str:
        """With free ports, and with this machine and folder in place of others."""
        http, grpc = self._ports
        code = re.sub(r"https://[a-z]+\.example(:8787)?", f"http://127.0.0.1:{http}", code)
        code = re.sub(r"\bquarterdeck serve\b", f"quarterdeck serve --listen 127.0.0.1:{http}", code)
        code = re.sub(r"\b8787\b", str(http), code)
        code = re.sub(r"\b8788\b", str(grpc), code)
        return code.replace("/run/user/1000", str(self._folder)).replace("/srv/repo", str(self.place.cwd))

    def _start(self, snippet: Snippet, ready: str) -> str:
        program = "bash" if snippet.language == "sh" else sys.executable
        path = self._file(snippet.code, {"sh": "sh", "python": "py"}[snippet.language])
        term = Term([program, str(path)], self.place.cwd, self.place.env, COLUMNS, ROWS)
        self._background.append(term)
        return term.until(ready)

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
        awaited: list[str] = []
        for key, text in re.findall(r"(?:^press |; )(\S+) at ([^;]+)", snippet.mark):
            awaited.append(text)
            yield self._until_again(text, awaited.count(text))
            self._shell.press(KEYS.get(key, key))
        seen = self._shell.until(f"<<{path.name}>>")
        yield seen[before:]

    def _until_again(self, text: str, times: int) -> str:
        """Wait until the shell has shown it so many times; what is seen then."""
        deadline = time.monotonic() + LIMIT_S
        while (seen := self._shell.text).count(text) < times:
            assert self._shell.read(deadline), f"never seen {times} times: {text}\n{seen}"
        return seen

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
        code = snippet.code
        if snippet.mark == "with an open host":
            code = WITH_HOST.format(code=textwrap.indent(code, " " * 8))
        path = self._file(code, "py")
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


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def check(piece: str, screens: list[str]) -> None:
    """The output on the page is, line by line and in this order, on one of the screens."""
    pattern = ".*".join(pattern_of(line) for line in piece.splitlines() if line.strip())
    assert any(re.search(pattern, screen, re.DOTALL) for screen in screens), f"{piece}\nis not in\n{screens[-1]}"


def pattern_of(line: str) -> str:
    """``…`` is anything; so are seconds, costs and the ids of sessions, which are other ones each time."""
    parts = (re.escape(part.strip()) for part in line.strip().split("…"))
    alike = re.sub(r"\d+\\\.\d+(s?)", r"\\d+\\.\\d+\1", "[^\n]*".join(parts))
    return re.sub(r"\b[0-9a-f]{8}\b", "[0-9a-f]{8}", alike)
