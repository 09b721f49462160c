from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import needs
from quarterdeck.cli import main
from quarterdeck.cli.common.tree import ArgumentSpec, CommandSpec, OptionSpec, ValueSpec
from quarterdeck.cli.completion import SHELLS, bash, fish, zsh

WriteSession = Callable[..., str]

TREE = CommandSpec(
    ("quarterdeck",),
    "all",
    commands=[
        CommandSpec(
            ("quarterdeck", "paint"),
            "it's: [colour]",
            options=[
                OptionSpec(
                    ("-o", "--out"), "where: a [file]", ValueSpec("FILE", "file"), repeatable=False, hidden=False
                ),
                OptionSpec(("--in",), "which folder", ValueSpec("DIR", "folder"), repeatable=True),
                OptionSpec(
                    ("--hue",), "it's one", ValueSpec("HUE", "choice", ("red", "blue")), repeatable=False, hidden=False
                ),
                OptionSpec(("--note",), "", ValueSpec("TEXT", "other"), hidden=True),
                OptionSpec(("--fast",), "hurry"),
                OptionSpec(("--agent",), "who", ValueSpec("WHO", "other")),
            ],
            arguments=[ArgumentSpec(ValueSpec("ID", "session"), "which", many=False)],
        ),
        CommandSpec(
            ("quarterdeck", "watch"),
            "a session of a host",
            options=[OptionSpec(("--host",), "where", ValueSpec("URL", "other"))],
            arguments=[ArgumentSpec(ValueSpec("SESSION", "of host"), "which", many=False)],
        ),
        CommandSpec(
            ("quarterdeck", "group"),
            "more",
            commands=[
                CommandSpec(("quarterdeck", "group", "one"), "the first"),
                CommandSpec(("quarterdeck", "group", "two"), "2"),
            ],
        ),
    ],
)

CASES = [
    (["p"], ["paint"]),
    (["group", ""], ["one", "two"]),
    (["group", "t"], ["two"]),
    (["paint", "--hue", ""], ["blue", "red"]),
    (["paint", "--fast", "--h"], ["--hue"]),
    (["paint", "--out", "a"], ["a b.txt", "a.txt"]),
    (["paint", "-o", "a."], ["a.txt"]),
    (["paint", "--in", ""], ["folder"]),
    (["paint", "--note", ""], []),
    (["paint", ""], ["id-1", "id-2"]),
    (["paint", "id-2"], ["id-2"]),
    (["paint", "--agent", "sim", ""], ["sim-1"]),
    (["paint", "--agent=sim", ""], ["sim-1"]),
    (["paint", "--agent", "simple", ""], ["id-1", "id-2"]),
    (["watch", ""], ["run-1", "run-2"]),
    (["watch", "--host", "http://x:1", ""], ["far-1"]),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With some files, and a ``quarterdeck`` in PATH that knows two sessions, and one of the simulator."""
    here = tmp_path / "here"
    (here / "folder").mkdir(parents=True)
    for name in ("a.txt", "a b.txt"):
        (here / name).write_text("")
    program = tmp_path / "bin" / "quarterdeck"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\n"
        '[ "$*" = "sessions list --all --quiet" ] && printf "id-1\\nid-2\\n"\n'
        '[ "$*" = "sessions list --agent sim --all --quiet" ] && echo sim-1\n'
        '[ "$*" = "ps --all --quiet" ] && printf "run-1\\nrun-2\\n"\n'
        '[ "$*" = "ps --all --host http://x:1 --quiet" ] && echo far-1\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    return here


BASH = """
source /dev/stdin
COMP_WORDS=(quarterdeck "$@"); COMP_CWORD=$#; COMP_LINE="quarterdeck $*"
_quarterdeck 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


@needs.program("bash")
@pytest.mark.parametrize(("words", "offered"), CASES)
def test_bash_offers_what_can_follow(words: list[str], offered: list[str], folder: Path) -> None:
    done = subprocess.run(
        ["bash", "--norc", "-c", BASH, "bash", *words],
        input=bash.script(TREE),
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=30,
        check=True,
    )
    assert (sorted(filter(None, done.stdout.splitlines())), done.stderr) == (offered, "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(("words", "offered"), CASES)
def test_fish_offers_what_can_follow(words: list[str], offered: list[str], folder: Path) -> None:
    line = " ".join(["quarterdeck", *words])
    (folder.parent / "quarterdeck.fish").write_text(fish.script(TREE))
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source ../quarterdeck.fish; complete -C '{line}'"],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=30,
        check=True,
    )
    found = [row.split("\t")[0].rstrip("/").replace("\\", "") for row in done.stdout.splitlines()]
    assert (sorted(found), done.stderr) == (offered, "")


ZSH = """
zmodload zsh/zpty
zpty shell "TERM=dumb PS1='ready> ' zsh -f -i"
zpty -r shell seen '*ready> *'
zpty -w shell 'autoload -Uz compinit; compinit -u -D; source ../quarterdeck.zsh; PS1="go> "'
zpty -r shell seen '*go> *'
zpty -n -w shell "$1"$'\\t'
zpty -r shell seen "*$2*" && print -r -- seen
"""


@needs.program("zsh")
@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("quarterdeck paint --agent sim ", "--agent sim sim-1"),
        ("quarterdeck paint ", "paint id-"),
    ],
)
def test_zsh_offers_the_sessions_of_the_agent(line: str, completed: str, folder: Path) -> None:
    (folder.parent / "quarterdeck.zsh").write_text(zsh.script(TREE))
    done = subprocess.run(
        ["zsh", "-f", "-c", ZSH, "zsh", line, completed],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=60,
        check=True,
    )
    assert done.stdout == "seen\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_real_script_is_taken_by_its_shell(shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["completion", shell]) == 0
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    for word in ("sessions", "case-sensitive", "install-launcher", "markdown"):
        assert word in script.read_text()
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_zsh_quotes_what_it_would_read_as_its_own() -> None:
    script = zsh.script(TREE)
    assert "'paint:it'\\''s\\: [colour]'" in script
    assert "'(-o --out)--out[where\\: a \\[file\\]]:FILE:_files'" in script
    assert "'*--in[which folder]:DIR:_files -/'" in script
    assert "'(--hue)--hue[it'\\''s one]:HUE:(red blue)'" in script
    assert "':ID:_quarterdeck_ids'" in script


def test_another_shell_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["completion", "tcsh"])
    assert ended.value.code == 2
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err
