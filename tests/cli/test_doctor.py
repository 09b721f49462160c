from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.cli import main
from quarterdeck.cli.common import Look
from quarterdeck.cli.doctor import agent, compatibility, environment, examine, login, machine
from quarterdeck.cli.doctor.findings import DoctorFinding, lines
from quarterdeck.testing.sim import executable

SECRET = "sk-ant-secret-0123456789"
Script = Callable[[str], Path]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    def write(body: str) -> Path:
        file = tmp_path / "claude"
        file.write_text(body)
        file.chmod(0o755)
        return file

    return write


def claude(version: str, status: str = "", code: int = 0) -> str:
    """A CLI that answers ``--version`` and ``auth status``."""
    return (
        '#!/bin/sh\ncase "$1" in\n'
        f"--version) echo '{version} (Claude Code)' ;;\n"
        f"auth) echo '{status}'; exit {code} ;;\n"
        "*) echo unexpected >&2; exit 9 ;;\nesac\n"
    )


def env_of(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], **more}


def found(cli: Path | str | None, env: Mapping[str, str], *, start: bool = False) -> dict[str, DoctorFinding]:
    return {finding.id: finding for finding in examine(None if cli is None else str(cli), start=start, env=env)}


def brief(finding: DoctorFinding) -> tuple[str, str]:
    return finding.level, finding.what


# The CLI


def test_no_cli_names_every_place_that_was_looked_at(home: Path) -> None:
    finding = found(None, {"HOME": str(home), "PATH": "/nowhere/bin:relative"})["cli-found"]
    assert finding.level == "problem"
    assert finding.what.startswith("Claude Code not found. Looked in:\n")
    looked = finding.details["looked_at"]
    assert looked[0] == str(home / ".claude/local/claude")
    assert looked[-1] == "/nowhere/bin/claude"
    assert all(f"  {path}" in finding.what.splitlines() for path in looked)
    assert "npm install -g" in finding.do


@pytest.mark.parametrize("variable", [None, "CLAUDE_BIN"])
def test_a_named_cli_that_is_not_there_is_not_replaced_by_another(variable: str | None, home: Path) -> None:
    missing = str(home / "missing")
    env = env_of(home, **({variable: missing} if variable else {}))
    finding = found(None if variable else missing, env)["cli-found"]
    assert finding.level == "problem"
    assert (variable or "--cli") in finding.what


def test_the_cli_of_path_is_found_and_others_are_named(home: Path, script: Script) -> None:
    first = script(claude("2.1.325"))
    second = home / ".local" / "bin" / "claude"
    second.parent.mkdir(parents=True)
    second.write_text(claude("2.1.52"))
    second.chmod(0o755)
    finding = found(None, env_of(home, PATH=str(first.parent), ANTHROPIC_API_KEY=SECRET))["cli-found"]
    assert finding.details["argv"] == [str(second)]
    assert finding.details["also"] == [str(first)]
    assert finding.what == f"{second}; also installed: {first}"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("#!/bin/sh\necho boom >&2; exit 3\n", "--version exited with code 3 and printed: boom"),
        ("#!/bin/sh\necho hello\n", "--version exited with code 0 and printed: hello"),
        ("#!/bin/sh\n", "--version exited with code 0 and printed: nothing"),
        ("junk", "Cannot be started: Exec format error"),
        ("#!/nowhere/interpreter\n", "Cannot be started: No such file or directory"),
    ],
)
def test_a_broken_cli_is_a_problem_with_its_last_words(body: str, told: str, home: Path, script: Script) -> None:
    findings = found(script(body), env_of(home))
    assert findings["cli-version"].level == "problem"
    assert findings["cli-version"].what.startswith(told)
    assert "cli-compatibility" not in findings


