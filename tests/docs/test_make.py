"""``make run`` installs little, says what it does, and no escape codes in a pipe; ``make soak`` leaves no test out,
and every target finds its tools."""

from __future__ import annotations

import ast
import importlib.util
import os
import queue
import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from benchmarks.first_run import SILENT_S

from quarterdeck.cli.hosted import demonstration
from terminal.kit import CTRL_C, ESCAPE, LIMIT_S, Term

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


@pytest.mark.parametrize("key", [ESCAPE, CTRL_C, "q"])
def test_make_run_ends_with_what_to_do_next_whichever_way_one_leaves(key: str) -> None:
    stamp = f"--assume-old={sys.prefix}/.installed-for-run"  # nothing is installed
    command = ["make", "--no-print-directory", f"VENV={sys.prefix}", stamp, "run"]
    env = {**os.environ, "TERM": "xterm-256color", "PATH": "/usr/bin:/bin"}
    term = Term(command, ROOT, env, 100, 40)
    try:
        term.until("gardener · waiting", "Quit (q)")
        assert "bin/quarterdeck ps --host " in term.text  # the environment is not active there
        term.press(key)
        term.exit()
        shown = [line.strip() for line in term.lines if line.strip()]
        assert shown[-4] == "Next:"
        assert shown[-3].startswith(". ")
        assert shown[-3].endswith("bin/activate")
        assert shown[-2:] == ["quarterdeck chat --agent sim     (in any folder)", "More: docs/guide/index.md"]
        assert "Error" not in term.text
    finally:
        term.close()


def test_a_heading_may_have_commas(tmp_path: Path) -> None:
    assert "fetches the official SDK, 160 MB)" in dry_run("bench", tmp_path)


def test_every_tool_that_make_calls_is_installed(tmp_path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE)) - {"help", "clean"}
    commands = "\n".join(dry_run(target, tmp_path) for target in sorted(targets))
    scripts = {word for word in commands.split() if word.startswith(("tests/", ".ci/")) and (ROOT / word).is_file()}
    sources = [commands, *((ROOT / script).read_text() for script in sorted(scripts))]
    modules = {name for text in sources for name in re.findall(r'-m(?: |", ")([a-z][\w.]*)', text)}
    assert {"pytest", "coverage", "conformance", "benchmarks"} <= modules
    assert [name for name in sorted(modules) if importlib.util.find_spec(name) is None] == []
    programs = set(re.findall(rf"{re.escape(str(tmp_path))}/venv/bin/([\w-]+)", commands))
    assert {"ruff", "mypy", "lint-imports", "mkdocs"} <= programs
    assert [name for name in sorted(programs) if not Path(sys.executable).with_name(name).exists()] == []


def test_make_soak_runs_every_test_that_has_a_longer_part(tmp_path: Path) -> None:
    """Those that ask how long to go on, those of which a conftest leaves some out, and those that compare with the
    official SDKs, which it installs."""
    command = dry_run("soak", tmp_path).replace("\\\n", " ").strip().splitlines()[-1]
    assert "QUARTERDECK_SOAK=1 QUARTERDECK_INSTALL_PEER=1" in command
    selection = re.split(r"--timeout \d+", command)[1]
    said = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {selection}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT_S,
    )
    selected = [ROOT / path for path in said.stdout.split()]
    tests = ROOT / "tests"
    longer = [
        path
        for path in sorted(tests.rglob("test_*.py"))
        if has_a_longer_part(path)
        or any(
            (folder / "conftest.py").exists() and has_a_longer_part(folder / "conftest.py")
            for folder in path.parents
            if folder != tests and folder.is_relative_to(tests)
        )
    ]
    assert len(longer) > 30
    assert [path for path in longer if not any(path.is_relative_to(chosen) for chosen in selected)] == []


def has_a_longer_part(path: Path) -> bool:
    imported: set[str] = set()
    for statement in ast.walk(ast.parse(path.read_text())):
        if isinstance(statement, ast.Import):
            imported |= {name.name for name in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            imported.add(statement.module or "")
    return bool(imported & {"soak", "hypothesis", "compat.peer", "compat.typescript", "store.conformance"})


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
        lines = [process.stdout.readline() for _ in range(2)]
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


def test_an_installation_is_never_silent_for_more_than_five_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock of its own: a minute in which pip says nothing."""
    install = _module(INSTALL)
    now, said = [1000.0], [1000.0]

    class Silent:
        """Takes pip's lines and gives back none of them, as if it had said nothing."""

        def put(self, line: str | None) -> None:
            pass

        def get(self, timeout: float) -> str | None:
            now[0] += timeout
            if now[0] < 1060.0:
                raise queue.Empty
            return None

    monkeypatch.setattr(install, "queue", SimpleNamespace(Queue=Silent, Empty=queue.Empty))
    monkeypatch.setattr(install, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(install, "TERMINAL", False)
    monkeypatch.setattr(install, "say", lambda _text, **_more: said.append(now[0]))
    assert install.run("installing", [sys.executable, "-c", ""], now[0]) == 0
    gaps = [after - before for before, after in zip(said, [*said[1:], now[0]], strict=True)]
    assert len(gaps) > 12
    assert max(gaps) <= SILENT_S


def test_the_demonstration_is_never_silent_for_more_than_five_seconds() -> None:
    assert demonstration.SAY_EVERY_S <= SILENT_S


def _module(script: Path) -> Any:
    """A script without a suffix."""
    loader = SourceFileLoader("script", str(script))
    spec = importlib.util.spec_from_loader("script", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module
