"""What the policy allows is put to a real bash, which tells what it would run.

Bash is started without a search path; whatever it cannot find it reports. Only ``a`` is allowed, so nothing else may
ever be reported, and no file may appear: any difference between our reading and bash's own would show.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from quarterdeck.policy import Policy

BASH = shutil.which("bash")
CASES = int(os.environ.get("QUARTERDECK_FUZZ_CASES", "6000"))
LIMIT_S = 10.0
TELL = 'command_not_found_handle() { printf "%s\\0" "$1" >&7; return 1; }\n'
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


def scripts(count: int) -> list[str]:
    chance = random.Random(20)
    return ["".join(chance.choice(PIECES) for _ in range(chance.randint(1, 9))) for _ in range(count)]


def run_by_bash(script: str, folder: Path) -> list[str]:
    """The names of the programs that bash wants to run."""
    assert BASH is not None
    told = folder / "told"
    with told.open("wb") as out:
        subprocess.run(
            [BASH, "--norc", "--noprofile", "-c", f"exec 7>&{out.fileno()}\n{TELL}{script}"],
            cwd=folder / "work",
            env={"PATH": "/nonexistent"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(out.fileno(),),
            timeout=LIMIT_S,
            check=False,
        )
    return told.read_text().split("\0")[:-1]


@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_bash_runs_only_what_was_allowed(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    policy = Policy.from_rules(allow=["Bash(a:*)"], cwd=tmp_path / "work")
    allowed = [script for script in scripts(CASES) if policy.decide("Bash", {"command": script}).behavior == "allow"]
    assert len(allowed) > CASES / 100

    for script in dict.fromkeys(allowed):
        ran = run_by_bash(script, tmp_path)

        assert set(ran) <= {"a"}, script
        assert list((tmp_path / "work").iterdir()) == [], script


@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_a_denied_command_that_bash_would_run_is_never_allowed(tmp_path: Path) -> None:
    """With everything else allowed, whatever makes bash run ``b`` must be denied or asked about."""
    (tmp_path / "work").mkdir()
    policy = Policy.from_rules(allow=["Bash"], deny=["Bash(b:*)"], cwd=tmp_path / "work")
    allowed = [script for script in scripts(CASES) if policy.decide("Bash", {"command": script}).behavior == "allow"]

    for script in dict.fromkeys(allowed[:400]):
        assert "b" not in run_by_bash(script, tmp_path), script