def test_a_cli_that_does_not_answer_is_ended(home: Path, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "VERSION_LIMIT_S", 1.0)
    file = script('#!/bin/sh\nexec 3> "$0.fifo"\necho begun >&3\nsleep 600 &\nwait\n')
    os.mkfifo(f"{file}.fifo")
    reader = os.open(f"{file}.fifo", os.O_RDONLY | os.O_NONBLOCK)
    assert brief(found(file, env_of(home))["cli-version"]) == ("problem", "No answer to --version within 1 s.")
    assert (os.read(reader, 100), os.read(reader, 100)) == (b"begun\n", b""), "nobody has it open any more"
    os.close(reader)


# Versions


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    rows = {"scenarios": 10, "pass": 10, "differs": [], "not there": []}
    older = {"scenarios": 10, "pass": 7, "differs": ["a"], "not there": ["b", "c"]}
    return {"newest": "2.1.325", "versions": {"2.1.52": older, "2.1.325": rows, "simulator": rows}}


@pytest.mark.parametrize(
    ("version", "level", "told"),
    [
        ("2.1.325", "ok", "2.1.325 matches 10 of 10 behaviours of 2.1.325."),
        (
            "2.1.52",
            "warning",
            "2.1.52 matches 7 of 10 behaviours of 2.1.325. 2 are missing, 1 differ (see --json).",
        ),
        (
            "2.1.100",
            "warning",
            "2.1.100 is untested. The nearest tested version, 2.1.52, matches 7 of 10 behaviours.",
        ),
        ("2.2.0", "warning", "2.2.0 is newer than 2.1.325, the newest tested version."),
        ("2.1.0", "warning", "2.1.0 is older than 2.1.52, the oldest tested version."),
        ("1.0.3", "warning", "1.0.3 is older than 2.1.52, the oldest tested version."),
    ],
)
def test_a_version_is_compared_with_the_nearest_tested_one(
    version: str, level: str, told: str, known: dict[str, Any]
) -> None:
    finding = compatibility.compare(version, known)
    assert finding.level == level
    assert finding.what.startswith(told)


def test_what_the_package_knows_is_what_the_documentation_says() -> None:
    """After a new report: python -m quarterdeck.cli.doctor.compatibility docs/compatibility.json"""
    report = json.loads((Path(__file__).parents[2] / "docs" / "compatibility.json").read_text())
    assert json.loads(compatibility.SUMMARY.read_text()) == compatibility.summary(report)


# The login


def test_the_cli_is_asked_and_only_harmless_words_are_taken(home: Path, script: Script) -> None:
    status = '{"loggedIn": true, "authMethod": "claude.ai", "email": "ada@example.org", "orgName": "Engines"}'
    finding = found(script(claude("2.1.325", status)), env_of(home))["login"]
    assert brief(finding) == ("ok", "Logged in with claude.ai, according to the CLI.")
    assert finding.details == {"loggedIn": True, "authMethod": "claude.ai"}


def test_nobody_signed_in_is_a_problem(home: Path, script: Script) -> None:
    finding = found(script(claude("2.1.325", '{"loggedIn": false}', 1)), env_of(home))["login"]
    assert brief(finding) == ("problem", "Not logged in, according to the CLI.")


def test_an_old_cli_is_not_asked_because_it_would_ask_the_model(home: Path, script: Script) -> None:
    cli = script(claude("2.1.25", '{"loggedIn": true}'))
    assert found(cli, env_of(home))["login"].level == "problem"
    (home / ".claude").mkdir()
    (home / ".claude" / ".credentials.json").write_text(SECRET)
    (home / ".claude" / ".credentials.json").chmod(0)
    assert brief(found(cli, env_of(home))["login"]) == ("ok", f"Credentials exist in {home}/.claude (not read).")


@pytest.mark.parametrize("name", login.KEYS)
def test_a_key_is_named_and_never_shown(name: str, home: Path, script: Script) -> None:
    cli = script(claude("2.0.77"))
    findings = examine(str(cli), start=False, env=env_of(home, **{name: SECRET}))
    assert f"{name} is set." in [finding.what for finding in findings]
    assert SECRET not in repr(findings)


