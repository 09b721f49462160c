"""Without a terminal: what programs get, what is denied, and the exit codes."""

from __future__ import annotations

import json
import subprocess

import pytest

from cli.hostile import HOSTILE, OBEYED
from quarterdeck.cli import main
from quarterdeck.cli.terminal import agents
from quarterdeck.testing.recording import load
from quarterdeck.transport import CLINotFoundError
from terminal.kit import LIMIT_S, Place, bash


def test_piped_output_is_plain_lines(place: Place) -> None:
    place.plays("Some **bold** text.", bash("ls"), "Done.")
    done = place.piped("run", "--allow", "Bash(ls)", "go")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert done.stdout.splitlines()[:4] == ["› go", "", "Some **bold** text.", ""]
    assert "✔ done · " in done.stdout


def test_nobody_to_ask_means_no_and_a_line_says_how_to_allow_it(place: Place) -> None:
    place.plays(bash("touch a.txt"), "Ah.")
    done = place.piped("run", "--output", "text", "go")
    assert done.stdout == "Ah.\n"
    assert "denied (no one to ask): Bash touch a.txt." in done.stderr
    assert "--allow 'Bash(touch a.txt)'" in done.stderr
    assert not (place.cwd / "a.txt").exists()


def test_unattended_asks_nobody_although_there_is_a_terminal(place: Place) -> None:
    place.plays(bash("touch a.txt"), {"ask": "Why?", "options": ["A", "B"]}, {"plan": "# Plan\n"}, "Ah.")
    term = place.term("run", "--unattended", "deny", "go")
    assert term.exit() == 0
    assert "denied (no one to ask)" in term.text
    assert "skipped (no one to ask): Why?" in term.text
    assert "plan rejected (no one to ask)" in term.text


def test_a_deny_rule_holds_and_nobody_is_asked(place: Place) -> None:
    place.plays(bash("touch a.txt"), "Ah.")
    done = place.piped("run", "--allow", "Bash", "--deny", "Bash(touch:*)", "go")
    assert done.returncode == 0
    assert not (place.cwd / "a.txt").exists()


def test_a_policy_file_decides(place: Place) -> None:
    policy = place.cwd / "policy.json"
    policy.write_text(json.dumps({"permissions": {"allow": ["Bash(touch a.txt)"]}}))
    place.plays(bash("touch a.txt"), bash("touch b.txt"), "Done.")
    done = place.piped("run", "--policy", str(policy), "--output", "text", "go")
    assert done.returncode == 0
    assert (place.cwd / "a.txt").exists()
    assert not (place.cwd / "b.txt").exists()
    assert "Bash(touch b.txt)" in done.stderr


@pytest.mark.parametrize("form", [["--output", "raw"], ["--output", "stream-json"], ["--output", "raw", "--partial"]])
def test_machine_output_is_one_json_object_per_line(place: Place, form: list[str]) -> None:
    place.plays("Some text.", bash("touch a.txt"), "Done.")
    done = place.piped("run", *form, "go")
    assert done.returncode == 0
    kinds = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert {"system", "assistant", "user", "result"} <= set(kinds)
    assert ("control_request" in kinds) == ("raw" in form)
    assert ("stream_event" in kinds) == ("--partial" in form)


@pytest.mark.parametrize("form", ["pretty", "text", "json", "stream-json", "raw"])
def test_what_the_cli_writes_to_stderr_controls_no_terminal(place: Place, form: str) -> None:
    place.plays("Some words.", bash("ls"), {"exit": 7, "stderr": HOSTILE})
    done = place.piped("run", "--allow", "Bash(ls)", "--output", form, "go")
    assert done.returncode == 4
    assert "evil" in done.stderr
    assert OBEYED.findall(done.stdout + done.stderr) == []


def test_json_is_byte_for_byte_what_the_cli_wrote(place: Place) -> None:
    place.plays("Ünïcödé 日本 \x1b[31m.", bash("ls"), "Done.")
    record = place.cwd / "talk.ndjson"
    done = place.piped("run", "--output", "raw", "--allow", "Bash(ls)", "--record", str(record), "go")
    recording = load(record)
    assert done.stdout.encode() == recording.stream("out")
    assert b'"result"' in recording.stream("out")


def test_the_result_as_json(place: Place) -> None:
    place.plays("The answer.")
    done = place.piped("run", "--output", "json", "go")
    assert json.loads(done.stdout)["result"] == "The answer."


def test_a_recording_can_be_shown_and_played_again(place: Place) -> None:
    place.plays("The answer.")
    record = str(place.cwd / "talk.ndjson")
    assert place.piped("run", "--record", record, "go").returncode == 0
    words = [*place.command("run")[:3], "trace", record]
    shown = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, env=place.env, check=False)
    assert "The answer." in shown.stdout


def test_the_prompt_comes_from_arguments_a_file_and_standard_input(place: Place) -> None:
    (place.cwd / "prompt.txt").write_text("from a file")
    place.plays(rules=[{"when": "(?s)(?P<all>.+)", "steps": ["You said {all}."]}])

    def answer(*words: str, stdin: str = "") -> str:
        return place.piped("run", "--output", "text", *words, stdin=stdin).stdout

    assert answer("two", "words") == "You said two words.\n"
    assert answer(stdin="piped\n") == "You said piped.\n"
    assert answer("look", "-", stdin="piped\n") == "You said look\n\npiped.\n"
    assert answer("--prompt-file", "prompt.txt") == "You said from a file.\n"


