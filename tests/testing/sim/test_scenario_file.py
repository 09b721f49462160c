"""Scenario files: every step in YAML and JSON, and errors that say where."""

from __future__ import annotations

import asyncio
import builtins
import json
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.testing.sim import (
    Agent,
    Compact,
    Emit,
    End,
    Error,
    Exit,
    Next,
    Pause,
    Plan,
    PromptRule,
    RateLimit,
    RawBlock,
    RedactedThinking,
    Scenario,
    ScenarioFileError,
    Stop,
    Suggest,
    Text,
    Thinking,
    Tool,
    Usage,
    WaitFor,
    load,
)
from testing.sim.harness import Sim

EXAMPLES = Path(__file__).parents[3] / "examples" / "scenarios"

EVERY_STEP: list[Any] = [
    "plain text",
    {"text": "text"},
    {"thinking": "hm"},
    {"redacted_thinking": "xx"},
    {"block": {"type": "server_tool_use"}},
    {"tool": "Bash", "input": {"command": "ls"}, "id": "toolu_1"},
    {"tool": "WebFetch", "result": "page", "failed": True, "takes_s": 2},
    {"tool": "mcp__a__b", "elicit": {"message": "Name?"}},
    {"agent": "look", "description": "d", "type": "Explore", "background": False, "steps": ["found"]},
    {"ask": "Which?", "options": ["a", "b"], "header": "H", "multi": True},
    {"plan": "1. Go"},
    {"usage": {"input_tokens": 5}},
    {"stop": "max_tokens"},
    {"next": True},
    {"pause": 0.5},
    {"wait_for": "go"},
    {"emit": {"type": "keep_alive"}},
    {"rate_limit": {"status": "rejected"}},
    {"compact": "short"},
    {"suggest": "more"},
    {"error": 529, "message": "busy", "times": 2, "retry_after": 1},
    {"end": "error_max_turns", "errors": ["enough"]},
    {"exit": 3, "stderr": "gone"},
]
OPTIONS = [{"label": "a", "description": "a"}, {"label": "b", "description": "b"}]
QUESTION = {"question": "Which?", "header": "H", "options": OPTIONS, "multiSelect": True}
AS_STEPS = [
    Text("plain text"),
    Text("text"),
    Thinking("hm"),
    RedactedThinking("xx"),
    RawBlock({"type": "server_tool_use"}),
    Tool("Bash", {"command": "ls"}, "toolu_1"),
    Tool("WebFetch", {}, None, "page", is_error=True, takes_s=2),
    Tool("mcp__a__b", {}, elicit={"message": "Name?"}),
    Agent.of("look", Text("found"), description="d", kind="Explore", background=False),
    Tool("AskUserQuestion", {"questions": [QUESTION]}),
    Plan.of("1. Go"),
    Usage(input_tokens=5),
    Stop("max_tokens"),
    Next(),
    Pause(0.5),
    WaitFor("go"),
    Emit({"type": "keep_alive"}),
    RateLimit({"status": "rejected"}),
    Compact("short"),
    Suggest("more"),
    Error(529, "busy", headers={"retry-after": "1"}),
    Error(529, "busy", headers={"retry-after": "1"}),
    End("error_max_turns", ("enough",)),
    Exit(3, "gone"),
]


def test_every_step_can_be_written_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    rules = [{"when": "^hi", "steps": "Hello.", "times": 2}]
    more = {"name": "all", "delta_size": 3, "delay_s": 0.1, "time_scale": 0.5, "otherwise": "assistant"}
    path.write_text(json.dumps({"turns": [EVERY_STEP], "replies": ["later"], "rules": rules} | more))

    assert load(path) == Scenario(
        turns=[AS_STEPS],
        replies=[Text("later")],
        rules=[PromptRule("^hi", [Text("Hello.")], 2)],
        otherwise="assistant",
        name="all",
        delta_size=3,
        delay_s=0.1,
        time_scale=0.5,
    )


