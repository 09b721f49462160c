"""Programs written for the official SDK, run with it and with ours: what they print must be the same.

They are in the style of its public examples, and take their SDK's name from the environment; nothing else in them
knows which one it is. The CLI is the real one, the model is scripted.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from compat.peer import peer_python
from compat.running import run_program
from compat.scripts import SCRIPTS
from quarterdeck.testing.model import ModelServer

PROGRAMS = Path(__file__).parent / "programs"
NAMES = sorted(path.stem for path in PROGRAMS.glob("[a-z]*.py"))


def run(name: str, folder: Path, sdk: str, python: Path | str) -> str:
    with ModelServer() as model:
        SCRIPTS[name](model)
        ours = sdk == "quarterdeck"  # the official SDK logs errors that it raises as well
        return run_program(PROGRAMS / f"{name}.py", folder, model, python=python, quiet=ours, SDK=sdk)


def test_every_program_has_a_script_and_every_script_a_program() -> None:
    assert sorted(SCRIPTS) == NAMES
    assert len(NAMES) >= 12


@pytest.mark.real
@pytest.mark.parametrize("name", NAMES)
def test_a_program_prints_the_same_with_the_official_sdk_and_with_ours(name: str, tmp_path: Path) -> None:
    expected = (PROGRAMS / f"{name}.out").read_text()
    official = peer_python()
    with ThreadPoolExecutor(2) as side_by_side:
        ours = side_by_side.submit(run, name, tmp_path / "ours", "quarterdeck", sys.executable)
        if official is not None:
            theirs = side_by_side.submit(run, name, tmp_path / "theirs", "claude_agent_sdk", official)
            assert theirs.result() == expected
        assert ours.result() == expected