def test_an_image_goes_with_the_prompt(place: Place) -> None:
    (place.cwd / "dot.png").write_bytes(b"\x89PNG not really")
    place.plays("Seen.")
    record = place.cwd / "talk.ndjson"
    assert place.piped("run", "--image", "dot.png", "--record", str(record), "look").returncode == 0
    prompts = [json.loads(line) for line in load(record).lines("in") if b'"user"' in line]
    content = next(one for one in prompts if one.get("type") == "user")["message"]["content"]
    assert [block["type"] for block in content] == ["image", "text"]
    assert content[0]["source"]["media_type"] == "image/png"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--mode", "none", "go"], 2, "--mode"),
        (["--allow", "Bash(", "go"], 2, "Bash("),
        (["--policy", "missing.json", "go"], 2, "missing.json"),
        (["--image", "missing.png", "go"], 2, "missing.png"),
        (["--image", "text.txt", "go"], 2, "unsupported image type"),
        (["--cwd", "missing", "go"], 2, "no such folder"),
        (["--fork", "go"], 2, "--resume"),
        (["--max-turns", "0", "go"], 2, "at least 1"),
        ([""], 2, "prompt is empty"),
        (["--agent", "./missing", "go"], 3, "no such program: ./missing"),
        (["--agent", "nope", "go"], 2, "unknown agent 'nope'\n  --agent takes claude (the installed Claude Code), sim"),
    ],
)
def test_what_cannot_be_done_is_said_with_its_exit_code(
    place: Place,
    words: list[str],
    code: int,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In this process: nothing is started."""
    monkeypatch.chdir(place.cwd)
    monkeypatch.setenv("HOME", str(place.home))
    try:
        found = main(["run", *words])
    except SystemExit as left:
        found = int(str(left.code))
    out, errors = capsys.readouterr()
    assert (found, out) == (code, "")
    assert told in errors
    assert len(errors.splitlines()) >= 2  # what, and what to do


def test_an_error_result_is_1(place: Place) -> None:
    place.plays({"end": "error_max_turns", "errors": ["Reached maximum number of turns (1)"]})
    shown = place.piped("run", "go")
    assert shown.returncode == 1
    assert "◼ stopped: Reached maximum number of turns (1)" in shown.stdout
    alone = place.piped("run", "--output", "text", "go")
    assert (alone.returncode, alone.stdout) == (1, "")
    assert "Reached maximum number of turns (1)" in alone.stderr


def test_a_cli_that_dies_in_the_middle_is_4(place: Place) -> None:
    place.plays("Some words.", bash("ls"), {"exit": 7, "stderr": "it broke"})
    done = place.piped("run", "--allow", "Bash(ls)", "go")
    assert done.returncode == 4
    assert "it broke" in done.stdout + done.stderr


@pytest.mark.parametrize("form", [[], ["--json"], ["--output", "text"]])
def test_a_reader_that_goes_away_is_141(place: Place, form: list[str]) -> None:
    place.plays("words " * 30_000, bash("ls"), "words " * 30_000)
    command = place.command("run", *form, "--allow", "Bash(ls)", "go")
    with subprocess.Popen(
        command, cwd=place.cwd, env=place.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, errors = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 141
    assert errors == b""


def test_the_core_alone_runs_and_says_what_drawing_needs(place: Place) -> None:
    """The packages of the extra are hidden by ones that cannot be imported."""
    blocker = place.home / "sitecustomize.py"
    blocker.write_text("import sys\nsys.modules['rich'] = sys.modules['prompt_toolkit'] = None\n")
    place.env["PYTHONPATH"] = str(place.home)
    place.plays("Fine.")
    assert place.piped("run", "--output", "text", "go").stdout == "Fine.\n"
    assert "Fine." in place.piped("run", "go").stdout
    term = place.term("run", "go")
    assert term.exit() == 3
    assert "pip install 'quarterdeck[terminal]'" in term.text


def test_json_is_output_json_for_short(place: Place) -> None:
    place.plays("Hello.")
    (line,) = place.piped("run", "--json", "go").stdout.splitlines()
    assert json.loads(line)["result"] == "Hello."


def test_a_simulated_cost_says_so(place: Place) -> None:
    place.plays("Hello.")
    assert place.piped("run", "go").stdout.rstrip().endswith(" (simulated)")
    narrow = place.term("run", "go", columns=40)
    assert narrow.exit() == 0
    assert narrow.text.rstrip().endswith("(simulated)")


@pytest.mark.parametrize("output", ["json", "stream-json"])
def test_a_simulated_result_says_so_to_programs_too(place: Place, output: str) -> None:
    place.plays("Hello.")
    *others, result = map(json.loads, place.piped("run", "--output", output, "go").stdout.splitlines())
    assert result["simulated"] is True
    assert result["total_cost_usd"] > 0
    assert not any("simulated" in one for one in others)


def test_a_trace_of_a_simulated_session_says_so(place: Place) -> None:
    place.plays("Hello.")
    record = str(place.cwd / "talk.ndjson")
    assert place.piped("run", "--record", record, "go").returncode == 0

    def trace(*words: str) -> list[str]:
        command = [*place.command("run")[:3], "trace", *words, record]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, env=place.env, check=True)
        return done.stdout.splitlines()

    priced = [line for line in trace() if "$" in line]
    assert len(priced) == 2
    assert all(" (simulated)" in line for line in priced)
    assert json.loads(trace("--json")[-1])["summary"]["simulated"] is True


def test_a_missing_claude_code_is_told_in_three_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process: a machine may have one in a usual place."""

    def find_nothing(explicit: object) -> list[str]:
        raise CLINotFoundError

    monkeypatch.setattr(agents, "find_cli", find_nothing)
    assert main(["run", "go"]) == 3
    assert capsys.readouterr().err.splitlines() == [
        "quarterdeck run: Claude Code not found",
        "  Install it with npm install -g @anthropic-ai/claude-code, or set CLAUDE_BIN to its path.",
        "  Or use --agent sim, which needs no claude. quarterdeck doctor lists where it looked.",
    ]