def test_yaml_says_the_same_as_json(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    path = tmp_path / "a.yaml"
    path.write_text("turns:\n  - - I look.\n    - tool: Bash\n      input: {command: ls}\n    - text: Done.\n")

    assert load(path) == Scenario(turns=[[Text("I look."), Tool("Bash", {"command": "ls"}), Text("Done.")]])


@pytest.mark.parametrize(
    ("name", "text", "line", "message"),
    [
        ("a.json", '{\n "turns": [\n  [{"tol": "Bash"}]\n ]\n}', 3, "expected one of text, thinking"),
        (
            "a.json",
            '{\n "turns": [\n  [{"tool": "Bash",\n    "inptu": {}}]\n ]\n}',
            4,
            "`inptu` does not belong to a `tool`",
        ),
        ("a.json", '{"turns": 3}', 1, "expected a list, found a number"),
        ("a.json", '{"turms": []}', 1, "unknown key `turms` in a scenario; expected one of name, turns"),
        ("a.json", "{}", 1, "has nothing to play"),
        ("a.json", "[]", 1, "expected a scenario to be a mapping, found a list"),
        ("a.json", '{\n"turns": [\n', 3, "expected `]` before the end"),
        (
            "a.json",
            '{"turns": [[7]]}',
            1,
            "expected a step (a string, or a mapping such as `tool: Bash`), found a number",
        ),
        ("a.json", '{"turns": [[{"pause": "x"}]]}', 1, "expected a number that is not negative, found 'x'"),
        ("a.json", '{"turns": [[{"end": "x"}]]}', 1, "expected one of error_max_turns"),
        ("a.json", '{"turns": [[{"ask": "x"}]]}', 1, "`ask` needs `options`"),
        ("a.json", '{"turns": [[{"emit": {}}]]}', 1, "`emit` needs a message with a `type`"),
        ("a.json", '{"rules": [{"when": "("}]}', 1, "a rule needs `steps`"),
        ("a.json", '{"rules": [{"when": "(", "steps": []}]}', 1, "is not a regular expression"),
        ("a.json", '{"otherwise": "panic"}', 1, "expected one of say so, assistant, found 'panic'"),
        ("a.json", '{"turns": [], "turns": []}', 1, "`turns` appears twice"),
        ("a.json", "{'turns': []}", 1, 'expected a key in "double quotes"'),
    ],
)
def test_a_bad_file_is_refused_with_file_line_and_what_was_expected(
    tmp_path: Path, name: str, text: str, line: int, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text)

    with pytest.raises(ScenarioFileError) as caught:
        load(path)

    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("turns:\n  - - tol: Bash\n", 2, "expected one of text, thinking"),
        ("turns:\n  - [\n", 3, "is not valid YAML"),
        ("", 1, "is empty"),
        ("turns: []\nturns: []\n", 2, "`turns` appears twice"),
    ],
)
def test_a_bad_yaml_file_too(tmp_path: Path, text: str, line: int, message: str) -> None:
    pytest.importorskip("yaml")
    path = tmp_path / "a.yaml"
    path.write_text(text)

    with pytest.raises(ScenarioFileError) as caught:
        load(path)

    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFileError, match=r"none\.json: cannot be read: No such file"):
        load(tmp_path / "none.json")


def test_without_pyyaml_the_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("turns: []")

    def refuse(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("quarterdeck.testing.sim.positions.import_module", refuse)

    with pytest.raises(ScenarioFileError, match=r"install 'quarterdeck\[testing\]', or write the scenario as \.json"):
        load(path)


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: path.name)
def test_the_examples_can_be_loaded(path: Path) -> None:
    if path.suffix != ".json":
        pytest.importorskip("yaml")
    assert load(path).name


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: path.name)
def test_the_examples_can_be_played(path: Path, tmp_path: Path) -> None:
    if path.suffix != ".json":
        pytest.importorskip("yaml")
    scenario = load(path)
    scenario.time_scale = 0

    async def work() -> None:
        async with Sim(tmp_path, scenario) as sim:
            results = [(await sim.turn("go on"))["type"] for _ in scenario.turns]
        assert (results, sim.stderr) == (["result"] * len(scenario.turns), "")

    asyncio.run(work())


def test_the_manual_names_every_step() -> None:
    manual = (Path(__file__).parents[3] / "docs" / "simulator.md").read_text()

    assert [
        key for step in EVERY_STEP[1:] for key in step if f"`{key}:" not in manual and f"`{key}`" not in manual
    ] == []


def test_nothing_of_builtins_is_hidden_by_the_public_names() -> None:
    import quarterdeck.testing.sim as sim

    assert not set(sim.__all__) & set(dir(builtins))
    assert all(getattr(sim, name) is not None for name in sim.__all__)
