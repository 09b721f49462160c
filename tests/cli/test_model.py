"""``quarterdeck model``: the real CLI on a scripted model, from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from quarterdeck.testing.install import NEWEST
from quarterdeck.testing.model import ModelServer
from quarterdeck.testing.model.scenario import queue_scenario
from quarterdeck.testing.sim import ScenarioFileError

LIMIT_S = 60
QUARTERDECK = [sys.executable, "-m", "quarterdeck"]
ECHO_ENV = [sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"]


def call(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    given = {"PATH": os.environ["PATH"], "HOME": str(folder), "SHELL": "/bin/bash", **env}
    cache = os.environ.get("QUARTERDECK_CACHE") or str(Path.home() / ".cache" / "quarterdeck")
    return subprocess.run(
        [*QUARTERDECK, "model", *words],
        cwd=folder,
        env={"QUARTERDECK_CACHE": cache, **given},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.real
def test_the_real_cli_says_what_the_script_says(tmp_path: Path) -> None:
    run = [*QUARTERDECK, "run", "--output", "text", "--allow", "Write", "go"]
    write = {"file_path": str(tmp_path / "made.txt"), "content": "hi\n"}
    done = call(
        tmp_path,
        *("--cli", NEWEST, "--tool", f"Write {json.dumps(write)}", "--reply", "It is made."),
        *("--requests", "asked.ndjson", "--", *run),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "It is made.\n", "")
    assert (tmp_path / "made.txt").read_text() == "hi\n"
    asked = [json.loads(line) for line in (tmp_path / "asked.ndjson").read_text().splitlines()]
    assert [one["answered_by"] for one in asked if one["kind"] == "main"] == ["queue", "queue"]
    assert not (tmp_path / ".claude").exists()


@pytest.mark.real
def test_a_scenario_file_plays_on_the_real_cli_and_its_cost_is_marked(tmp_path: Path) -> None:
    scenario = Path(__file__).parents[2] / "examples" / "scenarios" / "permission.yaml"
    run = [*QUARTERDECK, "run", "--allow", "Bash(touch:*)", "go"]
    done = call(tmp_path, "--cli", NEWEST, "--scenario", str(scenario), "--", *run)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "made.txt").exists()
    assert "I need a tool." in done.stdout
    assert done.stdout.rstrip().endswith("(simulated)")


def test_the_command_gets_the_environment_and_nothing_that_leads_elsewhere(tmp_path: Path) -> None:
    done = call(tmp_path, "--", *ECHO_ENV, CLAUDE_CODE_USE_BEDROCK="1", CLAUDE_CODE_OAUTH_TOKEN="secret", OTHER="kept")
    env = json.loads(done.stdout)
    assert env["ANTHROPIC_BASE_URL"].startswith("http://127.0.0.1:")
    assert env["OTHER"] == "kept"
    assert not {"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_OAUTH_TOKEN"} & set(env)
    assert not Path(env["CLAUDE_CONFIG_DIR"]).exists()  # it was temporary


def test_a_config_folder_is_kept(tmp_path: Path) -> None:
    done = call(tmp_path, "--config-dir", "kept", "--", *ECHO_ENV)
    assert json.loads(done.stdout)["CLAUDE_CONFIG_DIR"] == str(tmp_path / "kept")


def test_what_was_not_used_is_told_and_the_exit_code_passed_on(tmp_path: Path) -> None:
    done = call(tmp_path, "--reply", "one", "--reply", "two", "--", "sh", "-c", "exit 7")
    assert (done.returncode, done.stderr) == (7, "quarterdeck model: 2 of 2 turns not used\n")
    assert call(tmp_path, "--", "sh", "-c", "kill -TERM $$").returncode == 143


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--tool", "Bash ls", "--", "true"], 2, "--tool 'Bash ls' is not a name followed by a JSON object"),
        (["--tool", "Bash [1]", "--", "true"], 2, "is not a name followed by a JSON object"),
        (["--scenario", "missing.json", "--", "true"], 2, "missing.json"),
        (["--"], 2, "the command after -- is missing"),
        (["--json", "--", "true"], 2, "--json is for use without a command"),
        (["--", "no-such-command"], 127, "command not found: no-such-command"),
    ],
)
def test_mistakes_are_explained(words: list[str], code: int, told: str, tmp_path: Path) -> None:
    done = call(tmp_path, *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_without_a_command_it_serves_until_it_is_stopped(number: signal.Signals, tmp_path: Path) -> None:
    with subprocess.Popen(
        [*QUARTERDECK, "model", "--json", "--reply", "hello"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert set(told) == {"base_url", "env", "unset"}
        body = {
            "model": "m",
            "max_tokens": 9,
            "messages": [{"role": "user", "content": "hi"}],
            "tools": [{"name": "T"}],
        }
        request = urllib.request.Request(f"{told['base_url']}/v1/messages", json.dumps(body).encode())  # noqa: S310
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:  # noqa: S310
            assert json.load(answer)["content"] == [{"type": "text", "text": "hello"}]
        process.send_signal(number)
        assert process.wait(LIMIT_S) == 0


def test_without_json_it_prints_lines_for_a_shell(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*QUARTERDECK, "model"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "Ctrl-C ends it" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        lines = process.stdout.read().splitlines()
    assert any(line.startswith("export ANTHROPIC_BASE_URL=http://127.0.0.1:") for line in lines)
    assert all(line.startswith(("export ", "unset ")) for line in lines)


@pytest.mark.parametrize(
    ("scenario", "what"),
    [
        ({"turns": [["hi", {"exit": 3}]]}, "`exit`"),
        ({"turns": [[{"tool": "Bash", "input": {}, "result": "made up"}]]}, "the result of Bash"),
        ({"turns": [[{"agent": "look", "steps": ["seen"]}]]}, "`agent`"),
        ({"rules": [{"when": ".", "steps": ["hi"]}]}, "`rules`"),
    ],
)
def test_what_only_the_simulator_can_play_is_refused(scenario: object, what: str, tmp_path: Path) -> None:
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(scenario))
    with ModelServer() as server, pytest.raises(ScenarioFileError, match="only by the simulator") as refused:
        queue_scenario(server, path)
    assert what in str(refused.value)


def test_an_installation_is_announced_before_it_begins(tmp_path: Path) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho no network >&2\nexit 1\n")
    npm.chmod(0o755)
    done = call(
        tmp_path, "--cli", "9.9.9", "--reply", "hi", "--", "true", PATH=str(tmp_path), QUARTERDECK_CACHE=str(tmp_path)
    )
    announced, problem = done.stderr.splitlines()[:2]
    assert announced == "installing Claude Code 9.9.9 with npm (about 350 MB) …"
    assert problem.startswith("quarterdeck model: npm could not install Claude Code 9.9.9 (exit code 1)")
    assert done.returncode == 1
