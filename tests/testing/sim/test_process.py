"""The simulator as a process: flags, signals, exit codes, the launcher."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.cli import sim as command
from quarterdeck.testing.sim import executable

STREAM = ("--output-format", "stream-json", "--verbose", "--input-format", "stream-json")
LIMIT_S = 30
PROMPT = {"type": "user", "message": {"role": "user", "content": "hi"}, "parent_tool_use_id": None}
SIM = (sys.executable, "-m", "quarterdeck.testing.sim")


def run(folder: Path, *flags: str, lines: list[Any] | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines or [])
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"]} | env
    return subprocess.run(
        [*SIM, *flags],
        input=text,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=folder,
        env=environment,
        check=False,
    )


def scenario(folder: Path, *turns: Any) -> str:
    path = folder / "scenario.json"
    path.write_text(json.dumps({"turns": turns}))
    return str(path)


def outcome(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("flag", ["--version", "-v"])
def test_it_names_the_version_it_plays(tmp_path: Path, flag: str) -> None:
    assert outcome(run(tmp_path, flag)) == (0, "2.1.325 (Claude Code)\n", "")


def test_help_names_its_own_flag_and_those_of_the_cli(tmp_path: Path) -> None:
    done = run(tmp_path, "--help")

    assert done.returncode == 0
    assert {"--scenario", "--resume", "--permission-mode"} <= set(re.findall(r"--[\w-]+", done.stdout))


@pytest.mark.parametrize(
    ("flags", "code", "stderr"),
    [
        (("--cwd", "/tmp"), 1, "error: unknown option '--cwd'\n"),
        (("--model",), 1, "error: option '--model <value>' argument missing\n"),
        (
            STREAM[:2],
            1,
            "Error: The simulator has no terminal interface: use --print, or --input-format stream-json.\n",
        ),
        (
            ("-p", *STREAM[:2], *STREAM[3:]),
            1,
            "Error: When using --print, --output-format=stream-json requires --verbose\n",
        ),
        (("-p",), 1, "Error: Input must be provided either through stdin or as a prompt argument when using --print\n"),
        (("--scenario", "none.json"), 2, "none.json: cannot be read: No such file or directory\n"),
    ],
)
def test_a_bad_command_line_is_refused_as_the_cli_does(
    tmp_path: Path, flags: tuple[str, ...], code: int, stderr: str
) -> None:
    assert outcome(run(tmp_path, *flags)) == (code, "", stderr)


def test_a_bad_scenario_file_ends_with_2_and_says_where(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"turns": [\n  [{"tol": "Bash"}]\n]}')

    done = run(tmp_path, *STREAM, QUARTERDECK_SIM_SCENARIO=str(path))

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{path}:2: expected one of text, thinking")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(.*a){20}$"])
def test_a_pattern_that_would_take_years_is_given_up_with_a_reason_and_the_next_prompt_is_answered(
    tmp_path: Path, pattern: str
) -> None:
    path = tmp_path / "slow.json"
    rules = [{"when": "^hi", "steps": ["Hello."]}, {"when": pattern, "steps": ["never"]}]
    path.write_text(json.dumps({"rules": rules}))
    hostile = {**PROMPT, "message": {"role": "user", "content": "a" * 60 + "b"}}

    done = run(tmp_path, *STREAM, "--scenario", str(path), lines=[hostile, PROMPT])

    said = [message["result"] for message in map(json.loads, done.stdout.splitlines()) if message["type"] == "result"]
    assert said == [
        f"The scenario's rule `when: {pattern}` takes too long for this prompt; simplify the regular expression.",
        "Hello.",
    ]


@pytest.mark.parametrize("how", ["flag", "environment"])
def test_the_scenario_comes_by_flag_or_environment(tmp_path: Path, how: str) -> None:
    path = scenario(tmp_path, ["Ahoy."])
    flags, env = (("--scenario", path), {}) if how == "flag" else ((), {"QUARTERDECK_SIM_SCENARIO": path})

    done = run(tmp_path, *STREAM, *flags, lines=[PROMPT], **env)

    assert json.loads(done.stdout.splitlines()[-1])["result"] == "Ahoy."


@pytest.mark.parametrize(
    ("turn", "code"), [(["Fine."], 0), ([{"error": 400}], 1), ([{"exit": 9, "stderr": "ouch"}], 9)]
)
def test_the_exit_code_is_that_of_the_last_result(tmp_path: Path, turn: list[Any], code: int) -> None:
    done = run(tmp_path, *STREAM, "--scenario", scenario(tmp_path, turn), lines=[PROMPT])

    assert (done.returncode, done.stderr) == (code, "ouch" if code == 9 else "")


@pytest.mark.parametrize(
    ("flags", "shown"), [((), "Ahoy.\n"), (("--output-format", "json"), None), ((*STREAM[:3],), None)]
)
def test_print_answers_one_prompt(tmp_path: Path, flags: tuple[str, ...], shown: str | None) -> None:
    done = run(tmp_path, "-p", "hello", *flags, "--scenario", scenario(tmp_path, ["Ahoy."]))

    assert done.returncode == 0
    if shown is not None:
        assert done.stdout == shown
    else:
        assert json.loads(done.stdout.splitlines()[-1])["result"] == "Ahoy."


class Held:
    """A simulator whose turn is held by a file that never comes."""

    def __init__(self, folder: Path) -> None:
        path = scenario(folder, ["First.", {"next": True}, {"wait_for": "never"}])
        environment = {"HOME": str(folder), "PATH": os.environ["PATH"]}
        argv = [*SIM, *STREAM, "--scenario", path]
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=environment, start_new_session=True
        )
        self.write(PROMPT)

    def write(self, message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def until(self, kind: str) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if (message := json.loads(line))["type"] == kind:
                return dict(message)
        raise EOFError(kind)

    def end(self) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            return self.process.wait(LIMIT_S)
        finally:
            self.process.kill()
            self.process.wait(LIMIT_S)
            self.process.stdin.close()
            self.process.stdout.close()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 0)])
def test_signals_end_it_as_they_end_the_cli(tmp_path: Path, number: signal.Signals, code: int) -> None:
    held = Held(tmp_path)
    try:
        held.until("system")
        held.process.send_signal(number)
        if number == signal.SIGINT:
            assert held.until("result")["subtype"] == "error_during_execution"
    finally:
        ended = held.end()
    assert ended == code


def test_a_closed_stdout_ends_it(tmp_path: Path) -> None:
    held = Held(tmp_path)
    try:
        held.until("system")
        assert held.process.stdout is not None
        held.process.stdout.close()
        held.write({"type": "control_request", "request_id": "1", "request": {"subtype": "list_models"}})
    finally:
        ended = held.end()
    assert ended == 1


def test_the_handshake_waits_for_nothing_that_only_a_turn_needs(tmp_path: Path) -> None:
    code = "from quarterdeck.testing.sim.process import main; import sys; main(sys.argv[1:]); print(*sys.modules)"
    greeting = {"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}}
    argv = [sys.executable, "-P", "-c", code, *STREAM]

    done = subprocess.run(
        argv,
        input=json.dumps(greeting) + "\n",
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=tmp_path,
        check=True,
    )

    answer, loaded = done.stdout.splitlines()
    assert json.loads(answer)["response"]["subtype"] == "success"
    waiting = {"turn", "calls", "stream", "brain", "steps", "assistant", "scenario_file", "print_mode"}
    late = {f"quarterdeck.testing.sim.{name}" for name in waiting}
    late |= {"quarterdeck.testing.model", "quarterdeck.wire.requests", "quarterdeck.wire.answers", "quarterdeck.client"}
    assert late & set(loaded.split()) == set()


def test_requests_are_answered_in_their_order_also_those_that_nobody_serves(tmp_path: Path) -> None:
    asked = [{"subtype": "unheard_of"}, {"subtype": "initialize"}, {}, {"subtype": "list_models"}, {"subtype": 1}]
    lines = [{"type": "control_request", "request_id": str(i), "request": body} for i, body in enumerate(asked)]

    done = run(tmp_path, *STREAM, lines=lines)

    answers = [json.loads(line)["response"] for line in done.stdout.splitlines()]
    assert [(answer["request_id"], answer.get("error"), answer.get("error_code")) for answer in answers] == [
        ("0", "Unsupported control request subtype: unheard_of", "unsupported_request"),
        ("1", None, None),
        ("2", "Unsupported control request subtype: undefined", "unsupported_request"),
        ("3", None, None),
        ("4", "Unsupported control request subtype: undefined", "unsupported_request"),
    ]


def test_a_line_that_is_no_json_ends_it(tmp_path: Path) -> None:
    done = run(tmp_path, *STREAM, lines=["this is not JSON"])

    assert outcome(done) == (1, "", "Error parsing streaming input line (type=unknown, 16 chars): SyntaxError\n")


def test_the_launcher_is_an_executable_that_plays_a_scenario(tmp_path: Path) -> None:
    path = executable(scenario=scenario(tmp_path, ["Launched."]), folder=tmp_path / "bin")

    done = subprocess.run([path, "-p", "go"], capture_output=True, text=True, timeout=LIMIT_S, cwd=tmp_path, check=True)

    assert (path.name, stat.S_IMODE(path.stat().st_mode), done.stdout) == ("claude", 0o755, "Launched.\n")
    assert executable(scenario=tmp_path / "scenario.json", folder=tmp_path / "bin") == path


def test_the_launcher_finds_a_scenario_whose_folder_has_an_odd_name(tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s "$HOME" {odd}'
    odd.mkdir()
    path = executable(scenario=scenario(odd, ["Found."]), folder=tmp_path / "bin")

    done = subprocess.run([path, "-p", "go"], capture_output=True, text=True, timeout=LIMIT_S, cwd=tmp_path, check=True)

    assert done.stdout == "Found.\n"


def test_the_launcher_has_one_place_per_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    assert executable() == executable() != executable(scenario="a.json")


def test_quarterdeck_sim_is_the_same_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--version"]) == 0
    assert capsys.readouterr().out == "2.1.325 (Claude Code)\n"
