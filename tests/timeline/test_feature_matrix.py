"""Every row of the feature matrix has its events and its tests; see ``feature_matrix.toml``."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Any, get_args

from looping import for_each
from quarterdeck.timeline import Event

HERE = Path(__file__).parent
MATRIX: dict[str, list[dict[str, Any]]] = tomllib.loads((HERE / "feature_matrix.toml").read_text())
EVENTS = {cls.__name__ for cls in get_args(Event)}

ROWS = [
    "Text Streaming", "Thinking Blocks", "Tool Calls", "Tool Results", "Plan Mode (TodoWrite)", "Exit Plan Mode",
    "Background Tasks", "Background Bash", "Background Agents", "Sub-Agent Messages", "Session Resume/Fork",
    "Permission Modes", "Model Switching", "Slash Commands/Skills", "MCP Server Integration", "AskUserQuestion",
    "Tool Progress", "Tool Use Summary", "Auth Status", "Hook Status", "Compact Boundary", "Files Persisted",
    "Status Updates", "File Checkpointing", "Structured Output", "Delegate Mode", "Plugins", "Betas",
    "Sandbox Config", "Account Info", "Dynamic MCP", "Cost/Usage Stats",
]  # fmt: skip
"""The features that the specification lists, those it leaves as "no-op" and "not used" too."""


def names_of_tests() -> set[str]:
    found = set()
    for path in HERE.glob("test_*.py"):
        tree = ast.parse(path.read_text())
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        found |= {f"{path.name}::{name}" for name in names if name.startswith("test_")}
    return found


def test_every_row_of_the_specification_is_there_and_the_issues_own_after_it() -> None:
    assert [row["name"] for row in MATRIX["specification"]] == ROWS
    names = [row["name"] for row in MATRIX["beyond"]]
    assert len(set(names)) == len(names)


@for_each("row", [*MATRIX["specification"], *MATRIX["beyond"]], ids=lambda row: row["name"])
def test_a_row_has_events_that_exist_and_tests_that_exist(row: dict[str, Any]) -> None:
    assert row["tests"], "no test"
    assert set(row["tests"]) <= names_of_tests()
    assert set(row["events"]) <= EVENTS
    assert row["events"]


def test_every_event_belongs_to_a_row() -> None:
    named = {event for rows in MATRIX.values() for row in rows for event in row["events"]}
    assert EVENTS - named == set()
