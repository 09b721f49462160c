"""``quarterdeck policy explain | check | test``."""

from __future__ import annotations

import argparse
import io
import json
import re
from pathlib import Path

import pytest

from quarterdeck.cli.policy import add_parser, main
from quarterdeck.policy.options import LISTED


@pytest.fixture(autouse=True)
def _empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("request_text", "code", "first"),
    [
        ("Bash(npm run test)", 0, "ALLOW  Bash(npm run test:*) allows it."),
        ("rm x", 1, "DENY  Bash(rm:*) matches 'rm x'."),
        ("npm run build", 3, "ASK  No rule allows it."),
    ],
)
def test_explain_says_what_and_why_and_exits_accordingly(
    request_text: str, code: int, first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = ["--allow", "Bash(npm run test:*)", "--deny", "Bash(rm:*)"]

    assert main(["explain", request_text, "--no-settings", *rules]) == code
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == first
    assert err == ""


def test_explain_reads_the_settings_of_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"permissions": {"allow": ["Bash(a)"], "deny": ["Bash(b)"]}}')

    assert main(["explain", "b"]) == 1
    assert f"rule: Bash(b) ({settings}:1)" in capsys.readouterr().out
    assert main(["explain", "a"]) == 3
    assert "note: " in capsys.readouterr().out


def test_explain_writes_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "foo; ls", "--no-settings", "--json", "--allow", "Bash(foo bar)"]) == 3

    assert json.loads(capsys.readouterr().out) == {
        "behavior": "ask",
        "tool": "Bash",
        "input": {"command": "foo; ls"},
        "explanation": "No rule allows it.",
        "source": "default",
        "rule": None,
        "risk": {"level": "none", "reasons": []},
        "parts": [
            {"text": "foo", "behavior": "ask", "why": "No rule allows it."},
            {"text": "ls", "behavior": "allow", "why": "It only reads in the working folders."},
        ],
        "near": [{"rule": "Bash(foo bar)", "place": "cliArg", "why_not": "allows, but does not cover all of this"}],
        "would_allow": ["Bash(foo)"],
    }


def test_explain_says_when_no_rule_can_allow_exactly_this(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "foo $X", "--no-settings"]) == 3
    assert "No rule can allow exactly this." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["explain", "x", "--no-settings", "--allow", "Bash("], "'Bash(': the ( is not closed"),
        (["explain", "x", "--no-settings", "--mode", "yolo"], "'yolo' is not a permission mode"),
        (["check", "missing.json"], "missing.json: No such file"),
        (["test", "missing.toml"], "missing.toml"),
    ],
)
def test_what_cannot_be_done_is_said_on_stderr_with_exit_code_2(
    argv: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("quarterdeck policy: ")
    assert says in err


def test_check_lists_refused_rules_and_remarks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"permissions": {"allow": ["Bash(ls)",\n"Bash(a:*b)",\n"Bash(sudo:*)"]}}')

    assert main(["check", str(file)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"invalid  {file}:2: 'Bash(a:*b)': :* is allowed only at the end",
        f"warning  {file}:3: allow Bash(sudo:*): does not name what sudo runs: the policy ignores it, and"
        " the CLI would allow anything",
        "2 rules, 1 invalid, 1 warnings",
    ]
    assert main(["check", str(file), "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert shown["refused"] == [{"rule": "Bash(a:*b)", "line": 2, "reason": ":* is allowed only at the end"}]


@pytest.mark.parametrize(("flags", "code"), [([], 0), (["--strict"], 1)])
def test_remarks_fail_only_if_wanted(
    tmp_path: Path, flags: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"permissions": {"allow": ["Bash"]}}')

    assert main(["check", str(file), *flags]) == code


def test_test_runs_tables_and_shows_what_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "cases.toml"
    table.write_text(
        '[[group]]\nabout = "one"\nrules.allow = ["Bash(a)"]\nexpect.allow = ["a", "b"]\nexpect.ask = ["c"]\n'
    )

    assert main(["test", str(table)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "FAILED  one: 'b'",
        "        expected allow, got ask: No rule allows it.",
        "3 cases, 1 failed",
    ]
    assert main(["test", str(table), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["failed"][0]["request"] == "b"
    table.write_text('[[group]]\nexpect.allow = ["ls"]\n')
    assert main(["test", str(table)]) == 0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colour_is_for_terminals_that_want_it(no_color: str, coloured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("NO_COLOR", no_color)

    main(["explain", "ls", "--no-settings"])

    assert bool(re.search("\033\\[[\\d;]+mALLOW\033\\[0m", terminal.getvalue())) is coloured


def test_the_commands_join_a_larger_parser(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser(prog="quarterdeck")
    add_parser(parser.add_subparsers())
    args = parser.parse_args(["policy", "explain", "ls", "--no-settings"])

    assert args.run(args) == 0


def test_no_letter_is_listed_twice_with_different_values() -> None:
    """The later one would win: with ``-s`` both alone and with a value, ``fd -s . /etc`` would hide the folder."""
    for program, text in LISTED.items():
        seen: dict[str, str] = {}
        for word in text.split():
            if not word.startswith("--") and len(word) > 1 and word[0] in "-:<>0?":
                doubled = [letter for letter in word[1:] if seen.setdefault(letter, word[0]) != word[0]]
                assert doubled == [], program
