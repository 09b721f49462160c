"""What the policy allows is put to a real bash, which tells what it would run.

Bash is started without a search path; whatever it cannot find it reports. Only ``a`` is allowed, so nothing else may
ever be reported, and no file may appear: any difference between our reading and bash's own would show.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import soak
from quarterdeck.policy import Policy

BASH = shutil.which("bash")
CASES = soak.cases(3_000, in_soak=100_000)
RUNS = CASES // 15
"""Each is a process; a few hundred take a second or two."""
LIMIT_S = 10.0
TELL = 'command_not_found_handle() { printf "%q\\0" "$1" >&7; return 1; }\n'
PIECES = (
    *(
        "a",
        "a",
        "a",
        "a ",
        "a x ",
        "b",
        "b ",
        " ",
        " ",
        "\n",
        ";",
        "; ",
        " && ",
        " || ",
        " | ",
        "&",
        " & ",
        "#",
        " # ",
        "\\",
        "\\\n",
    ),
    *(
        "'",
        '"',
        "''",
        '""',
        "'b'",
        '"b"',
        "'\n'",
        "$'",
        "$'\\n'",
        '$"',
        "`",
        "`b`",
        "$(",
        ")",
        "$(b)",
        "${",
        "}",
        "$x",
        "$",
    ),
    *(
        "(",
        "{ ",
        "; }",
        "((",
        "))",
        "[[ ",
        " ]]",
        "[ ",
        " ]",
        "!",
        "! ",
        "*",
        "?",
        "~",
        "=",
        "x=1 ",
        "CI=1 ",
        "<",
        ">",
        ">>",
        "2>&1",
    ),
    *(
        "<<< b",
        "<<E\n",
        "<<'E'\n",
        "\nE\n",
        "E",
        "<(b)",
        ">f",
        "> f",
        "if a; then ",
        "; fi",
        "else ",
        "for i in a; do ",
        "; done",
    ),
    *(
        "case a in ",
        "a) ",
        ";;",
        " esac",
        "while a; do ",
        "f() ",
        "function ",
        "time ",
        "command ",
        "\t",
        "{a,b}",
        "é",
    ),
)


SEEDS = (
    *("a x; a", "a 'q' && a \"z\"", "if a; then a; else a; fi", "a <<'E'\nx\nE\na", "CI=1 a x", "time a", "a | a 2>&1"),
    *("for i in a b; do a; done", "[ -f x ] && a", "[[ a == b ]] && a", "a # c\na", "! a", "while a; do a; done"),
    *(
        "a \\\n x",
        "a <<< 'x'",
        "a x=1 y",
        "command a",
        'a "x\\"y" \'z\'',
        "a < f",
        "a >/dev/null 2>&1",
        "a; b",
        "a $(b)",
    ),
    *('a "`b`"', "{ a; b; }", "(b)", "a <<E\n$(b)\nE", "case a in a) b;; esac", "f() { b; }; f", "b & a", "a || b"),
    *("time b", "a | b", "'b'", "\\b", "x=1 b", "if b; then a; fi"),
)


def scripts(count: int) -> list[str]:
    """Scripts that are nearly right: a seed or two, with pieces put in, taken out and replaced."""
    chance = random.Random(soak.SEED)
    made: dict[str, None] = {}
    while len(made) < count:
        script = chance.choice(SEEDS)
        if chance.random() < 0.3:
            script += chance.choice(("; ", "\n", " && ", " | ", "")) + chance.choice(SEEDS)
        for _ in range(chance.randint(1, 3)):
            at, kind = chance.randint(0, len(script)), chance.random()
            piece = chance.choice(PIECES) if kind < 0.75 else ""
            script = script[:at] + piece + script[at + (0 if kind < 0.55 else chance.randint(1, 2)) :]
        made[script] = None
    return list(made)


def run_by_bash(script: str) -> tuple[list[str], list[str]]:
    """The names of the programs that bash wants to run, and of the files it makes."""
    assert BASH is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        work, told = Path(name, "work"), Path(name, "told")
        work.mkdir()
        with told.open("wb") as out, contextlib.suppress(subprocess.TimeoutExpired):  # some loops never end
            subprocess.run(
                [BASH, "--norc", "--noprofile", "-c", f"exec 7>&{out.fileno()}\n{TELL}{script}"],
                cwd=work,
                env={"PATH": "/nonexistent"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(out.fileno(),),
                timeout=LIMIT_S,
                check=False,
            )
        return told.read_text().split("\0")[:-1], [path.name for path in work.iterdir()]


@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_bash_runs_only_what_was_allowed() -> None:
    policy = Policy.from_rules(allow=["Bash(a:*)"], cwd="/project")
    allowed = [script for script in scripts(CASES) if policy.decide("Bash", {"command": script}).behavior == "allow"]
    assert len(allowed) > CASES / 50

    for script in allowed[:RUNS]:
        ran, made = run_by_bash(script)

        assert set(ran) <= {"a", "time", "ls"}, script  # after a pipe, time is a program; ls only reads
        assert made == [], script


@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_a_denied_command_that_bash_would_run_is_never_allowed() -> None:
    """With everything else allowed, whatever makes bash run ``b`` must be denied or asked about."""
    policy = Policy.from_rules(allow=["Bash"], deny=["Bash(b:*)"], cwd="/project")
    allowed = [script for script in scripts(CASES) if policy.decide("Bash", {"command": script}).behavior == "allow"]
    hiding = [script for script in allowed if "b" in script]
    assert len(hiding) > CASES / 50

    for script in hiding[:RUNS]:
        ran, _ = run_by_bash(script)

        assert "b" not in ran, script
