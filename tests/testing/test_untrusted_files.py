"""Files of others: whatever they hold, a clear error, in bounded time and memory."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.policy import BadRulesError, Policy
from quarterdeck.policy.cases import BadCasesError, read_cases
from quarterdeck.policy.jsonfile import JsonTextError, parse
from quarterdeck.testing import recording
from quarterdeck.testing.recording import RecordingError, load
from quarterdeck.testing.sim import ScenarioFileError
from quarterdeck.testing.sim.scenario_file import load as load_scenario
from work import most_bytes

HEADER = b'{"quarterdeck": "recording", "version": 1}\n'
MEGABYTE = 1024 * 1024


def billion_laughs() -> str:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    return "\n".join([*rows, "turns: *a9"])


SCENARIOS: dict[str, tuple[str, Callable[[], str], str]] = {
    "aliases of aliases": ("yaml", billion_laughs, "more than 100000 values"),
    "a list that is part of itself": ("yaml", lambda: "turns: &a [*a]", "contains itself"),
    "a mapping that is part of itself": ("yaml", lambda: "&a {turns: *a}", "contains itself"),
    "deep YAML": ("yaml", lambda: "turns: " + "[" * 2_000, "nested deeper"),
    "deep YAML by indentation": ("yaml", lambda: "\n".join(" " * n + "a:" for n in range(900)), "nested deeper"),
    "deep JSON": ("json", lambda: '{"turns": ' + "[" * 100_000, "nested deeper"),
    "many lines of JSON": ("json", lambda: '{"turns": [' + "\n1," * 50_000 + "x", "is not valid JSON"),
    "a long file": ("yaml", lambda: "#" * (2 * MEGABYTE), "longer than"),
    "a list as a key": ("yaml", lambda: "[a, b]: c", "as a key"),
    "a day that there is not": ("yaml", lambda: "name: 2024-13-45", "month must be"),
    "a number of many digits": ("yaml", lambda: "delta_size: " + "1" * 5000, "digits"),
    "a number of many digits, as JSON": ("json", lambda: '{"delta_size": ' + "1" * 5000 + "}", "digits"),
    "a number without end": ("yaml", lambda: "turns: []\ndelay_s: .inf", "expected a number"),
    "no number": ("yaml", lambda: "turns: []\ndelay_s: .nan", "expected a number"),
    "an error a billion times": ("yaml", lambda: "turns: [[{error: 500, times: 1000000000}]]", "at most 10000"),
    "a control character": ("yaml", lambda: "name: \x01", "is not valid YAML"),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_that_would_take_everything_is_refused(name: str, tmp_path: Path) -> None:
    kind, make, problem = SCENARIOS[name]
    path = tmp_path / f"scenario.{kind}"
    path.write_text(make())

    with pytest.raises(ScenarioFileError, match=problem):
        load_scenario(path)


def test_a_scenario_with_few_aliases_is_read(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text("turns:\n  - &one [hello]\n  - *one\n")
    assert len(load_scenario(path).turns) == 2


def test_the_line_of_an_error_is_right_though_it_is_counted_in_steps(tmp_path: Path) -> None:
    path = tmp_path / "scenario.json"
    path.write_text('{\n"turns":\n[\n\n],\n"x": 1}')
    with pytest.raises(ScenarioFileError) as caught:
        load_scenario(path)
    assert caught.value.line == 6


RECORDINGS: dict[str, tuple[bytes, str]] = {
    "deep JSON": (HEADER + b'{"t": 0, "d": "in", "b": ' + b"[" * 100_000 + b"\n", "nested too deeply"),
    "a deep header": (b"[" * 100_000 + b"\n", "nested too deeply"),
    "argv of numbers": (b'{"quarterdeck": "recording", "version": 1, "argv": [1]}\n', "list of strings"),
    "a version that is no text": (b'{"quarterdeck": "recording", "version": 1, "cli": {}}\n', '"cli"'),
    "an exit code that is no number": (b'{"quarterdeck": "recording", "version": 1, "exit_code": "x"}\n', "exit_code"),
    "a time without end": (HEADER + b'{"t": Infinity, "d": "in", "b": ""}\n', "time in seconds"),
    "a time that is no number": (HEADER + b'{"t": NaN, "d": "in", "b": ""}\n', "time in seconds"),
    "trouble that is no text": (HEADER + b'{"t": 1, "end": {"trouble": [{}]}}\n', "trouble"),
    "an end that is no object": (HEADER + b'{"t": 1, "end": []}\n', ":2: "),
}


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_that_is_none_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    data, problem = RECORDINGS[name]
    path = tmp_path / "recording.jsonl"
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=problem):
        load(path)


@pytest.mark.parametrize("compressed", [False, True])
def test_a_recording_beyond_the_limit_is_refused_before_it_is_unpacked(
    compressed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "LIMIT_BYTES", MEGABYTE)
    path = tmp_path / ("bomb.jsonl.gz" if compressed else "long.jsonl")
    data = HEADER + b" " * (64 * MEGABYTE)
    path.write_bytes(gzip.compress(data) if compressed else data)

    def read() -> None:
        with pytest.raises(RecordingError, match=f"longer than {MEGABYTE} bytes"):
            load(path)

    assert most_bytes(read) < 8 * MEGABYTE


@pytest.mark.parametrize("rule", ["Read([z-a])", "Edit(src/[9-0]/**)", "Read([a-\\])", "Read(//x/[z-a]*)"])
@pytest.mark.parametrize("behavior", ["allow", "deny", "ask"])
def test_a_rule_with_a_broken_pattern_is_refused_by_name(rule: str, behavior: str) -> None:
    rules: dict[str, Any] = {behavior: [rule]}
    with pytest.raises(BadRulesError, match="the pattern cannot be read") as caught:
        Policy.from_rules(**rules, cwd="/project")
    assert [one.text for one in caught.value.rules] == [rule]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 100_000, "nested deeper"),
        ('{"a": ' + "1" * 5000 + "}", "digits"),
        ('"' + "x" * (17 * MEGABYTE) + '"', "longer than"),
    ],
)
def test_settings_that_would_take_everything_are_refused(text: str, problem: str) -> None:
    with pytest.raises(JsonTextError, match=problem):
        parse(text)


def test_a_long_string_in_settings_takes_no_memory_beside_its_own() -> None:
    text = json.dumps({"a": "x" * MEGABYTE})
    assert most_bytes(lambda: parse(text)) < 8 * MEGABYTE


@pytest.mark.parametrize("text", ["a = " + "[" * 50_000, "a = " + "1" * 5000])
def test_tables_of_expectations_that_would_take_everything_are_refused(text: str) -> None:
    with pytest.raises(BadCasesError, match="not valid TOML"):
        list(read_cases(text))
