"""``.ci/pytest``: few tests that fail run again alone, and no failure that stays is hidden."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / ".ci" / "pytest"
TESTS = """\
import pathlib, pytest

@pytest.mark.parametrize("name", [str(n) for n in range({unsteady})])
def test_unsteady(name):
    seen = pathlib.Path(name)
    again = seen.exists()
    seen.touch()
    assert again

@pytest.mark.parametrize("name", range({broken}))
def test_broken(name):
    assert False

def test_sound():
    pass
"""


def run(folder: Path, *, unsteady: int = 0, broken: int = 0) -> tuple[int, str]:
    (folder / ".ci").mkdir()
    shutil.copy(SCRIPT, folder / ".ci")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:quarterdeck\n")
    (folder / "test_it.py").write_text(TESTS.format(unsteady=unsteady, broken=broken))
    command = [folder / ".ci" / "pytest", sys.executable, "--quiet"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout


def test_a_test_that_passes_alone_is_named_and_does_not_fail_the_run(tmp_path: Path) -> None:
    code, said = run(tmp_path, unsteady=2)
    assert code == 0
    assert said.endswith("please fix):\ntest_it.py::test_unsteady[0]\ntest_it.py::test_unsteady[1]\n")


def test_a_test_that_fails_twice_fails_the_run(tmp_path: Path) -> None:
    code, said = run(tmp_path, unsteady=1, broken=1)
    assert code == 1
    assert "flaky (" not in said


def test_more_than_five_failures_are_not_tried_again(tmp_path: Path) -> None:
    code, said = run(tmp_path, unsteady=6)
    assert code == 1
    assert "one at a time" not in said


def test_a_run_without_failures_is_not_repeated(tmp_path: Path) -> None:
    code, said = run(tmp_path)
    assert code == 0
    assert "one at a time" not in said


def test_a_run_that_could_not_begin_keeps_its_status(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import nowhere\n")
    code, _ = run(tmp_path)
    assert code == 4
