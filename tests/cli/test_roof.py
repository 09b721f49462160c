from __future__ import annotations

import subprocess
import sys

import pytest

from quarterdeck import __version__
from quarterdeck.cli import COMMANDS, main


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "quarterdeck", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown and purpose in shown for name, purpose in COMMANDS.items())


def test_without_a_command_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "usage: quarterdeck COMMAND" in capsys.readouterr().out


def test_an_unknown_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nonsense"]) == 2
    assert "there is no command 'nonsense'" in capsys.readouterr().err


def test_the_version_is_told() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"quarterdeck {__version__}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    done = run(name, "--help")
    assert done.returncode == 0
    assert "usage" in done.stdout.lower()


def test_help_imports_no_room() -> None:
    code = "import sys; from quarterdeck.cli import main; main(['--help']); print('msgspec' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.endswith("False\n")


def test_the_demo_plays_a_conversation_and_leaves_nothing() -> None:
    done = run("demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Remember to water the plants." in done.stdout
    assert "allowed (nobody is at the terminal)" in done.stdout
    assert "The folder now holds: hello.py, notes.txt" in done.stdout
    assert "\033[" not in done.stdout
