"""The fixtures, used in a project of their own as a newcomer would."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

TEST_WITH_SIMULATOR = """
import asyncio
import quarterdeck

def test_the_file_is_made(fake_claude):
    fake_claude.play(["I make it.", {"tool": "Bash", "input": {"command": "touch made.txt"}}, "Done."])
    asked = []

    async def allow(name, tool_input, context):
        asked.append(name)
        return quarterdeck.PermissionResultAllow()

    result = asyncio.run(quarterdeck.prompt("make the file", fake_claude.options(can_use_tool=allow)))
    assert (result.result, asked) == ("Done.", ["Bash"])
    assert (fake_claude.cwd / "made.txt").exists()
"""

TEST_WITH_SCENARIO_FILES = """
import asyncio
import quarterdeck

def test_each_file_is_played(fake_claude, tmp_path):
    def said(name, text):
        (tmp_path / name).write_text(text)
        fake_claude.play_file(tmp_path / name)
        return asyncio.run(quarterdeck.prompt("hi", fake_claude.options())).result

    assert said("a.yaml", "turns:\\n  - - from YAML\\n") == "from YAML"
    assert said("b.json", '{"turns": [["from JSON"]]}') == "from JSON"
    fake_claude.play(["from the test"])
    assert asyncio.run(quarterdeck.prompt("hi", fake_claude.options())).result == "from the test"
"""

TEST_WITH_REAL_CLI = """
import asyncio
import quarterdeck

def test_a_turn(real_claude, model_server):
    model_server.reply("hello from the script")
    result = asyncio.run(quarterdeck.prompt("hi", real_claude.options()))
    assert result.result == "hello from the script"
"""

TEST_WITH_CASSETTE = """
import asyncio
import quarterdeck

def test_a_turn(cassette, model_server):
    model_server.reply("recorded words")
    tape = cassette("turn")
    result = asyncio.run(quarterdeck.prompt("hi", tape.options()))
    assert result.result == "recorded words"
"""


def run(pytester: pytest.Pytester, code: str, *words: str, passed: int = 1) -> pytest.RunResult:
    pytester.makepyfile(code)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *words, timeout=120)
    result.assert_outcomes(passed=passed)
    return result


def test_the_simulator_plays_what_the_test_says(pytester: pytest.Pytester) -> None:
    run(pytester, TEST_WITH_SIMULATOR)


def test_the_simulator_plays_scenario_files_of_either_format(pytester: pytest.Pytester) -> None:
    run(pytester, TEST_WITH_SCENARIO_FILES)


@pytest.mark.real
def test_the_real_cli_talks_to_the_scripted_model(pytester: pytest.Pytester) -> None:
    run(pytester, TEST_WITH_REAL_CLI)


@pytest.mark.real
def test_a_cassette_is_recorded_once_and_then_replayed_without_the_cli(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(pytester, TEST_WITH_CASSETTE)
    tape = Path(pytester.path) / "cassettes" / "turn.ndjson"
    recorded = tape.read_bytes()
    monkeypatch.setenv("QUARTERDECK_CLI_VERSION", "0.0.0-not-there")
    run(pytester, TEST_WITH_CASSETTE)
    run(pytester, TEST_WITH_CASSETTE, "--cassettes=replay")
    assert tape.read_bytes() == recorded


def test_without_a_recording_replay_says_what_to_do(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST_WITH_CASSETTE)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--cassettes=replay", timeout=120)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*FileNotFoundError: no recording *turn.ndjson: record it once*"])


@pytest.mark.parametrize(("ci", "outcome"), [("", "skipped"), ("true", "errors")])
def test_a_missing_cli_skips_with_the_reason_and_fails_in_ci(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ci: str, outcome: str
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("QUARTERDECK_CACHE", str(pytester.path / "empty-cache"))
    pytester.makepyfile(TEST_WITH_REAL_CLI)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-rs", timeout=120)
    result.assert_outcomes(**{outcome: 1})
    result.stdout.fnmatch_lines(["*the real CLI*npm*"])


def test_the_first_test_of_the_guide_runs_as_it_stands(pytester: pytest.Pytester) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "testing.md").read_text()
    first, *_ = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    run(pytester, first)


@pytest.mark.real
def test_the_other_tests_of_the_guide_run_as_they_stand(pytester: pytest.Pytester) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "testing.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    run(pytester, "\n".join(["import asyncio", "import quarterdeck", *blocks[1:]]), passed=2)
