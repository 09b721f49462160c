"""The comparison with the real CLI itself: a CLI that answers nothing must not pass for one that agrees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policy import real_cli
from quarterdeck.testing.install import CliInstall

CALLS = [("Bash", {"command": "ls"}), ("Read", {"file_path": "/etc/hostname"})]


def stand_in(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "scratch" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    monkeypatch.setattr(real_cli, "real_cli", lambda _: CliInstall("0", ("/bin/sh", str(program))))


def compare(folder: Path) -> list[str]:
    return real_cli.decisions(CALLS, cwd=folder / "scratch" / "cwd", home=folder / "scratch" / "home")


@pytest.mark.parametrize(
    ("script", "how"),
    [
        ("echo broken >&2; exit 3", "ended with code 3 .*: broken"),
        ("exec 0<&-; echo broken >&2", "ended with code 0 .*: broken"),
        ("""echo '{"type": "result"}'""", "2 of 2 calls .* finished its turn, .*: nothing"),
    ],
)
def test_a_cli_that_says_nothing_fails_the_comparison_and_tells_why(
    script: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path.resolve(), script, monkeypatch)

    with pytest.raises(real_cli.NoAnswerError, match=how):
        compare(tmp_path.resolve())


def test_a_call_without_an_answer_fails_the_comparison_although_others_have_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = {"id": "toolu_00000", "permission_decision": {"decision": "accept"}}
    line = json.dumps({"type": "user", "message": {"content": []}, "tool_result_meta": [answered]})
    stand_in(tmp_path.resolve(), f"echo '{line}'; echo oops >&2; exit 1", monkeypatch)

    with pytest.raises(real_cli.NoAnswerError, match=r"1 of 2 calls have no answer \(Read .*ended with code 1 .*oops"):
        compare(tmp_path.resolve())


def test_on_a_build_machine_a_missing_sandbox_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_cli, "_bubblewrap", lambda: False)
    monkeypatch.setenv("CI", "true")
    stand_in(tmp_path.resolve(), "exit 0", monkeypatch)
    outside = [("Write", {"file_path": "/elsewhere", "content": "x"})]

    with pytest.raises(pytest.fail.Exception, match="needs bubblewrap"):
        real_cli.decisions(outside, cwd=tmp_path.resolve() / "scratch/cwd", home=tmp_path.resolve() / "scratch/home")
