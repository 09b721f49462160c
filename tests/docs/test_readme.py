"""What the README shows works as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from quarterdeck.cli import COMMANDS
from quarterdeck.testing.sim import executable

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_example_runs_against_the_simulator(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    program = tmp_path / "example.py"
    program.write_text(code)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CLAUDE_BIN": str(executable())}
    done = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Hello" in done.stdout
    assert re.search(r"\d\.\d{4} USD", done.stdout)


def test_every_link_of_the_documents_leads_somewhere() -> None:
    links = [
        (document, target)
        for document in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text())
    ]
    assert [(document.name, target) for document, target in links if not (document.parent / target).exists()] == []


def test_the_two_commands_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = re.findall(r"^\$ make (\w+)", README, re.MULTILINE)
    assert named == ["run", "test"]
    for name in named:
        assert re.search(rf"^{name}:.*##", makefile, re.MULTILINE), name


def test_the_commands_named_exist() -> None:
    documents = README + "".join(path.read_text() for path in (ROOT / "docs").rglob("*.md"))
    named = set(re.findall(r"`quarterdeck (\w+)", documents))
    assert named <= set(COMMANDS)
