"""Code that type-checks against the official SDK type-checks against ours: 66 snippets, by strict mypy and pyright.

``typed_programs.py`` is written for the official package; here its name is replaced. Where the official SDK is
installed, the snippets are checked against it, too.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.peer import peer_python
from needs import from_npm

ROOT = Path(__file__).parents[2]
SNIPPETS = Path(__file__).with_name("typed_programs.py").read_text()
PYRIGHT = "1.1.400"


def by_mypy(program: Path, python: Path | str) -> str:
    flags = ["--strict", "--no-error-summary", "--cache-dir", str(ROOT / ".mypy_cache"), "--config-file="]
    command = [sys.executable, "-m", "mypy", *flags, "--python-executable", str(python), str(program)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={"MYPYPATH": str(ROOT / "src")}
    ).stdout


def by_pyright(program: Path, python: Path | str) -> str:
    command = ["node", str(pyright()), "--pythonpath", str(python), str(program)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def pyright() -> Path:
    return from_npm("pyright", PYRIGHT) / "node_modules" / "pyright" / "index.js"


CHECKERS: dict[str, Callable[[Path, Path | str], str]] = {"mypy": by_mypy, "pyright": by_pyright}


def faults(checker: str, folder: Path, package: str, python: Path | str) -> dict[str, list[str]]:
    """Snippet → what the checker finds in it."""
    program = folder / "typed_programs.py"
    program.write_text(SNIPPETS.replace("claude_agent_sdk", package))
    found: dict[str, list[str]] = {}
    for line, text in re.findall(
        r"typed_programs\.py:(\d+)(?::\d+)?(?: -|:) error: (.*)$", CHECKERS[checker](program, python), re.MULTILINE
    ):
        found.setdefault(snippet_at(int(line)), []).append(text)
    return found


def snippet_at(line: int) -> str:
    before = re.findall(
        r"^(?:async def |def |class )?([sS]\d\d\w*)", "\n".join(SNIPPETS.splitlines()[:line]), re.MULTILINE
    )
    return before[-1] if before else "imports"


@pytest.mark.parametrize("checker", CHECKERS)
def test_what_is_right_for_the_official_sdk_is_right_for_ours(checker: str, tmp_path: Path) -> None:
    assert faults(checker, tmp_path, "quarterdeck", sys.executable) == {}


@pytest.mark.parametrize("checker", CHECKERS)
def test_the_snippets_are_right_for_the_official_sdk(checker: str, tmp_path: Path) -> None:
    python = peer_python()
    if python is None:
        pytest.skip("the official SDK is not installed here; QUARTERDECK_INSTALL_PEER=1 installs it")
    assert faults(checker, tmp_path, "claude_agent_sdk", python) == {}


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_checker_that_finds_nothing_would_be_noticed(checker: str, tmp_path: Path) -> None:
    program = tmp_path / "wrong.py"
    program.write_text("from quarterdeck import TextBlock\n\nnumber: int = TextBlock('x').text\n")
    assert "error" in CHECKERS[checker](program, sys.executable)


def test_there_are_more_than_fifty_snippets() -> None:
    assert len(set(re.findall(r"^(?:async def |def |class )?[sS](\d\d)", SNIPPETS, re.MULTILINE))) == 66