def test_an_empty_key_is_worth_a_warning(home: Path, script: Script) -> None:
    finding = found(script(claude("2.0.77")), env_of(home, ANTHROPIC_API_KEY=""))["login-empty-key"]
    assert brief(finding) == ("warning", "ANTHROPIC_API_KEY is set but empty.")


# The environment


@pytest.mark.parametrize(
    ("variables", "identifier", "level", "told"),
    [
        ({"CLAUDECODE": "1"}, "nesting", "warning", "Running inside a Claude Code session (CLAUDECODE)."),
        (
            {"NODE_OPTIONS": "--inspect"},
            "node-options",
            "warning",
            "NODE_OPTIONS is set and may break or slow down the CLI.",
        ),
        (
            {"HTTPS_PROXY": "http://ada:pass@proxy:3128"},
            "proxy-HTTPS_PROXY",
            "ok",
            "HTTPS_PROXY: the CLI connects through proxy:3128.",
        ),
        ({"http_proxy": "proxy"}, "proxy-http_proxy", "warning", "http_proxy is not a proxy URL."),
        ({"ALL_PROXY": "http://proxy:port"}, "proxy-ALL_PROXY", "warning", "ALL_PROXY is not a proxy URL."),
        ({"ANTHROPIC_BASE_URL": "nonsense"}, "base-url", "problem", "ANTHROPIC_BASE_URL is not a URL."),
        ({"ANTHROPIC_BASE_URL": "https://me:pw@h/x"}, "base-url", "ok", "ANTHROPIC_BASE_URL: the CLI connects to h."),
        ({"SSL_CERT_FILE": "/nowhere"}, "certificates-SSL_CERT_FILE", "warning", "SSL_CERT_FILE: no such file."),
        ({}, "environment", "ok", "Nothing unusual."),
    ],
)
def test_variables_are_judged(
    variables: dict[str, str], identifier: str, level: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("locale.getpreferredencoding", lambda _: "UTF-8")
    (finding,) = environment.environment(variables)
    assert (finding.id, finding.level, finding.what) == (identifier, level, told)


def test_an_encoding_that_is_not_utf8_is_worth_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locale.getpreferredencoding", lambda _: "ISO-8859-1")
    (finding,) = environment.environment({})
    assert (finding.level, finding.do) == ("warning", "export LANG=C.UTF-8 (or another UTF-8 locale)")
    assert "the locale (ISO-8859-1)" in finding.what


# The machine


def test_a_config_folder_that_is_a_file_is_a_problem(home: Path) -> None:
    (home / "config").write_text("")
    findings = {
        finding.id: finding for finding in machine.machine(env_of(home, CLAUDE_CONFIG_DIR=str(home / "config")))
    }
    assert findings["config-folder"].level == "problem"
    assert findings["config-folder"].what.endswith("is a file.")


def test_a_config_folder_that_cannot_be_written_is_a_problem(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    findings = {finding.id: finding for finding in machine.machine(env_of(home))}
    assert findings["config-folder"].level == findings["temporary-folder"].level == "problem"
    assert f"Check who owns {home}" in findings["config-folder"].do


def test_a_home_that_is_not_there_is_a_problem() -> None:
    findings = {finding.id: finding for finding in machine.machine({"HOME": "/nowhere/ada", "PATH": "/nowhere"})}
    assert brief(findings["home"]) == ("problem", "HOME is not a folder: /nowhere/ada.")
    assert findings["git"].do == "Install git."


@pytest.mark.parametrize(("free", "level"), [(10**6, "problem"), (10**8, "warning"), (10**9, "ok")])
def test_little_room_is_noticed(free: int, level: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("Usage", (), {"free": free})
    monkeypatch.setattr("shutil.disk_usage", lambda place: usage)
    assert {finding.id: finding.level for finding in machine.machine(env_of(home))}["temporary-folder"] == level


@pytest.mark.parametrize(("soft", "level"), [(100, "problem"), (512, "warning"), (4096, "ok"), (-1, "ok")])
def test_few_open_files_are_noticed(soft: int, level: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda which: (soft, 100_000))
    assert {finding.id: finding.level for finding in machine.machine(env_of(home))}["open-files"] == level


def test_a_clock_of_1970_is_a_problem(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 86400.0)
    findings = {finding.id: finding for finding in machine.machine(env_of(home))}
    assert findings["clock"].what.startswith("The clock says 1970")


# Python


def test_missing_extras_say_what_they_are_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "find_spec", lambda module: None if module == "yaml" else object())
    assert machine.python()[1:] == [
        DoctorFinding(
            "Python",
            "extra-testing",
            "warning",
            "yaml: not installed, needed for YAML scenarios.",
            "If you need it: pip install 'quarterdeck[testing]'",
            {"missing": ["yaml"]},
        )
    ]


@pytest.mark.parametrize(("installed", "problems"), [("0.19.0", 1), ("0.20.0", 0), ("1.0", 0), ("unknown", 0)])
def test_an_old_msgspec_is_a_problem(installed: str, problems: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "version", lambda package: installed)
    assert [finding.id for finding in machine.python()].count("msgspec") == problems


# The start


def test_the_start_check_starts_and_ends_the_cli(home: Path) -> None:
    finding = found("sim", env_of(home), start=True)["cli-start"]
    assert finding.level == "ok"
    assert finding.details["commands"] > 0


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("#!/bin/sh\necho boom >&2; exit 3\n", "Does not start: Claude Code exited with code 3"),
        ("#!/bin/sh\ncat > /dev/null\n", "Not ready within 0 s; stopped."),
    ],
)
def test_a_cli_that_does_not_start_is_ended_and_told(
    body: str, told: str, home: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent, "START_LIMIT_S", 0.45 if "cat" in body else 30.0)
    finding = agent.start_check([str(script(body))])
    assert finding.level == "problem"
    assert finding.what.startswith(told)


