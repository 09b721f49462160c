from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from quarterdeck import __version__
from quarterdeck.cli import COMMANDS, main, overview
from quarterdeck.cli.common import Look, Parser
from quarterdeck.cli.common.tree import CommandSpec, tree

MOST_IMPORTS = 30
"""Top-level packages that `quarterdeck --help` may import beyond those of a bare Python."""
ROOT = Path(__file__).parents[2]


def run(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "quarterdeck", *words]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **env},
    )


def parser_of(name: str) -> Parser:
    found: Parser = import_module(f"quarterdeck.cli.{name}").parser()
    return found


def every_parser(parser: Parser) -> list[Parser]:
    return [parser, *(found for below in parser.commands().values() for found in every_parser(below))]


def test_help_lists_every_command_and_its_purpose(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{name} {purpose}" in shown for name, purpose in COMMANDS.items())


def test_without_a_command_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "usage: quarterdeck COMMAND" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "hint"), [("nonsense", ""), ("sesions", "; did you mean 'sessions'?"), ("--nonsense", "")]
)
def test_an_unknown_command_is_a_usage_error(name: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name]) == 2
    told = f"quarterdeck: unknown command {name!r}{hint}\n  Run quarterdeck --help for a list of commands.\n"
    assert capsys.readouterr() == ("", told)


def test_the_version_is_told() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"quarterdeck {__version__}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    done = run(name, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: quarterdeck {name} ")
    assert "\033" not in done.stdout


def test_help_with_a_command_is_the_help_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["help", "doctor"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: quarterdeck doctor ")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_same_style(name: str) -> None:
    for parser in every_parser(parser_of(name)):
        assert type(parser) is Parser
        assert parser.description, parser.prog
        assert parser.examples, parser.prog
        assert 0 in parser.exits, parser.prog
        assert all(name in example for example, _ in parser.examples[:1]), parser.prog
        undescribed = [action.dest for action in parser._actions if not action.help and action.option_strings]
        assert not undescribed, parser.prog


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_list_of_commands_fits_the_terminal(width: int) -> None:
    assert max(map(len, overview(Look(width=width)).splitlines())) <= max(width, 60)


@pytest.mark.parametrize(("env", "coloured"), [({"FORCE_COLOR": "1", "NO_COLOR": ""}, True), ({}, False)])
def test_help_is_coloured_only_where_it_is_seen(env: dict[str, str], coloured: bool) -> None:
    plain = run("--help", **env).stdout
    assert ("\033[1musage:\033[0m" in plain) is coloured
    assert ("\033[1musage:\033[0m" in run("doctor", "--help", **env).stdout) is coloured


def test_a_terminal_gets_colour() -> None:
    leader, follower = pty.openpty()
    env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    command = [sys.executable, "-m", "quarterdeck", "--help"]
    with (
        os.fdopen(leader, "rb", buffering=0) as terminal,
        subprocess.Popen(command, stdout=follower, env={**env, "TERM": "xterm"}),
    ):
        os.close(follower)
        assert b"\033[1musage:\033[0m" in terminal.read(1024)


def test_help_imports_no_room_and_no_command() -> None:
    code = (
        "import sys; from quarterdeck.cli import main; main(['--help'])\n"
        "print([name for name in sys.modules if name == 'msgspec' or name.startswith('quarterdeck.')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    loaded = eval(done.stderr)  # noqa: S307  # our own list
    assert [name for name in loaded if not name.startswith(("quarterdeck.cli.common", "quarterdeck._"))] == [
        "quarterdeck.cli"
    ]


def test_help_imports_little_of_the_standard_library_either() -> None:
    """What it costs is Python's own start and these imports; `benchmarks/help.py` has the milliseconds."""
    code = (
        "import sys; before = {*sys.modules}; from quarterdeck.cli import main; main(['--help'])\n"
        "print(*sorted({name.split('.')[0] for name in {*sys.modules} - before}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert len(done.stderr.split()) <= MOST_IMPORTS
    assert {"asyncio", "msgspec", "inspect", "dataclasses", "subprocess", "json"}.isdisjoint(done.stderr.split())


# How commands end


def test_trouble_is_two_lines_and_an_exit_code() -> None:
    done = run("sessions", "list", "--project", "/nowhere/at/all")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 2)


def test_ctrl_c_is_exit_code_130_without_a_traceback(tmp_path: Path) -> None:
    waiting = tmp_path / "fifo"
    os.mkfifo(waiting)
    command = [sys.executable, "-m", "quarterdeck", "policy", "check", str(waiting)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        opened = os.open(waiting, os.O_WRONLY)  # returns when the command has opened it, too
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(30) == 130
        os.close(opened)


def test_a_reader_that_goes_away_is_exit_code_141() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "quarterdeck", "--help"]
    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_locale_without_unicode_loses_letters_but_does_not_fail() -> None:
    done = run("doctor", "--help", PYTHONIOENCODING="ascii", PYTHONUTF8="0", COLUMNS="80")
    assert (done.returncode, done.stderr) == (0, "")
    assert run("tap", "--help", PYTHONIOENCODING="ascii").returncode == 0
    assert run(PYTHONIOENCODING="ascii").returncode == 0


# The reference


@pytest.fixture(scope="module")
def commands() -> list[CommandSpec]:
    return [command for command in tree().walk() if len(command.path) > 1]


def test_the_reference_lists_every_command_and_option(commands: list[CommandSpec]) -> None:
    """To bring it up to date: python -m quarterdeck.cli.common.reference > docs/commands.md"""
    text = (ROOT / "docs" / "commands.md").read_text()
    for command in commands:
        name = " ".join(command.path)
        assert f"# {name}\n" in text, name
        section = text.split(f"# {name}\n", 1)[1].split("\n#", 1)[0]
        for option in command.options:
            if not option.hidden and "--help" not in option.names:
                assert f"`{', '.join(option.names)}" in section, f"{name} {option.names}"
        for argument in command.arguments:
            assert f"`{argument.value.name}`" in section, f"{name} {argument.value.name}"


def test_the_reference_has_no_command_that_is_gone(commands: list[CommandSpec]) -> None:
    text = (ROOT / "docs" / "commands.md").read_text()
    named = re.findall(r"^##+ (quarterdeck .+)$", text, re.MULTILINE)
    assert named == [" ".join(command.path) for command in commands]


def test_the_demo_plays_a_conversation_and_leaves_nothing() -> None:
    done = run("demo", "--agent", "sim")
    assert (done.returncode, done.stderr) == (0, "")
    assert "+ Remember to water the flowers." in done.stdout
    assert "allowed without asking: this is a scratch folder" in done.stdout
    assert "notes.txt is now: # Notes Remember to water the flowers." in done.stdout
    assert "\033[" not in done.stdout


def test_the_simulator_is_called_as_claude_is_and_has_our_help() -> None:
    assert run("sim", "--help").stdout.startswith("usage: quarterdeck sim ")
    assert run("sim", "--verbose", "--help").stdout.startswith("Usage: claude ")
    assert run("sim", "--version").stdout.endswith("(Claude Code)\n")
