"""``make run``: it installs little, says what it does, and writes no escape codes into a pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from terminal.kit import LIMIT_S, Term

ROOT = Path(__file__).parents[2]
INSTALL = ROOT / ".ci" / "install"
PIP = """\
#!/bin/sh
echo "Collecting rich (from quarterdeck)"
until [ -e {go} ]; do sleep 0.05; done
echo "Successfully installed"
exit {code}
"""


def fake_venv(folder: Path, *, code: int = 0) -> Path:
    """An environment whose pip waits until ``go`` is there."""
    python = folder / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(PIP.format(go=folder / "go", code=code))
    python.chmod(0o755)
    return folder / "venv"


def dry_run(target: str, folder: Path) -> str:
    """What make would do in an environment that is not there yet."""
    command = ["make", "--dry-run", "--no-print-directory", f"VENV={folder / 'venv'}", target]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout


def test_make_run_installs_only_what_it_runs_and_make_test_the_rest(tmp_path: Path) -> None:
    to_run, to_lint = dry_run("run", tmp_path), dry_run("lint", tmp_path)
    assert to_run.count(".ci/install") == 1
    assert "--group dev" not in to_run
    assert to_lint.count(".ci/install") == 2
    assert "--group dev" in to_lint


def test_make_run_ends_with_what_to_do_next(tmp_path: Path) -> None:
    last = dry_run("run", tmp_path).strip().splitlines()[-1]
    assert "▸ %s" in last
    assert "Next: run  . " in last
    assert "quarterdeck chat --agent sim" in last


def test_a_heading_may_have_commas(tmp_path: Path) -> None:
    assert "fetches the official SDK, 160 MB)" in dry_run("bench", tmp_path)


@pytest.mark.parametrize("target", ["run", "lint"])
def test_headings_have_no_escape_codes_in_a_pipe(target: str, tmp_path: Path) -> None:
    script = "\n".join(line for line in dry_run(target, tmp_path).splitlines() if line.startswith("if [ -t 1 ]"))
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=LIMIT_S)
    assert done.stdout.startswith("▸ ")
    assert "\x1b" not in done.stdout


def test_an_installation_goes_on_saying_what_it_does(tmp_path: Path) -> None:
    venv = fake_venv(tmp_path)
    with subprocess.Popen([sys.executable, str(INSTALL), str(venv), "x"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        (tmp_path / "go").touch()
        lines += process.stdout.readlines()
    assert process.returncode == 0
    assert lines[0] == "  installing, 0 s\n"
    assert lines[1].endswith(": looking for rich\n")
    assert lines[-1].startswith("  installed in ")
    assert "\x1b" not in "".join(lines)


def test_on_a_terminal_one_line_is_rewritten(tmp_path: Path) -> None:
    venv = fake_venv(tmp_path)
    term = Term([sys.executable, str(INSTALL), str(venv), "x"], tmp_path, dict(os.environ), 80, 10)
    try:
        term.until("1 s: looking for rich")
        assert len([line for line in term.lines if line]) == 1
        (tmp_path / "go").touch()
        assert term.exit() == 0
        assert next(line for line in term.lines if line).startswith("  installed in ")
    finally:
        term.close()


def test_a_failed_installation_shows_what_pip_said(tmp_path: Path) -> None:
    venv = fake_venv(tmp_path, code=7)
    (tmp_path / "go").touch()
    done = subprocess.run(
        [sys.executable, str(INSTALL), str(venv), "x"], capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert done.returncode == 7
    assert done.stdout.endswith("  installing failed:\nCollecting rich (from quarterdeck)\nSuccessfully installed\n")