# The report


def test_a_finding_that_is_not_ok_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="says what to do"):
        DoctorFinding("machine", "x", "problem", "broken")


def test_the_report_is_as_wide_as_the_terminal_and_ends_with_a_verdict() -> None:
    findings = [
        DoctorFinding("Claude Code", "a", "ok", "fine " * 20),
        DoctorFinding("machine", "b", "warning", "odd", "do " * 30),
        DoctorFinding("machine", "c", "problem", "broken\033[2J\n  in two lines", "repair it"),
    ]
    shown = list(lines(findings, Look(width=60), quiet=False))
    assert max(map(len, shown)) <= 60
    assert shown[-1] == "1 problem, 1 warning"
    assert list(lines(findings, Look(width=60), quiet=True))[-5:] == [
        "  ✗ broken␛[2J",
        "      in two lines",
        "    → repair it",
        "",
        "1 problem, 1 warning",
    ]
    assert list(lines(findings[:1], Look(width=60), quiet=True)) == ["Ready."]


def test_as_a_user_runs_it(home: Path) -> None:
    command = [sys.executable, "-m", "quarterdeck", "doctor", "--cli", str(executable()), "--json"]
    env = env_of(home, ANTHROPIC_API_KEY=SECRET)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=env)
    told = json.loads(done.stdout)
    assert (done.returncode, done.stderr, told["ok"], told["problems"]) == (0, "", True, 0)
    assert SECRET not in done.stdout
    assert all(finding["level"] == "ok" or finding["do"] for finding in told["findings"])


def test_a_problem_is_told_by_the_exit_code(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["doctor", "--quiet"]) == 1
    assert "  ✗ Claude Code not found. Looked in:" in capsys.readouterr().out.splitlines()
