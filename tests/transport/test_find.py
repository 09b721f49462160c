"""Where the CLI is looked for, on each platform."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from quarterdeck.transport import CLINotFoundError, find_cli
from quarterdeck.transport.find import CliPath, is_program

HOME = "/home/ada"
WINDOWS_HOME = "C:\\Users\\ada"
NPM = WINDOWS_HOME + "\\AppData\\Roaming\\npm"


def find(
    *files: str, explicit: CliPath | None = None, env: Mapping[str, str] | None = None, platform: str = "linux"
) -> list[str]:
    home = WINDOWS_HOME if platform == "win32" else HOME
    return find_cli(explicit, env=env or {}, home=home, platform=platform, exists=set(files).__contains__)


LOCAL = f"{HOME}/.claude/local/claude"
EVERYWHERE = ("/x/a", "/x/b", "/x/c", "/x/d", LOCAL, f"{HOME}/.local/bin/claude", "/usr/bin/claude")
ALL_VARIABLES = {"CLAUDE_BIN": "/x/b", "CLAUDE_CODE_PATH": "/x/c", "CLAUDE_CODE_EXECUTABLE": "/x/d", "PATH": "/usr/bin"}


def test_the_order_is_explicit_then_variables_then_local_then_usual_places_then_path() -> None:
    env, files, found = dict(ALL_VARIABLES), list(EVERYWHERE), [find(*EVERYWHERE, explicit="/x/a", env=ALL_VARIABLES)]
    for variable in ("CLAUDE_BIN", "CLAUDE_CODE_PATH", "CLAUDE_CODE_EXECUTABLE"):
        found.append(find(*files, env=env))
        del env[variable]
    for place in EVERYWHERE[4:]:
        found.append(find(*files, env=env))
        files.remove(place)
    assert [words[0] for words in found] == list(EVERYWHERE)


@pytest.mark.parametrize(
    ("explicit", "expected"),
    [
        ("~/bin/claude", [f"{HOME}/bin/claude"]),
        (Path("/x/a"), ["/x/a"]),
        ("my-claude", ["/usr/bin/my-claude"]),
        (["docker", "run", "-i", "claude"], ["docker", "run", "-i", "claude"]),
    ],
)
def test_an_explicit_path_may_be_from_home_a_name_on_path_or_a_wrapper(explicit: CliPath, expected: list[str]) -> None:
    files = (f"{HOME}/bin/claude", "/x/a", "/usr/bin/my-claude")
    assert find(*files, explicit=explicit, env={"PATH": "/usr/bin"}) == expected


@pytest.mark.parametrize("suffix", [".js", ".mjs", ".cjs"])
def test_a_script_runs_with_node(suffix: str) -> None:
    script = f"/opt/cli{suffix}"
    found = find(script, "/usr/bin/node", explicit=script, env={"PATH": "relative:/bin:/usr/bin"})
    assert found == ["/usr/bin/node", script]


def test_a_script_without_node_is_an_error_that_says_so() -> None:
    with pytest.raises(CLINotFoundError, match=r"needs node, which is not in PATH.*: /opt/cli\.js") as caught:
        find("/opt/cli.js", explicit="/opt/cli.js", env={"PATH": "/bin"})
    assert caught.value.cli_path == "/opt/cli.js"


@pytest.mark.parametrize(
    ("explicit", "env", "named"),
    [("/gone", {}, "cli_path"), (None, {"CLAUDE_CODE_PATH": "/gone"}, "the environment variable CLAUDE_CODE_PATH")],
)
def test_what_was_named_and_is_not_there_is_not_replaced_by_something_else(
    explicit: str | None, env: dict[str, str], named: str
) -> None:
    with pytest.raises(CLINotFoundError, match=named) as caught:
        find(LOCAL, explicit=explicit, env=env)
    assert caught.value.cli_path == "/gone"
    assert "npm install -g @anthropic-ai/claude-code" in str(caught.value)


def test_an_empty_wrapper_is_refused() -> None:
    with pytest.raises(CLINotFoundError, match="empty list"):
        find(explicit=[])


def test_nothing_found_tells_the_install_command_and_where_was_looked() -> None:
    with pytest.raises(CLINotFoundError) as caught:
        find(env={"PATH": "/usr/bin:."})
    text = str(caught.value)
    for part in ("npm install -g @anthropic-ai/claude-code", "cli_path", "CLAUDE_BIN", LOCAL, "/usr/bin/claude"):
        assert part in text
    assert "./claude" not in text


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([WINDOWS_HOME + "\\.local\\bin\\claude.exe"], [WINDOWS_HOME + "\\.local\\bin\\claude.exe"]),
        (["D:\\tools\\claude.exe"], ["D:\\tools\\claude.exe"]),
        (
            [NPM + "\\claude.cmd", NPM + "\\node_modules\\@anthropic-ai\\claude-code\\cli.js", "D:\\tools\\node.exe"],
            ["D:\\tools\\node.exe", NPM + "\\node_modules\\@anthropic-ai\\claude-code\\cli.js"],
        ),
        (
            [NPM + "\\claude.cmd", NPM + "\\node_modules\\@anthropic-ai\\claude-code\\bin\\claude.exe"],
            [NPM + "\\node_modules\\@anthropic-ai\\claude-code\\bin\\claude.exe"],
        ),
    ],
)
def test_on_windows_an_exe_is_found_or_what_a_batch_file_would_run(files: list[str], expected: list[str]) -> None:
    assert find(*files, env={"PATH": "D:\\tools;."}, platform="win32") == expected


def test_on_windows_a_batch_file_itself_is_never_started() -> None:
    with pytest.raises(CLINotFoundError, match=r"cmd\.exe would interpret"):
        find("D:\\x\\claude.cmd", explicit="D:\\x\\claude.cmd", platform="win32")


def test_only_files_that_can_be_run_count(tmp_path: Path) -> None:
    plain, program, script = tmp_path / "plain", tmp_path / "program", tmp_path / "cli.js"
    for path, mode in ((plain, 0o644), (program, 0o755), (script, 0o644)):
        path.touch(mode)
        path.chmod(mode)
    assert [is_program(str(path)) for path in (plain, program, script, tmp_path, tmp_path / "gone")] == [
        False,
        True,
        True,
        False,
        False,
    ]
